"""What captures are tested with: blocks of the docs, agents that keep to a plan and that do not."""

from __future__ import annotations

import ast
import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from examples.scripted_model import Turn, call
from planproof import evaluate
from planproof.core.content import Json
from planproof.integrations.capture import Recorder
from planproof.monitor import OffPlan
from scripts.doc_blocks import DocBlock
from tests.frameworks.refunds import CLOSING, FOLLOWED, PLAN, SKIPPED, TASK, TOOLS, Call

OFF_PLAN: list[Call] = [FOLLOWED[0], ("delete_account", {"name": "Ann"}), *FOLLOWED[1:]]
"""The second call has an action type that no step has: a deviation is proven before the call."""


class Accounts:
    """Tools of the agent, and what was done with the one that no plan names."""

    def __init__(self) -> None:
        self.deleted: list[str] = []

        def delete_account(name: str) -> str:
            """Delete an account.

            Args:
                name: Whose it is.
            """
            self.deleted.append(name)
            return "gone"

        self.tools = [*TOOLS, delete_account]


def make_turns(calls: Iterable[Call]) -> list[Turn]:
    """A turn of the model for each call, and one that says it is done."""
    return [*(Turn(calls=[call(name, **given)]) for name, given in calls), Turn(CLOSING)]


def run_block(blocks: Sequence[DocBlock], folder: Path, **names: Any) -> Recorder:
    """Run the one block of the docs that is a test's, and give its recorder back."""
    (block,) = blocks
    code: CodeType = compile(
        block.text.replace('"trace.json"', repr(str(folder / "trace.json"))),
        block.location,
        "exec",
        flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
    )
    names |= {"plan": PLAN, "task": TASK}
    done = eval(code, names)
    if inspect.isawaitable(done):
        asyncio.run(_await(done))
    return names["recorder"]


async def _await(done: Any) -> None:
    await done


class CaptureTests(ABC):
    """What holds for the capture of every framework."""

    best = 1.0
    """The score of a run that follows its plan."""
    stopped: type[Exception] = OffPlan
    """How a run ends that is stopped."""
    made: tuple[str, ...] = ()
    """Whose accounts are deleted by then."""

    @abstractmethod
    def captured(
        self, calls: Sequence[Call], accounts: Accounts, folder: Path
    ) -> tuple[Recorder, Json]:
        """Run the block of the docs; gives the recorder, and the framework's own export."""

    @pytest.mark.parametrize("calls", [FOLLOWED, SKIPPED], ids=["followed", "skipped"])
    def test_a_captured_run_gets_the_verdict_of_its_export(
        self, calls: list[Call], tmp_path: Path
    ) -> None:
        recorder, own = self.captured(calls, Accounts(), tmp_path)
        captured = recorder.finish()
        assert captured.score == (self.best if calls is FOLLOWED else 0.5)
        for trace in (own, tmp_path / "trace.json"):
            exported = evaluate(plan=PLAN, trace=trace)
            assert captured.reason == exported.reason
            assert captured.steps == exported.steps
            assert captured.extras == exported.extras
            assert captured.coverage == exported.coverage

    def test_a_run_that_leaves_its_plan_is_stopped(self, tmp_path: Path) -> None:
        accounts = Accounts()
        with pytest.raises(self.stopped, match="deviated from its plan"):
            self.captured(OFF_PLAN, accounts, tmp_path)
        assert accounts.deleted == [*self.made]
        kept = evaluate(plan=PLAN, trace=tmp_path / "trace.json")
        assert [extra.what for extra in kept.extras] == ["delete_account"]
