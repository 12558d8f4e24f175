"""The engine on this machine: order, bounds, cases that come twice."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import cast

import pytest

from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.finding import Findings, Status, StepFinding
from planproof.core.judge import Judgement
from planproof.core.model import Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import Outcome, Verdict
from planproof.errors import InvalidInput
from planproof.llm.judge_registry import find_judge
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import JudgeTask, judge_locally
from planproof.runs.run_records import Result
from tests.local_tasks import find_no_verdicts, judge_tasks, make_task
from tests.trace_builders import did, noted, trace


@pytest.fixture
def rules() -> CaseEvaluator:
    return CaseEvaluator(find_judge())


@dataclass(slots=True)
class Counting:
    """Asks nobody, takes its time, and counts what goes on at once."""

    name: str = "counting"
    fingerprint: str = "c"
    now: int = 0
    most: int = 0
    judged: int = 0

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        del plan, trace
        self.now += 1
        self.judged += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02 if "5" in task.text else 0.001)
        self.now -= 1
        if "folder 13" in task.text:
            raise ValueError("of all things")
        step = StepFinding(number="1", text="", status=Status.MISSING, confidence=1.0)
        return Judgement(findings=Findings((step,)), models=("m",))

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        del task, plan, trace
        return ()


def test_questions_are_asked_many_at_once_and_answered_in_order() -> None:
    judge = Counting()
    results = judge_tasks(map(make_task, range(40)), CaseEvaluator(judge), 4)
    assert [result.position for result in results] == [*range(40)]
    assert [result.id for result in results] == [f"case-{number}" for number in range(40)]
    assert 1 < judge.most <= 4
    assert all(result.seconds > 0 for result in results)


def test_a_judge_that_fails_costs_one_case() -> None:
    outcomes = [
        r.verdict.outcome
        for r in judge_tasks(map(make_task, range(12, 15)), CaseEvaluator(Counting()))
    ]
    assert outcomes == [Outcome.SCORED, Outcome.JUDGE_FAILED, Outcome.SCORED]


def test_running_tasks_are_cancelled_when_nobody_waits() -> None:
    judge = Counting()
    results = judge_locally(map(make_task, range(100)), CaseEvaluator(judge), find_no_verdicts, 3)
    assert len([*islice(results, 5)]) == 5
    cast("Iterator[object]", results).close()  # type: ignore[attr-defined] # a generator has it
    assert judge.judged < 40


def test_no_more_is_read_than_can_be_worked_on(rules: CaseEvaluator) -> None:
    read = 0

    def tasks() -> Iterator[JudgeTask]:
        nonlocal read
        for number in range(1_000):
            read += 1
            yield make_task(number)

    results = judge_locally(tasks(), rules, find_no_verdicts, 1)
    for given in range(1, 20):
        next(results)
        assert read <= given + 4


def test_a_case_that_comes_twice_is_judged_once() -> None:
    judge = Counting()
    tasks = [
        make_task(0),
        make_task(1),
        make_task(2, same_as=0),
        make_task(3, same_as=1),
        make_task(4),
    ]
    results: list[Result] = []

    def known(cases: Collection[str]) -> dict[str, Verdict]:
        return {result.case: result.verdict for result in results if result.case in cases}

    # Running or finished when it comes again: it is not judged twice.
    for result, _ in judge_locally(tasks, CaseEvaluator(judge), known, 5):
        results.append(result)
    assert judge.judged == 3
    assert [(r.id, r.verdict.id, r.verdict.metadata) for r in results] == [
        (f"case-{n}", f"case-{n}", {"number": n}) for n in range(5)
    ]
    assert results[2].seconds == 0
    assert results[2].case == results[0].case


def test_a_failure_is_tried_again_for_the_next_that_is_like_it() -> None:
    judge = Counting()
    results = judge_tasks([make_task(13), make_task(14, same_as=13)], CaseEvaluator(judge), 2)
    assert judge.judged == 2
    assert [result.verdict.outcome for result in results] == [Outcome.JUDGE_FAILED] * 2


def test_what_is_known_is_not_judged() -> None:
    judge = Counting()
    known = Verdict(outcome=Outcome.NO_PLAN, reason="There is none.")

    def look(cases: Collection[str]) -> dict[str, Verdict]:
        return {hash_: known for hash_ in cases if hash_ == make_task(1).hash}

    tasks = [make_task(0), make_task(1), make_task(2)]
    results = [result for result, _ in judge_locally(tasks, CaseEvaluator(judge), look, 2)]
    assert judge.judged == 2
    assert results[1].verdict == replace(known, id="case-1", metadata={"number": 1})


def test_results_that_are_there_already_keep_their_place(rules: CaseEvaluator) -> None:
    there = replace(judge_tasks([make_task(1)], rules)[0], seconds=7.0)
    results = judge_tasks([make_task(0), there, make_task(2)], rules)
    assert [result.position for result in results] == [0, 1, 2]
    assert results[1] is there


def test_a_line_without_a_case_has_a_verdict_too(rules: CaseEvaluator) -> None:
    broken = CaseLine("line 7", error=InvalidInput("is not JSON.", where="line 7"), id="x")
    results = judge_tasks([make_task(0), JudgeTask(1, broken, None)], rules)
    assert results[1].verdict.outcome is Outcome.INVALID_INPUT
    assert (results[1].id, results[1].case) == ("x", "")


def test_the_plan_in_force_is_part_of_how_a_case_is_judged() -> None:
    first, latest = CaseEvaluator(find_judge()), CaseEvaluator(find_judge(), plan_in_force="latest")
    assert first.fingerprint != latest.fingerprint
    listed = [noted("TodoWrite", todos=steps) for steps in (["Read a.txt", "Sing"], ["Read a.txt"])]
    events = trace(*listed, did("read_file", path="a.txt"))
    case = Case(task=Content(""), plan=None, trace=events)
    line = CaseLine("line 1", case)
    assert (first.evaluate(line).score, latest.evaluate(line).score) == (0.5, 1.0)
    assert asyncio.run(latest.aevaluate(line)).score == 1.0
