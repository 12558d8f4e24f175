"""Align the events of a trace to the steps of a plan.

An alignment has a cost for each skipped step, each unassigned event and each break of the order.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from planproof.checking.candidates import Candidate
from planproof.checking.fitted_values import load_fitted_values
from planproof.checking.requirements import Requirement
from planproof.checking.segmentation import align_any_order, align_monotonic
from planproof.checking.similarity import (
    Similarity,
    WordOverlap,
    compute_max_score,
    load_shipped_weights,
)
from planproof.checking.unrelated_actions import is_unrelated, remove_unrelated_actions
from planproof.core.trace import Kind

_MAX_DECLARATION_SCORE = -900
"""A message that only announces the plan executes no step, however similar its words are."""
_SEVERAL_COMMANDS = re.compile(r"&&|;")
_EXACT_CALL_SCORE = 400
_MAX_SAME_TOOL_SCORE = -150
OTHER_CALL_SCORE = -900
_PLANNING_TYPES = frozenset({"plan", "change"})


class Costs(NamedTuple):
    """Fitted costs and limits of an alignment, in hundredths like the scores."""

    skip: int
    """The cost of a step without an event."""
    unassigned_action: int
    unassigned_message: int
    jump: int
    """The cost of continuing with a step other than the next one."""
    reorder: int
    """What another order of the steps must gain over plan order."""
    claim: int
    """The highest score of a text for a step that requires an action, and the other way round."""
    shared: int
    """The least score of an event of another step that also executes a step without events."""
    shared_in_line: int
    """The same for a line of several commands: each shows less clearly than a call of its own."""
    moved: int
    """The same for an event outside the place of the step."""
    repetition: int
    """Added for a step that asks for a repetition if the call is one, subtracted otherwise."""


@cache
def load_costs() -> Costs:
    """Return the costs in the data file next to this module."""
    return Costs(**load_fitted_values("costs"))


@dataclass(frozen=True, slots=True)
class Alignment:
    """The candidates assigned to each step, by index, and the `unassigned` ones."""

    assigned: list[list[int]]
    unassigned: list[int]
    scores: list[list[int]]
    is_monotonic: bool
    lexical_overlap: float = 0.0
    assigned_indices: frozenset[int] = field(init=False)
    """The candidates assigned to any step."""
    started_steps: list[int] = field(init=False)
    """The steps with at least one candidate."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "assigned_indices", frozenset(chain.from_iterable(self.assigned)))
        object.__setattr__(
            self, "started_steps", [step for step, indices in enumerate(self.assigned) if indices]
        )


def align(
    candidates: Sequence[Candidate],
    requirements: Sequence[Requirement],
    similarity: Similarity,
    *,
    in_progress: bool = False,
) -> Alignment:
    """Align the events to the steps, in plan order unless another order scores far better.

    If the run is `in_progress`, the steps after the last one started are still to come.
    """
    costs = load_costs()
    scores = _cap_claims(candidates, requirements, similarity.scores, costs)
    _score_written_calls(candidates, requirements, scores)
    cost_by_kind = {Kind.ACTION: costs.unassigned_action, Kind.MESSAGE: costs.unassigned_message}
    leave_costs = [
        0 if candidate.is_print_only else cost_by_kind.get(candidate.event.kind, 0)
        for candidate in candidates
    ]
    monotonic = align_monotonic(
        scores, leave_costs, costs.skip, len(requirements), in_progress=in_progress
    ).step_by_event
    reordered = None
    skipped = len(requirements) - len({step for step in monotonic if step >= 0})
    if _bound_gain(scores, leave_costs, monotonic) + skipped * costs.skip > costs.reorder:
        levelled = _level_repeats(candidates, scores)
        reordered = _align_reordered(candidates, levelled, leave_costs, costs, len(requirements))
    step_by_candidate = monotonic if reordered is None else reordered
    candidates_by_step = _group_by_step(step_by_candidate, len(requirements))
    unassigned = [index for index, step in enumerate(step_by_candidate) if step < 0]
    for step, index in remove_unrelated_actions(candidates, requirements, candidates_by_step):
        unassigned.append(index)
        scores[index][step] = min(scores[index][step], costs.claim)
    unassigned.sort()
    started = (
        max((step for step, indices in enumerate(candidates_by_step) if indices), default=-1) + 1
    )
    _share_candidates(
        candidates_by_step[:started] if in_progress else candidates_by_step,
        scores,
        candidates,
        costs,
    )
    return Alignment(
        candidates_by_step, unassigned, scores, reordered is None, similarity.lexical_overlap
    )


def _group_by_step(step_by_candidate: Sequence[int], step_count: int) -> list[list[int]]:
    candidates_by_step: list[list[int]] = [[] for _ in range(step_count)]
    for index, step in enumerate(step_by_candidate):
        if step >= 0:
            candidates_by_step[step].append(index)
    return candidates_by_step


def _bound_gain(scores: list[list[int]], leave_costs: list[int], monotonic: list[int]) -> int:
    """Return an upper bound of what events gain: each is assigned to the step it fits best."""
    return sum(
        max(*row, -cost) - (row[step] if step >= 0 else -cost)
        for row, cost, step in zip(scores, leave_costs, monotonic, strict=True)
        if cost
    )


def _align_reordered(
    candidates: Sequence[Candidate],
    scores: list[list[int]],
    leave_costs: list[int],
    costs: Costs,
    step_count: int,
) -> list[int] | None:
    """Return the alignment to the steps in another order, or None if it gains too little.

    The order is that in which an alignment with jumps starts the steps; a step that it does not
    start stays after the one before it. Both orders are then scored in the same way, so that
    jumping back and forth between similar steps gains nothing.
    """
    jumping = align_any_order(scores, leave_costs, costs.jump, step_count).step_by_event
    starts: dict[int, int] = {}
    for index, step in enumerate(jumping):
        if step >= 0:
            starts.setdefault(step, index)
    at = -1
    positions: list[tuple[int, int]] = []
    for step in range(step_count):
        at = starts.get(step, at)
        positions.append((at, step))
    order = [step for _, step in sorted(positions)]
    if order == list(range(step_count)):
        return None
    planned = align_monotonic(scores, leave_costs, costs.skip, step_count)
    # A step that shares an event of its neighbours is not skipped, unless another fits it better.
    in_place = [
        [i for i in indices if scores[i][step] > costs.claim or not candidates[i].is_text_only]
        for step, indices in enumerate(_group_by_step(planned.step_by_event, step_count))
    ]
    skipped = [step for step, indices in enumerate(in_place) if not indices]
    _share_candidates(in_place, scores, candidates, costs, moving=False)
    shared = sum(
        scores[index][step] == max(row[step] for row in scores)
        for step in skipped
        for index in in_place[step]
    )
    planned_score = planned.score + costs.skip * shared
    permuted_scores = [[row[step] for step in order] for row in scores]
    permuted = align_monotonic(permuted_scores, leave_costs, costs.skip, step_count)
    if permuted.score - planned_score <= costs.reorder:
        return None
    return [order[step] if step >= 0 else -1 for step in permuted.step_by_event]


def _level_repeats(candidates: Sequence[Candidate], scores: list[list[int]]) -> list[list[int]]:
    """Return the scores with the best ones of equal calls for each: any of them may be meant."""
    calls: dict[tuple[str | None, str], list[int]] = {}
    for index, candidate in enumerate(candidates):
        if candidate.event.kind is Kind.ACTION:
            calls.setdefault((candidate.event.name, candidate.call_text), []).append(index)
    levelled = list(scores)
    for indices in calls.values():
        if len(indices) > 1:
            best = [max(column) for column in zip(*(scores[i] for i in indices), strict=True)]
            for index in indices:
                levelled[index] = best
    return levelled


def _cap_claims(
    candidates: Sequence[Candidate],
    requirements: Sequence[Requirement],
    scores: list[list[int]],
    costs: Costs,
) -> list[list[int]]:
    """Cap the scores of claims for actions, and of actions for messages, in place.

    A claim is not evidence of an action, however well its words match.
    """
    barred = find_barred_steps(tuple(requirements))
    repetition_steps = [
        step for step, requirement in enumerate(requirements) if requirement.is_repetition
    ]
    if repetition_steps:
        repeating = find_repeats(candidates).repeat_indices
        for index, (candidate, row) in enumerate(zip(candidates, scores, strict=True)):
            for step in repetition_steps if candidate.event.kind is Kind.ACTION else ():
                row[step] += costs.repetition if index in repeating else -costs.repetition
    for candidate, row in zip(candidates, scores, strict=True):
        if candidate.required_names is not None:
            for step, requirement in enumerate(requirements):
                if not candidate.counts_for(requirement.folded_text):
                    row[step] = OTHER_CALL_SCORE
        # A call that ends the run delivers its text, as a message would.
        if not candidate.is_closing and (steps := barred.get(candidate.event.kind)):
            max_score = _MAX_DECLARATION_SCORE if candidate.event.name == "plan" else costs.claim
            for step in steps:
                if row[step] > max_score:  # noqa: PLR1730 - calling `min` takes twice as long
                    row[step] = max_score
    return scores


@lru_cache(maxsize=256)
def find_barred_steps(requirements: tuple[Requirement, ...]) -> dict[Kind, list[int]]:
    """Return the steps that each kind of event cannot execute; a claim proves no action."""
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
    """Score steps written as a call: full for that call, at most partial for the same tool."""
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
    assigned: list[list[int]],
    scores: list[list[int]],
    candidates: Sequence[Candidate],
    costs: Costs,
    *,
    moving: bool = True,
) -> None:
    """Give each step without events the candidate that clearly shows it, neighbours first.

    Events outside the place of the step are considered only if `moving`.
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
            (window, costs.shared),
            (nearby_lines, costs.shared_in_line),
            (outside_window if moving else (), costs.moved),
        ):
            best = max(among, key=lambda index: scores[index][step], default=None)
            if best is not None and scores[best][step] >= min_score:
                indices.append(best)
                before = best
                break


def _find_next_ends(assigned: list[list[int]], last: int) -> list[int]:
    """For each step, return the last candidate of the next started step, or `last`."""
    ends: list[int] = []
    for indices in reversed(assigned):
        ends.append(last)
        last = indices[-1] if indices else last
    return ends[::-1]


def may_be_aligned(max_score: float) -> bool:
    """Return whether an event with at most this score could be aligned to a step.

    Below this limit it is always cheaper to leave the event unassigned and skip the step.
    """
    costs = load_costs()
    return max_score >= -costs.unassigned_action - costs.skip


def may_be_shared(candidate: Candidate, requirement: Requirement, max_score: float) -> bool:
    """Return whether `_share_candidates` could give an event with at most this score to a step."""
    costs = load_costs()
    if candidate.event.kind in (
        kind for kind, steps in find_barred_steps((requirement,)).items() if steps
    ):
        max_score = min(max_score, costs.claim)
    limit = costs.shared_in_line if _has_several_commands(candidate) else costs.shared
    return max_score >= min(limit, costs.moved)


def _has_several_commands(candidate: Candidate) -> bool:
    return (
        candidate.event.kind is Kind.ACTION
        and _SEVERAL_COMMANDS.search(candidate.call_text) is not None
    )


_LOOKBACK = 20
_MIN_JACCARD = 0.7


class Repeats(NamedTuple):
    """The indices of actions that repeat an earlier one, and of the actions they repeat."""

    repeat_indices: frozenset[int]
    original_indices: frozenset[int]


class RecentCalls:
    """The most recent calls of each tool, for comparison with the next one."""

    def __init__(self) -> None:
        self._calls: dict[str | None, deque[tuple[int, frozenset[str]]]] = {}

    def match_and_add(self, index: int, candidate: Candidate) -> list[int]:
        """Return the indices of the recent calls that this one repeats, and remember this one."""
        recent = self._calls.setdefault(candidate.event.name, deque(maxlen=_LOOKBACK))
        originals = [other for other, terms in recent if _is_similar(candidate.terms, terms)]
        recent.append((index, candidate.terms))
        return originals


def find_repeats(candidates: Sequence[Candidate]) -> Repeats:
    """Find repeated actions; each is compared with the recent ones of the same tool."""
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
    """Return the steps that could cover this event and be executed or partial, in any trace.

    Without `has_result`, the result of the call is still to come and could be anything.
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
        # Assigning a call of another tool always costs more than it saves.
        return (candidate.event.name or "").lower() == requirement.call.tool
    if candidate.event.kind is Kind.REASONING:
        # Reasoning is assigned where the step would otherwise be skipped, as its only event.
        return requirement.accepts_reasoning or not requirement.requires_action
    if candidate.event.kind is not Kind.ACTION or candidate.required_names is not None:
        return True
    weights = load_shipped_weights()
    repetition_bonus = load_costs().repetition if requirement.is_repetition else 0
    if not may_be_aligned(
        repetition_bonus
        + compute_max_score(candidate, requirement, weights, words=WordOverlap.THIS_STEP)
    ):
        return False
    if not has_result or not is_unrelated(candidate, requirement):
        return True
    # The alignment may assign it, but it is then removed as unrelated. An unassigned candidate is
    # given to a step without events only if its score is high.
    words = WordOverlap.NONE if shares_no_terms else WordOverlap.OTHER_STEPS
    return may_be_shared(
        candidate,
        requirement,
        repetition_bonus + compute_max_score(candidate, requirement, weights, words=words),
    )
