"""Find the steps that are out of order: the fewest that would have to move."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def find_out_of_order(positions: Sequence[tuple[int, int] | None]) -> frozenset[int]:
    """Return the indices of the steps that would have to move for the rest to be in order.

    `positions` has, for each step in plan order, where it started: the index of the event and its
    turn; or None if it did not start, or if the plan leaves its order open. Events of one turn are
    not ordered; turn 0 means no turn. Of all smallest results, the one that moves later-planned
    steps is returned: of two swapped neighbours, the second.
    """
    placed = [(index, position) for index, position in enumerate(positions) if position]
    ranks = _ranks([position for _, position in placed])
    lengths = _longest_from(ranks)
    remaining = max(lengths, default=0)
    reached = -1
    moved: list[int] = []
    for (index, _), rank, length in zip(placed, ranks, lengths, strict=True):
        if length == remaining and rank >= reached:
            reached = rank
            remaining -= 1
        else:
            moved.append(index)
    return frozenset(moved)


def _ranks(positions: Sequence[tuple[int, int]]) -> list[int]:
    """Return one rank per step; all events of a turn get the rank of its first event."""
    first: dict[int, int] = {}
    for event, turn in positions:
        first[turn] = min(event, first.get(turn, event))
    return [first[turn] if turn else event for event, turn in positions]


def _longest_from(ranks: Sequence[int]) -> list[int]:
    """Return for each step how many can follow in order from it, itself included."""
    # tails[k] is the negated highest rank that can start a sequence of k + 1 later steps.
    tails: list[int] = []
    lengths: list[int] = []
    for rank in reversed(ranks):
        at = bisect_right(tails, -rank)
        tails[at : at + 1] = [-rank]
        lengths.append(at + 1)
    return lengths[::-1]
