"""The order of steps, against trying every subset."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from planproof.checking.step_order import find_out_of_order

POSITIONS = st.lists(st.none() | st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=8)


def is_in_order(positions: list[tuple[int, int] | None], kept: tuple[int, ...]) -> bool:
    firsts: dict[int, int] = {}
    for position in positions:
        if position is not None:
            event, turn = position
            firsts[turn] = min(event, firsts.get(turn, event))
    began = [positions[index] for index in kept]
    ranks = [firsts[p[1]] if p[1] else p[0] for p in began if p is not None]
    return ranks == sorted(ranks)


@given(POSITIONS)
def test_as_many_stay_as_can_and_the_earliest_planned_of_them(
    positions: list[tuple[int, int] | None],
) -> None:
    placed = [index for index, position in enumerate(positions) if position is not None]
    # combinations() goes through the earliest-planned first.
    best = next(
        kept
        for size in range(len(placed), -1, -1)
        for kept in combinations(placed, size)
        if is_in_order(positions, kept)
    )

    assert find_out_of_order(positions) == set(placed) - set(best)


@given(POSITIONS)
def test_a_step_that_did_not_begin_changes_nothing(
    positions: list[tuple[int, int] | None],
) -> None:
    began = [position for position in positions if position is not None]

    assert len(find_out_of_order(positions)) == len(find_out_of_order(began))
