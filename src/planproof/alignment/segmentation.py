"""Which event belongs to which step: the best explanation of the trace by the plan.

Both alignments walk over the events once and keep, for every step, the best explanation in which
that step was the last one worked on. `in_order` may skip steps and leave events over, at a price;
`freely` may also jump between steps, so it finds what was done in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_NEVER = -(10**9)


class Segmentation(NamedTuple):
    """For each event the step that it belongs to, or -1; and what the explanation is worth."""

    steps: list[int]
    worth: int


def in_order(
    affinity: Sequence[Sequence[int]], leave: Sequence[int], skip: int, steps: int
) -> Segmentation:
    """The best explanation in plan order. `leave` is the price of each event left over."""
    # State k: step k-1 was worked on last; state 0: none yet. Prices are taken off.
    worth = [0] + [_NEVER] * steps
    origins: list[list[tuple[int, int]]] = []
    for row, price in zip(affinity, leave, strict=True):
        reached = [worth[0] - price]
        origin = [(0, -1)]
        best, best_state = worth[0], 0  # of the states before, skipped steps paid up to here
        for state in range(1, steps + 1):
            gain = row[state - 1]
            stay = worth[state]
            left = stay - price
            if best > stay:
                here, source = best + gain, best_state
            else:
                here, source = stay + gain, state
            if here >= left:
                reached.append(here)
                origin.append((source, state - 1))
            else:
                reached.append(left)
                origin.append((state, -1))
            best -= skip
            if stay > best:
                best, best_state = stay, state
        worth = reached
        origins.append(origin)
    final = max(range(steps + 1), key=lambda state: worth[state] - skip * (steps - state))
    return Segmentation(_trace_back(origins, final), worth[final] - skip * (steps - final))


def freely(
    affinity: Sequence[Sequence[int]], leave: Sequence[int], jump: int, steps: int
) -> Segmentation:
    """The best explanation in any order; going on to the next step is free, any jump is paid."""
    worth = [0] + [_NEVER] * steps
    origins: list[list[tuple[int, int]]] = []
    for row, price in zip(affinity, leave, strict=True):
        top = max(range(steps + 1), key=worth.__getitem__)
        jumped = worth[top] - jump
        reached = [worth[0] - price]
        origin = [(0, -1)]
        before = worth[0]
        for state in range(1, steps + 1):
            stay = worth[state]
            left = stay - price
            here, source = stay, state
            if before > here:
                here, source = before, state - 1
            if jumped > here:
                here, source = jumped, top
            here += row[state - 1]
            if here >= left:
                reached.append(here)
                origin.append((source, state - 1))
            else:
                reached.append(left)
                origin.append((state, -1))
            before = stay
        worth = reached
        origins.append(origin)
    final = max(range(steps + 1), key=lambda state: worth[state] - (jump if state < steps else 0))
    paid = jump if final < steps else 0
    return Segmentation(_trace_back(origins, final), worth[final] - paid)


def _trace_back(origins: list[list[tuple[int, int]]], state: int) -> list[int]:
    path: list[int] = []
    for origin in reversed(origins):
        state, step = origin[state]
        path.append(step)
    path.reverse()
    return path
