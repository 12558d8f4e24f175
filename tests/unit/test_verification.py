"""The checker of verdicts: accepts what is true, names the field of whatever is not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from planproof.core.finding import Evidence, Findings, Status, StepFinding
from planproof.core.vocabulary import Vocabulary
from planproof.evaluation import evaluate
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.unit.tampered_verdicts import (
    FINDINGS,
    PLAN,
    SOURCE,
    TAMPERED,
    TRACE,
    VERDICT,
    ScriptedJudge,
    call,
    make_verdict,
    step_finding,
)


def test_the_untouched_verdict_is_accepted() -> None:
    assert VERDICT["score"] == 0.25
    assert verify(VERDICT, SOURCE) == ()
    assert verify(VERDICT, SOURCE, plan=parse_plan(PLAN)) == ()


@pytest.mark.parametrize("missing", ["confidence", "measures"])
def test_a_verdict_of_an_older_version_lacks_a_field(missing: str) -> None:
    older = {name: value for name, value in VERDICT.items() if name != missing}
    assert verify(older, SOURCE) == ()


@pytest.mark.parametrize(("tamper", "problem"), TAMPERED)
def test_a_tampered_verdict_is_rejected(
    tamper: Callable[[dict[str, Any]], None], problem: str
) -> None:
    verdict = copy.deepcopy(VERDICT)
    tamper(verdict)

    problems = verify(verdict, SOURCE)

    assert any(found.startswith(problem) for found in problems), problems


@pytest.mark.parametrize("verdict", [None, [], "verdict", 3])
def test_a_non_object_is_not_a_verdict(verdict: Any) -> None:
    assert verify(verdict, SOURCE) == ("The verdict is not a JSON object.",)


def test_another_trace_is_rejected() -> None:
    other = Source.from_value([*TRACE[:5], *call(9, "copy_file", "c.txt")])

    problems = verify(VERDICT, other)

    assert problems[0].startswith("/inputs/trace: the digest does not match this trace")


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (PLAN[:3], "/steps: 4 steps; expected 3, as in the plan."),
        (
            ["Read b.txt", *PLAN[1:]],
            "/steps/0/text: does not match the plan; expected 'Read b.txt'.",
        ),
        (
            [f"{n}. {text}" for n, text in zip("2345", PLAN, strict=True)],
            "/steps/0/number: does not match the plan; expected '2'.",
        ),
        (
            [*PLAN[:3], "Mail the log"],
            "/steps/3/waived: this step is not optional in the plan.",
        ),
        (
            [*PLAN[:2], "(in any order) Delete a.txt", PLAN[3]],
            "/steps/2/free_order: does not match the plan; expected True.",
        ),
    ],
)
def test_another_plan_is_rejected(plan: list[str], problem: str) -> None:
    assert problem in verify(VERDICT, SOURCE, plan=parse_plan(plan))


def test_a_parent_is_not_executed_when_a_refinement_is_not() -> None:
    plan = {"1": "Move", "1.1": "Read a.txt", "1.2": "Copy a.txt"}
    steps = tuple(
        StepFinding(
            number=number,
            text=text,
            status=Status.EXECUTED if number == "1" else Status.MISSING,
            confidence=1.0,
            parent=None if number == "1" else "1",
        )
        for number, text in plan.items()
    )
    problems = verify(
        make_verdict(Findings(steps), plan=[f"{n}. {text}" for n, text in plan.items()]), SOURCE
    )

    assert "/steps/0/status: executed, but its sub-step 1.1 is missing." in problems
    assert not any("without evidence" in problem for problem in problems)


def test_parents_in_a_circle_end() -> None:
    verdict = copy.deepcopy(VERDICT)
    for place, parent in enumerate(("2", "1", "1", None)):
        verdict["steps"][place].update(parent=parent, status="missing")

    assert verify(verdict, SOURCE)


def test_calls_of_one_turn_have_no_order() -> None:
    calls = [message["tool_calls"][0] for message in TRACE if "tool_calls" in message]
    trace = [TRACE[0], {"role": "assistant", "tool_calls": [calls[1], calls[0]]}]
    findings = Findings(
        (
            step_finding("1", Status.EXECUTED, Evidence("e3", "/1/tool_calls/1", "read_file")),
            step_finding("2", Status.EXECUTED, Evidence("e2", "/1/tool_calls/0", "delete_file")),
        )
    )
    plan = PLAN[:2]

    assert verify(make_verdict(findings, plan=plan, trace=trace), Source.from_value(trace)) == ()


def test_declared_tools_keep_books() -> None:
    vocabulary = Vocabulary().with_declared(bookkeeping=frozenset({"web_search"}))
    verdict = json.loads(
        json.dumps(
            evaluate(
                task="Move a.txt.",
                plan=PLAN,
                trace=TRACE,
                judge=ScriptedJudge(Findings(FINDINGS.steps)),
                vocabulary=vocabulary,
            ).full()
        )
    )

    assert verify(verdict, SOURCE, vocabulary=vocabulary) == ()
    assert "/extras: action e5 is neither covered by a step nor an extra." in verify(
        verdict, SOURCE
    )


@pytest.mark.parametrize(("plan", "trace"), [([], TRACE), (PLAN, [])])
def test_an_unjudged_verdict_is_accepted(plan: Any, trace: Any) -> None:
    verdict = make_verdict(FINDINGS, plan=plan, trace=trace)

    assert verdict["outcome"] in {"no_plan", "no_events"}
    assert verify(verdict, Source.from_value(trace)) == ()


@pytest.mark.parametrize("plan", [PLAN, None])
def test_a_trace_that_was_not_understood_can_have_no_score(plan: Any) -> None:
    prose = "All of it was done.\nNothing else was."
    verdict = make_verdict(FINDINGS, plan=plan, trace=prose)

    assert verdict["outcome"] == "not_understood"
    assert verify(verdict, Source.from_value(prose)) == ()
    for outcome in ("scored", "no_events"):
        problems = verify({**verdict, "outcome": outcome}, Source.from_value(prose))
        assert (
            "/outcome: less than half of the trace was read; expected not_understood." in problems
        )


def test_a_failed_verdict_has_nothing_to_check() -> None:
    verdict = {"outcome": "judge_failed", "reason": "The case could not be read."}

    assert verify(verdict, SOURCE) == ()


def test_an_invalid_input_has_nothing_to_check() -> None:
    verdict = {"outcome": "invalid_input", "reason": "The plan is a number."}

    assert verify(verdict, SOURCE) == ()
    assert verify({**verdict, "score": 0.0}, SOURCE) == (
        "/score: the outcome is invalid_input; expected null.",
    )


MODEL_VERDICT: dict[str, Any] = {
    **VERDICT,
    "steps": [],
    "extras": [],
    "nearest_better": None,
    "confidence": None,
    "measures": None,
    "judge": {"name": "prompt", "fingerprint": "1", "models": ["openai:small"]},
    "cost": {"calls": 1},
    "coverage": {**VERDICT["coverage"], "shown": 5},
    "score": 0.3,
    "reason": "Step 3 came before step 2.",
}


def test_a_model_may_give_a_score_and_a_reason_of_its_own() -> None:
    assert verify(MODEL_VERDICT, SOURCE) == ()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"score": None}, "/score: not a valid score; expected a number from 0 to 1."),
        ({"score": 7.5}, "/score: not a valid score; expected a number from 0 to 1."),
        ({"level": 0.5}, "/level: does not match the score; expected 0.25."),
        ({"confidence": 0.9}, "/confidence: a model gave the score; expected null."),
        ({"measures": {}}, "/measures: a model gave the score; expected null."),
        (
            {"reason": "Step 3 is close."},
            "/reason: The reason uses the adjective of degree 'close'.",
        ),
    ],
)
def test_a_model_keeps_to_the_form(changes: dict[str, Any], problem: str) -> None:
    assert problem in verify({**MODEL_VERDICT, **changes}, SOURCE)


def test_what_is_wrong_with_the_words_of_a_model_must_have_been_reported() -> None:
    close = "The reason uses the adjective of degree 'close'."
    verdict = {**MODEL_VERDICT, "reason": "Step 3 is close."}

    assert verify({**verdict, "warnings": [close]}, SOURCE) == ()
    assert verify({**verdict, "warnings": ["Something else."]}, SOURCE) == (f"/reason: {close}",)


def test_odd_metadata_is_accepted() -> None:
    verdict = {**VERDICT, "id": "\ud800", "metadata": {"x": "\udfff"}}

    assert verify(verdict, SOURCE) == ()


def test_what_the_user_did_needs_no_step() -> None:
    trace = {
        "format": "planproof/trace-1",
        "events": [
            {"id": "e1", "kind": "action", "name": "upload", "actor": "user", "text": "upload x"},
            {"id": "e2", "kind": "action", "name": "read_file", "text": "read_file a.txt"},
        ],
    }
    verdict = evaluate(task="Read a.txt.", plan=["Read a.txt"], trace=trace)

    assert verdict.steps[0].covers == ("e2",)
    assert verify(verdict.full(), Source.from_value(trace)) == ()
