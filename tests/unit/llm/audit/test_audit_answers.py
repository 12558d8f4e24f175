"""How a model's answer is read, and what the answers on several windows come to."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.core.finding import Status
from planproof.llm.audit.audit_answers import (
    AuditAnswer,
    Claims,
    find_split_steps,
    merge_claims,
    parse_claims,
)
from planproof.llm.audit.step_values import Equation
from tests.audit_helpers import audit_answer, step_answer


def claims(*steps: dict[str, Any]) -> Claims:
    return parse_claims(AuditAnswer.model_validate(audit_answer(*steps)), ["e1", "e2"])


def test_a_claim_is_written_as_it_was_answered() -> None:
    same = {"plan": "Boston", "event": "e1", "value": "BOS"}
    said = step_answer("1", "condition_failed", ("e1", "x"), events=["e2"], same=[same])
    del said["kind"]
    assert claims(said).steps["1"].to_answer() == said


def test_words_that_mean_the_same_belong_to_their_step() -> None:
    same = {"plan": " Boston ", "event": "[e1]", "value": "BOS"}
    (claim,) = claims(step_answer("1", "executed", same=[same])).steps.values()
    assert claim.same == (Equation("1", "Boston", "e1", "BOS"),)


def test_an_answer_without_equations_is_complete() -> None:
    said = step_answer("1", "executed", ("e1", "x"))
    del said["same"]
    assert claims(said).steps["1"].same == ()


@pytest.mark.parametrize(
    ("windows", "merged"),
    [
        (("missing", "executed"), Status.EXECUTED),
        (("executed", "missing"), Status.EXECUTED),
        (("executed", "partial"), Status.PARTIAL),
        (("ambiguous", "executed", "missing"), Status.AMBIGUOUS),
        (("partial", "partial"), Status.PARTIAL),
        (("executed", "executed"), Status.EXECUTED),
        (("missing", "missing"), Status.MISSING),
    ],
)
def test_the_best_window_does_not_decide(windows: tuple[str, ...], merged: Status) -> None:
    said = [claims(step_answer("1", status, (f"e{n}", "x"))) for n, status in enumerate(windows)]
    joined = merge_claims(said).steps["1"]
    assert joined.status is merged
    assert len(joined.evidence) == len(windows)


def test_steps_that_several_windows_show_in_part_are_split() -> None:
    one = claims(*(step_answer(number, "partial") for number in "123"))
    other = claims(
        step_answer("1", "partial"), step_answer("2", "missing"), step_answer("3", "executed")
    )
    assert find_split_steps([one, other]) == ("1", "3")
    assert find_split_steps([one]) == ()
