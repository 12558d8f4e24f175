"""Dynamic programming for the alignment of events to steps.

Both alignments go over the events once and keep, for each step, the best assignment in which that
step was the last one worked on. `align_monotonic` may skip steps and leave events unassigned, at a
cost; `align_any_order` may also jump between steps, so it finds work done in another order. Only
the gain over the assignment that leaves all events unassigned is stored: an unassigned event then
changes nothing. Backtracking from the best state recovers the assignment.
"""

# ruff: noqa: FURB136, PLR1730 - in the loops, a comparison is twice as fast as calling `max`
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

_NEVER = -(10**9)


class Segmentation(NamedTuple):
    """The step of each event, or -1, and the score of the assignment."""

    step_by_event: list[int]
    score: int


def align_monotonic(
    scores: Sequence[Sequence[int]],
    leave_costs: Sequence[int],
    skip_cost: int,
    step_count: int,
    *,
    in_progress: bool = False,
) -> Segmentation:
    """Find the best assignment in plan order; `leave_costs` are the costs of unassigned events.

    If the run is `in_progress`, the steps after the last one are still to come, not skipped.
    """
    # State k: step k-1 was worked on last; state 0: none yet. Starting a step gains its skip cost.
    gains = [0] + [_NEVER] * step_count
    history: list[list[int]] = []
    for row, cost in zip(scores, leave_costs, strict=True):
        history.append(gains)
        before, gains = gains, gains.copy()
        least = -cost - skip_cost  # Below this, leaving the event and skipping the step is better.
        best = before[0]  # of the states before
        for state, score in enumerate(row, 1):
            stay = before[state]
            if score >= least:
                started = best + skip_cost
                here = (started if started > stay else stay) + score + cost
                if here > stay:
                    gains[state] = here
            if stay > best:
                best = stay
    to_come = skip_cost if in_progress else 0
    ends = [gain + to_come * (step_count - state) for state, gain in enumerate(gains)]
    final = max(range(step_count + 1), key=ends.__getitem__)

    def find_source(gains: list[int], state: int) -> tuple[int, int]:
        best = max(gains[:state])
        started = best + skip_cost
        return (started, gains.index(best)) if started > gains[state] else (gains[state], state)

    history.append(gains)
    assigned = _walk_back(history, scores, leave_costs, final, find_source)
    return Segmentation(assigned, ends[final] - sum(leave_costs) - skip_cost * step_count)


def align_any_order(
    scores: Sequence[Sequence[int]], leave_costs: Sequence[int], jump_cost: int, step_count: int
) -> Segmentation:
    """Find the best assignment in any order; the next step is free, any jump has a cost."""
    gains = [0] + [_NEVER] * step_count
    history: list[list[int]] = []
    for row, cost in zip(scores, leave_costs, strict=True):
        history.append(gains)
        before, gains = gains, gains.copy()
        jumped = max(before) - jump_cost
        last = before[0] if before[0] > jumped else jumped
        for state, score in enumerate(row, 1):
            stay = before[state]
            here = (last if last > stay else stay) + score + cost
            if here > stay:
                gains[state] = here
            last = stay if stay > jumped else jumped
    ends = [gain - jump_cost for gain in gains[:-1]] + gains[-1:]
    final = max(range(step_count + 1), key=ends.__getitem__)

    def find_source(gains: list[int], state: int) -> tuple[int, int]:
        top = max(gains)
        best, best_state = gains[state], state
        if gains[state - 1] > best:
            best, best_state = gains[state - 1], state - 1
        return (top - jump_cost, gains.index(top)) if top - jump_cost > best else (best, best_state)

    history.append(gains)
    assigned = _walk_back(history, scores, leave_costs, final, find_source)
    return Segmentation(assigned, ends[final] - sum(leave_costs))


def _walk_back(
    history: list[list[int]],
    scores: Sequence[Sequence[int]],
    leave_costs: Sequence[int],
    state: int,
    find_source: Callable[[list[int], int], tuple[int, int]],
) -> list[int]:
    """Return the step of each event; `find_source` returns the best previous gain and state."""
    path: list[int] = []
    value = history.pop()[state]
    for gains, row, cost in zip(
        reversed(history), reversed(scores), reversed(leave_costs), strict=True
    ):
        step = state - 1
        # Most events continue the step of the previous one; only the others need `find_source`.
        if state and value - row[step] - cost != gains[state]:
            best, came_from = find_source(gains, state)
            if best + row[step] + cost >= gains[state]:
                state = came_from
            else:
                step = -1
        value = gains[state]
        path.append(step)
    path.reverse()
    return path
