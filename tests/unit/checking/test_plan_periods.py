"""One plan in force after another: what is found of them all, and the check of such verdicts."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from planproof import Verdict, aevaluate, evaluate
from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.finding import Status
from planproof.core.judge import Judgement, PromptCoverage
from planproof.core.model import Cause, ModelFailed, Question
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.core.verdict import Outcome, RejectedEvidence
from planproof.errors import InvalidInput, UnknownName
from planproof.llm.judge_registry import find_judge
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests import trace_builders
from tests.fake_model import FakeModel
from tests.trace_builders import Event, asked, did, nest_under, noted, said, statuses, trace

EXECUTED, PARTIAL, MISSING = Status.EXECUTED, Status.PARTIAL, Status.MISSING
OUT_OF_ORDER = Status.OUT_OF_ORDER

READ = did("read_file", path="a.txt")
COPY = did("copy_file", source="a.txt", target="b.txt")
DELETE = did("delete_file", path="c.txt")
MAIL = did("send_mail", to="ann@example.org", file="b.txt")
SEARCH = did("web_search", query="weather in Oslo")
READING, COPYING = "Read a.txt", "Copy a.txt to b.txt"
DELETING, MAILING = "Delete c.txt", "Mail b.txt to ann@example.org"
SEARCHING = "Search the web for the weather in Oslo"


def todos(*steps: str) -> Event:
    return noted("TodoWrite", todos=[{"content": step} for step in steps])


def judge_latest(*events: Event | tuple[Event, ...]) -> Verdict:
    """The verdict with each plan in force until the next."""
    return trace_builders.judge_events(None, asked("Tidy up."), *events, plan_in_force="latest")


def status_by_number(verdict: Verdict) -> dict[str, tuple[str, Status]]:
    return {step.number: (step.text, step.status) for step in verdict.steps}


def test_a_step_that_is_dropped_before_it_was_done_is_withdrawn() -> None:
    verdict = judge_latest(todos(READING, DELETING, MAILING), READ, todos(READING, MAILING), MAIL)
    assert status_by_number(verdict) == {"1": (READING, EXECUTED), "2": (MAILING, EXECUTED)}
    assert verdict.score == 1.0


def test_a_step_that_was_done_and_dropped_stays_under_the_number_of_its_plan() -> None:
    verdict = judge_latest(todos(READING, DELETING), READ, todos(DELETING, MAILING), DELETE, MAIL)
    assert status_by_number(verdict) == {
        "e2/1": (READING, EXECUTED),
        "1": (DELETING, EXECUTED),
        "2": (MAILING, EXECUTED),
    }
    assert verdict.plan is not None
    assert (verdict.plan.in_force, verdict.plan.event, verdict.plan.replans) == (
        "latest", "e2", ("e4",),
    )  # fmt: skip
    assert verdict.plan.steps == 2
    assert "step e2/1 at e3" in verdict.reason
    assert verdict.score == 1.0


def test_a_step_that_was_left_behind_follows_the_step_that_it_followed() -> None:
    verdict = judge_latest(
        todos(READING, COPYING, DELETING), READ, COPY, todos(READING, DELETING), DELETE
    )
    assert list(status_by_number(verdict)) == ["1", "e2/2", "2"]
    assert verdict.score == 1.0


def test_a_step_that_is_added_is_asked_for_from_then_on() -> None:
    events = [todos(READING), READ, todos(READING, MAILING)]
    assert statuses(judge_latest(*events, MAIL)) == [EXECUTED, EXECUTED]
    assert statuses(judge_latest(*events)) == [EXECUTED, MISSING]


def test_what_was_done_before_it_was_planned_does_not_count() -> None:
    verdict = judge_latest(todos(READING), READ, SEARCH, todos(READING, SEARCHING))
    assert statuses(verdict) == [EXECUTED, MISSING]
    assert [extra.event for extra in verdict.extras] == ["e4"]


def test_the_evidence_of_one_step_is_not_that_of_another_that_is_planned_later() -> None:
    again = "Read a.txt once more"
    verdict = judge_latest(todos(READING), READ, todos(READING, again))
    assert statuses(verdict)[0] is EXECUTED
    assert statuses(verdict)[1] in {MISSING, Status.AMBIGUOUS}
    assert verdict.steps[1].evidence == ()
    assert verdict.score == 0.5


def test_a_renamed_step_is_another_step() -> None:
    renamed = "Copy a.txt to b.txt and d.txt"
    verdict = judge_latest(todos(READING, COPYING), READ, COPY, todos(READING, renamed))
    assert status_by_number(verdict) == {
        "1": (READING, EXECUTED),
        "e2/2": (COPYING, EXECUTED),
        "2": (renamed, MISSING),
    }
    open_then = judge_latest(todos(READING, COPYING), READ, todos(READING, renamed), COPY)
    assert status_by_number(open_then) == {"1": (READING, EXECUTED), "2": (renamed, PARTIAL)}


def test_a_new_order_applies_to_remaining_steps() -> None:
    first, second = todos(READING, COPYING, DELETING), todos(READING, DELETING, COPYING)
    assert statuses(judge_latest(first, READ, second, DELETE, COPY)) == [EXECUTED] * 3
    assert statuses(judge_latest(first, READ, second, COPY, DELETE)) == [
        EXECUTED,
        EXECUTED,
        OUT_OF_ORDER,
    ]


def test_a_list_with_what_is_done_at_its_end_does_not_make_it_late() -> None:
    verdict = judge_latest(
        todos(READING, COPYING, DELETING),
        READ,
        COPY,
        todos(DELETING, READING, COPYING),
        DELETE,
    )
    assert status_by_number(verdict) == {
        "2": (READING, EXECUTED),
        "3": (COPYING, EXECUTED),
        "1": (DELETING, EXECUTED),
    }
    assert verdict.score == 1.0


def test_what_every_plan_puts_first_and_came_later_is_out_of_order() -> None:
    verdict = judge_latest(
        todos(READING, COPYING), COPY, todos(READING, COPYING, DELETING), READ, DELETE
    )
    assert statuses(verdict) == [EXECUTED, OUT_OF_ORDER, EXECUTED]


def test_a_list_that_is_ticked_off_is_one_plan_throughout() -> None:
    texts = [READING, COPYING, DELETING, MAILING, SEARCHING]
    done = [READ, COPY, DELETE, MAIL, SEARCH]

    def ticked(count: int) -> Event:
        states = ["completed"] * count + ["in_progress"] + ["pending"] * len(texts)
        items = [
            {"content": text, "status": state} for text, state in zip(texts, states, strict=False)
        ]
        return noted("TodoWrite", todos=items)

    events = [event for count, action in enumerate(done) for event in (ticked(count), action)]
    verdict = judge_latest(*events, ticked(5))
    assert list(status_by_number(verdict)) == ["1", "2", "3", "4", "5"]
    assert verdict.score == 1.0
    assert verdict.plan is not None
    assert verdict.plan.replans == ()


def test_a_list_that_gets_shorter_with_every_call_keeps_what_was_done() -> None:
    verdict = judge_latest(
        todos(READING, COPYING, DELETING), READ,
        todos(COPYING, DELETING), COPY,
        todos(DELETING), DELETE,
    )  # fmt: skip
    assert list(status_by_number(verdict)) == ["e2/1", "e4/1", "1"]
    assert verdict.score == 1.0


def test_a_step_that_was_begun_is_finished_under_the_next_plan() -> None:
    mailing = "Mail b.txt to ann@example.org and bo@example.org"
    to_bo = did("send_mail", to="bo@example.org", file="b.txt")
    verdict = judge_latest(
        todos(READING, mailing), READ, MAIL, todos(READING, mailing, DELETING), to_bo
    )
    assert statuses(verdict) == [EXECUTED, EXECUTED, MISSING]
    assert verdict.steps[1].covers == ("e4", "e6")
    stopped = judge_latest(
        todos(READING, mailing), READ, MAIL, todos(READING, mailing, DELETING), DELETE
    )
    assert statuses(stopped) == [EXECUTED, PARTIAL, EXECUTED]


def test_doing_again_what_is_done_is_a_minor_extra() -> None:
    verdict = judge_latest(todos(READING), READ, todos(READING, MAILING), READ, MAIL)
    assert [(extra.event, extra.severity) for extra in verdict.extras] == [("e5", "minor")]


def test_calls_issued_together_with_a_plan_are_judged_by_it() -> None:
    verdict = judge_latest(todos(READING), READ, (MAIL, todos(READING, MAILING)), DELETE)
    assert statuses(verdict) == [EXECUTED, EXECUTED]
    assert [extra.event for extra in verdict.extras] == ["e6"]


def test_what_a_sub_agent_does_later_belongs_where_it_was_handed_over_to() -> None:
    hand_off = did("hand_over", to="research agent", goal="collect sources")
    verdict = judge_latest(
        todos("Let the research agent collect sources"),
        hand_off,
        todos(MAILING),
        nest_under("e3", SEARCH),
        MAIL,
    )
    assert status_by_number(verdict)["e2/1"][1] is EXECUTED
    assert verdict.steps[0].covers == ("e3", "e5")
    assert verdict.score == 1.0


def test_sub_steps_of_the_last_plan_have_parents_and_older_ones_do_not() -> None:
    def nested(*children: str) -> Event:
        return noted("update_plan", plan=[{"step": "File it", "substeps": list(children)}])

    verdict = judge_latest(nested(READING, COPYING), READ, COPY, nested(COPYING, DELETING), DELETE)
    assert [(step.number, step.parent) for step in verdict.steps] == [
        ("e2/1.1", None),
        ("1", None),
        ("1.1", "1"),
        ("1.2", "1"),
    ]
    assert statuses(verdict) == [EXECUTED] * 4


def test_plans_that_follow_at_once_cost_nothing() -> None:
    judge = _ModelJudgeStub()
    verdict = evaluate(
        trace=trace(todos(READING), todos(COPYING), todos(DELETING), DELETE),
        judge=judge,
        plan_in_force="latest",
    )
    assert list(status_by_number(verdict)) == ["1"]
    assert [[step.text for step in plan.steps] for plan, _ in judge.given] == [[DELETING]]


@dataclass
class _ModelJudgeStub:
    """Finds what the rules find, tells it as a model's judgement, and keeps what it was given."""

    name: str = "asked"
    fingerprint: str = "1"
    given: list[tuple[Plan, Trace]] = field(default_factory=list[tuple[Plan, Trace]])

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        self.given.append((plan, trace))
        findings = Rules().judge(task, plan, trace)
        return Judgement(
            findings=findings,
            models=("fake:model",),
            usage=Usage(calls=1, tokens_in=10),
            shown=PromptCoverage(events=len(trace.events)),
            notes=("seen",),
            rejected=(RejectedEvidence(step="1", event="e3", quote="x", why="y"),),
            warnings=(f"plan {len(self.given)}",),
        )

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[Question, ...]:
        return ()


REPLANNED = trace(asked("Tidy up."), todos(READING, DELETING), READ, todos(READING, MAILING), MAIL)


def test_judgements_of_models_are_joined() -> None:
    judge = _ModelJudgeStub()
    verdict = asyncio.run(aevaluate(trace=REPLANNED, judge=judge, plan_in_force="latest"))
    assert statuses(verdict) == [EXECUTED, EXECUTED]
    assert verdict.cost == Usage(calls=2, tokens_in=20)
    assert verdict.warnings == ("plan 1", "plan 2")
    assert verdict.coverage is not None
    assert (verdict.coverage.shown, verdict.coverage.windows) == (2, 2)
    assert verdict.coverage.notes == ("seen",)
    assert [one.step for one in verdict.rejected] == ["1", "1"]
    assert verdict.judge is not None
    assert verdict.judge.models == ("fake:model",)
    (_, first), (_, second) = judge.given
    assert [event.id for event in first.events] == ["e3"]
    assert [event.id for event in second.events] == ["e3", "e5"]


@dataclass
class _FailsOnSecondPlan(_ModelJudgeStub):
    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        if self.given:
            raise ModelFailed(Cause.UNAVAILABLE, "it went away", usage=Usage(calls=3))
        return await super().judge(task, plan, trace)


def test_cost_before_a_model_failure_is_reported() -> None:
    verdict = evaluate(trace=REPLANNED, judge=_FailsOnSecondPlan(), plan_in_force="latest")
    assert (verdict.outcome, verdict.cause) == (Outcome.JUDGE_FAILED, "unavailable")
    assert verdict.cost == Usage(calls=4, tokens_in=10)


def test_rejected_evidence_is_reported_with_the_number_of_its_plan() -> None:
    events = trace(todos(READING), READ, todos(MAILING), MAIL)
    verdict = evaluate(trace=events, judge=_ModelJudgeStub(), plan_in_force="latest")
    assert [one.step for one in verdict.rejected] == ["e1/1", "1"]


def test_a_judge_without_findings_is_refused() -> None:
    prompt = find_judge("prompt", model=FakeModel({"score": 1.0, "reason": "Step 1 was done."}))
    with pytest.raises(InvalidInput, match=r"judge without findings can't .* Use `rules`"):
        evaluate(trace=REPLANNED, judge=prompt, plan_in_force="latest")


@dataclass
class _ScoreOnlyJudge(_ModelJudgeStub):
    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        return replace(await super().judge(task, plan, trace), findings=None, score=1.0)


def test_another_judge_without_findings_fails() -> None:
    verdict = evaluate(trace=REPLANNED, judge=_ScoreOnlyJudge(), plan_in_force="latest")
    assert verdict.outcome is Outcome.JUDGE_FAILED
    assert "a judge without findings can't judge" in verdict.reason


def test_a_plan_that_is_given_lets_no_other_come_into_force() -> None:
    with pytest.raises(InvalidInput, match=r"a plan was given.* Omit the plan"):
        evaluate(plan=[READING], trace=REPLANNED, plan_in_force="latest")


def test_other_values_of_plan_in_force_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean `latest`"):
        evaluate(trace=REPLANNED, plan_in_force="last")  # pyright: ignore[reportArgumentType]


def test_done_steps_are_shown_to_the_judge_first() -> None:
    judge = _ModelJudgeStub()
    events = trace(todos(READING, COPYING), READ, todos(COPYING, READING, DELETING), COPY, DELETE)
    verdict = evaluate(trace=events, judge=judge, plan_in_force="latest")
    assert verdict.score == 1.0
    plan, shown = judge.given[1]
    assert [step.text for step in plan.steps] == [READING, COPYING, DELETING]
    assert [event.id for event in shown.events] == ["e2", "e4", "e5"]


TWO = trace(
    asked("Tidy up."), todos(READING, DELETING), READ, todos(DELETING, MAILING), DELETE, said("Ok.")
)
SOURCE = Source.from_value(TWO)
VERDICT: dict[str, Any] = evaluate(trace=TWO, plan_in_force="latest").full()


def _step(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict["steps"][place].update(changes)


def _plan(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict["plan"].update(changes)


def _leaves_out(place: int) -> Callable[[dict[str, Any]], None]:
    return lambda verdict: verdict["steps"].pop(place)


def _moves_the_first_to_the_end(verdict: dict[str, Any]) -> None:
    verdict["steps"].append(verdict["steps"].pop(0))


def _adds_what_was_never_done(verdict: dict[str, Any]) -> None:
    done = {**verdict["steps"][1], "number": "e2/2", "text": DELETING}
    verdict["steps"].insert(1, done)


def _withdraws_a_step(verdict: dict[str, Any]) -> None:
    verdict["steps"].pop(0)
    verdict["steps"][0]["covers"].insert(0, "e3")


def test_the_untampered_verdict_is_valid() -> None:
    assert [step["number"] for step in VERDICT["steps"]] == ["e2/1", "1", "2"]
    assert verify(VERDICT, SOURCE) == ()


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (_plan(in_force="first"), "/steps: 3 steps; expected 2"),
        (_plan(in_force="never"), "/plan/in_force: Input should be 'first' or 'latest'"),
        (_plan(in_force=None), "/plan/in_force: does not match the plan; expected first"),
        (_plan(replans=[]), "/plan/replans: does not match the plan"),
        (_step(0, text=MAILING), "/steps/0/text: does not match the plan; expected 'Read a.txt'"),
        (_step(0, number="e4/1"), "/steps/0/number: does not match the plan; expected '1'"),
        (_step(0, number="e2/2"), "/steps: 3 steps; expected 2"),
        (_step(0, number="3"), "/steps: 3 steps; expected 2"),
        (_step(0, parent="1"), "/steps/0/parent: does not match the plan; expected None"),
        (_step(2, covers=["e3"]), "/steps/2/covers/0: step 2 was not in the plan at e3."),
        (_step(0, covers=["e3", "e5"]), "/steps/0/covers/1: step e2/1 was not in the plan"),
        (_leaves_out(0), "/extras: action e3 is neither covered by a step nor an extra."),
        (_leaves_out(1), "/steps: 2 steps; expected 3"),
        (_leaves_out(2), "/steps: 2 steps; expected 3"),
        (_moves_the_first_to_the_end, "/steps/0/number: does not match the plan; expected 'e2/1'"),
        (_adds_what_was_never_done, "/steps: 4 steps; expected 3"),
        (_withdraws_a_step, "/reason: does not follow from the findings"),
    ],
)  # fmt: skip
def test_a_tampered_verdict_is_rejected(
    tamper: Callable[[dict[str, Any]], None], problem: str
) -> None:
    verdict = copy.deepcopy(VERDICT)
    tamper(verdict)
    problems = verify(verdict, SOURCE)
    assert any(found.startswith(problem) for found in problems), problems
