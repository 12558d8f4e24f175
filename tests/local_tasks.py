"""Cases for the engine on this machine, and what it makes of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.verdict import Verdict
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import JudgeTask, judge_locally
from planproof.runs.run_records import Result, serialize_case
from tests.small_cases import FOLLOWED


def _line(number: int, *, same_as: int | None = None) -> CaseLine:
    told = number if same_as is None else same_as
    case = Case(
        task=Content(f"Tidy up folder {told}."),
        plan=FOLLOWED["agent_plan"],
        trace=FOLLOWED["execution_trace"],
        id=f"case-{number}",
        metadata={"number": number},
    )
    return CaseLine(f"line {number}", case, id=case.id)


def make_task(number: int, *, same_as: int | None = None) -> JudgeTask:
    """Return a task of a number; with `same_as`, its case is that of another."""
    line = _line(number, same_as=same_as)
    assert line.case is not None
    return JudgeTask(number, line, serialize_case(line.case))


def find_no_verdicts(_: Collection[str]) -> dict[str, Verdict]:
    """Look up verdicts where there are none."""
    return {}


def judge_tasks(
    tasks: Iterable[JudgeTask | Result], judging: CaseEvaluator, at_once: int | None = None
) -> list[Result]:
    """Judge tasks, and return all results."""
    return [result for result, _ in judge_locally(tasks, judging, find_no_verdicts, at_once)]
