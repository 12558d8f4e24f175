"""The engine on this machine in several processes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from planproof.core.content import Content
from planproof.core.finding import Findings
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import Outcome
from planproof.errors import RunFailed
from planproof.llm.judge_registry import find_judge
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines import local
from planproof.runs.engines import process_pool as processes
from planproof.runs.engines.case_judging import CaseEvaluator
from tests.local_tasks import judge_tasks, make_task


@pytest.fixture
def rules() -> CaseEvaluator:
    return CaseEvaluator(find_judge())


@pytest.fixture
def immediate_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are worth their start from the first case on."""
    monkeypatch.setattr(processes, "_POOL_START_SECONDS", 0.0)


@pytest.mark.usefixtures("immediate_processes")
def test_processes_judge_as_one_does(rules: CaseEvaluator) -> None:
    alone = judge_tasks(map(make_task, range(70)), rules, 1)
    together = judge_tasks(map(make_task, range(70)), rules, 2)
    assert [replace(r, seconds=0) for r in together] == [replace(r, seconds=0) for r in alone]
    assert {result.verdict.outcome for result in together} == {Outcome.SCORED}


@pytest.mark.usefixtures("immediate_processes")
def test_a_process_that_is_killed_ends_the_run_with_advice() -> None:
    with pytest.raises(RunFailed, match="--resume"):
        judge_tasks(map(make_task, range(70)), CaseEvaluator(ExitingJudge()), 2)


@dataclass(frozen=True, slots=True)
class ExitingJudge:
    """Ends the process that it is in, but for the first case."""

    name: str = "deadly"
    fingerprint: str = "d"

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        del plan, trace
        if "folder 0." not in task.text:
            import os

            os._exit(9)
        return Findings(())


def test_work_is_cut_by_length_as_well(
    rules: CaseEvaluator, monkeypatch: pytest.MonkeyPatch, immediate_processes: None
) -> None:
    sizes: list[int] = []
    begin = processes.ProcessWorker.submit

    def begun(self: processes.ProcessWorker, lines: list[CaseLine]) -> object:
        sizes.append(len(lines))
        return begin(self, lines)

    monkeypatch.setattr(processes.ProcessWorker, "submit", begun)
    monkeypatch.setattr(local, "_CHUNK_LENGTH", 2 * len(_text()))
    judge_tasks(map(make_task, range(10)), rules, 2)
    assert max(sizes) == 2


def _text() -> str:
    case = make_task(0).stored_case
    assert case is not None
    return case.text
