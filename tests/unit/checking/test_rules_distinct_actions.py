"""Another action on the same thing is no execution of the step."""

from __future__ import annotations

import pytest

from planproof import evaluate
from planproof.checking.action_types import (
    find_exclusive_types,
    find_part_exclusive_types,
    find_tool_exclusive_types,
    stem_words,
)
from planproof.contracts.terms import stem
from planproof.core.finding import Status
from tests.trace_builders import did, trace


@pytest.mark.parametrize(
    ("step", "tool"),
    [
        ("Cancel the order 4711", "refund_order"),
        ("Compress the file 4711", "copy_file"),
        ("Publish the page 4711", "clear_page"),
        ("Apply the discount 4711", "approve_discount"),
        ("Lock the account 4711", "unlock_account"),
        ("Look up the order 4711", "cancel_order"),
        ("Look up the order 4711", "create_order"),
    ],
)
def test_another_action_on_the_same_object_is_a_missing_step_and_an_extra(
    step: str, tool: str
) -> None:
    verdict = evaluate(plan=[step], trace=trace(did(tool, "done", id="4711")))
    assert [finding.status for finding in verdict.steps] == [Status.MISSING]
    assert [extra.severity for extra in verdict.extras] == ["major"]


@pytest.mark.parametrize(
    ("step", "tool"),
    [
        ("Cancel the order 4711", "cancel_order"),
        ("Call off the order 4711", "cancel_order"),
        ("Cancel the order 4711", "update_order"),
        ("Delete the file 4711", "remove_file"),
        ("Look up the order 4711", "open_order"),
        ("Issue a refund for order 4711", "refund_order"),
        ("Cancel the order 4711 and refund it", "refund_order"),
    ],
)
def test_synonyms_are_the_same_action_type(step: str, tool: str) -> None:
    verdict = evaluate(plan=[step], trace=trace(did(tool, "done", id="4711")))
    assert verdict.steps[0].status in {Status.EXECUTED, Status.PARTIAL}
    assert verdict.extras == ()


def test_a_verb_may_have_several_action_types() -> None:
    assert {"move", "transfer"} <= find_exclusive_types([stem("move")])
    assert find_exclusive_types([stem("update")]) == frozenset()
    assert find_exclusive_types([stem("call"), stem("off")]) == find_exclusive_types(
        [stem("cancel")]
    ) & {"cancel"}


def test_only_the_first_verb_of_a_name_counts() -> None:
    assert find_tool_exclusive_types("get_refund") == frozenset()
    assert find_tool_exclusive_types("refund_payment") == {"refund"}


def test_a_part_that_begins_with_another_verb_may_be_done_by_anything() -> None:
    assert find_part_exclusive_types("Update the order after the refund") == frozenset()
    assert find_part_exclusive_types("Check the refund") == {"look"}


def test_words_in_a_file_name_are_not_verbs() -> None:
    assert stem_words("Compress notes/may.md, ./list or /tell/me and read/write it") == [
        stem(word) for word in ("compress", "or", "and", "read", "write", "it")
    ]
