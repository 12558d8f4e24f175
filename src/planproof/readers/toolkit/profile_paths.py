"""Paths and conditions of profiles: where a value is in a record, and what must hold of it.

A path is a list of keys joined by dots: `message.content`. `*` stands for every item of a list or
every value of an object, `.` for the value itself, `@key` for the key under which it was found, `^`
at the beginning for the whole record, and `>` for the record after it. A key that contains a dot is
put in double quotes: `attributes."gen_ai.tool.name"`. Of a text, `@json` is the JSON inside it,
`@repr` the Python value inside it, `@lines` the object that lines of the form `key: value` are,
`@fenced` the content of its code block (or the text, if it has none), `@command` the tool of a
command line, `@thought` and `@code` the parts of a code agent's answer, `@facts` and `@plan` those
of its plan. `@json-values` is an object whose texts may each contain JSON, and `@objects` every
outermost value with a `@type`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import NoneType
from typing import Any, Literal, TypeAlias, TypeVar

from msgspec import Struct, structs

from planproof.core.content import Json
from planproof.core.json_values import (
    NOT_STRICT_ERRORS,
    format_value,
    is_list,
    is_object,
    parse_embedded_json,
    parse_strict,
)
from planproof.core.pointer import escape
from planproof.errors import InvalidInput
from planproof.readers.toolkit.code_fences import (
    find_code_blocks,
    split_facts_and_plan,
    split_thought_and_code,
)
from planproof.readers.toolkit.content_parts import extract_text
from planproof.readers.toolkit.line_patterns import LinePattern
from planproof.readers.toolkit.python_repr import parse_repr
from planproof.readers.toolkit.tool_calls import get_command_name

ValueKind: TypeAlias = Literal["text", "number", "flag", "list", "object", "null"]
_CACHE_SIZE = 10_000
MISSING: Any = object()
"""Stands for a value that is not there."""
_KEY_STEPS = ("@key",)
_STEP = re.compile(r'"([^"]*)"|([^."]+)')


class Node(Struct):
    """A value with its pointer, the key under which it was found, and the record after it.

    `in_text` is a value inside a text, which has no pointers of its own.
    """

    value: Json
    pointer: str
    key: str = ""
    after: Node | None = None
    in_text: bool = False

    def get_child(self, key: str, value: Json) -> Node:
        """Return the node of an item or a value of this one."""
        pointer = self.pointer if self.in_text else f"{self.pointer}/{escape(key)}"
        return Node(value, pointer, key, None, self.in_text)


class Path:
    """A path compiled into functions of a node and the record that it is in.

    `first` finds the first value with its pointer, `value` without it, and `every` all of them.
    `key` is that which an object must have for the path to lead anywhere; None if that is unknown.
    """

    def __init__(self, steps: tuple[str, ...], start: str = "") -> None:
        self.steps = steps
        self.start = start
        self.is_plain = bool(steps) and not any(map(_is_special, steps))
        self.key = steps[0] if steps and not start and not _is_special(steps[0]) else None
        self.first, self.value, self.every = _compile_steps(steps)
        if start:
            self.first = _begin_at(start, self.first, None)
            self.value = _begin_at(start, self.value, MISSING)
            self.every = _begin_at(start, self.every, ())


_T = TypeVar("_T")
_First: TypeAlias = Callable[[Node, Node], Node | None]
_Value: TypeAlias = Callable[[Node, Node], Json]
_Every: TypeAlias = Callable[[Node, Node], Iterable[Node]]


def _is_special(step: str) -> bool:
    return step == "*" or step.startswith("@")


def _begin_at(
    start: str, find: Callable[[Node, Node], _T], nothing: _T
) -> Callable[[Node, Node], _T]:
    """Return a function that finds values in the record, or in the one after it."""
    if start == "^":
        return lambda node, record: find(record, record)
    return lambda node, record: nothing if record.after is None else find(record.after, record)


def _compile_steps(steps: tuple[str, ...]) -> tuple[_First, _Value, _Every]:
    if not steps:
        return lambda node, _: node, lambda node, _: node.value, lambda node, _: (node,)
    if not any(map(_is_special, steps)):
        return _compile_keys(steps)

    if steps[-1] == "*" and len(steps) > 1 and not any(map(_is_special, steps[:-1])):
        # The items of a list are the most common path of all.
        find_list = _compile_keys(steps[:-1])[0]

        def every(node: Node, record: Node) -> Iterable[Node]:
            found = find_list(node, record)
            return () if found is None else iter_children(found)
    else:

        def every(node: Node, record: Node) -> Iterable[Node]:
            return _walk(node, steps, 0)

    def first(node: Node, record: Node) -> Node | None:
        return next(iter(every(node, record)), None)

    def value(node: Node, record: Node) -> Json:
        found = first(node, record)
        return MISSING if found is None else found.value

    return first, (lambda node, _: node.key) if steps == _KEY_STEPS else value, every


def _compile_keys(keys: tuple[str, ...]) -> tuple[_First, _Value, _Every]:
    """Compile a path that consists of keys only."""
    suffix = "".join(f"/{escape(key)}" for key in keys)
    key, is_single = keys[-1], len(keys) == 1

    def value(node: Node, record: Node) -> Json:
        return _follow(node.value, keys)

    def value_at_key(node: Node, record: Node) -> Json:
        inside = node.value
        return inside.get(key, MISSING) if inside.__class__ is dict else _follow(inside, keys)

    def first(node: Node, record: Node) -> Node | None:
        # Written out for one key in an object: this runs for every field of a rule.
        inside = node.value
        if is_single and inside.__class__ is dict:
            found = inside.get(key, MISSING)
        else:
            found = _follow(inside, keys)
        if found is MISSING:
            return None
        pointer = node.pointer if node.in_text else node.pointer + suffix
        return Node(found, pointer, key, None, node.in_text)

    def every(node: Node, record: Node) -> Iterable[Node]:
        found = first(node, record)
        return () if found is None else (found,)

    return first, value_at_key if is_single else value, every


def _follow(value: Json, steps: tuple[str, ...]) -> Json:
    """Return the value under these keys; `MISSING` if there is none."""
    for step in steps:
        if value.__class__ is dict:
            value = value.get(step, MISSING)
        elif is_list(value) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


@lru_cache(_CACHE_SIZE)
def parse_path(text: str) -> Path:
    """Parse the text of a path."""
    start = text[:1] if text.startswith(("^", ">")) else ""
    bare = text[len(start) :]
    if bare in ("", "."):
        return Path((), start)
    steps = tuple(quoted or plain for quoted, plain in _STEP.findall(bare))
    if _STEP.sub("", bare.strip(".")) != "." * (len(steps) - 1) or "" in steps:
        raise InvalidInput(f"`{text}` is not a valid path.", advice="Write keys joined by dots.")
    return Path(steps, start)


@lru_cache(_CACHE_SIZE)
def parse_paths(text: str) -> tuple[Path, ...]:
    """Parse the paths in a text with ` | ` between them."""
    return tuple(map(parse_path, text.split(" | ")))


Field: TypeAlias = str | tuple[str, ...]
"""A path, or several of which the first with a value counts; `=text` is a constant.

`path ~ pattern` takes the first field of the first line of the value that matches the pattern.
"""


class CompiledField:
    """A field compiled into functions of a node and its record.

    `get` finds the first value that is there and is not null or empty text, `get_text` the same as
    text, and `get_empty` the first that is an empty text.
    """

    def __init__(self, field: Field | None) -> None:
        sources = [] if field is None else list(map(_compile_source, as_tuple(field)))
        paths = [source for source, _ in sources if isinstance(source, Path)]
        self.is_given = bool(sources)
        self.get = self.get_text = self.get_empty = _find_nothing
        if sources:
            choice = _Choice(sources, paths)
            self.get, self.get_text, self.get_empty = choice.get, choice.get_text, choice.get_empty
        if len(paths) == 1 == len(sources) and sources[0][1] is None:
            self.get, self.get_text = _compile_single(paths[0])


def _find_nothing(node: Node, record: Node) -> None:
    """Return None: the function of a field that is not given."""


def _compile_single(path: Path) -> tuple[_First, Callable[[Node, Node], str | None]]:
    """Return `get` and `get_text` of a field of one path, which most are."""
    first, read = path.first, path.value

    def get(node: Node, record: Node) -> Node | None:
        found = first(node, record)
        return None if found is None or found.value is None or found.value == "" else found

    def get_text(node: Node, record: Node) -> str | None:
        value = read(node, record)
        if value.__class__ is str:
            return value or None
        return None if value is MISSING else format_value(value) or None

    return get, get_text


class _Choice:
    """The functions of a field of several paths, or with a constant or a pattern."""

    def __init__(
        self, sources: list[tuple[Path | str, LinePattern | None]], paths: list[Path]
    ) -> None:
        self._sources = sources
        self._paths = paths
        keys = frozenset(path.key for path in paths if path.is_plain and path.key is not None)
        self._keys = keys if 1 < len(keys) == len(sources) else None

    def get(self, node: Node, record: Node) -> Node | None:
        """Return the first value that is there and is not null or empty text."""
        value, keys = node.value, self._keys
        # An object that has none of the keys is common: cheaper than to follow every path.
        if keys is not None and value.__class__ is dict and keys.isdisjoint(value):
            return None
        for source, pattern in self._sources:
            if isinstance(source, str):
                return Node(source, node.pointer)
            found = source.first(node, record)
            if found is None or found.value is None or found.value == "":
                continue
            if pattern is None:
                return found
            part = _match_lines(pattern, value_text(found.value))
            if part:
                return structs.replace(found, value=part)
        return None

    def get_text(self, node: Node, record: Node) -> str | None:
        """Return the same as text."""
        value, keys = node.value, self._keys
        if keys is not None and value.__class__ is dict and keys.isdisjoint(value):
            return None
        for source, pattern in self._sources:
            if isinstance(source, str):
                return source
            value = source.value(node, record)
            text = "" if value is MISSING else value_text(value)
            if pattern is not None and text:
                text = _match_lines(pattern, text)
            if text:
                return text
        return None

    def get_empty(self, node: Node, record: Node) -> Node | None:
        """Return the first value that is an empty text."""
        empty = (path for path in self._paths if path.value(node, record) == "")
        return next((path.first(node, record) for path in empty), None)


compile_field = lru_cache(_CACHE_SIZE)(CompiledField)


def _compile_source(text: str) -> tuple[Path | str, LinePattern | None]:
    if text.startswith("="):
        return text[1:], None
    path, separator, pattern = text.partition(" ~ ")
    return parse_path(path.strip()), LinePattern(pattern) if separator else None


def _match_lines(pattern: LinePattern, text: str) -> str | None:
    """Return the first field of the first line that matches."""
    for line in text.split("\n"):
        fields = pattern.match(line.strip())
        if fields:
            return next(iter(fields.values()))
    return None


def _walk(node: Node, steps: tuple[str, ...], index: int) -> Iterator[Node]:
    if index == len(steps):
        yield node
    elif index + 1 == len(steps):
        yield from _take_step(node, steps[index])
    else:
        for child in _take_step(node, steps[index]):
            yield from _walk(child, steps, index + 1)


def _take_step(node: Node, step: str) -> Iterator[Node]:
    value, is_in_text = node.value, node.in_text
    if step == "*":
        yield from iter_children(node)
    elif step == "@key":
        yield structs.replace(node, value=node.key)
    elif step == "@objects":
        yield from _find_objects(node)
    elif step == "@json-values":
        if is_object(value):
            values = {key: _parse_text(item) for key, item in value.items()}
            yield structs.replace(node, value=values)
    elif step in _EMBEDDED:
        if is_list(value) and step in _PARTS_OF_ANSWERS:
            value = extract_text(value, "")[0]
        if isinstance(value, str):
            value, is_in_text = _EMBEDDED[step](value), True
        if value is not None:
            yield Node(value, node.pointer, node.key, in_text=is_in_text)
    elif is_object(value) and step in value:
        yield node.get_child(step, value[step])
    elif is_list(value) and step.isdigit() and int(step) < len(value):
        yield node.get_child(step, value[int(step)])


def _parse_text(value: Json) -> Json:
    """Return the JSON value that a text contains; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return parse_strict(value)
    except NOT_STRICT_ERRORS:
        return value


def _find_objects(node: Node) -> Iterator[Node]:
    if is_object(node.value) and "@type" in node.value:
        yield node
        return
    for child in iter_children(node):
        yield from _find_objects(child)


def _parse_repr_text(text: str) -> Json:
    parsed = parse_repr(text)
    return None if parsed is None else parsed.value


def _parse_key_lines(text: str) -> Json:
    """Parse lines `key: value`; a line that is indented otherwise, or has no key, continues one."""
    values: dict[str, str] = {}
    key, margin = "", len(text) - len(text.lstrip())
    for line in text.split("\n"):
        name, colon, value = line.strip().partition(":")
        if colon and _LINE_KEY.fullmatch(name) and len(line) - len(line.lstrip()) == margin:
            key, values[name] = name, value.strip()
        elif key:
            values[key] = f"{values[key]}\n{line.strip()}".strip("\n")
    return {
        key: _parse_repr_text(value) if value[:1] in "[{" and value else value
        for key, value in values.items()
    } or None


def _find_fenced_text(text: str) -> Json:
    block = next(find_code_blocks(f"{text}\n```"), None) if "```" in text else None
    return text.strip() if block is None else block.code


_LINE_KEY = re.compile(r"\w[\w .-]{0,60}")
_PARTS_OF_ANSWERS = ("@thought", "@code")
_EMBEDDED: dict[str, Callable[[str], Json]] = {
    "@json": parse_embedded_json,
    "@repr": _parse_repr_text,
    "@lines": _parse_key_lines,
    "@fenced": _find_fenced_text,
    "@command": get_command_name,
    "@thought": lambda text: (split_thought_and_code(text) or (text,))[0],
    "@code": lambda text: (split_thought_and_code(text) or (None, None))[1],
    "@facts": lambda text: split_facts_and_plan(text)[0],
    "@plan": lambda text: split_facts_and_plan(text)[1],
}


def iter_children(node: Node) -> Iterator[Node]:
    """Yield the items of a list or the values of an object, with their pointers."""
    value, pointer, is_in_text = node.value, node.pointer, node.in_text
    if is_list(value):
        for index, item in enumerate(value):
            key = str(index)
            yield Node(item, pointer if is_in_text else f"{pointer}/{key}", key, None, is_in_text)
    elif is_object(value):
        for key, item in value.items():
            yield node.get_child(key, item)


class Test(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"not_": "not"},
):
    """What must hold of the value at a path; all that is given must hold."""

    exists: bool | None = None
    kind: ValueKind | tuple[ValueKind, ...] | None = None
    starts: str | tuple[str, ...] | None = None
    ends: str | tuple[str, ...] | None = None
    contains: str | tuple[str, ...] | None = None
    size: int | None = None
    not_: str | tuple[str, ...] | None = None

    def holds(self, value: Json) -> bool:
        """Return whether the value meets the test."""
        if value is MISSING:
            is_any = self.exists is None and self.kind is None and self.not_ is not None
            return self.exists is False or is_any
        if self.exists is False:
            return False
        if self.kind is not None and classify_value(value) not in as_tuple(self.kind):
            return False
        if self.size is not None and not (
            (is_list(value) or is_object(value)) and len(value) == self.size
        ):
            return False
        if self.starts is self.ends is self.contains is self.not_ is None:
            return True
        text = value_text(value)
        if self.starts is not None and not text.startswith(as_tuple(self.starts)):
            return False
        if self.ends is not None and not text.endswith(as_tuple(self.ends)):
            return False
        if self.contains is not None and not any(p in text for p in as_tuple(self.contains)):
            return False
        return self.not_ is None or text not in as_tuple(self.not_)


Condition: TypeAlias = dict[str, str | tuple[str, ...] | Test]
"""Maps paths to what must hold there: a value, one of several values, or a test.

Of the values at a path with `*`, and of several paths with ` | ` between them, one must meet it.
"""


_Test: TypeAlias = Callable[[Node, Node], bool]


class CompiledCondition:
    """A condition with its paths parsed; `holds` tells whether all of it does."""

    def __init__(self, condition: Condition) -> None:
        self.texts: dict[str, tuple[str, ...]] = {}
        """The texts of which one must be at a key."""
        self._tests: list[tuple[str | None, _Test]] = []
        for text, test in condition.items():
            paths = parse_paths(text)
            key = paths[0].key if len(paths[0].steps) == len(paths) == 1 else None
            if key is not None and not isinstance(test, Test):
                self.texts[key] = as_tuple(test)
            else:
                key = None
            self._tests.append((key, _compile_test(paths, test)))
        self.holds = _join_tests([test for _, test in self._tests])

    def without(self, key: str) -> _Test:
        """Return a test of all but the text at this key, which is known to be one of them."""
        return _join_tests([test for other, test in self._tests if other != key])


def _join_tests(tests: list[_Test]) -> _Test:
    """Return a test that holds if all do."""
    if not tests:
        return lambda node, record: True
    if len(tests) == 1:
        return tests[0]
    first, others = tests[0], _join_tests(tests[1:])
    return lambda node, record: first(node, record) and others(node, record)


def _compile_test(paths: tuple[Path, ...], test: str | tuple[str, ...] | Test) -> _Test:
    """Return a function that tests whether one of the values at some paths meets a test."""
    holds, path = _compile_value_test(test), paths[0]
    if len(paths) > 1:
        first, others = _compile_test(paths[:1], test), _compile_test(paths[1:], test)
        return lambda node, record: first(node, record) or others(node, record)
    if "*" in path.steps:
        return lambda node, record: any(holds(found.value) for found in path.every(node, record))
    read, key = path.value, path.key
    if key is None or len(path.steps) > 1:
        return lambda node, record: holds(read(node, record))

    # Written out: most conditions are of one key, and they are tried on every record.
    def holds_at_key(node: Node, record: Node) -> bool:
        value = node.value
        return holds(value.get(key, MISSING) if value.__class__ is dict else read(node, record))

    return holds_at_key


def _compile_value_test(test: str | tuple[str, ...] | Test) -> Callable[[Json], bool]:
    if not isinstance(test, Test):
        texts = frozenset(as_tuple(test))
        return lambda value: value is not MISSING and value_text(value) in texts
    if test == Test(kind=test.kind) and test.kind is not None:
        kinds = as_tuple(test.kind)
        return lambda value: value is not MISSING and classify_value(value) in kinds
    return test.holds


def as_tuple(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return one text, or several, as a tuple."""
    return (value,) if isinstance(value, str) else value


def classify_value(value: Json) -> ValueKind:
    """Return the kind of a JSON value."""
    return _KINDS.get(value.__class__, "number")


_KINDS: dict[type, ValueKind] = {
    str: "text",
    bool: "flag",
    list: "list",
    dict: "object",
    NoneType: "null",
}


def value_text(value: Json) -> str:
    """Return a value as the text that a profile compares it with."""
    return value if isinstance(value, str) else format_value(value)
