"""Differences between contracts: what they say, not how they are written."""

from __future__ import annotations

import pytest

from planproof.contracts.contract_diff import ChangeKind, FieldChange, StepChange, diff_contracts
from planproof.contracts.contract_file import format_contract, parse_contract, to_json
from planproof.core.contract import Contract
from tests.unit.contracts.test_contract_file import CONTRACT, TEXT


def _number(*texts: str) -> Contract:
    steps = "".join(
        f"- {{number: '{number}', text: {text}, call: {text}}}\n"
        for number, text in enumerate(texts, start=1)
    )
    return parse_contract(f"planproof: contract/1\nsteps:\n{steps}", "c")


def _describe(old: Contract, new: Contract) -> list[str]:
    return [f"{step.kind} {step.text}" for step in diff_contracts(old, new).steps]


def test_the_way_of_writing_makes_no_difference() -> None:
    other = parse_contract(to_json(parse_contract(f"# x\n{format_contract(CONTRACT)}", "c")), "d")
    assert not diff_contracts(CONTRACT, other)


@pytest.mark.parametrize(
    ("old", "new", "path", "values"),
    [
        ("Lisbon], for", "Porto], for", "where.origin", (
            "{any_of: [LIS, Lisbon], for: Lisbon}", "{any_of: [LIS, Porto], for: Lisbon}",
        )),
        ("times: {min: 2}", "only: true", "times", ("{min: 2}", None)),
        ("says: [[sold out, un", "says: [[gone, un", "message.says", (
            "[[sold out, unavailable]]", "[[gone, unavailable]]",
        )),
        ("available: {max: 0}", "available: {max: 1}", "when.result.available", (
            "{max: 0}", "{max: 1}",
        )),
    ],
)  # fmt: skip
def test_a_change_of_a_step(
    old: str, new: str, path: str, values: tuple[str | None, str | None]
) -> None:
    changed = parse_contract(TEXT.replace(old, new), "c")
    difference = diff_contracts(CONTRACT, changed)
    (step,) = difference.steps
    assert (difference.fields, step.kind) == ((), ChangeKind.CHANGED)
    assert FieldChange(path, *values) in step.fields


def test_changes_of_the_rest() -> None:
    changed = TEXT.replace("[delete_account]", "[drop]").replace("{by: Ann", "{by: Bob")
    difference = diff_contracts(CONTRACT, parse_contract(changed, "c"))
    assert difference.steps == ()
    assert difference.fields == (
        FieldChange(
            "origin.reviewed",
            '{by: Ann, date: "2026-11-16"}',
            '{by: Bob, date: "2026-11-16"}',
        ),
        FieldChange("never", "[delete_account]", "[drop]"),
    )


def test_an_added_step_leaves_the_others_alone() -> None:
    difference = diff_contracts(_number("a", "b"), _number("a", "x", "b"))
    assert difference.steps == (
        StepChange(ChangeKind.ADDED, "2", "x", (FieldChange("call", None, "x"),)),
        StepChange(ChangeKind.CHANGED, "3", "b", (FieldChange("number", '"2"', '"3"'),)),
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abc", "abc", []),
        ("abc", "ac", ["changed c", "removed b"]),
        ("abcd", "bcda", ["changed b", "changed c", "changed d", "moved a"]),
        ("abcd", "dabc", ["moved d", "changed a", "changed b", "changed c"]),
        ("ab", "ax", ["changed x"]),
        ("", "a", ["added a"]),
        ("a", "", ["removed a"]),
        ("aa", "aaa", ["added a"]),
    ],
)
def test_steps_are_paired_by_text_then_by_number(old: str, new: str, expected: list[str]) -> None:
    assert _describe(_number(*old), _number(*new)) == expected
