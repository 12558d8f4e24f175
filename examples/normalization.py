"""Replace the values of a trace that differ between runs; leave everything else unchanged.

Ids are numbered in the order of their first appearance and keep their format. Times keep their
order and format, and are half a second apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

BEGAN = datetime(2026, 1, 1, 9, tzinfo=UTC)
APART = timedelta(seconds=0.5)
LONGEST = timedelta(hours=1)

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?")


def normalize_trace(
    value: Any,
    *,
    ids: str | None = None,
    seconds: tuple[str, ...] = (),
    nanoseconds: tuple[str, ...] = (),
    durations: tuple[str, ...] = (),
) -> Any:
    """Replace UUIDs, matches of `ids`, ISO times, and the times under the named keys.

    Numbers under the keys of `durations` become 0.
    """
    found = re.compile(_UUID if ids is None else f"{_UUID}|{ids}")
    named: dict[str, str] = {}
    for text in _iter_strings(value):
        for match in found.finditer(text):
            named.setdefault(match[0], _number_id(match[0], len(named) + 1))
    moments = sorted({time for _, time in _iter_times(value, seconds, nanoseconds)})
    moved = {time: BEGAN + rank * APART for rank, time in enumerate(moments)}

    def replaced(key: str, item: Any) -> Any:
        time = _parse_time(key, item, seconds, nanoseconds)
        if time is not None:
            return _format_like(item, moved[time], nanoseconds=key in nanoseconds)
        if key in durations and isinstance(item, int | float):
            return 0
        if isinstance(item, str):
            return found.sub(lambda match: named[match[0]], item)
        return item

    return _map_values("", value, replaced)


def _number_id(id_: str, number: int) -> str:
    """Return an id of the same format with this number; a prefix and dashes stay."""
    front = re.match(r"(?:[a-z]+_|0x)?", id_)[0]
    rest = id_[len(front) :]
    digits = iter(f"{number:0{len(rest.replace('-', ''))}x}")
    return front + "".join(mark if mark == "-" else next(digits) for mark in rest)


def _iter_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _iter_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _iter_strings(item)


def _iter_times(
    value: Any, seconds: tuple[str, ...], nanoseconds: tuple[str, ...], key: str = ""
) -> Iterator[tuple[str, int]]:
    time = _parse_time(key, value, seconds, nanoseconds)
    if time is not None:
        yield key, time
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _iter_times(item, seconds, nanoseconds, name)
    elif isinstance(value, list):
        for item in value:
            yield from _iter_times(item, seconds, nanoseconds, key)


def _parse_time(
    key: str, item: Any, seconds: tuple[str, ...], nanoseconds: tuple[str, ...]
) -> int | None:
    """Return the time in nanoseconds, if the item is a time."""
    if key in nanoseconds and isinstance(item, (int, str)):
        return int(item)
    if key in seconds and isinstance(item, (int, float)):
        return int(item * 1e9)
    if isinstance(item, str) and _TIME.fullmatch(item):
        moment = datetime.fromisoformat(item)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        # Times of the scripted model are the same in every run.
        if not BEGAN <= moment <= BEGAN + LONGEST:
            return int(moment.timestamp() * 1e9)
    return None


def _format_like(item: Any, moment: datetime, *, nanoseconds: bool) -> Any:
    if nanoseconds:
        return type(item)(int(moment.timestamp()) * 10**9 + moment.microsecond * 1000)
    if not isinstance(item, str):
        return type(item)(moment.timestamp())
    text = moment.isoformat(sep=item[10], timespec="microseconds" if "." in item else "seconds")
    if item.endswith("Z"):
        return text.replace("+00:00", "Z")
    return text if re.search(r"[+-]\d\d:\d\d$", item) else text.replace("+00:00", "")


def _map_values(key: str, value: Any, replaced: Callable[[str, Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _map_values(name, item, replaced) for name, item in value.items()}
    if isinstance(value, list):
        return [_map_values(key, item, replaced) for item in value]
    return replaced(key, value)
