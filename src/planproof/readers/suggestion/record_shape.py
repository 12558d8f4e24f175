"""The shape of records: which values stand at which paths, and which of them tell records apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product

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
_KEYS = re.compile(r'"[^"]*"|[^."]+')
_QUOTED_KEY = re.compile(r'[^"*@^=][^"]{0,79}')
_TYPE_WEIGHTS = {
    **dict.fromkeys("type kind".split(), 3.0),
    **dict.fromkeys("role event op k t".split(), 2.5),
    **dict.fromkeys("from author source sender speaker category".split(), 1.2),
}
"""How much the last word of a key speaks for it as the type of a record."""
_NO_TYPES = frozenset("name tool function fn id reason status state level".split())
"""Last words of keys that say something else about a record."""
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

    @property
    def keys(self) -> list[str]:
        """The keys under which the records have values, other than data about the run."""
        return [path for path in self.values if "." not in path and path not in NON_RUN_KEYS]

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
        weight = rate_type_key(keys[-1])
        if weight == 0:
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
        depth_factor = 1.0 if len(keys) == 1 else 0.9
        return (
            several
            * depth_factor
            * (weight or 1.0)
            * (0.2 + informative / len(texts))
            * self.share(path)
        )


def rate_type_key(key: str) -> float | None:
    """Return how much a key speaks for its value as a type; None if it says nothing."""
    last = split_words(key)[-1:]
    if not _NO_TYPES.isdisjoint(last):
        return 0
    return next((_TYPE_WEIGHTS[word] for word in last if word in _TYPE_WEIGHTS), None)


def _flatten(value: Mapping[str, Json], prefix: str, depth: int) -> Iterator[tuple[str, Json]]:
    for key, item in islice(value.items(), _MAX_KEYS):
        step = write_step(key)
        if step is None:
            continue
        path = f"{prefix}{step}"
        yield path, item
        if is_object(item) and depth < _MAX_DEPTH and key not in NON_RUN_KEYS:
            yield from _flatten(item, f"{path}.", depth + 1)


def get_at(record: Mapping[str, Json], path: str) -> Json:
    """Return the value at a path of keys; None if there is none."""
    value: Json = dict(record)
    for key in _KEYS.findall(path):
        value = value.get(key.strip('"')) if is_object(value) else None
    return value


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
    calls: RecordShape, results: RecordShape, taken: Iterable[str] = ()
) -> tuple[tuple[str, str], int] | None:
    """Return the two paths at which calls and results have the same ids, and how many agree.

    `taken` are paths that are known to hold something else.
    """
    prefixes = tuple(f"{path}." for path in taken)
    call_ids, result_ids = (
        {
            path: ids
            for path in shape.values
            if not f"{path}.".startswith(prefixes) and (ids := _find_ids(shape, path))
        }
        for shape in (calls, results)
    )
    rated: list[tuple[float, int, int, tuple[str, str]]] = []
    for paths in product(call_ids, result_ids):
        ids, others = call_ids[paths[0]], result_ids[paths[1]]
        same = len(ids & others)
        named = sum("id" in split_words(last_key(path)) for path in paths)
        if 2 * same >= min(len(ids), len(others)) and (same > 1 or (same and named == 2)):
            rated.append((same / max(len(ids), len(others)), named, same, paths))
    if not rated:
        return None
    _, _, same, paths = max(rated, key=lambda pair: pair[:2])
    return paths, same


def _find_ids(shape: RecordShape, path: str) -> frozenset[str]:
    """Return the values of a path if they are ids: short, and nearly all different."""
    values, words = shape.values[path], split_words(last_key(path))
    is_short = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
    if not is_short or "parent" in words:
        return frozenset()
    texts = [value_text(value) for value in values]
    ids = frozenset(text for text in texts if len(text) <= 100 and not text.isspace())
    # What is called an id may be repeated: a history may be written again every turn.
    least = 0.2 if "id" in words and len(ids) > 1 else 0.9
    if len(ids) < least * len(texts) or any(map(is_time, islice(ids, 3))):
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
