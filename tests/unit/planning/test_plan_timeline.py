"""What a later plan changes of the one before it, and what stays."""

from __future__ import annotations

from planproof.planning.plan_parser import parse_plan
from planproof.planning.plan_timeline import (
    diff_plans,
    match_unchanged_steps,
    restore_earlier_steps,
)


def test_the_same_items_in_another_order_are_reordered() -> None:
    old, new = parse_plan(["Read it", "Fix it", "Ship it"]), parse_plan(["Fix it", "READ it."])
    changes = diff_plans(old, new)
    assert changes.reordered
    assert (changes.added, changes.dropped) == ((), ("Ship it",))
    assert not diff_plans(old, parse_plan(["Read it", "Write it", "Fix it"])).reordered
    assert not diff_plans(old, old)


def test_of_the_same_words_twice_a_shorter_list_leaves_out_the_first() -> None:
    long = parse_plan(["Run the tests", "Fix the bug", "Run the tests"])
    short = parse_plan(["Fix the bug", "Run the tests"])
    assert match_unchanged_steps(long.leaves, short.leaves) == {"2": "1", "3": "2"}
    assert match_unchanged_steps(short.leaves, long.leaves) == {"1": "2", "2": "1"}
    assert diff_plans(long, short).dropped == ("Run the tests",)


def test_a_list_that_goes_on_never_has_a_number_twice() -> None:
    old = parse_plan("1. Read it\n2. Fix it\n3. Ship it")
    plan = restore_earlier_steps(old, parse_plan("3. Ship it\n1. Read it again"))
    assert [(step.number, step.text) for step in plan.steps] == [
        ("2", "Fix it"),
        ("3", "Ship it"),
        ("1", "Read it again"),
    ]
