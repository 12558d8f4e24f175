"""Several conditions on one value: all must hold, and together they close a list."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.contracts.condition_check import check_condition, describe_condition
from planproof.contracts.shell_values import check_command, has_effect, parse_shell
from planproof.core.contract import Condition, Truth

_ANA, _RUI = Condition(any_of=("ana@x.com",)), Condition(any_of=("rui@x.com",))
_BOTH = Condition(any_of=("ana@x.com",), all_of=(_RUI,))


def test_parts_are_flat() -> None:
    nested = Condition(path="a", all_of=(Condition(number=1.0, all_of=(_ANA, _RUI)),))
    assert nested.parts == (Condition(path="a"), Condition(number=1.0), _ANA, _RUI)
    assert _ANA.parts == (_ANA,)
    assert describe_condition(nested) == "a and 1 and ana@x.com and rui@x.com"


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        ("hotels in Lisbon", Truth.MATCH),
        ("Lisbon hotel", Truth.MATCH),
        ("Lisbon museums", Truth.MISMATCH),
        (None, Truth.MISMATCH),
    ],
)
def test_all_must_hold(value: Any, truth: Truth) -> None:
    condition = Condition(
        any_of=("Lisbon",), all_of=(Condition(any_of=("hotel", "hotels"), not_=("hostel",)),)
    )
    assert check_condition(condition, value) is truth


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        (["ana@x.com", "rui@x.com"], Truth.MATCH),
        (["rui@x.com", "ana@x.com"], Truth.MATCH),
        ("ana@x.com, rui@x.com", Truth.MATCH),
        ([{"address": "ana@x.com"}, {"address": "rui@x.com"}], Truth.MATCH),
        (["ana@x.com"], Truth.MISMATCH),
        (["ana@x.com", "rui@x.com", "eve@y.com"], Truth.MISMATCH),
        ("ana@x.com, rui@x.com, eve@y.com", Truth.MISMATCH),
        ([], Truth.MISMATCH),
        (["ana@x.com", "rui@x.com"] * 5_000, Truth.UNKNOWN),
    ],
)
def test_each_item_of_a_list_matches_one_and_each_is_matched(value: Any, truth: Truth) -> None:
    assert check_condition(_BOTH, value) is truth


def test_what_must_not_occur_occurs_in_no_item() -> None:
    condition = Condition(any_of=("ana@x.com",), all_of=(_RUI, Condition(not_=("draft",))))
    assert check_condition(condition, ["ana@x.com", "rui@x.com"]) is Truth.MATCH
    assert check_condition(condition, ["ana@x.com", "rui@x.com draft"]) is Truth.MISMATCH


def test_a_command_meets_all() -> None:
    (command,) = parse_shell("grep -i hello src/app.py").commands
    condition = Condition(program=("grep",), all_of=(Condition(argument=("-i",)),))
    assert check_command(condition, command) is Truth.MATCH
    other = Condition(program=("grep",), all_of=(Condition(argument=("-v",)),))
    assert check_command(other, command) is Truth.MISMATCH
    (dry,) = parse_shell("git push --dry-run").commands
    named = Condition(program=("git",), all_of=(Condition(argument=("--dry-run",)),))
    assert has_effect(dry, (named,))
