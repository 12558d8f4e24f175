"""Whether a step that is to tell or write down a price, a date, a link ... shows one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from planproof.checking.candidates import Candidate
from planproof.checking.requirements import Requirement

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
"""From here on a step says what is to be told about, or what somebody is to do."""
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"


class _ValueType(NamedTuple):
    """A sort of value: the words that ask for one, and how one looks in a folded text."""

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
    """The sorts of value that a step is to tell and none of its events shows, in words."""
    requested = _find_requested_values(requirement)
    if not requested:
        return []
    # A summary that was written somewhere may be anywhere; what is told must be there.
    has_action = any(not candidate.is_text_only for candidate in assigned)
    return [
        f"no {value_type.name} is told"
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
    """The sorts of value that are to be told themselves, and not something about them."""
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
