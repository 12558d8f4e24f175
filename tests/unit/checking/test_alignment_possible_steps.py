"""Which steps an event can be put under at all; and the prices that the argument rests on."""

from __future__ import annotations

import pytest

from planproof.checking.alignment import (
    OTHER_CALL_SCORE,
    find_possible_steps,
    load_costs,
    may_be_shared,
)
from planproof.checking.similarity import FEATURE_SIGNS, load_shipped_weights
from tests.trace_builders import Event, did, said, thought
from tests.unit.checking.judge_cases import make_candidates, make_requirement

CAKE = did("bake_cake", "in the oven", size="large")
PIZZA = did("order_pizza", "on its way", size="large")
OTHER = make_requirement("Taste the cake")
"""A step with which the cake has a word in common."""


@pytest.mark.parametrize(
    ("step", "event", "may"),
    [
        ("Delete draft-7.txt", CAKE, False),
        ("Delete draft-7.txt", did("remove", path="a"), True),
        ("Delete draft-7.txt", did("bake_cake", "draft-7.txt is no cake"), True),
        ("Delete the draft", did("bake_cake", note="a draft"), True),
        ("Delete the old drafts", did("bake_cake", "old drafts"), True),
        # To order is an action type of its own, whatever is ordered.
        ("Delete draft-7.txt", did("order", "gone", what="draft-7.txt"), False),
        # An unknown verb may have any action type, and every call is `run`.
        ("Frobnicate it", CAKE, True),
        ("Run the tests", CAKE, True),
        ("Delete draft-7.txt again", CAKE, True),
        ("Tell the user", CAKE, False),
        ("Delete draft-7.txt", said("Nothing."), True),
        ("Delete draft-7.txt", thought("Nothing."), False),
        ("Decide what to do", thought("Nothing."), True),
        ('remove({"path": "a"})', did("remove", path="b"), True),
        ('remove({"path": "a"})', did("delete", path="a"), False),
        ('remove({"path": "a"})', said("remove a"), False),
    ],
)
def test_what_may_be_under_a_step(step: str, event: Event, may: bool) -> None:
    assert (
        0 in find_possible_steps(make_candidates(event)[0], [make_requirement(step), OTHER])
    ) is may


@pytest.mark.parametrize("step", ["Frobnicate it", "Run the tests", "Delete draft-7.txt again"])
def test_what_has_nothing_in_common_with_any_step_fits_none(step: str) -> None:
    assert find_possible_steps(make_candidates(CAKE)[0], [make_requirement(step)]) == set()


def test_a_result_that_is_yet_to_come_may_be_anything() -> None:
    plan = [make_requirement("Delete draft-7.txt"), make_requirement('remove({"path": "a"})')]
    assert find_possible_steps(make_candidates(CAKE)[0], plan, has_result=False) == {0}
    assert find_possible_steps(make_candidates(PIZZA)[0], plan, has_result=False) == set()


def test_the_costs_that_the_argument_rests_on() -> None:
    """If one of these fails, a monitor may call proven what is not: see its decision record."""
    costs = load_costs()
    # Another call than the step's is never worth what leaving it over and skipping the step cost.
    assert costs.unassigned_action + costs.skip < -OTHER_CALL_SCORE
    # A claim is never worth a jump, where leaving it over costs nothing.
    assert costs.jump < -costs.claim
    assert not may_be_shared(
        make_candidates(thought("ls && ls"))[0], make_requirement("Delete it"), costs.claim
    )


def test_the_weights_that_the_argument_rests_on() -> None:
    weights = dict(zip(FEATURE_SIGNS, load_shipped_weights().values, strict=True))
    for name, weight in weights.items():
        assert weight * FEATURE_SIGNS[name] >= 0
