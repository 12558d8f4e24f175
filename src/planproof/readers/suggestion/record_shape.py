"""What the records of a trace have in common: words of their types, paths, values and fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from typing import Literal, TypeAlias

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.readers.record_counts import NON_RUN_KEYS
from planproof.readers.suggestion.yaml_writer import Yaml
from planproof.readers.toolkit.profile_paths import value_text

RecordKind: TypeAlias = Literal["user", "message", "reasoning", "call", "result", "system"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_REASONING = _words("reasoning thinking thought thoughts think reflection rationale scratchpad")
_RESULT = _words("result results observation observations returned stdout environment")
_TOOL = _words(
    "tool tools function functions command commands action actions call calls exec execute "
    "execution invoke invoking invocation shell bash cmd"
)
_ENDED = _words(
    "output outputs response responses end ended finish finished completed complete done return"
)
_OUTPUT = _words("output outputs")
_USER = _words("user human customer prompt question instruction instructions query ask task input")
_SYSTEM = _words("system developer")
_AGENT = _words(
    "assistant ai agent model bot llm gpt gemini claude answer reply response completion say "
    "final message text chat"
)
_NOTICE = _words(
    "info debug warning warn error notice log meta metadata config settings session start started "
    "stop stopped usage tokens progress status ping heartbeat summary init title snapshot"
)


def split_words(text: str) -> list[str]:
    """Return the words of a name in lower case: `toolCall`, `tool_call` and `tool-call` alike."""
    return [word.lower() for word in _WORD.findall(text[:200])]


def classify_words(words: Iterable[str]) -> RecordKind | None:
    """Return the kind of record that is called so; None if the words do not say."""
    found = frozenset(words)
    if found & _REASONING:
        return "reasoning"
    if found & _RESULT:
        return "result"
    if found & _TOOL:
        return "result" if found & _ENDED else "call"
    if found & _USER:
        return "user"
    if found & _SYSTEM:
        return "system"
    if found & _AGENT:
        return "message"
    return "result" if found & _OUTPUT else None


def is_notice(words: Iterable[str]) -> bool:
    """Return whether these words name a notice of the program and not an event of the run."""
    found = frozenset(words)
    return bool(found & _NOTICE) and classify_words(found - _NOTICE) in (None, "message")


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


NAME_KEYS = "name tool_name toolName tool function_name function fn method recipient action".split()
ARGUMENT_KEYS = (
    "arguments args input parameters params tool_input toolInput tool_args kwargs action_input "
    "rawInput inputs payload data"
).split()
COMMAND_KEYS = "command cmd code script query action".split()
TEXT_KEYS = "content text message value body msg parts answer response output summary".split()
OWN_OUTPUT_KEYS = (
    "output result observation response tool_output tool_response aggregated_output stdout "
    "resultDisplay"
).split()
OUTPUT_KEYS = [*OWN_OUTPUT_KEYS, *"content text value data message body parts".split()]
REASONING_KEYS = (
    "thought thoughts reasoning reasoning_content thinking rationale reflection summary text "
    "content description"
).split()
STEP_REASONING_KEYS = REASONING_KEYS[:7]
ERROR_KEYS = "error is_error isError exception".split()
STATUS_KEYS = "status state outcome".split()
EXIT_KEYS = "exit_code exitCode returncode return_code".split()
_OFTEN = 0.3
_TIME_WORDS = frozenset("time timestamp date ts created at".split())


def find_call(
    shape: RecordShape, condition: Collection[str], *, guess: bool, needs_key: bool
) -> tuple[str, str | None] | None:
    """Return the paths of the name and the arguments of a call; None if there is none.

    `condition` are the paths that tell the type of the records. With `guess`, a name may be under a
    key that says nothing; with `needs_key`, the arguments must be under a key that says it.
    """
    bases = {path.rpartition(".")[0] for path in shape.values}
    best: tuple[int, str, str | None] | None = None
    for base in sorted(bases, key=lambda base: (base.count("."), base)):
        inside = [path for path in shape.values if path.rpartition(".")[0] == base]
        free = [path for path in inside if path not in condition]
        name = _find_name(shape, free, guess=guess and not base)
        arguments = find_key(shape, ARGUMENT_KEYS, within=free) if free else None
        if arguments is None and not needs_key:
            arguments = _find_object(shape, free, name, condition)
        # Without arguments, the object itself must be called a call.
        is_call = classify_words(split_words(last_key(base))) == "call" and not needs_key
        if name is None or (arguments is None and not is_call):
            continue
        count = len(shape.values[name]) + len(shape.values.get(arguments or "", ()))
        count *= 2 if last_key(name) in NAME_KEYS else 1
        if best is None or count > best[0]:
            best = count, name, arguments
    return None if best is None else best[1:]


def _find_name(shape: RecordShape, paths: Sequence[str], *, guess: bool) -> str | None:
    """Return the path of a tool's name among the paths of an object."""
    named = [
        path
        for path in paths
        if path not in shape.types
        and shape.share(path) >= _OFTEN
        and all(map(is_identifier, shape.values[path]))
    ]
    found = find_key(shape, NAME_KEYS, within=named) if named else None
    if found is not None or not guess:
        return found
    # Under a key that says nothing: the short names of which there are several.
    other = [
        path
        for path in named
        if last_key(path) not in NON_RUN_KEYS.union(OUTPUT_KEYS, REASONING_KEYS)
        and len(set(map(value_text, shape.values[path]))) > 1
        and not is_own_field(path, shape)
    ]
    return other[0] if len(other) == 1 else None


def _find_object(
    shape: RecordShape, paths: Sequence[str], name: str | None, condition: Iterable[str]
) -> str | None:
    """Return the path of the only object beside a name: its arguments."""
    objects = [
        path
        for path in paths
        if path != name
        and not any(used.startswith(f"{path}.") for used in condition)
        and last_key(path) not in NON_RUN_KEYS
        and all(map(is_object, shape.values[path]))
    ]
    return objects[0] if len(objects) == 1 else None


def find_text(
    shape: RecordShape,
    keys: Sequence[str],
    lists: Collection[str],
    used: Collection[str],
    *,
    any_text: bool,
) -> str | None:
    """Return the path of the text of records: by its key, or else the longest.

    `lists` are lists whose parts are read by themselves, `used` paths that are something else. With
    `any_text`, a single word counts as text.
    """
    free = [
        path
        for path in shape.values
        if path in lists or not any(f"{path}.".startswith(f"{taken}.") for taken in used)
    ]
    readable = [path for path in free if _is_readable(shape, path, lists)]
    found = find_key(shape, keys, least=0.05, within=readable) if readable else None
    if found is not None:
        return found
    lengths = {
        path: sum(map(len, texts)) / len(texts)
        for path in readable
        if (texts := shape.find_texts(path)) and not is_own_field(path, shape)
    }
    longest = max(lengths, key=lambda path: lengths[path], default=None)
    if longest is None or any_text:
        return longest
    return longest if any(" " in text for text in shape.find_texts(longest)) else None


def _is_readable(shape: RecordShape, path: str, lists: Collection[str]) -> bool:
    values = shape.values[path]
    if any(isinstance(value, str) for value in values):
        return True
    if path not in lists and any(isinstance(value, list) for value in values):
        return True
    return last_key(path) in OWN_OUTPUT_KEYS and not isinstance(values[0], bool)


def add_status(part: dict[str, Yaml], shape: RecordShape, condition: Container[str]) -> None:
    """Add to a call or result where its error, status and exit code are."""
    fields = (("error", ERROR_KEYS), ("status", STATUS_KEYS), ("exit_code", EXIT_KEYS))
    for name, keys in fields:
        path = find_key(shape, keys, least=0.01)
        if path is not None and path not in part.values() and path not in condition:
            part[name] = path


def is_own_field(path: str, shape: RecordShape) -> bool:
    """Return whether a path is an id, a time or similar, and not content."""
    words = split_words(last_key(path))
    return (
        "id" in words
        or "uuid" in words
        or bool(_TIME_WORDS.intersection(words))
        or all(map(is_time, shape.values[path]))
    )
