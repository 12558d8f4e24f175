"""Whether a step that is to tell or write down a price, a date, a link ... shows one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from planproof.checking.candidates import Unit
from planproof.checking.requirements import Demand

_TELLING = frozenset({"tell", "write"})
_TELLS = re.compile(
    r"\b(?:tell|stat|report|quot|giv|nam|list|inform|notify|messag|mention|provid|present|cit|show"
    r"|pass|includ|not|writ|sav|stor|record|with|end|summari[sz]|compil)(?:e|es|ing|s|ting)?\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:that|why|whether|if|because|since|unless|until|when|how to|cannot|can't|ask|request)\b"
    r"|(?<!going )\bto (?!(?:the|an?|it|its|her|him|them|you|your|users?|customers?)\b)",
    re.IGNORECASE,
)
"""From here on a step says what is to be told about, or what somebody is to do."""
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"


class _Sort(NamedTuple):
    """A sort of value: the words that ask for one, and how one looks in a folded text."""

    name: str
    asked: re.Pattern[str]
    looks: re.Pattern[str]


def _sort(name: str, asked: str, looks: str) -> _Sort:
    return _Sort(name, re.compile(asked, re.IGNORECASE), re.compile(looks))


_SUMMARY = _sort("summary", r"\b(?:summar(?:y|ies)|overviews?|findings)\b", r"(?:\S{1,200} ){10}")
_SORTS = (
    _sort(
        "amount of money",
        r"\b(?:prices?|costs?|fares?|fees?|balances?|how much money"
        r"|(?:refund|paid|total|credited) (?:amounts?|sums?)"
        r"|(?:amounts?|sums?) (?:refunded|paid|credited|of money|left))\b",
        r"[$€£¥]\s?\d|\d\s?(?:dollars?|euros?|pounds?|cents?|usd|eur|gbp)\b",
    ),
    _sort(
        "date",
        r"\b(?:the dates?|(?:by|on) which (?:date|day)|the day)\b",
        rf"\d{{4}}-\d\d|\d/\d|\b{_MONTH}[a-z]{{0,6}}\.? \d|\d(?:st|nd|rd|th)?(?: of)? {_MONTH}"
        r"|\bdays\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun|to)day\b|\btomorrow\b",
    ),
    _sort(
        "telephone number",
        r"\b(?:tele)?phone numbers?\b|\bnumber under which\b",
        r"\d[\d ().-]{5,20}\d",
    ),
    _sort(
        "link",
        r"\b(?:links?|urls?|web address(?:es)?)\b",
        r"https?:|www\.|\b[\w-]{2,60}\.(?:com|org|net|io|gov|edu)\b",
    ),
    _sort(
        "number",
        r"\b(?:how many|(?<!phone )number of|(?:tracking|award|order|pr) numbers?|percentages?)\b",
        r"\d|\b(?:no|none|one|two|three|four|five|six|seven|eight|nine|ten|dozen)\b",
    ),
    _sort(
        "time of day",
        r"\b(?:departure|arrival|opening|closing) (?:and \w{1,20} )?times?\b|\btime of day\b",
        r"\d:\d\d|\d ?[ap]\.?m\b",
    ),
    _SUMMARY,
    _sort("e-mail address", r"\be-?mail address(?:es)?\b", r"\w@\w"),
)


def untold(demand: Demand, run: Sequence[Unit]) -> list[str]:
    """The sorts of value that a step is to tell and none of its events shows, in words."""
    asked = _to_be_told(demand)
    if not asked:
        return []
    # A summary that was written somewhere may be anywhere; what is told must be there.
    written = any(not unit.said for unit in run)
    return [
        f"no {sort.name} is told"
        for sort in asked
        if not (written and sort is _SUMMARY)
        and not any(sort.looks.search(unit.call_text) for unit in run)
    ]


@lru_cache(maxsize=2_048)
def _to_be_told(demand: Demand) -> tuple[_Sort, ...]:
    telling = [part.text for part in demand.parts if not _TELLING.isdisjoint(part.deeds)]
    return tuple(dict.fromkeys(sort for text in telling for sort in _asked(text)))


def _asked(text: str) -> tuple[_Sort, ...]:
    """The sorts of value that are to be told themselves, and not something about them."""
    about = _ABOUT.search(text)
    end = about.start() if about else len(text)
    verb = _TELLS.search(text, 0, end)
    if verb is None:
        return ()
    return tuple(sort for sort in _SORTS if sort.asked.search(text, verb.end(), end))
