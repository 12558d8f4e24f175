"""The best explanation of a trace by a plan: which events each step covers, and what is left over.

Prices say what an explanation costs that skips a step, leaves an event over or breaks the order.
They depend on how near the plan's words are to the trace's: where a plan speaks of the very things
that the trace shows, a step that nothing matches is more telling than where it paraphrases.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from planproof.checking.candidates import Candidate
from planproof.checking.features import WordOverlap
from planproof.checking.requirements import Requirement
from planproof.checking.segmentation import align_any_order, align_monotonic
from planproof.checking.similarity import Similarity, compute_max_score, load_shipped_weights
from planproof.checking.unrelated_actions import is_unrelated, remove_unrelated_actions
from planproof.core.trace import Kind


class Costs(NamedTuple):
    """In hundredths, like affinities."""

    skip: int
    unassigned_action: int
    unassigned_message: int
    jump: int
    disorder: int


LOW_OVERLAP_COSTS = Costs(
    skip=270, unassigned_action=390, unassigned_message=140, jump=70, disorder=460
)
HIGH_OVERLAP_COSTS = Costs(
    skip=200, unassigned_action=180, unassigned_message=140, jump=70, disorder=360
)
_LOW_OVERLAP = 0.22
_HIGH_OVERLAP = 0.36
MAX_CLAIM_SCORE = -100
_MAX_DECLARATION_SCORE = -900
"""What declares a plan is no more than that, however much it sounds like its steps."""
_MIN_SHARED_SCORE = 0
_MIN_SHARED_SCORE_IN_LINE = -60
_SEVERAL_COMMANDS = re.compile(r"&&|;")
REPETITION_BONUS = 100
_EXACT_CALL_SCORE = 400
_MAX_SAME_TOOL_SCORE = -150
OTHER_CALL_SCORE = -900
_MIN_MOVED_SCORE = 20
_PLANNING_TYPES = frozenset({"plan", "change"})


@dataclass(frozen=True, slots=True)
class Alignment:
    """For each step the units that it covers, in order; `left` are the units under no step."""

    assigned: list[list[int]]
    unassigned: list[int]
    scores: list[list[int]]
    is_monotonic: bool
    lexical_overlap: float = 0.0
    assigned_indices: frozenset[int] = field(init=False)
    """The units that some step covers."""
    started_steps: list[int] = field(init=False)
    """The steps that cover a unit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "assigned_indices", frozenset(chain.from_iterable(self.assigned)))
        object.__setattr__(
            self, "started_steps", [step for step, indices in enumerate(self.assigned) if indices]
        )

    def best_score(self, step: int) -> int:
        """How well the event fits that fits the step best."""
        return max([row[step] for row in self.scores], default=0)


def align(
    candidates: Sequence[Candidate],
    requirements: Sequence[Requirement],
    similarity: Similarity,
    *,
    in_progress: bool = False,
) -> Alignment:
    """Explain the trace by the plan, in plan order unless another order explains it far better.

    Of a run that is `under_way` the steps behind the last one begun are yet to come.
    """
    scores = _cap_claims(candidates, requirements, similarity.scores)
    _score_written_calls(candidates, requirements, scores)
    costs = _interpolate_costs(similarity.lexical_overlap)
    cost_by_kind = {Kind.ACTION: costs.unassigned_action, Kind.MESSAGE: costs.unassigned_message}
    leave_costs = [
        0 if candidate.is_print_only else cost_by_kind.get(candidate.event.kind, 0)
        for candidate in candidates
    ]
    step_by_candidate = monotonic = align_monotonic(
        scores, leave_costs, costs.skip, len(requirements), in_progress=in_progress
    ).step_by_event
    is_disordered = _bound_gain(scores, leave_costs, monotonic) > costs.disorder
    if is_disordered:
        any_order = align_any_order(
            scores, leave_costs, costs.jump, len(requirements)
        ).step_by_event
        is_disordered = (
            _compute_gain(candidates, scores, leave_costs, any_order, monotonic) > costs.disorder
        )
        step_by_candidate = any_order if is_disordered else monotonic
    candidates_by_step: list[list[int]] = [[] for _ in requirements]
    for index, step in enumerate(step_by_candidate):
        if step >= 0:
            candidates_by_step[step].append(index)
    unassigned = [index for index, step in enumerate(step_by_candidate) if step < 0]
    for step, index in remove_unrelated_actions(candidates, requirements, candidates_by_step):
        unassigned.append(index)
        scores[index][step] = min(scores[index][step], MAX_CLAIM_SCORE)
    unassigned.sort()
    started = (
        max((step for step, indices in enumerate(candidates_by_step) if indices), default=-1) + 1
    )
    _share_candidates(
        candidates_by_step[:started] if in_progress else candidates_by_step, scores, candidates
    )
    return Alignment(
        candidates_by_step, unassigned, scores, not is_disordered, similarity.lexical_overlap
    )


def _bound_gain(scores: list[list[int]], leave_costs: list[int], monotonic: list[int]) -> int:
    """No free explanation can do better by more: each event under the step that it fits best."""
    return sum(
        max(*row, -cost) - (row[step] if step >= 0 else -cost)
        for row, cost, step in zip(scores, leave_costs, monotonic, strict=True)
        if cost
    )


def _compute_gain(
    candidates: Sequence[Candidate],
    scores: list[list[int]],
    leave_costs: list[int],
    any_order: list[int],
    monotonic: list[int],
) -> float:
    """How much better the free explanation does by deeds and messages; an event counts once.

    Of actions that are alike nobody can say which was meant: they do not count.
    """
    gains: dict[str, list[int]] = {}
    repeated = frozenset[int]().union(*find_repeats(candidates))
    for index, (row, cost) in enumerate(zip(scores, leave_costs, strict=True)):
        if cost and index not in repeated:
            any_order_step, monotonic_step = any_order[index], monotonic[index]
            gain = (row[any_order_step] if any_order_step >= 0 else -cost) - (
                row[monotonic_step] if monotonic_step >= 0 else -cost
            )
            gains.setdefault(candidates[index].event.id, []).append(gain)
    return sum(sum(event_gains) / len(event_gains) for event_gains in gains.values())


def _interpolate_costs(lexical_overlap: float) -> Costs:
    share = min(1.0, max(0.0, (lexical_overlap - _LOW_OVERLAP) / (_HIGH_OVERLAP - _LOW_OVERLAP)))
    return Costs(
        *(
            round(far + (near - far) * share)
            for far, near in zip(LOW_OVERLAP_COSTS, HIGH_OVERLAP_COSTS, strict=True)
        )
    )


def _cap_claims(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement], scores: list[list[int]]
) -> list[list[int]]:
    """A claim is no evidence of a deed, however well its words fit; nor a deed of a message."""
    barred = find_barred_steps(tuple(requirements))
    repetition_steps = [
        step for step, requirement in enumerate(requirements) if requirement.is_repetition
    ]
    if repetition_steps:
        repeating = find_repeats(candidates).repeat_indices
        for index, (candidate, row) in enumerate(zip(candidates, scores, strict=True)):
            for step in repetition_steps if candidate.event.kind is Kind.ACTION else ():
                row[step] += REPETITION_BONUS if index in repeating else -REPETITION_BONUS
    for candidate, row in zip(candidates, scores, strict=True):
        if candidate.required_names is not None:
            for step, requirement in enumerate(requirements):
                if not candidate.counts_for(requirement.folded_text):
                    row[step] = OTHER_CALL_SCORE
        if steps := barred.get(candidate.event.kind):
            max_score = (
                _MAX_DECLARATION_SCORE if candidate.event.name == "plan" else MAX_CLAIM_SCORE
            )
            for step in steps:
                if row[step] > max_score:  # noqa: PLR1730 - to call `min` takes twice as long
                    row[step] = max_score
    return scores


@lru_cache(maxsize=256)
def find_barred_steps(requirements: tuple[Requirement, ...]) -> dict[Kind, list[int]]:
    """For each kind of event the steps that it can't execute: a claim is no evidence of a deed."""
    steps = list(enumerate(requirements))
    other_steps = [
        step
        for step, requirement in steps
        if not requirement.accepts_message and not requirement.accepts_reasoning
    ]
    return {
        Kind.MESSAGE: other_steps,
        Kind.REASONING: [step for step, requirement in steps if not requirement.accepts_reasoning],
        Kind.BOOKKEEPING: [
            step
            for step in other_steps
            if not any(
                action_types & _PLANNING_TYPES for action_types in requirements[step].action_types
            )
        ],
        Kind.ACTION: [step for step, requirement in steps if requirement.message_only],
    }


def _score_written_calls(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement], scores: list[list[int]]
) -> None:
    """A step that is written as a call is done by that call, in part by one of the same tool."""
    for step, requirement in enumerate(requirements):
        if requirement.call is None:
            continue
        for candidate, row in zip(candidates, scores, strict=True):
            if (candidate.event.name or "").lower() != requirement.call.tool:
                row[step] = OTHER_CALL_SCORE
            elif candidate.event.arguments == requirement.call.arguments:
                row[step] = _EXACT_CALL_SCORE
            else:
                row[step] = min(row[step], _MAX_SAME_TOOL_SCORE)


def _share_candidates(
    assigned: list[list[int]], scores: list[list[int]], candidates: Sequence[Candidate]
) -> None:
    """Give a step without events one that its neighbours hold, if that one shows it plainly.

    Of a line of several commands each shows less plainly than a call of its own would.
    """
    if all(assigned):
        return
    lines = [
        index for index, candidate in enumerate(candidates) if _has_several_commands(candidate)
    ]
    before, ends = 0, _find_next_ends(assigned, len(candidates) - 1)
    for step, (indices, end) in enumerate(zip(assigned, ends, strict=True)):
        if indices:
            before = indices[0]
            continue
        window = range(before, end + 1)
        nearby_lines = [index for index in lines if index in window]
        outside_window = (index for index in range(len(candidates)) if index not in window)
        for among, min_score in (
            (window, _MIN_SHARED_SCORE),
            (nearby_lines, _MIN_SHARED_SCORE_IN_LINE),
            (outside_window, _MIN_MOVED_SCORE),
        ):
            best = max(among, key=lambda index: scores[index][step], default=None)
            if best is not None and scores[best][step] >= min_score:
                indices.append(best)
                before = best
                break


def _find_next_ends(assigned: list[list[int]], last: int) -> list[int]:
    """For each step, return the last unit of the next step that has any; `last` if none has."""
    ends: list[int] = []
    for indices in reversed(assigned):
        ends.append(last)
        last = indices[-1] if indices else last
    return ends[::-1]


def may_be_aligned(max_score: float) -> bool:
    """Whether an alignment could ever put an event under a step that it fits so well at most.

    Else it would always be better to leave the event over, and to skip the step.
    """
    return max_score >= -max(
        costs.unassigned_action + costs.skip for costs in (LOW_OVERLAP_COSTS, HIGH_OVERLAP_COSTS)
    )


def may_be_shared(candidate: Candidate, requirement: Requirement, max_score: float) -> bool:
    """Whether `_share` could ever give an event to a step that it fits so well at most."""
    if candidate.event.kind in (
        kind for kind, steps in find_barred_steps((requirement,)).items() if steps
    ):
        max_score = min(max_score, MAX_CLAIM_SCORE)
    return max_score >= (
        _MIN_SHARED_SCORE_IN_LINE if _has_several_commands(candidate) else _MIN_SHARED_SCORE
    )


def _has_several_commands(candidate: Candidate) -> bool:
    return (
        candidate.event.kind is Kind.ACTION
        and _SEVERAL_COMMANDS.search(candidate.call_text) is not None
    )


_LOOKBACK = 20
_MIN_JACCARD = 0.7


class Repeats(NamedTuple):
    """The indices of the actions that repeat an earlier one, and of those that were repeated."""

    repeat_indices: frozenset[int]
    original_indices: frozenset[int]


class RecentCalls:
    """The last calls of each tool, to hold the next one against."""

    def __init__(self) -> None:
        self._calls: dict[str | None, deque[tuple[int, frozenset[str]]]] = {}

    def match_and_add(self, index: int, candidate: Candidate) -> list[int]:
        """The indices of the last calls that this one repeats; from now on it is one of them."""
        recent = self._calls.setdefault(candidate.event.name, deque(maxlen=_LOOKBACK))
        originals = [other for other, terms in recent if _is_similar(candidate.terms, terms)]
        recent.append((index, candidate.terms))
        return originals


def find_repeats(candidates: Sequence[Candidate]) -> Repeats:
    """Compare each action with the last ones of the same tool."""
    repeats: set[int] = set()
    originals: set[int] = set()
    calls = RecentCalls()
    for index, candidate in enumerate(candidates):
        if candidate.event.kind is not Kind.ACTION or candidate.is_print_only:
            continue
        if matches := calls.match_and_add(index, candidate):
            repeats.add(index)
            originals.update(matches)
    return Repeats(frozenset(repeats), frozenset(originals))


def _is_similar(terms: frozenset[str], others: frozenset[str]) -> bool:
    common = len(terms & others)
    return common >= _MIN_JACCARD * (len(terms) + len(others) - common)


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
