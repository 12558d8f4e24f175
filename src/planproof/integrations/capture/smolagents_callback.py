"""smolagents: a step callback that sees the agent's memory after each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import as_json


def step_callback(recorder: Recorder) -> Callable[[Any, Any], None]:
    """The callback, for `step_callbacks=[...]`; it stops the agent before the next step."""

    def took(memory_step: Any, agent: Any) -> None:
        # The step is not in the memory yet.
        steps = [*agent.memory.steps, memory_step]
        recorder.take([as_json(step.dict()) for step in steps], reader="smolagents")

    return took
