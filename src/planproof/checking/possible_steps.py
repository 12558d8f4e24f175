"""Which steps an event can be put under at all, whatever else stands in the trace.

The alignment looks at a whole trace: how rare a word is, how far prices go and what the best
explanation is may all change with the next event. What is told here does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from planproof.checking.alignment import AGAIN, may_be_aligned, may_be_shared
from planproof.checking.candidates import Unit
from planproof.checking.features import Words
from planproof.checking.requirements import Demand
from planproof.checking.similarity import most_fit, shipped_weights
from planproof.checking.unrelated_actions import is_stranger
from planproof.core.trace import Kind


def steps_possible(unit: Unit, demands: Sequence[Demand], *, answered: bool = True) -> set[int]:
    """The steps that in some trace cover this event and are executed, be it in part.

    Not `answered` is a call whose result is yet to come: it could be anything.
    """
    apart = all(demand.terms.isdisjoint(unit.terms) for demand in demands)
    return {
        step
        for step, demand in enumerate(demands)
        if _may_cover(unit, demand, apart=apart, answered=answered)
    }


def _may_cover(unit: Unit, demand: Demand, *, apart: bool, answered: bool) -> bool:
    if demand.call is not None:
        # Nothing that is saved by taking in another call is worth the price of it.
        return (unit.event.name or "").lower() == demand.call.tool
    if unit.event.kind is Kind.REASONING:
        # A thought is taken in where a step would else be skipped, and then it stands alone.
        return demand.thinks or not demand.of_deeds
    if unit.event.kind is not Kind.ACTION or unit.names is not None:
        return True
    weights = shipped_weights()
    again = AGAIN if demand.again else 0
    if not may_be_aligned(again + most_fit(unit, demand, weights, words=Words.OF_STEP)):
        return False
    if not answered or not is_stranger(unit, demand):
        return True
    # The alignment may put it there, but then it is taken out again. What is left over is
    # given to a step without events only if it fits well.
    words = Words.NONE if apart else Words.OF_OTHERS
    return may_be_shared(unit, demand, again + most_fit(unit, demand, weights, words=words))
