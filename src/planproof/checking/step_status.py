"""Determine the status of a step from the events assigned to it."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from itertools import islice

from planproof.checking.alignment import Alignment
from planproof.checking.candidates import Candidate
from planproof.checking.confidence import (
    compute_step_features,
    discount_unverified,
    estimate_confidence,
)
from planproof.checking.event_text import cite
from planproof.checking.grounding import find_unmet_requirements
from planproof.checking.requirements import Requirement
from planproof.contracts.terms import extract_words, stem
from planproof.core.finding import CONDITION_NOT_MET, Evidence, Status, StepFinding
from planproof.core.trace import EventStatus, Kind

ONLY_CLAIMED = "only claimed, no call"
CHECK_FAILED = "the check did not succeed"
UNRATED = 0.5
"""The confidence of a deviation until it is rated, and of one that a rule decides."""
_MAX_CITED = 3
_CHECK_PHRASE = re.compile(
    r"\W*(?:(?:then|and|also|next|finally)\W+)*(?:confirm|ensure|verify|make (?:quite )?sure)\b",
    re.IGNORECASE,
)
_EXPECTS_FAILURE = re.compile(
    r"\b(?:fail|error|reject|refus|den(?:y|ied)|invalid|no\b|not\b)", re.IGNORECASE
)
_BOOKKEEPING_TYPES = frozenset({"plan", "think"})
"""Action types that a to-do list, a ledger or a think tool can perform."""


def judge_step(
    step: int,
    requirement: Requirement,
    alignment: Alignment,
    candidates: Sequence[Candidate],
    actors: frozenset[str],
) -> StepFinding:
    """Return the finding for one step, apart from its order relative to other steps.

    `actors` are the names of all actors in the trace, in lower case.
    """
    assigned = [candidates[index] for index in alignment.assigned[step]]
    if not assigned:
        return _build_finding_without_events(
            requirement, _select_due_candidates(step, alignment, candidates)
        )
    if not any(candidate.counts_for(requirement.folded_text) for candidate in assigned):
        status, problems = Status.AMBIGUOUS, ["only printed or logged, no call with an effect"]
    elif (
        requirement.requires_action
        and not _is_done_in_reasoning(requirement, assigned)
        and all(is_only_claimed(u, requirement) for u in assigned)
    ):
        # A claim is not evidence of an action.
        status, problems = Status.AMBIGUOUS, [ONLY_CLAIMED]
    elif (
        requirement.message_only
        and "ask" in requirement.all_action_types
        and _is_reasoning_only(assigned)
    ):
        # Reasoning does not reach the user; a message may come next to a call.
        status, problems = Status.AMBIGUOUS, ["only in reasoning, no message"]
    else:
        nearby = _select_nearby(alignment.assigned[step], alignment.assigned_indices, candidates)
        problems = find_unmet_requirements(requirement, nearby, candidates, actors)
        if _has_failed_check(requirement, assigned, nearby):
            problems.append(CHECK_FAILED)
        status = Status.PARTIAL if problems else Status.EXECUTED
    confidence = UNRATED
    if status is Status.EXECUTED:
        features = compute_step_features(step, requirement, alignment, candidates)
        confidence = estimate_confidence(status, features)
    return _build_finding(requirement, status, assigned, confidence, "; ".join(problems))


def _is_reasoning_only(assigned: Sequence[Candidate]) -> bool:
    return all(candidate.event.kind is Kind.REASONING for candidate in assigned)


def _is_done_in_reasoning(requirement: Requirement, assigned: Sequence[Candidate]) -> bool:
    """Return whether a mental step was done in reasoning; a check needs more than that."""
    thinks = requirement.accepts_reasoning and not _CHECK_PHRASE.match(requirement.parts[-1].text)
    return thinks and any(candidate.event.kind is Kind.REASONING for candidate in assigned)


def _has_failed_check(
    requirement: Requirement, assigned: Sequence[Candidate], nearby: Sequence[Candidate]
) -> bool:
    """Return whether a step that must ensure an outcome ended in an error.

    For any other step, an attempt is enough.
    """
    part = requirement.parts[-1].text
    if not _CHECK_PHRASE.match(part) or _EXPECTS_FAILURE.search(part):
        return False
    tools = [candidate.event.name for candidate in assigned if candidate.event.kind is Kind.ACTION]
    last = [candidate.event for candidate in nearby if tools and candidate.event.name == tools[-1]][
        -1:
    ]
    return any(event.status is EventStatus.ERROR for event in last)


def is_only_claimed(candidate: Candidate, requirement: Requirement) -> bool:
    """Return whether a candidate only claims the step, or only ticks it off."""
    if not candidate.counts_for(requirement.folded_text):
        return True
    if candidate.event.kind is not Kind.BOOKKEEPING:
        return candidate.is_text_only
    named = (
        candidate.event.name is not None and candidate.event.name.lower() in requirement.folded_text
    )
    return not named and not any(
        action_types & _BOOKKEEPING_TYPES for action_types in requirement.action_types
    )


def _build_finding_without_events(
    requirement: Requirement, candidates: Sequence[Candidate]
) -> StepFinding:
    step = requirement.step
    status, evidence, note = Status.MISSING, tuple[Evidence, ...](), ""
    if step.condition is not None:
        against = find_contradiction(step.condition, candidates)
        if against is not None:
            status, evidence, note = Status.EXECUTED, (against,), CONDITION_NOT_MET
        else:
            status, note = Status.AMBIGUOUS, "no event shows whether the condition was met"
    return StepFinding(
        number=step.number,
        text=step.text,
        status=status,
        confidence=UNRATED,
        evidence=evidence,
        note=note,
        parent=step.parent,
        waived=step.optional and status is not Status.EXECUTED,
        free_order=step.free_order,
    )


def _build_finding(
    requirement: Requirement,
    status: Status,
    assigned: Sequence[Candidate],
    confidence: float,
    note: str,
) -> StepFinding:
    step = requirement.step
    events = {candidate.event.id: candidate.event for candidate in assigned}
    cited = islice(events.values(), _MAX_CITED)
    return StepFinding(
        number=step.number,
        text=step.text,
        status=status,
        confidence=discount_unverified(confidence, events.values()),
        evidence=tuple([cite(event, requirement.stems) for event in cited]),
        covers=tuple(events),
        note=note,
        parent=step.parent,
        free_order=step.free_order,
    )


def _select_due_candidates(
    step: int, alignment: Alignment, candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """Return the candidates from the start of the previous step to the start of the next one."""
    assigned, started_steps = alignment.assigned, alignment.started_steps
    at = bisect(started_steps, step)
    before = assigned[started_steps[at - 1]][0] if at else 0
    after = assigned[started_steps[at]][0] if at < len(started_steps) else len(candidates) - 1
    return candidates[before : after + 1]


def _select_nearby(
    indices: Sequence[int], assigned_indices: frozenset[int], candidates: Sequence[Candidate]
) -> list[Candidate]:
    """Return the candidates of a step and the adjacent ones that no other step covers."""
    first, last = indices[0], indices[-1]
    while first > 0 and first - 1 not in assigned_indices:
        first -= 1
    while last + 1 < len(candidates) and last + 1 not in assigned_indices:
        last += 1
    own = frozenset(indices)
    return [candidates[i] for i in range(first, last + 1) if i in own or i not in assigned_indices]


_SENTENCE = re.compile(r"[^\n.!?]+")
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|nothing|without|0|zero|false|empty|neither|\w+n't)\b", re.IGNORECASE
)
_OPPOSITES = (
    ("fail", "pass"),
    ("fail", "succeed"),
    ("fail", "ok"),
    ("error", "success"),
    ("miss", "exist"),
    ("miss", "found"),
    ("missing", "present"),
    ("unavailable", "available"),
    ("invalid", "valid"),
    ("closed", "open"),
    ("disabled", "enabled"),
    ("different", "same"),
    ("delayed", "on time"),
)
_MAX_OUTPUT_CHARS = 20_000
_MIN_COMMON_SHARE = 0.6


def find_contradiction(condition: str, candidates: Sequence[Candidate]) -> Evidence | None:
    """Return a sentence of an output that contradicts the condition.

    Messages of the agent itself prove nothing.
    """
    condition_stems = frozenset(part for word in extract_words(condition) for part in word.stems)
    if not condition_stems:
        return None
    is_negated = _NEGATION.search(condition) is not None
    for candidate in candidates:
        event = candidate.event
        text, pointer = event.output, event.output_pointer
        if candidate.is_text_only or not text or pointer is None:
            continue
        for match in _SENTENCE.finditer(text[:_MAX_OUTPUT_CHARS]):
            if _contradicts(match[0], condition_stems, is_negated=is_negated):
                return Evidence(event.id, pointer, match[0].strip()[:120].strip())
    return None


def _contradicts(sentence: str, condition_stems: frozenset[str], *, is_negated: bool) -> bool:
    sentence_stems = frozenset(part for word in extract_words(sentence) for part in word.stems)
    common = condition_stems & sentence_stems
    negated = (_NEGATION.search(sentence) is not None) != is_negated
    if negated and len(common) >= _MIN_COMMON_SHARE * len(condition_stems):
        return True
    for first_word, second_word in _OPPOSITES:
        for here, there in (
            (stem(first_word), stem(second_word)),
            (stem(second_word), stem(first_word)),
        ):
            rest = condition_stems - {here}
            if here in condition_stems and there in sentence_stems and not rest - sentence_stems:
                return not is_negated and _NEGATION.search(sentence) is None
    return False
