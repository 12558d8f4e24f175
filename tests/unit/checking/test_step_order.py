"""Which steps stand out of order (DESIGN's readings of the rubric, number 5)."""

from __future__ import annotations

import pytest

from planproof.checking.step_order import find_out_of_order

Positions = list[tuple[int, int] | None]


def make_positions(*events: int | None) -> Positions:
    """Each step begins at the given event, every event in a turn of its own."""
    return [None if event is None else (event, event + 1) for event in events]


@pytest.mark.parametrize(
    ("positions", "moved"),
    [
        pytest.param([], set[int](), id="no steps"),
        pytest.param(make_positions(None, None), set[int](), id="nothing began"),
        pytest.param(make_positions(3, 5, 9), set[int](), id="in plan order"),
        pytest.param(
            make_positions(1, 3, 2), {2}, id="of two neighbours exchanged, the later-planned"
        ),
        pytest.param(make_positions(2, 1), {1}, id="only two, exchanged"),
        pytest.param(make_positions(9, 1, 2, 3), {0}, id="the first step came last"),
        pytest.param(make_positions(4, 5, 6, 1), {3}, id="the last step came first"),
        pytest.param(make_positions(4, 3, 2, 1), {1, 2, 3}, id="reversed"),
        pytest.param(make_positions(5, None, 4), {2}, id="a missing step between them"),
        pytest.param(make_positions(7, 7, 7), set[int](), id="one event executes several"),
        pytest.param([(5, 2), (4, 2)], set[int](), id="issued together in one turn"),
        pytest.param([(5, 2), (4, 2), (3, 1)], {2}, id="before a turn, not in it"),
        pytest.param([(5, 0), (4, 0)], {1}, id="turn 0 is no turn"),
        pytest.param([(9, 1), (4, 2), (3, 1)], {2}, id="a turn counts from its first event"),
    ],
)
def test_the_fewest_steps_move(positions: Positions, moved: set[int]) -> None:
    assert find_out_of_order(positions) == moved


def test_a_long_plan_is_ordered_at_once() -> None:
    positions = make_positions(*range(50_000, 0, -1))

    assert len(find_out_of_order(positions)) == 49_999
