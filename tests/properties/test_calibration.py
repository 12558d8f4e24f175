"""Every variant differs from its origin by what it says, and by nothing else."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.calibration.attacks import apply_attack
from planproof.calibration.flaws import OPERATORS, Operator, copy_unchanged, use_foreign_plan
from planproof.calibration.followed_cases import load_built_in_cases
from planproof.calibration.variant import (
    IDLE_ATTACKS,
    Attack,
    Flaw,
    FollowedCase,
    Rewording,
    Variant,
)
from planproof.calibration.variant_set import generate_variants
from planproof.core.trace import Kind
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.scoring import compute_score

SEEDS = st.integers(0, 10_000)
CASES = st.sampled_from(load_built_in_cases())
every_operator = pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.__name__)


def oracle(variant: Variant) -> float:
    """The score of a judge that knows the truth."""
    return compute_score(variant.ground_truth.to_findings(parse_plan(list(variant.plan))))


@every_operator
@given(CASES, SEEDS)
def test_a_judge_that_knows_the_truth_scores_a_flawed_case_below_its_origin(
    operator: Operator, case: FollowedCase, seed: int
) -> None:
    variant = operator(case, Random(seed))
    if variant is None:
        return
    origin = copy_unchanged(case)
    assert (origin.plan, origin.events, oracle(origin)) == (case.plan, case.events, 1.0)
    if isinstance(variant.change, Flaw):
        assert oracle(variant) < oracle(origin)
        assert oracle(variant) <= 0.5 or variant.change is Flaw.RETRIED
    else:
        assert oracle(variant) == 1.0


@every_operator
@given(CASES, SEEDS)
def test_the_same_chance_makes_the_same_variant(
    operator: Operator, case: FollowedCase, seed: int
) -> None:
    assert operator(case, Random(seed)) == operator(case, Random(seed))


@given(CASES, SEEDS)
def test_a_variant_differs_from_its_origin_by_one_thing(case: FollowedCase, seed: int) -> None:
    for operator in OPERATORS:
        variant = operator(case, Random(seed))
        if variant is None:
            continue
        assert (variant.origin, variant.task) == (case.id, case.task)
        kept = list(case.plan), list(case.events)
        match variant.change:
            case Flaw.MISSING:
                (place,) = variant.ground_truth.step_statuses
                assert _remove_item(variant.plan, place) == kept[0]
            case Flaw.UNPLANNED:
                assert [step for step in kept[0] if step != variant.where] == list(variant.plan)
            case Flaw.ORDER:
                apart = [k for k, step in enumerate(variant.plan) if step != kept[0][k]]
                assert len(apart) == 2
                assert apart[1] == apart[0] + 1
                assert sorted(variant.plan) == sorted(kept[0])
            case Flaw.SHUFFLED:
                assert sorted(variant.plan) == sorted(kept[0])
                assert 2 * len(variant.ground_truth.step_statuses) >= len(kept[0])
            case Flaw.ALTERED | Flaw.PARTIAL:
                (place,) = variant.ground_truth.step_statuses
                assert _remove_item(variant.plan, place) == _remove_item(kept[0], place)
                assert variant.plan[place] != kept[0][place]
            case Rewording.SPLIT:
                gone = [step for step in kept[0] if step not in variant.plan]
                assert len(gone) == 1
                assert len(variant.plan) > len(kept[0])
            case Rewording.MERGED:
                new = [step for step in variant.plan if step not in kept[0]]
                assert len(new) == 1
                assert len(variant.plan) == len(kept[0]) - 1
            case Flaw.REPLACED | Flaw.UNRELATED_ACTION | Flaw.RETRIED:
                (event,) = variant.ground_truth.extras
                assert [e for e in variant.events if e["id"] != event] == [
                    e for e in kept[1] if e["id"] != event
                ]
            case _:
                pytest.fail(f"no operator makes {variant.change}")
        changed = variant.plan != case.plan, variant.events != case.events
        assert changed != (True, True)


def _remove_item(items: Any, place: int) -> list[Any]:
    return [*items[:place], *items[place + 1 :]]


@given(CASES, SEEDS)
def test_an_altered_value_is_nowhere_in_the_trace(case: FollowedCase, seed: int) -> None:
    variant = next(op for op in OPERATORS if op.__name__ == "alter_value")(case, Random(seed))
    if variant is None:
        return
    value, other = variant.where.split(": ")[1].split(" became ")
    shown = json.dumps(case.events, ensure_ascii=False).lower()
    assert other.lower() not in shown
    assert len(value) == len(other)


@pytest.mark.parametrize("attack", Attack)
@given(CASES, SEEDS)
def test_an_attack_changes_texts_or_adds_idle_calls(
    attack: Attack, case: FollowedCase, seed: int
) -> None:
    for variant in generate_variants([case], seed):
        if variant.attack is not None or not isinstance(variant.change, Flaw):
            continue
        made = apply_attack(variant, attack)
        if made is None:
            continue
        added = Counter(_list_calls(made))
        added.subtract(_list_calls(variant))
        assert min(added.values()) == 0
        assert (sum(added.values()) > 0) == (attack in IDLE_ATTACKS)
        assert (made.plan, made.ground_truth, made.task) == (
            variant.plan,
            variant.ground_truth,
            variant.task,
        )
        assert made.events != variant.events


def _list_calls(variant: Variant) -> list[tuple[str, str]]:
    trace = read_trace(Source.from_value(variant.case.trace))
    return [
        (event.name or "", json.dumps([event.arguments, event.text]))
        for event in trace.events
        if event.kind is Kind.ACTION
    ]


def test_events_of_every_variant_have_ids_of_their_own() -> None:
    made = list(generate_variants(load_built_in_cases()))
    for variant in made:
        ids = [event["id"] for event in variant.events]
        assert len(ids) == len(set(ids))
    assert len({variant.id for variant in made}) == len(made)
    assert {variant.change for variant in made} == {None, *Flaw, *Rewording}
    assert {variant.attack for variant in made} == {None, *Attack}


@given(CASES, CASES)
def test_a_foreign_plan_is_that_of_another_case_and_nothing_else_is_changed(
    case: FollowedCase, other: FollowedCase
) -> None:
    variant = use_foreign_plan(case, other)
    assert (variant.plan, variant.events) == (other.plan, case.events)
    assert (variant.origin, variant.task) == (case.id, case.task)
    assert oracle(variant) == 0.0


def test_no_case_gets_its_own_plan_as_a_foreign_one() -> None:
    plans = {case.id: case.plan for case in load_built_in_cases()}
    made = [
        variant
        for variant in generate_variants(load_built_in_cases())
        if variant.change is Flaw.FOREIGN
    ]
    assert len(made) == len(plans)
    assert all(variant.plan != plans[variant.origin] for variant in made)
