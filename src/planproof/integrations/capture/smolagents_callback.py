"""Capture smolagents runs with a step callback that reads the agent's memory after each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planproof.integrations.capture.recorder import Recorder
from planproof.integrations.hosts import to_json_value


def step_callback(recorder: Recorder) -> Callable[[Any, Any], None]:
    """Return the callback for `step_callbacks=[...]`; can stop the agent before the next step."""

    def record_step(memory_step: Any, agent: Any) -> None:
        # The current step is not in the memory yet.
        steps = [*agent.memory.steps, memory_step]
        recorder.record([to_json_value(step.dict()) for step in steps], reader="smolagents")

    return record_step
