"""Paths and conditions of profiles: where a value is in a record, and what must hold of it.

A path is a list of keys joined by dots: `message.content`. `*` stands for every item of a list or
every value of an object, `.` for the value itself, `@key` for the key under which it was found,
`@json` for the JSON inside a text, and `^` at the beginning for the whole record. A key that
contains a dot is put in double quotes: `attributes."gen_ai.tool.name"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, parse_embedded_json
from planproof.core.pointer import escape
from planproof.errors import InvalidInput

ValueKind: TypeAlias = Literal["text", "number", "flag", "list", "object", "null"]
_STEP = re.compile(r'"([^"]*)"|([^."]+)')


class Node(NamedTuple):
    """A value with its pointer, and the key under which it was found."""

    value: Json
    pointer: str
    key: str = ""


class Path(NamedTuple):
    """A compiled path: its keys, and whether it begins at the whole record."""

    steps: tuple[str, ...]
    from_record: bool = False

    def first(self, node: Node, record: Node) -> Node | None:
        """Return the first value at this path; None if there is none."""
        steps = self.steps
        if len(steps) == 1 and not self.from_record and is_object(node.value):
            # Most paths are a single key.
            step = steps[0]
            if step in node.value:
                return Node(node.value[step], f"{node.pointer}/{escape(step)}", step)
        return next(self.every(node, record), None)

    def every(self, node: Node, record: Node) -> Iterator[Node]:
        """Yield all values at this path, in order."""
        return _walk(record if self.from_record else node, self.steps, 0)


def parse_path(text: str) -> Path:
    """Parse the text of a path."""
    from_record = text.startswith("^")
    bare = text[1:] if from_record else text
    if bare in ("", "."):
        return Path((), from_record)
    steps = tuple(quoted or plain for quoted, plain in _STEP.findall(bare))
    if _STEP.sub("", bare.strip(".")) != "." * (len(steps) - 1) or "" in steps:
        raise InvalidInput(f"`{text}` is not a valid path.", advice="Write keys joined by dots.")
    return Path(steps, from_record)


def _walk(node: Node, steps: tuple[str, ...], index: int) -> Iterator[Node]:
    if index == len(steps):
        yield node
        return
    step, value = steps[index], node.value
    if step == "*":
        for child in iter_children(node):
            yield from _walk(child, steps, index + 1)
    elif step == "@key":
        yield from _walk(Node(node.key, node.pointer), steps, index + 1)
    elif step == "@json":
        inner = parse_embedded_json(value) if isinstance(value, str) else value
        if inner is not None:
            yield from _walk_embedded(Node(inner, node.pointer, node.key), steps, index + 1, node)
    elif is_object(value) and step in value:
        yield from _walk(
            Node(value[step], f"{node.pointer}/{escape(step)}", step), steps, index + 1
        )
    elif is_list(value) and step.isdigit() and int(step) < len(value):
        yield from _walk(Node(value[int(step)], f"{node.pointer}/{step}", step), steps, index + 1)


def _walk_embedded(node: Node, steps: tuple[str, ...], index: int, text: Node) -> Iterator[Node]:
    """Walk inside JSON in a text: the pointer stays at the text if there is one."""
    inside = isinstance(text.value, str)
    for found in _walk(node, steps, index):
        yield found._replace(pointer=text.pointer) if inside else found


def iter_children(node: Node) -> Iterator[Node]:
    """Yield the items of a list or the values of an object, with their pointers."""
    if is_list(node.value):
        for index, item in enumerate(node.value):
            yield Node(item, f"{node.pointer}/{index}", str(index))
    elif is_object(node.value):
        for key, item in node.value.items():
            yield Node(item, f"{node.pointer}/{escape(key)}", key)


class Test(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"not_": "not"},
):
    """What must hold of the value at a path; all that is given must hold."""

    exists: bool | None = None
    kind: ValueKind | None = None
    starts: str | list[str] | None = None
    ends: str | list[str] | None = None
    contains: str | None = None
    not_: str | list[str] | None = None

    def holds(self, node: Node | None) -> bool:
        """Return whether the value meets the test."""
        if node is None:
            return self.exists is False or (self.exists is None and self.not_ is not None)
        if self.exists is False:
            return False
        if self.kind is not None and classify_value(node.value) != self.kind:
            return False
        text = value_text(node.value)
        if self.starts is not None and not text.startswith(_as_tuple(self.starts)):
            return False
        if self.ends is not None and not text.endswith(_as_tuple(self.ends)):
            return False
        if self.contains is not None and self.contains not in text:
            return False
        return self.not_ is None or text not in _as_tuple(self.not_)


Condition: TypeAlias = dict[str, str | list[str] | Test]
"""Maps paths to what must hold there: a value, one of several values, or a test."""


class CompiledCondition:
    """A condition with its paths parsed."""

    def __init__(self, condition: Mapping[str, str | list[str] | Test]) -> None:
        self._tests = [(parse_path(path), _compile_test(test)) for path, test in condition.items()]

    def holds(self, node: Node, record: Node) -> bool:
        """Return whether all tests hold."""
        for path, test in self._tests:
            found = path.first(node, record)
            if isinstance(test, Test):
                if not test.holds(found):
                    return False
            elif found is None or value_text(found.value) not in test:
                return False
        return True


def _compile_test(test: str | list[str] | Test) -> frozenset[str] | Test:
    return test if isinstance(test, Test) else frozenset(_as_tuple(test))


def _as_tuple(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


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
