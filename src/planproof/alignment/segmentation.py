"""Which event belongs to which step: the best explanation of the trace by the plan.

Both alignments walk over the events once and keep, for every step, the best explanation in which
that step was the last one worked on. `in_order` may skip steps and leave events over, at a price;
`freely` may also jump between steps, so it finds what was done in another order. Only the worth of
the explanations is kept; walking back from the best one finds again how it came about.
"""

# ruff: noqa: FURB136, PLR1730 - in the loops, to compare is twice as fast as to call `max`
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

_NEVER = -(10**9)


class Segmentation(NamedTuple):
    """For each event the step that it belongs to, or -1; and what the explanation is worth."""

    steps: list[int]
    worth: int


def in_order(
    affinity: Sequence[Sequence[int]],
    leave: Sequence[int],
    skip: int,
    steps: int,
    *,
    under_way: bool = False,
) -> Segmentation:
    """The best explanation in plan order. `leave` is the price of each event left over.

    Of a run that is `under_way` the steps behind the last one are not skipped: they are to come.
    """
    # State k: step k-1 was worked on last; state 0: none yet. Prices are taken off.
    worth = [0] + [_NEVER] * steps
    history: list[list[int]] = []
    for row, price in zip(affinity, leave, strict=True):
        history.append(worth)
        before = iter(worth)
        best = next(before)  # of the states before, skipped steps paid up to here
        worth = [best - price]
        for stay, gain in zip(before, row, strict=True):
            here = (best if best > stay else stay) + gain
            left = stay - price
            worth.append(here if here >= left else left)
            best -= skip
            if stay > best:
                best = stay
    to_come = 0 if under_way else skip
    ends = [value - to_come * (steps - state) for state, value in enumerate(worth)]
    final = max(range(steps + 1), key=ends.__getitem__)

    def source(worth: list[int], state: int) -> tuple[int, int]:
        best, best_state = worth[0], 0
        for other in range(1, state):
            best -= skip
            if worth[other] > best:
                best, best_state = worth[other], other
        return (best, best_state) if best > worth[state] else (worth[state], state)

    history.append(worth)
    return Segmentation(_walk_back(history, affinity, leave, final, source), ends[final])


def freely(
    affinity: Sequence[Sequence[int]], leave: Sequence[int], jump: int, steps: int
) -> Segmentation:
    """The best explanation in any order; going on to the next step is free, any jump is paid."""
    worth = [0] + [_NEVER] * steps
    history: list[list[int]] = []
    for row, price in zip(affinity, leave, strict=True):
        history.append(worth)
        jumped = max(worth) - jump
        before = iter(worth)
        last = next(before)
        worth = [last - price]
        if jumped > last:
            last = jumped
        for stay, gain in zip(before, row, strict=True):
            here = (last if last > stay else stay) + gain
            left = stay - price
            worth.append(here if here >= left else left)
            last = stay if stay > jumped else jumped
    ends = [value - jump for value in worth[:-1]] + worth[-1:]
    final = max(range(steps + 1), key=ends.__getitem__)

    def source(worth: list[int], state: int) -> tuple[int, int]:
        top = max(worth)
        best, best_state = worth[state], state
        if worth[state - 1] > best:
            best, best_state = worth[state - 1], state - 1
        return (top - jump, worth.index(top)) if top - jump > best else (best, best_state)

    history.append(worth)
    return Segmentation(_walk_back(history, affinity, leave, final, source), ends[final])


def _walk_back(
    history: list[list[int]],
    affinity: Sequence[Sequence[int]],
    leave: Sequence[int],
    state: int,
    source: Callable[[list[int], int], tuple[int, int]],
) -> list[int]:
    """The step of each event. `source` is the best state to come from, and its worth by then."""
    path: list[int] = []
    value = history.pop()[state]
    for worth, row, price in zip(
        reversed(history), reversed(affinity), reversed(leave), strict=True
    ):
        step = state - 1
        # Most events go on with the step of the one before; only the others need a closer look.
        if state and value - row[step] != worth[state]:
            best, came_from = source(worth, state)
            if best + row[step] >= worth[state] - price:
                state = came_from
            else:
                step = -1
        value = worth[state]
        path.append(step)
    path.reverse()
    return path
