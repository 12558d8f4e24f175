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
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

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


class Path(NamedTuple):
    """A compiled path: its keys, and where it begins: here, at the record, or at the next one.

    `suffix` is what a plain path, of keys only, adds to a pointer; None if the path is not plain.
    `listed` is the plain path to a list, if this one leads to the items of it.
    """

    steps: tuple[str, ...]
    start: Literal["", "^", ">"] = ""
    suffix: str | None = None
    listed: Path | None = None

    def first(self, node: Node, record: Node) -> Node | None:
        """Return the first value at this path; None if there is none."""
        start = node if not self.start else record if self.start == "^" else record.after
        if start is None or not self.steps:
            return start
        if self.suffix is None:
            return next(_walk(start, self.steps, 0), None)
        value = _follow(start.value, self.steps)
        if value is MISSING:
            return None
        pointer = start.pointer if start.in_text else start.pointer + self.suffix
        return Node(value, pointer, self.steps[-1], None, start.in_text)

    def first_value(self, node: Node, record: Node) -> Json:
        """Return the first value at this path without its pointer; `MISSING` if there is none."""
        start = node if not self.start else record if self.start == "^" else record.after
        if start is None:
            return MISSING
        if self.suffix is not None:
            return _follow(start.value, self.steps)
        if not self.steps:
            return start.value
        if self.steps == _KEY_STEPS:
            return start.key
        found = next(_walk(start, self.steps, 0), None)
        return MISSING if found is None else found.value

    def every(self, node: Node, record: Node) -> Iterator[Node]:
        """Yield all values at this path, in order."""
        if self.suffix is not None:
            found = self.first(node, record)
            return iter(() if found is None else (found,))
        if self.listed is not None:
            found = self.listed.first(node, record)
            return iter_children(found) if found is not None else iter(())
        start = node if not self.start else record if self.start == "^" else record.after
        return _walk(start, self.steps, 0) if start is not None else iter(())


def _follow(value: Json, steps: tuple[str, ...]) -> Json:
    """Return the value under these keys; `MISSING` if there is none."""
    for step in steps:
        # Faster than `is_object`: this runs for every path of every rule.
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
    start = "^" if text.startswith("^") else ">" if text.startswith(">") else ""
    bare = text[len(start) :]
    if bare in ("", "."):
        return Path((), start)
    steps = tuple(quoted or plain for quoted, plain in _STEP.findall(bare))
    if _STEP.sub("", bare.strip(".")) != "." * (len(steps) - 1) or "" in steps:
        raise InvalidInput(f"`{text}` is not a valid path.", advice="Write keys joined by dots.")
    if steps[-1] == "*" and len(steps) > 1:
        listed = Path(steps[:-1], start, _join_plain(steps[:-1]))
        return Path(steps, start, None, listed if listed.suffix is not None else None)
    return Path(steps, start, _join_plain(steps))


def _join_plain(steps: tuple[str, ...]) -> str | None:
    """Return what a path adds to a pointer; None if it does not consist of keys only."""
    if any(step == "*" or step.startswith("@") for step in steps):
        return None
    return "".join(f"/{escape(step)}" for step in steps)


@lru_cache(_CACHE_SIZE)
def parse_paths(text: str) -> tuple[Path, ...]:
    """Parse the paths in a text with ` | ` between them."""
    return tuple(map(parse_path, text.split(" | ")))


Field: TypeAlias = str | tuple[str, ...]
"""A path, or several of which the first with a value counts; `=text` is a constant.

`path ~ pattern` takes the first field of the first line of the value that matches the pattern.
"""


class CompiledField:
    """One or more paths, or a constant."""

    def __init__(self, field: Field) -> None:
        self._sources = list(map(_compile_source, as_tuple(field)))
        self._keys = frozenset(
            source.steps[0]
            for source, _ in self._sources
            if isinstance(source, Path) and source.suffix is not None and not source.start
        )
        self._has_only_keys = 1 < len(self._keys) == len(self._sources)

    def get(self, node: Node, record: Node) -> Node | None:
        """Return the first value that is there and is not null or empty text."""
        if self._has_only_keys and self._is_missing(node.value):
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

    def get_empty(self, node: Node, record: Node) -> Node | None:
        """Return the first value that is an empty text."""
        for source, _ in self._sources:
            if isinstance(source, Path) and source.first_value(node, record) == "":
                return source.first(node, record)
        return None

    def get_text(self, node: Node, record: Node) -> str | None:
        """Return this value as text."""
        if self._has_only_keys and self._is_missing(node.value):
            return None
        for source, pattern in self._sources:
            if isinstance(source, str):
                return source
            value = source.first_value(node, record)
            if value is MISSING or value is None or value == "":
                continue
            text = value if isinstance(value, str) else format_value(value)
            if pattern is not None:
                text = _match_lines(pattern, text)
            if text:
                return text
        return None

    def _is_missing(self, value: Json) -> bool:
        """Return whether an object has none of the keys: cheaper than to follow every path."""
        return is_object(value) and self._keys.isdisjoint(value)


@lru_cache(_CACHE_SIZE)
def compile_field(field: Field) -> CompiledField:
    """Return a field with its paths and patterns parsed."""
    return CompiledField(field)


def get_value(field: Field | None, node: Node, record: Node) -> Node | None:
    """Return the value of a field; None if there is none, or no field."""
    return None if field is None else compile_field(field).get(node, record)


def get_empty(field: Field | None, node: Node, record: Node) -> Node | None:
    """Return the empty text that a field has; None if it has none."""
    return None if field is None else compile_field(field).get_empty(node, record)


def get_text(field: Field | None, node: Node, record: Node) -> str | None:
    """Return the value of a field as text; None if there is none, or no field."""
    return None if field is None else compile_field(field).get_text(node, record)


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
    if is_list(node.value):
        for index, item in enumerate(node.value):
            yield node.get_child(str(index), item)
    elif is_object(node.value):
        for key, item in node.value.items():
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


class CompiledCondition:
    """A condition with its paths parsed."""

    def __init__(self, condition: Condition) -> None:
        self._tests = [_compile_test(parse_paths(paths), test) for paths, test in condition.items()]
        texts = {
            parse_paths(paths): as_tuple(test)
            for paths, test in condition.items()
            if not isinstance(test, Test)
        }
        self.texts = {
            paths[0]: test
            for paths, test in texts.items()
            if len(paths) == 1 and paths[0].suffix is not None
        }
        """The texts of which one must be at a plain path."""

    def holds(self, node: Node, record: Node) -> bool:
        """Return whether all tests hold."""
        for test in self._tests:  # noqa: SIM110 - a generator takes twice as long
            if not test(node, record):
                return False
        return True


def _compile_test(
    paths: tuple[Path, ...], test: str | tuple[str, ...] | Test
) -> Callable[[Node, Node], bool]:
    """Return a function that tests the values at some paths: most are tried on every record."""
    holds = test.holds if isinstance(test, Test) else _make_text_test(as_tuple(test))
    path = paths[0]
    if len(paths) > 1:
        first, others = _compile_test(paths[:1], test), _compile_test(paths[1:], test)
        return lambda node, record: first(node, record) or others(node, record)
    if "*" in path.steps:
        return lambda node, record: any(holds(found.value) for found in path.every(node, record))
    if path.suffix is not None and not path.start:
        return lambda node, record: holds(_follow(node.value, path.steps))
    return lambda node, record: holds(path.first_value(node, record))


def _make_text_test(texts: tuple[str, ...]) -> Callable[[Json], bool]:
    def is_one_of(value: Json) -> bool:
        if isinstance(value, str):
            return value in texts
        return value is not MISSING and value_text(value) in texts

    return is_one_of


def as_tuple(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return one text, or several, as a tuple."""
    return (value,) if isinstance(value, str) else value


def classify_value(value: Json) -> ValueKind:
    """Return the kind of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "flag"
    if is_list(value):
        return "list"
    return "object" if is_object(value) else "number"


def value_text(value: Json) -> str:
    """Return a value as the text that a profile compares it with."""
    return value if isinstance(value, str) else format_value(value)
