"""The best explanation of a trace by a plan: which events each step covers, and what is left over.

Prices say what an explanation costs that skips a step, leaves an event over or breaks the order.
They depend on how near the plan's words are to the trace's: where a plan speaks of the very things
that the trace shows, a step that nothing matches is more telling than where it paraphrases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from planproof.checking.candidates import Unit
from planproof.checking.repeated_actions import repeats_of
from planproof.checking.requirements import Demand
from planproof.checking.segmentation import freely, in_order
from planproof.checking.similarity import Affinity
from planproof.checking.unrelated_actions import take_out_strays
from planproof.core.trace import Kind


class Prices(NamedTuple):
    """In hundredths, like affinities."""

    skip: int
    leave: int
    leave_said: int
    jump: int
    disorder: int


FAR = Prices(skip=270, leave=390, leave_said=140, jump=70, disorder=460)
NEAR = Prices(skip=200, leave=180, leave_said=140, jump=70, disorder=360)
_FAR_SHARE = 0.22
_NEAR_SHARE = 0.36
CLAIM = -100
_DECLARATION = -900
"""What declares a plan is no more than that, however much it sounds like its steps."""
_SHOWN = 0
_SHOWN_IN_LINE = -60
_SEVERAL_COMMANDS = re.compile(r"&&|;")
AGAIN = 100
_THAT_CALL = 400
_SAME_TOOL = -150
OTHER_CALL = -900
_MOVED = 20
_PLANNING = frozenset({"plan", "change"})


@dataclass(frozen=True, slots=True)
class Explanation:
    """For each step the units that it covers, in order; `left` are the units under no step."""

    runs: list[list[int]]
    left: list[int]
    affinity: list[list[int]]
    in_order: bool
    nearness: float = 0.0
    taken: frozenset[int] = field(init=False)
    """The units that some step covers."""
    begun: list[int] = field(init=False)
    """The steps that cover a unit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "taken", frozenset(chain.from_iterable(self.runs)))
        object.__setattr__(self, "begun", [step for step, run in enumerate(self.runs) if run])

    def best_fit(self, step: int) -> int:
        """How well the event fits that fits the step best."""
        return max([row[step] for row in self.affinity], default=0)


def explain(
    units: Sequence[Unit],
    demands: Sequence[Demand],
    affinity: Affinity,
    *,
    under_way: bool = False,
) -> Explanation:
    """Explain the trace by the plan, in plan order unless another order explains it far better.

    Of a run that is `under_way` the steps behind the last one begun are yet to come.
    """
    fits = _without_claims(units, demands, affinity.fits)
    _hold_to_calls(units, demands, fits)
    prices = _prices(affinity.nearness)
    leaving = {Kind.ACTION: prices.leave, Kind.MESSAGE: prices.leave_said}
    leave = [0 if unit.aside else leaving.get(unit.event.kind, 0) for unit in units]
    assigned = ordered = in_order(fits, leave, prices.skip, len(demands), under_way=under_way).steps
    disorder = _most_gain(fits, leave, ordered) > prices.disorder
    if disorder:
        free = freely(fits, leave, prices.jump, len(demands)).steps
        disorder = _gain(units, fits, leave, free, ordered) > prices.disorder
        assigned = free if disorder else ordered
    runs: list[list[int]] = [[] for _ in demands]
    for index, step in enumerate(assigned):
        if step >= 0:
            runs[step].append(index)
    left = [index for index, step in enumerate(assigned) if step < 0]
    for step, index in take_out_strays(units, demands, runs):
        left.append(index)
        fits[index][step] = min(fits[index][step], CLAIM)
    left.sort()
    begun = max((step for step, run in enumerate(runs) if run), default=-1) + 1
    _share(runs[:begun] if under_way else runs, fits, units)
    return Explanation(runs, left, fits, not disorder, affinity.nearness)


def _most_gain(fits: list[list[int]], leave: list[int], ordered: list[int]) -> int:
    """No free explanation can do better by more: each event under the step that it fits best."""
    return sum(
        max(*row, -price) - (row[step] if step >= 0 else -price)
        for row, price, step in zip(fits, leave, ordered, strict=True)
        if price
    )


def _gain(
    units: Sequence[Unit],
    fits: list[list[int]],
    leave: list[int],
    free: list[int],
    ordered: list[int],
) -> float:
    """How much better the free explanation does by deeds and messages; an event counts once.

    Of actions that are alike nobody can say which was meant: they do not count.
    """
    gains: dict[str, list[int]] = {}
    alike = frozenset[int]().union(*repeats_of(units))
    for index, (row, price) in enumerate(zip(fits, leave, strict=True)):
        if price and index not in alike:
            one, other = free[index], ordered[index]
            gain = (row[one] if one >= 0 else -price) - (row[other] if other >= 0 else -price)
            gains.setdefault(units[index].event.id, []).append(gain)
    return sum(sum(found) / len(found) for found in gains.values())


def _prices(nearness: float) -> Prices:
    share = min(1.0, max(0.0, (nearness - _FAR_SHARE) / (_NEAR_SHARE - _FAR_SHARE)))
    return Prices(*(round(far + (near - far) * share) for far, near in zip(FAR, NEAR, strict=True)))


def _without_claims(
    units: Sequence[Unit], demands: Sequence[Demand], fits: list[list[int]]
) -> list[list[int]]:
    """A claim is no evidence of a deed, however well its words fit; nor a deed of a message."""
    barred = barred_steps(tuple(demands))
    again = [step for step, demand in enumerate(demands) if demand.again]
    if again:
        repeating = repeats_of(units).repeating
        for index, (unit, row) in enumerate(zip(units, fits, strict=True)):
            for step in again if unit.event.kind is Kind.ACTION else ():
                row[step] += AGAIN if index in repeating else -AGAIN
    for unit, row in zip(units, fits, strict=True):
        if unit.names is not None:
            for step, demand in enumerate(demands):
                if not unit.counts_for(demand.folded):
                    row[step] = OTHER_CALL
        if steps := barred.get(unit.event.kind):
            most = _DECLARATION if unit.event.name == "plan" else CLAIM
            for step in steps:
                if row[step] > most:  # noqa: PLR1730 - to call `min` takes twice as long
                    row[step] = most
    return fits


@lru_cache(maxsize=256)
def barred_steps(demands: tuple[Demand, ...]) -> dict[Kind, list[int]]:
    """For each kind of event the steps that it can't execute: a claim is no evidence of a deed."""
    steps = list(enumerate(demands))
    silent = [step for step, demand in steps if not demand.says and not demand.thinks]
    return {
        Kind.MESSAGE: silent,
        Kind.REASONING: [step for step, demand in steps if not demand.thinks],
        Kind.BOOKKEEPING: [
            step for step in silent if not any(deeds & _PLANNING for deeds in demands[step].deeds)
        ],
        Kind.ACTION: [step for step, demand in steps if demand.only_says],
    }


def _hold_to_calls(units: Sequence[Unit], demands: Sequence[Demand], fits: list[list[int]]) -> None:
    """A step that is written as a call is done by that call, in part by one of the same tool."""
    for step, demand in enumerate(demands):
        if demand.call is None:
            continue
        for unit, row in zip(units, fits, strict=True):
            if (unit.event.name or "").lower() != demand.call.tool:
                row[step] = OTHER_CALL
            elif unit.event.arguments == demand.call.arguments:
                row[step] = _THAT_CALL
            else:
                row[step] = min(row[step], _SAME_TOOL)


def _share(runs: list[list[int]], fits: list[list[int]], units: Sequence[Unit]) -> None:
    """Give a step without events one that its neighbours hold, if that one shows it plainly.

    Of a line of several commands each shows less plainly than a call of its own would.
    """
    if all(runs):
        return
    lines = [index for index, unit in enumerate(units) if _runs_several(unit)]
    before, ends = 0, _ends_of_next(runs, len(units) - 1)
    for step, (run, end) in enumerate(zip(runs, ends, strict=True)):
        if run:
            before = run[0]
            continue
        window = range(before, end + 1)
        near = [index for index in lines if index in window]
        beyond = (index for index in range(len(units)) if index not in window)
        for among, least in ((window, _SHOWN), (near, _SHOWN_IN_LINE), (beyond, _MOVED)):
            best = max(among, key=lambda index: fits[index][step], default=None)
            if best is not None and fits[best][step] >= least:
                run.append(best)
                before = best
                break


def _ends_of_next(runs: list[list[int]], last: int) -> list[int]:
    """For each step, return the last unit of the next step that has any; `last` if none has."""
    ends: list[int] = []
    for run in reversed(runs):
        ends.append(last)
        last = run[-1] if run else last
    return ends[::-1]


def may_be_aligned(most: float) -> bool:
    """Whether an alignment could ever put an event under a step that it fits so well at most.

    Else it would always be better to leave the event over, and to skip the step.
    """
    return most >= -max(prices.leave + prices.skip for prices in (FAR, NEAR))


def may_be_shared(unit: Unit, demand: Demand, most: float) -> bool:
    """Whether `_share` could ever give an event to a step that it fits so well at most."""
    if unit.event.kind in (kind for kind, steps in barred_steps((demand,)).items() if steps):
        most = min(most, CLAIM)
    return most >= (_SHOWN_IN_LINE if _runs_several(unit) else _SHOWN)


def _runs_several(unit: Unit) -> bool:
    return unit.event.kind is Kind.ACTION and _SEVERAL_COMMANDS.search(unit.call_text) is not None
