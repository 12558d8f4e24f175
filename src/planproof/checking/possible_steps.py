"""Which steps an event can be put under at all, whatever else stands in the trace.

The alignment looks at a whole trace: how rare a word is, how far prices go and what the best
explanation is may all change with the next event. What is told here does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from planproof.checking.alignment import REPETITION_BONUS, may_be_aligned, may_be_shared
from planproof.checking.candidates import Candidate
from planproof.checking.features import WordOverlap
from planproof.checking.requirements import Requirement
from planproof.checking.similarity import compute_max_score, load_shipped_weights
from planproof.checking.unrelated_actions import is_unrelated
from planproof.core.trace import Kind


def find_possible_steps(
    candidate: Candidate, requirements: Sequence[Requirement], *, has_result: bool = True
) -> set[int]:
    """The steps that in some trace cover this event and are executed, be it in part.

    Not `answered` is a call whose result is yet to come: it could be anything.
    """
    shares_no_terms = all(
        requirement.terms.isdisjoint(candidate.terms) for requirement in requirements
    )
    return {
        step
        for step, requirement in enumerate(requirements)
        if _may_cover(
            candidate, requirement, shares_no_terms=shares_no_terms, has_result=has_result
        )
    }


def _may_cover(
    candidate: Candidate, requirement: Requirement, *, shares_no_terms: bool, has_result: bool
) -> bool:
    if requirement.call is not None:
        # Nothing that is saved by taking in another call is worth the price of it.
        return (candidate.event.name or "").lower() == requirement.call.tool
    if candidate.event.kind is Kind.REASONING:
        # A thought is taken in where a step would else be skipped, and then it stands alone.
        return requirement.accepts_reasoning or not requirement.requires_action
    if candidate.event.kind is not Kind.ACTION or candidate.required_names is not None:
        return True
    weights = load_shipped_weights()
    repetition_bonus = REPETITION_BONUS if requirement.is_repetition else 0
    if not may_be_aligned(
        repetition_bonus
        + compute_max_score(candidate, requirement, weights, words=WordOverlap.THIS_STEP)
    ):
        return False
    if not has_result or not is_unrelated(candidate, requirement):
        return True
    # The alignment may put it there, but then it is taken out again. What is left over is
    # given to a step without events only if it fits well.
    words = WordOverlap.NONE if shares_no_terms else WordOverlap.OTHER_STEPS
    return may_be_shared(
        candidate,
        requirement,
        repetition_bonus + compute_max_score(candidate, requirement, weights, words=words),
    )
