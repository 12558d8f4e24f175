"""Find the fields of records: the name and arguments of calls, texts, status."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence

from planproof.core.json_values import is_object
from planproof.readers.record_counts import NON_RUN_KEYS
from planproof.readers.suggestion.record_shape import (
    RecordShape,
    find_key,
    is_identifier,
    is_time,
    last_key,
)
from planproof.readers.suggestion.record_words import classify_words, split_words
from planproof.readers.suggestion.yaml_writer import Yaml
from planproof.readers.toolkit.profile_paths import value_text

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
