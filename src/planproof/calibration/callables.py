"""Wrap any Python callable as a judge, so that other tools can be measured the same way."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, TypeAlias, cast

from planproof.core.content import Content
from planproof.core.judge import Judgement
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.errors import InvalidInput
from planproof.readers.native import serialize_trace

ScoreResult: TypeAlias = float | Mapping[str, Any]
"""A score, or an object with `score` and `reason`."""


@dataclass(frozen=True, slots=True)
class CallableJudge:
    """Calls a function with the specification's names; its score is used unchanged."""

    function: Callable[..., ScoreResult | Awaitable[ScoreResult]]
    name: str
    fingerprint: str = "callable"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        """Call the function in a thread, and await its result if it is awaitable."""
        import asyncio  # noqa: PLC0415 - already loaded by async callers

        arguments = {
            "user_task": task.text,
            "agent_plan": [step.text for step in plan.leaves],
            "execution_trace": serialize_trace(trace),
        }
        try:
            result = await asyncio.to_thread(self.function, **arguments)
            if isawaitable(result):
                result = await result
        except SystemExit as error:
            # SystemExit would end the event loop that all others wait for.
            raise RuntimeError(f"it tried to exit with {error.code}") from error
        if isinstance(result, Mapping):
            return Judgement(score=result["score"], reason=str(result.get("reason", "")))
        return Judgement(score=cast("float", result))

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        """Return nothing: the callable's own questions are unknown."""
        del task, plan, trace
        return ()


def load_callable_judge(name: str) -> CallableJudge:
    """Return the judge that calls `package.module:function`."""
    module, _, function = name.partition(":")
    if not module or not function:
        raise InvalidInput(
            f"`{name}` is not a valid function name.",
            where="--callable",
            advice="Write package.module:name.",
        )
    try:
        loaded = getattr(importlib.import_module(module), function)
    except Exception as error:
        # Importing runs arbitrary code.
        raise InvalidInput(
            f"`{name}` can't be imported: {type(error).__name__}: {error}.",
            where="--callable",
            advice="Install the package, or set PYTHONPATH to the folder of the module.",
        ) from error
    if not callable(loaded):
        raise InvalidInput(f"`{name}` is not callable.", where="--callable")
    return CallableJudge(cast("Callable[..., ScoreResult]", loaded), name)
