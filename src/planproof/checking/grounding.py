"""Check that the events of a step show its values, visible effects, actors and reported values."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from planproof.checking.candidates import Candidate
from planproof.checking.event_text import format_call
from planproof.checking.requirements import Part, Requirement, WrittenCall
from planproof.contracts.terms import extract_words
from planproof.contracts.values import Literal, LiteralKind, extract_literals
from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.phrases import format_name, join_items, quote_text
from planproof.core.trace import Kind

_VISIBLE_TYPES = frozenset({"compute", "write", "change", "remove", "transact"})
_SHORT_NAME = 5
_MAX_ARGUMENT_CHARS = 80
_FLAG = re.compile(r"-[A-Za-z]{1,8}")
_CODE = re.compile(r"\d{4,}")
_NON_LETTERS = re.compile(r"[\W_]+")
_CURRENCIES = frozenset("$€£")
_CALL_VALUE_KINDS = frozenset({LiteralKind.IDENTIFIER, LiteralKind.QUOTED})


def find_unmet_requirements(
    requirement: Requirement,
    assigned: Sequence[Candidate],
    all_candidates: Sequence[Candidate],
    actors: frozenset[str],
) -> list[str]:
    """Return what the step requires and its events do not show, as notes."""
    if requirement.call is not None:
        same = any(
            candidate.event.arguments == requirement.call.arguments for candidate in assigned
        )
        return [] if same else [_describe_other_arguments(requirement.call, assigned)]
    absent = [
        (literal, part)
        for part in requirement.parts
        for literal in _find_absent_literals(part, assigned, all_candidates)
    ]
    chosen = bool(requirement.step.choices) and _shows_alternative(
        requirement, assigned, [literal for literal, _ in absent]
    )
    if chosen:
        absent = [
            (literal, part)
            for literal, part in absent
            if not _is_in_choices(literal, requirement.step.choices)
        ]
    has_text = any(candidate.is_text_only for candidate in assigned)
    in_calls = [value for value, part in absent if not (has_text and part.accepts_text)]
    in_events = [value for value, part in absent if has_text and part.accepts_text]
    problems = [*_describe_absent(in_calls, "call"), *_describe_absent(in_events, "event")]
    problems.extend(_find_undone_parts(requirement, assigned))
    problems.extend(_find_missing_actors(requirement, assigned, actors))
    problems.extend(find_missing_reported_values(requirement, assigned))
    return problems


def _describe_other_arguments(call: WrittenCall, assigned: Sequence[Candidate]) -> str:
    """Describe the first argument in which a call of the planned tool differs from the plan."""
    calls = [
        candidate.event.arguments
        for candidate in assigned
        if (candidate.event.name or "").lower() == call.tool
        and is_object(candidate.event.arguments)
    ]
    if calls and is_object(call.arguments):
        given = calls[0]
        for key, planned in call.arguments.items():
            if key not in given:
                return f"called without {format_name(key)}, plan says {_format_argument(planned)}"
            if given[key] != planned:
                argument = f"{format_name(key)}={_format_argument(given[key])}"
                return f"called with {argument}, plan says {_format_argument(planned)}"
        added = next((key for key in given if key not in call.arguments), None)
        if added is not None:
            return f"called with {format_name(added)}, not in the plan"
    return "called with other arguments than planned"


def _format_argument(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return format_name(text[:_MAX_ARGUMENT_CHARS])


def _describe_absent(values: Sequence[Literal], event_type: str) -> list[str]:
    if not values:
        return []
    quoted = join_items(values, format_item=lambda value: quote_text(value.text))
    noun = "value" if len(values) == 1 else "values"
    return [f"{noun} {quoted} not found in any {event_type} of this step"]


def _shows_alternative(
    requirement: Requirement, assigned: Sequence[Candidate], absent: Sequence[Literal]
) -> bool:
    """Return whether one of the step's alternatives is shown; the others then need not be."""
    return any(
        not any(value.text in choice for value in absent)
        and any(not candidate.terms.isdisjoint(_extract_stems(choice)) for candidate in assigned)
        for choice in requirement.step.choices
    )


def _is_in_choices(value: Literal, choices: Sequence[str]) -> bool:
    return any(value.text in choice for choice in choices)


def _has_flag(flag: str, assigned: Sequence[Candidate]) -> bool:
    """Return whether a call has this option, case-sensitive, also combined: -R in `ls -aR`."""
    alone = rf"(?<!\S)-[A-Za-z]{{0,20}}{flag[1]}"
    pattern = re.compile(alone if len(flag) == 2 else re.escape(flag))
    return any(pattern.search(format_call(candidate.event)) for candidate in assigned)


def _find_undone_parts(requirement: Requirement, assigned: Sequence[Candidate]) -> list[str]:
    """Report the later parts of a step with a visible effect that none of its events has."""
    if any(candidate.is_text_only for candidate in assigned):
        return []
    observed_types = frozenset[str]().union(*(candidate.action_types for candidate in assigned))
    return [
        f"no call for {quote_text(part.text)}"
        for part in requirement.parts[1:]
        if part.action_types
        and part.action_types <= _VISIBLE_TYPES
        and part.action_types.isdisjoint(observed_types)
    ]


def _find_missing_actors(
    requirement: Requirement, assigned: Sequence[Candidate], actors: frozenset[str]
) -> list[str]:
    """Report an expected actor if none of the expected ones took part."""
    expected = {
        actor for actor in actors if len(actor) > _SHORT_NAME and actor in requirement.folded_text
    }
    if requirement.subject in actors:
        expected = {requirement.subject}
    if not expected:
        return []
    present = {
        name
        for candidate in assigned
        for name in (candidate.signature.actor, candidate.signature.name)
    }
    # The agent that a hand-off addresses is named in the call, usually in another spelling.
    spelt = [
        _strip_punctuation(candidate.call_text)
        for candidate in assigned
        if not candidate.is_text_only
    ]
    absent = [
        expected_actor
        for expected_actor in sorted(expected - present)
        if not any(_strip_punctuation(expected_actor) in s for s in spelt)
    ]
    return [f"no event by {format_name(absent[0])}"] if len(absent) == len(expected) else []


def _strip_punctuation(text: str) -> str:
    return _NON_LETTERS.sub("", text)


def _extract_stems(text: str) -> frozenset[str]:
    return frozenset(stem for word in extract_words(text) for stem in word.stems)


def _find_absent_literals(
    part: Part, assigned: Sequence[Candidate], all_candidates: Sequence[Candidate]
) -> list[Literal]:
    """Return the values of a part of a step that its events do not show."""
    if not part.literals:
        return []
    actions = [candidate for candidate in assigned if not _is_words(candidate)]
    accepts_text = part.accepts_text
    # "Transfer" may be a call or a message. If a call was made, the values must be in the call or
    # in a message of the same step, not anywhere in the trace.
    own = [*actions, *[one for one in assigned if one.event.kind is Kind.MESSAGE]]
    by_call = bool(actions) and part.may_take_call
    matching = (
        [action for action in actions if not action.action_types.isdisjoint(part.action_types)]
        or actions
        or assigned
    )
    calls = [candidate.call_text for candidate in matching]
    absent: list[Literal] = []
    for literal in part.literals:
        if literal.text[0] == "-" and _FLAG.fullmatch(literal.text):
            shown = _has_flag(literal.text, assigned)
        elif accepts_text:
            shown = (
                _any_has_literal(literal, own)
                if by_call
                else _is_reported(literal, assigned, all_candidates)
            )
        else:
            shown = literal.occurs_in_any(calls) or _is_returned(
                literal, matching, actions, all_candidates
            )
        if not shown:
            absent.append(literal)
    return absent


def _is_words(candidate: Candidate) -> bool:
    """Return whether a candidate is a text, a note or a thought: what the agent only says."""
    return candidate.is_text_only or candidate.event.kind is Kind.BOOKKEEPING


def _is_reported(
    literal: Literal, assigned: Sequence[Candidate], all_candidates: Sequence[Candidate]
) -> bool:
    # A text may refer to a value without repeating it, so it need only occur in the trace. A code
    # must occur in the action that uses it, and a price in the message that reports it.
    coded = literal.kind is LiteralKind.IDENTIFIER and any(c.isdigit() for c in literal.text)
    strict = literal.text[:1] in _CURRENCIES or (
        coded and any(not u.is_text_only for u in assigned)
    )
    return _any_has_literal(literal, assigned) or (
        not strict and _any_has_literal(literal, all_candidates)
    )


def _is_returned(
    literal: Literal,
    matching: Sequence[Candidate],
    actions: Sequence[Candidate],
    all_candidates: Sequence[Candidate],
) -> bool:
    """Return whether a value that no call contains was returned, or may have been.

    What the agent says does not show what its calls were made with.
    """
    if literal.kind is LiteralKind.NUMBER and (
        _matches_call_count(literal, actions) or _any_has_literal(literal, actions)
    ):
        return True
    if literal.kind not in _CALL_VALUE_KINDS and any(
        literal.occurs_in(u.output_text) for u in matching
    ):
        return True
    # A call without a recorded output may have returned the value; a name may be omitted.
    unrecorded = not any(action.output_text for action in actions) and not _names_other_path(
        literal, matching
    )
    # A code that the user knows ("the card ending in 7334") may stand for an id in the call.
    is_code = literal.kind is LiteralKind.NUMBER and _CODE.fullmatch(literal.text) is not None
    return (literal.kind is LiteralKind.NAME or is_code or unrecorded) and any(
        _any_has_literal(literal, (candidate,))
        for candidate in all_candidates
        if not _is_words(candidate)
    )


def _matches_call_count(number: Literal, actions: Sequence[Candidate]) -> bool:
    """Return whether the number is the count of calls: four calls show "for 4 days"."""
    calls = [action.event.name for action in actions if action.event.kind is Kind.ACTION]
    return len(calls) > 1 and str(max(map(calls.count, calls))) in number.forms


def _names_other_path(literal: Literal, candidates: Sequence[Candidate]) -> bool:
    """Return whether the step names this file and the calls name another one."""
    return literal.kind is LiteralKind.PATH and any(
        other.kind is LiteralKind.PATH
        for candidate in candidates
        for other in extract_literals(candidate.call_text)
    )


def _any_has_literal(literal: Literal, candidates: Sequence[Candidate]) -> bool:
    return any(
        literal.occurs_in(candidate.call_text) or literal.occurs_in(candidate.output_text)
        for candidate in candidates
    )


_REPORT_TYPES = frozenset({"tell", "write"})
_REPORT_VERB = re.compile(
    r"\b(?:tell|stat|report|quot|giv|nam|list|inform|notify|messag|mention|provid|present|cit|show"
    r"|pass|includ|not|writ|sav|stor|record|with|end|summari[sz]|compil)(?:e|es|ing|s|ting)?\b",
    re.IGNORECASE,
)
_INDIRECT_CLAUSE = re.compile(
    r"\b(?:that|why|whether|if|because|since|unless|until|when|how to|cannot|can't|ask|request)\b"
    r"|(?<!going )\bto (?!(?:the|an?|it|its|her|him|them|you|your|users?|customers?)\b)",
    re.IGNORECASE,
)
"""From here on the step describes the subject of the report, or an action of somebody else."""
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"


class _ValueType(NamedTuple):
    """A type of value: the words that request one, and its pattern in a folded text."""

    name: str
    request_pattern: re.Pattern[str]
    value_pattern: re.Pattern[str]


def _build_value_type(name: str, request_pattern: str, value_pattern: str) -> _ValueType:
    return _ValueType(name, re.compile(request_pattern, re.IGNORECASE), re.compile(value_pattern))


_SUMMARY = _build_value_type(
    "summary", r"\b(?:summar(?:y|ies)|overviews?|findings)\b", r"(?:\S{1,200} ){10}"
)
_VALUE_TYPES = (
    _build_value_type(
        "amount of money",
        r"\b(?:prices?|costs?|fares?|fees?|balances?|how much money"
        r"|(?:refund|paid|total|credited) (?:amounts?|sums?)"
        r"|(?:amounts?|sums?) (?:refunded|paid|credited|of money|left))\b",
        r"[$€£¥]\s?\d|\d\s?(?:dollars?|euros?|pounds?|cents?|usd|eur|gbp)\b",
    ),
    _build_value_type(
        "date",
        r"\b(?:the dates?|(?:by|on) which (?:date|day)|the day)\b",
        rf"\d{{4}}-\d\d|\d/\d|\b{_MONTH}[a-z]{{0,6}}\.? \d|\d(?:st|nd|rd|th)?(?: of)? {_MONTH}"
        r"|\bdays\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun|to)day\b|\btomorrow\b",
    ),
    _build_value_type(
        "telephone number",
        r"\b(?:tele)?phone numbers?\b|\bnumber under which\b",
        r"\d[\d ().-]{5,20}\d",
    ),
    _build_value_type(
        "link",
        r"\b(?:links?|urls?|web address(?:es)?)\b",
        r"https?:|www\.|\b[\w-]{2,60}\.(?:com|org|net|io|gov|edu)\b",
    ),
    _build_value_type(
        "number",
        r"\b(?:how many|(?<!phone )number of|(?:tracking|award|order|pr) numbers?|percentages?)\b",
        r"\d|\b(?:no|none|one|two|three|four|five|six|seven|eight|nine|ten|dozen)\b",
    ),
    _build_value_type(
        "time of day",
        r"\b(?:departure|arrival|opening|closing) (?:and \w{1,20} )?times?\b|\btime of day\b",
        r"\d:\d\d|\d ?[ap]\.?m\b",
    ),
    _SUMMARY,
    _build_value_type("e-mail address", r"\be-?mail address(?:es)?\b", r"\w@\w"),
)


def find_missing_reported_values(
    requirement: Requirement, assigned: Sequence[Candidate]
) -> list[str]:
    """Report the types of value that a step must report and none of its events shows."""
    requested = _find_requested_values(requirement)
    if not requested:
        return []
    # A summary written by a call may be stored anywhere; a reported one must be in the text.
    has_action = any(not candidate.is_text_only for candidate in assigned)
    return [
        f"no {value_type.name} reported"
        for value_type in requested
        if not (has_action and value_type is _SUMMARY)
        and not any(value_type.value_pattern.search(candidate.call_text) for candidate in assigned)
    ]


@lru_cache(maxsize=2_048)
def _find_requested_values(requirement: Requirement) -> tuple[_ValueType, ...]:
    reporting_texts = [
        part.text for part in requirement.parts if not _REPORT_TYPES.isdisjoint(part.action_types)
    ]
    return tuple(
        dict.fromkeys(
            value_type for text in reporting_texts for value_type in _find_requested_in_part(text)
        )
    )


def _find_requested_in_part(text: str) -> tuple[_ValueType, ...]:
    """Return the types of value to be reported themselves, not only mentioned in a clause."""
    about = _INDIRECT_CLAUSE.search(text)
    end = about.start() if about else len(text)
    verb = _REPORT_VERB.search(text, 0, end)
    if verb is None:
        return ()
    return tuple(
        value_type
        for value_type in _VALUE_TYPES
        if value_type.request_pattern.search(text, verb.end(), end)
    )
