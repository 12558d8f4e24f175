"""Which steps stand out of order: the fewest that would have to move."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def find_out_of_order(positions: Sequence[tuple[int, int] | None]) -> frozenset[int]:
    """The places, in the plan, of the steps that would have to move for the rest to be in order.

    For each step in plan order, `positions` says where it began: the index of the event and its
    turn; or None if it did not begin, or if the plan leaves its place open. Events of one turn
    have no order among themselves; turn 0 is no turn at all. Of all the smallest answers the one
    is given that moves the later-planned steps: of two neighbours exchanged, the second.
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
    """One number a step; the events of a turn count as begun with the first of them."""
    first: dict[int, int] = {}
    for event, turn in positions:
        first[turn] = min(event, first.get(turn, event))
    return [first[turn] if turn else event for event, turn in positions]


def _longest_from(ranks: Sequence[int]) -> list[int]:
    """For each place, how many steps can follow in order from there on, itself included."""
    # tails[k] is the negated highest rank that a run of k + 1 steps further on can begin with.
    tails: list[int] = []
    lengths: list[int] = []
    for rank in reversed(ranks):
        at = bisect_right(tails, -rank)
        tails[at : at + 1] = [-rank]
        lengths.append(at + 1)
    return lengths[::-1]
