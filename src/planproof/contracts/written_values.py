"""Find numbers, dates, times of day and durations in a text, and compare them across their forms.

"1.5 million" is 1500000, "the 21st" is 21, "3 pm" is 15:00, "August 2024" is 2024-08, and "2 hours"
are 120 minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from planproof.contracts.date_values import MONTH_NAMES, PartialDate, find_dates
from planproof.contracts.number_values import find_numbers

WrittenKind: TypeAlias = Literal["number", "date", "time", "duration"]

_MAX_CHARS = 10_000
_MONTHS = {name.lower(): number for number, name in enumerate(MONTH_NAMES, start=1)}
_BARE_MONTH = re.compile(rf"\b({'|'.join(name for name in MONTH_NAMES if name != 'May')})\b")
_MONTH_FIELD = re.compile(r"\bmonth\W{1,4}(?P<month>0?[1-9]|1[0-2])(?!\d)", re.IGNORECASE)
_TIME = re.compile(
    r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minute>[0-5]\d)(?::[0-5]\d)?)?"
    r"\s?(?P<half>[ap]\.?m\b\.?)"
    r"|(?<![\d:])(?P<hour24>[01]?\d|2[0-4]):(?P<minute24>[0-5]\d)(?::[0-5]\d)?(?![\d:])"
    r"|\b(?P<word>noon|midday|midnight)\b",
    re.IGNORECASE,
)
_SECONDS = {
    "millisecond": 0.001, "ms": 0.001, "second": 1.0, "sec": 1.0, "minute": 60.0, "min": 60.0,
    "hour": 3600.0, "hr": 3600.0, "day": 86_400.0, "week": 604_800.0,
}  # fmt: skip
_UNIT = "|".join(sorted(_SECONDS, key=len, reverse=True))
_DURATION = re.compile(
    rf"(?<![\w.])(?P<count>\d{{1,12}}(?:\.\d{{1,6}})?)[\s-]?(?P<unit>{_UNIT})s?\b"
    rf"|(?<![^\W_])(?P<field>{_UNIT})s?[^\w\n-]{{1,4}}(?P<value>\d{{1,12}}(?:\.\d{{1,6}})?)(?![\w.])",
    re.IGNORECASE,
)
_HALF_DAY, _MINUTES_A_DAY = 12 * 60, 24 * 60


class WrittenValue(NamedTuple):
    """A value in a text: where it is, what it is, and what it may mean.

    A number and a duration (in seconds) are floats, a time of day is in minutes.
    """

    start: int
    end: int
    kind: WrittenKind
    readings: frozenset[float | PartialDate]

    def is_same(self, other: WrittenValue) -> bool:
        """Return whether a value of an event may be this one, as a step writes it."""
        if self.kind != other.kind:
            return False
        if self.kind != "date":
            return not self.readings.isdisjoint(other.readings)
        return any(
            isinstance(one, PartialDate) and isinstance(two, PartialDate) and _is_same_day(one, two)
            for one in self.readings
            for two in other.readings
        )


@lru_cache(maxsize=256)
def find_written_values(text: str) -> tuple[WrittenValue, ...]:
    """Return the values in a text of limited length; one place may have values of several kinds."""
    return tuple(_iter_values(text[:_MAX_CHARS]))


def _iter_values(text: str) -> Iterator[WrittenValue]:
    for start, end, numbers in find_numbers(text):
        yield WrittenValue(start, end, "number", frozenset(numbers))
    dated: set[int] = set()
    for start, end, dates in find_dates(text):
        dated.update(range(start, end))
        yield WrittenValue(start, end, "date", frozenset(dates))
    for match in (*_BARE_MONTH.finditer(text), *_MONTH_FIELD.finditer(text)):
        if match.start(1) in dated:
            continue  # a part of a date
        written = match[1]
        month = int(written) if written.isdecimal() else _MONTHS[written.lower()]
        yield WrittenValue(*match.span(1), "date", frozenset({PartialDate(month=month)}))
    for match in _TIME.finditer(text):
        yield WrittenValue(*match.span(), "time", _read_time(match))
    for match in _DURATION.finditer(text):
        unit = _SECONDS[(match["unit"] or match["field"]).lower()]
        seconds = round(float(match["count"] or match["value"]) * unit, 3)
        yield WrittenValue(*match.span(), "duration", frozenset({seconds}))


def _read_time(match: re.Match[str]) -> frozenset[float]:
    """Return the minutes since midnight; 3:30 without "am" or "pm" may be either."""
    if match["word"]:
        return frozenset({0.0 if match["word"].lower() == "midnight" else float(_HALF_DAY)})
    if match["half"]:
        minutes = int(match["hour"]) % 12 * 60 + int(match["minute"] or 0)
        if int(match["hour"]) > 12:
            minutes = int(match["hour"]) * 60 + int(match["minute"] or 0)
        elif match["half"][0].lower() == "p":
            minutes += _HALF_DAY
        return frozenset({float(minutes % _MINUTES_A_DAY)})
    hour = match["hour24"]
    minutes = (int(hour) * 60 + int(match["minute24"])) % _MINUTES_A_DAY
    if len(hour) == 1 or hour in ("10", "11", "12"):
        return frozenset({float(minutes), float((minutes + _HALF_DAY) % _MINUTES_A_DAY)})
    return frozenset({float(minutes)})


def _is_same_day(wanted: PartialDate, found: PartialDate) -> bool:
    """Return whether a date is the wanted one; a whole month or year has no day."""
    pairs = [*zip(wanted, found, strict=True)]
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return False
    # A year may be left out; a month or a day may not.
    return all(one is None or other is not None for one, other in pairs[1:])
