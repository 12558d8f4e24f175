"""Parse dates in the usual forms, and compare them with dates that may be partial.

Times are ignored. A date such as 03/12/2026 has two readings; one of them has to match.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from planproof.core.contract import Truth

MONTH_NAMES = tuple(
    "January February March April May June July August September October November December".split()
)
_MONTHS = {name.lower()[:3]: number for number, name in enumerate(MONTH_NAMES, start=1)}
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_BEFORE, _AFTER = r"(?<![\d.])", r"(?!\d)"
# One pattern for all forms; every repetition is bounded. The first form that fits is taken.
_DATE = re.compile(
    rf"{_BEFORE}(?P<y1>\d{{4}})(?P<s1>[-/.])(?P<m1>\d{{1,2}})(?P=s1)(?P<d1>\d{{1,2}}){_AFTER}"
    rf"|{_BEFORE}(?P<a2>\d{{1,2}})(?P<s2>[-/.])(?P<b2>\d{{1,2}})(?P=s2)(?P<y2>\d{{4}}|\d{{2}})"
    rf"{_AFTER}"
    rf"|{_BEFORE}(?P<y3>(?:19|20)\d{{2}})(?P<m3>[01]\d)(?P<d3>[0-3]\d){_AFTER}"
    rf"|{_BEFORE}(?P<a0>[0-3]\d)(?P<b0>[0-3]\d)(?P<y0>20\d{{2}}){_AFTER}"
    rf"|{_BEFORE}(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?[\s.-]{{0,3}}(?:of\s{{1,3}})?{_MONTH.format('m4')}"
    rf"(?![a-z])(?:[\s.,'/-]{{1,4}}(?P<y4>\d{{4}}|\d{{2}}){_AFTER}(?!:))?"
    rf"|(?<![^\W_]){_MONTH.format('m5')}[\s._-]{{0,3}}(?:the\s)?(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"{_AFTER}(?!:)(?:(?:,\s?|\s|-)(?:of\s)?(?P<y5>\d{{4}}){_AFTER})?"
    rf"|(?<![^\W_]){_MONTH.format('m6')}(?![a-z])[\s.,_-]{{1,3}}(?P<y6>\d{{4}}){_AFTER}"
    rf"|{_BEFORE}(?P<y7>\d{{4}})[-/](?P<m7>0[1-9]|1[0-2]){_AFTER}(?![-/]\d)"
    r"|(?<![\d./-])(?P<a8>\d{1,2})(?P<s8>[/-])(?P<b8>\d{1,2})(?![\d/-])"
    r"|(?<!\w)(?P<d9>\d{1,2})(?:st|nd|rd|th)(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|(?:next|this|last|coming) [a-z]{3,9}"
    r"|in \w{1,9} (?:days?|weeks?|months?)|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_WANTED = re.compile(
    r"(?:(?P<year>\d{4})|-)(?:-(?P<month>\d{2}|(?=-))(?:-(?P<day>\d{2}))?)?(?:[T ]\d{2}:.{0,30})?"
)
_MAX_CHARS = 10_000
_SECONDS = range(100_000_000, 10_000_000_000)
_LEAP_YEAR = 2024


class PartialDate(NamedTuple):
    """A date of which year, month or day may be missing."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def __str__(self) -> str:
        month = MONTH_NAMES[self.month - 1] if self.month else ""
        day = str(self.day) if self.day else ""
        if day and not month:
            day = f"day {day}"
        return " ".join(filter(None, (day, month, str(self.year) if self.year else "")))


@lru_cache(maxsize=1_024)
def parse_partial_date(text: str) -> PartialDate | None:
    """Parse the date of a condition: `2026-03-12`, `2026-03`, `2026`, `--03-12`, `---15`.

    Other forms are read as on the event's side; None if there is no date or more than one.
    """
    bare = text.strip()
    if (match := _WANTED.fullmatch(bare)) is not None and bare.strip("-"):
        parts = (match["year"], match["month"] or None, match["day"])
        date = PartialDate(*(int(part) if part else None for part in parts))
        return date if _is_valid(date) and any(date) else None
    dates = list(_find_dates(bare))
    return dates[0][0] if len(dates) == 1 else None


def check_date(wanted: str, value: object) -> Truth:
    """Check a value against a date; one of several dates in a text has to match."""
    date = parse_partial_date(wanted)
    if date is None:
        return Truth.UNKNOWN
    readings = read_dates(value)
    results = {_compare(date, reading) for readings_ in readings for reading in readings_}
    if not results:
        is_relative = isinstance(value, str) and _RELATIVE.search(value[:_MAX_CHARS]) is not None
        return Truth.UNKNOWN if is_relative else Truth.MISMATCH
    return next(truth for truth in (Truth.MATCH, Truth.UNKNOWN, Truth.MISMATCH) if truth in results)


def contains_date(text: str, wanted: str) -> bool:
    """Return whether a text contains a date, in any form."""
    date = parse_partial_date(wanted)
    return date is not None and any(
        _compare(date, reading) is Truth.MATCH
        for readings in _list_dates(text[:_MAX_CHARS])
        for reading in readings
    )


def list_days(text: str) -> list[PartialDate]:
    """Return the days in a text that have a month; of a date with two readings, the first."""
    dates = [readings[0] for readings in _list_dates(text[:_MAX_CHARS])]
    return [date for date in dates if date.month is not None and date.day is not None]


@lru_cache(maxsize=1_024)
def _list_dates(text: str) -> list[tuple[PartialDate, ...]]:
    return list(_find_dates(text))


def _compare(wanted: PartialDate, found: PartialDate) -> Truth:
    pairs = tuple(zip(wanted, found, strict=True))
    if any(left != right for left, right in pairs if left is not None and right is not None):
        return Truth.MISMATCH
    # A year is often left out; a month or day that is asked for has to be shown.
    shown = all(left is None or right is not None for left, right in pairs[1:])
    if wanted.year is not None and found.year is None and found.month is None:
        return Truth.UNKNOWN
    return Truth.MATCH if shown else Truth.UNKNOWN


def read_dates(value: object) -> list[tuple[PartialDate, ...]]:
    """Return the dates in a text or number (seconds since 1970), each with its readings."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int | float):
        return _read_timestamp(value)
    if not isinstance(value, str) or len(value) > _MAX_CHARS:
        return []
    bare = value.strip()
    if bare.isascii() and bare.isdigit() and len(bare) in (10, 13):
        return _read_timestamp(int(bare))
    if bare.startswith("--") and (date := parse_partial_date(bare)) is not None:
        return [(date,)]
    return list(_find_dates(bare))


def _read_timestamp(value: float) -> list[tuple[PartialDate, ...]]:
    if not abs(value) < 1e15:  # also for NaN
        return []
    seconds = int(value) // 1000 if abs(value) >= 1e11 else int(value)
    if seconds not in _SECONDS:
        return []
    moment = datetime.fromtimestamp(seconds, UTC)
    return [(PartialDate(moment.year, moment.month, moment.day),)]


def _find_dates(text: str) -> Iterator[tuple[PartialDate, ...]]:
    return (dates for _, _, dates in find_dates(text))


def find_dates(text: str) -> Iterator[tuple[int, int, tuple[PartialDate, ...]]]:
    """Yield the dates in a text: start, end and readings."""
    for match in _DATE.finditer(text):
        dates = tuple(date for date in _read_match(match) if _is_valid(date))
        if dates:
            yield *match.span(), dates


def _read_match(match: re.Match[str]) -> tuple[PartialDate, ...]:
    form = next(number for number in "0123456789" if _has_form(match, number))
    if form in "028":
        first, second = int(match[f"a{form}"]), int(match[f"b{form}"])
        year = _read_year(match[f"y{form}"]) if form != "8" else None
        return PartialDate(year, second, first), PartialDate(year, first, second)
    names: dict[str, str | None] = match.groupdict()
    month, day = names.get(f"m{form}"), names.get(f"d{form}")
    return (
        PartialDate(
            _read_year(names.get(f"y{form}")),
            _read_month(month) if month else None,
            int(day) if day else None,
        ),
    )


def _read_month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS[text[:3].lower()]


def _has_form(match: re.Match[str], form: str) -> bool:
    leading = {"1": "y1", "2": "a2", "3": "y3", "0": "a0", "7": "y7", "8": "a8", "9": "d9"}
    return match[leading.get(form, f"m{form}")] is not None


def _read_year(digits: str | None) -> int | None:
    if digits is None:
        return None
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _is_valid(date: PartialDate) -> bool:
    if date.year is not None and date.year < 1:
        return False
    if date.month is not None and not 1 <= date.month <= 12:
        return False
    if date.day is None:
        return True
    longest = monthrange(date.year or _LEAP_YEAR, date.month)[1] if date.month else 31
    return 1 <= date.day <= longest
