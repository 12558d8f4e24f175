"""The shape of records: which values stand at which paths, and which of them tell records apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.readers.record_counts import NON_RUN_KEYS
from planproof.readers.suggestion.record_words import classify_words, is_notice, split_words
from planproof.readers.toolkit.profile_paths import value_text

MAX_RECORDS = 2_000
"""Records that are looked at: more do not change what a format is."""
_MAX_DEPTH = 4
_MAX_KEYS = 60
_MAX_VALUES = 30
_PLAIN_KEY = re.compile(r'[^."*@^=][^."]{0,79}')
_QUOTED_KEY = re.compile(r'[^"*@^=][^"]{0,79}')
TYPE_WEIGHTS = {
    **dict.fromkeys(
        "type kind event_type eventType record_type message_type msg_type".split(), 3.0
    ),
    **dict.fromkeys("role event node_type op k t".split(), 2.5),
    **dict.fromkeys("from author source sender speaker category".split(), 1.2),
}
"""Keys that often hold the type of a record, and how much that speaks for them."""
_NAMES = frozenset("name tool tool_name toolName function function_name fn id".split())
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w./:-]{0,79}")


class RecordShape:
    """The values of several records by path; lists of objects are kept whole."""

    def __init__(self, records: Sequence[Mapping[str, Json]]) -> None:
        self.records = records[:MAX_RECORDS]
        self.count = len(self.records)

    @cached_property
    def values(self) -> dict[str, list[Json]]:
        """The values at each path, in the order of the records."""
        found: dict[str, list[Json]] = {}
        for record in self.records:
            for path, value in islice(_flatten(record, "", 0), 2 * _MAX_KEYS):
                if value is not None and value != "":
                    found.setdefault(path, []).append(value)
        return found

    def share(self, path: str) -> float:
        """Return the share of the records that have a value at a path."""
        return len(self.values.get(path, ())) / max(self.count, 1)

    def find_texts(self, path: str) -> list[str]:
        """Return the texts at a path."""
        return [value for value in self.values.get(path, ()) if isinstance(value, str)]

    def find_objects(self, path: str) -> list[dict[str, Json]]:
        """Return the objects in the lists at a path."""
        lists = [value for value in self.values.get(path, ()) if is_list(value)]
        items = (item for value in lists for item in value if is_object(item))
        return list(islice(items, MAX_RECORDS))

    def list_paths(self) -> list[str]:
        """Return the paths of lists of objects, the most frequent first."""
        paths = [path for path in self.values if self.find_objects(path)]
        return sorted(paths, key=lambda path: -len(self.values[path]))

    @cached_property
    def types(self) -> list[str]:
        """The paths whose values tell records apart, the best first."""
        scored = {path: self._score_type(path) for path in self.values}
        good = [path for path, score in scored.items() if score > 0]
        return sorted(good, key=lambda path: -scored[path])

    def _score_type(self, path: str) -> float:
        """Rate a path as the type of records: short names, few of them, that say what they are."""
        texts = self.find_texts(path)
        names = Counter(texts)
        keys = path.split(".")
        if not texts or len(keys) > 2 or not 1 <= len(names) <= _MAX_VALUES:
            return 0
        if not all(_IDENTIFIER.fullmatch(name) for name in names):
            return 0
        weight = TYPE_WEIGHTS.get(key := keys[-1].strip('"'))
        if key in _NAMES:
            return 0
        if weight is None and (len(names) < 2 or len(names) > self.count / 2):
            return 0
        words = {name: split_words(name) for name in names}
        informative = sum(
            count
            for name, count in names.items()
            if classify_words(words[name]) or is_notice(words[name])
        )
        if weight is None and not informative:
            return 0
        several = 1.0 if len(names) > 1 else 0.3
        depth_weight = 1.0 if len(keys) == 1 else 0.9
        return (
            several
            * depth_weight
            * (weight or 1.0)
            * (0.2 + informative / len(texts))
            * self.share(path)
        )


def _flatten(value: Mapping[str, Json], prefix: str, depth: int) -> Iterator[tuple[str, Json]]:
    for key, item in islice(value.items(), _MAX_KEYS):
        step = write_step(key)
        if step is None:
            continue
        path = f"{prefix}{step}"
        yield path, item
        if is_object(item) and depth < _MAX_DEPTH and key not in NON_RUN_KEYS:
            yield from _flatten(item, f"{path}.", depth + 1)


def write_step(key: str) -> str | None:
    """Return a key as a step of a path; None if it can't be one."""
    if _PLAIN_KEY.fullmatch(key):
        return key
    return f'"{key}"' if _QUOTED_KEY.fullmatch(key) else None


def last_key(path: str) -> str:
    """Return the last key of a path."""
    return path.rpartition(".")[2].strip('"')


def is_identifier(value: Json) -> bool:
    """Return whether a value is a short name, such as that of a tool."""
    return isinstance(value, str) and _IDENTIFIER.fullmatch(value) is not None


def find_pair(
    calls: RecordShape, results: RecordShape, taken: Container[str] = ()
) -> tuple[tuple[str, str], int] | None:
    """Return the two paths at which calls and results have the same ids, and how many agree.

    `taken` are paths that are known to hold something else.
    """
    best: tuple[tuple[float, float], tuple[str, str], int] | None = None
    result_ids = {path: _find_ids(results, path) for path in results.values if path not in taken}
    for call_path in calls.values:
        ids = _find_ids(calls, call_path) if call_path not in taken else frozenset[str]()
        for result_path, others in result_ids.items() if ids else ():
            same = len(ids & others)
            if same and 2 * same >= min(len(ids), len(others)):
                named = sum(
                    "id" in split_words(last_key(path)) for path in (call_path, result_path)
                )
                rating = (same / max(len(ids), len(others)), named)
                if (same > 1 or named == 2) and (best is None or rating > best[0]):
                    best = rating, (call_path, result_path), same
    return None if best is None else (best[1], best[2])


def _find_ids(shape: RecordShape, path: str) -> frozenset[str]:
    """Return the values of a path if they are ids: short, and nearly all different."""
    values = shape.values[path]
    if not all(isinstance(value, (str, int)) and not isinstance(value, bool) for value in values):
        return frozenset()
    texts = [value_text(value) for value in values]
    ids = frozenset(text for text in texts if len(text) <= 100 and not text.isspace())
    if len(ids) < 0.9 * len(texts) or any(map(is_time, islice(ids, 3))):
        return frozenset()
    return ids


def is_time(value: Json) -> bool:
    """Return whether a value is a date with a time, as text."""
    return isinstance(value, str) and _TIME.match(value) is not None


def find_key(
    shape: RecordShape, keys: Sequence[str], *, least: float = 0.3, within: Iterable[str] = ()
) -> str | None:
    """Return the first path that ends in one of the keys and that enough records have."""
    paths = list(within) or list(shape.values)
    for key in keys:
        matching = [path for path in paths if last_key(path) == key and shape.share(path) >= least]
        if matching:
            return min(matching, key=lambda path: (path.count("."), -shape.share(path)))
    return None
