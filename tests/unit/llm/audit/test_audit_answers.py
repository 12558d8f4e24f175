"""How a model's answer is read: the kinds of steps, and what several answers come to."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.llm.audit.audit_answers import AuditAnswer, Claims, merge_claims, parse_claims
from tests.audit_helpers import audit_answer, step_answer


def claims(*steps: dict[str, Any]) -> Claims:
    return parse_claims(AuditAnswer.model_validate(audit_answer(*steps)), ["e1", "e2"])


@pytest.mark.parametrize(
    ("kind", "read"),
    [("tell", {"tell"}), (["act", "tell"], {"act", "tell"}), ([], {"act"})],
)
def test_a_step_has_a_kind_or_several(kind: Any, read: set[str]) -> None:
    (claim,) = claims({**step_answer("1", "executed"), "kind": kind}).steps.values()
    assert claim.kinds == read


@pytest.mark.parametrize("kind", ["do", None, ["act", "do"]])
def test_no_other_kinds_are_taken(kind: Any) -> None:
    with pytest.raises(ValueError, match="kind"):
        claims({**step_answer("1", "executed"), "kind": kind})


def test_a_step_that_one_window_calls_an_action_is_one() -> None:
    one = claims(step_answer("1", "missing", kind="act"))
    other = claims(step_answer("1", "executed", ("e2", "x"), kind="tell"))
    assert merge_claims([one, other]).steps["1"].kinds == {"act", "tell"}


def test_a_claim_is_written_as_it_was_answered() -> None:
    said = step_answer("1", "condition_failed", ("e1", "x"), events=["e2"], kind="act tell")
    assert claims(said).steps["1"].to_answer() == said
