"""Find actions that were aligned to a step whose text does not cover them.

The alignment prefers to assign an action to a neighbouring step rather than leave it unassigned: it
sees similarity, but not what a step excludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from planproof.checking.candidates import Candidate
from planproof.checking.requirements import Requirement
from planproof.contracts.generic_tools import is_generic
from planproof.contracts.values import Literal, LiteralKind, extract_literals
from planproof.core.trace import EventStatus, Kind

_MIN_DIGITS = 2
_GENERIC_TYPES = frozenset({"run"})
"""Every action has this type, so it carries no information."""


def remove_unrelated_actions(
    candidates: Sequence[Candidate],
    requirements: Sequence[Requirement],
    assigned: Sequence[list[int]],
) -> list[tuple[int, int]]:
    """Remove unrelated actions from the steps in place; return pairs of step and candidate."""
    removed: list[tuple[int, int]] = []
    for step, (requirement, indices) in enumerate(zip(requirements, assigned, strict=True)):
        actions = [index for index in indices if candidates[index].event.kind is Kind.ACTION]
        unrelated = _find_unrelated(candidates, requirement, actions)
        unrelated |= _find_other_values(candidates, requirement, actions)
        unrelated |= _find_useless_repeats(candidates, requirement, actions)
        unrelated |= _find_after_message(candidates, requirement, indices)
        if unrelated:
            indices[:] = [index for index in indices if index not in unrelated]
            removed.extend((step, index) for index in unrelated)
    return removed


def _find_unrelated(
    candidates: Sequence[Candidate], requirement: Requirement, actions: Sequence[int]
) -> set[int]:
    """Find actions that share no word, value or action type with the step.

    The action type is enough only if no action shares a word for the object of the step.
    """
    others = [
        index for index in actions if requirement.object_terms.isdisjoint(candidates[index].terms)
    ]
    if others and (len(others) == len(actions) or requirement.open_ended):
        others = [
            index for index in others if _has_nothing_in_common(candidates[index], requirement)
        ]
    return {index for index in others if not _shows_step(candidates[index], requirement)}


def is_unrelated(candidate: Candidate, requirement: Requirement) -> bool:
    """Return whether an action is unrelated to this step, whatever else is assigned to it."""
    return (
        _has_nothing_in_common(candidate, requirement)
        and not _is_opaque(candidate)
        and not _shows_step(candidate, requirement)
    )


def _is_opaque(candidate: Candidate) -> bool:
    """Return whether a call has no words of its own, like a click on an element's number."""
    signature = candidate.signature
    return is_generic(signature.name) and not any(
        len(term) > 1 and not term.isdigit() for term in candidate.terms - signature.terms
    )


def _has_nothing_in_common(candidate: Candidate, requirement: Requirement) -> bool:
    """Return whether an action shares no word and no action type with the step."""
    return requirement.terms.isdisjoint(candidate.terms) and candidate.action_types.isdisjoint(
        requirement.all_action_types - _GENERIC_TYPES
    )


def _shows_step(candidate: Candidate, requirement: Requirement) -> bool:
    """Return whether an action or its output has the step's values, or the output its words."""
    return _output_matches(candidate, requirement) or any(
        _has_literal(literal, candidate) for literal in requirement.literals
    )


def _output_matches(candidate: Candidate, requirement: Requirement) -> bool:
    """Return whether the output has at least half of the step's words; single ones say little."""
    returned = candidate.output_terms
    matched_words = [
        word for word in requirement.words if not returned.isdisjoint(word.stems + word.concepts)
    ]
    return len(matched_words) * 2 >= len(requirement.words)


def _has_literal(literal: Literal, candidate: Candidate) -> bool:
    return literal.occurs_in(candidate.call_text) or literal.occurs_in(candidate.output_text)


def _find_after_message(
    candidates: Sequence[Candidate], requirement: Requirement, assigned: Sequence[int]
) -> set[int]:
    """Find actions after the message that the step requires: they cannot serve it."""
    if not requirement.message_only:
        return set()
    message = next((i for i in assigned if candidates[i].event.kind is Kind.MESSAGE), None)
    if message is None:
        return set()
    return {
        i
        for i in assigned
        if i > message
        and candidates[i].event.kind is Kind.ACTION
        and requirement.all_action_types.isdisjoint(candidates[i].action_types)
        and candidates[i].signature.name not in requirement.folded_text
    }


def _find_other_values(
    candidates: Sequence[Candidate], requirement: Requirement, actions: Sequence[int]
) -> set[int]:
    """Find actions with other values, if another call of the same tool has the step's values."""
    if len(actions) == 1 or requirement.open_ended:
        return set()
    values = _select_specific_literals(requirement)
    if not values:
        return set()
    others = actions
    for value in values:
        others = [index for index in others if not value.occurs_in(candidates[index].call_text)]
    if not others:
        return set()
    tools = {candidates[index].event.name for index in set(actions).difference(others)}
    kinds = {value.kind for value in values}
    return {
        index
        for index in others
        if candidates[index].event.name in tools
        and any(other.kind in kinds for other in extract_literals(candidates[index].call_text))
    }


@lru_cache(maxsize=2_048)
def _select_specific_literals(requirement: Requirement) -> tuple[Literal, ...]:
    return tuple(literal for literal in requirement.literals if _is_specific(literal))


def _is_specific(literal: Literal) -> bool:
    if literal.kind is LiteralKind.NUMBER:
        return len(literal.forms[0]) >= _MIN_DIGITS
    return literal.kind is not LiteralKind.NAME


def _find_useless_repeats(
    candidates: Sequence[Candidate], requirement: Requirement, actions: Sequence[int]
) -> set[int]:
    """Find repetitions of a call that failed, or that already returned the same output."""
    different = {candidates[index].call_text for index in actions}
    if len(different) == len(actions) or requirement.step.loop or requirement.is_repetition:
        return set()
    repeats: set[int] = set()
    failed: set[tuple[str | None, str]] = set()
    returned: set[tuple[str | None, str, str]] = set()
    for index in actions:
        event, call = (
            candidates[index].event,
            (candidates[index].event.name, candidates[index].call_text),
        )
        if call in failed or (event.output and (*call, event.output) in returned):
            repeats.add(index)
        if event.status is EventStatus.ERROR:
            failed.add(call)
        if event.output:
            returned.add((*call, event.output))
    return repeats
