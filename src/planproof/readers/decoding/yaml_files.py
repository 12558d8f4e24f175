"""Parse YAML files that people write: data only, with the line and column of every error.

All scalars are strings and are converted by the schema, so `no`, `007` and `2.10` keep their form.
Anchors, aliases and tags are refused: a file can't expand to more than it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

from msgspec import ValidationError, convert

from planproof.core.content import Json
from planproof.errors import InvalidInput

_T = TypeVar("_T")
_MAX_CHARS = 1_000_000
_MAX_NODES = 100_000
_MAX_DEPTH = 50
_MESSAGE_PATH = re.compile(r"(?P<what>.*?) - at `(?:key in )?(?P<path>\$[^`]*)`$", re.DOTALL)
_FIELD = re.compile(r"(?:unknown|required) field `([^`]*)`")


def split_validation_message(message: str) -> tuple[str, str]:
    """Split a message of msgspec into what is wrong and the path of the value, such as `$.a[0]`."""
    match = _MESSAGE_PATH.match(message)
    what, path = (match["what"], match["path"]) if match else (message, "$")
    field = _FIELD.search(what)
    return what, f"{path}.{field[1]}" if field else path


class _Position(NamedTuple):
    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class YamlDocument:
    """The values of a YAML document, and where each of them is."""

    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._positions: dict[str, _Position] = {}
        self._node_count = 0
        events = self._parse(text)
        next(events)  # the start of the stream
        if type(next(events)).__name__ != "DocumentStartEvent":
            raise InvalidInput("is empty.", where=name)
        self.value: Json = self._build(next(events), events, "$", 0)
        next(events)
        if type(extra := next(events)).__name__ != "StreamEndEvent":
            raise InvalidInput(
                "contains more than one document.", where=f"{name}, {_position_of(extra)}"
            )

    def convert(self, type_: type[_T]) -> _T:
        """Convert the document to a type; errors name the line and column."""
        try:
            return convert(self.value, type_, strict=False)
        except ValidationError as error:
            raise self._locate(str(error)) from error

    def error(self, what: str, path: str = "$", advice: str | None = None) -> InvalidInput:
        """Return an error at a path such as `$.rules[2].call`."""
        return InvalidInput(what, where=f"{self._name}, {self._find(path)}", advice=advice)

    def _locate(self, message: str) -> InvalidInput:
        what, path = split_validation_message(message)
        return self.error(f"{what}.", path)

    def _find(self, path: str) -> _Position:
        """Return the position of a path, or of its nearest ancestor."""
        while path and path not in self._positions:
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self._positions.get(path, _Position(1, 1))

    def _parse(self, text: str) -> Iterator[Any]:
        """Yield the parser's events: they show anchors and tags, which nodes do not."""
        from ruamel.yaml import YAML  # noqa: PLC0415 - only where a YAML file is read
        from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415 - as above

        if len(text) > _MAX_CHARS:
            raise InvalidInput(
                f"has {len(text):,} characters; at most {_MAX_CHARS:,} are allowed.",
                where=self._name,
            )
        try:
            parser: Any = YAML(typ="safe")
            yield from parser.parse(text)
        except MarkedYAMLError as error:
            marked: Any = error
            mark = marked.problem_mark or marked.context_mark
            where = _Position(mark.line + 1, mark.column + 1) if mark else _Position(1, 1)
            raise InvalidInput(
                f"is not valid YAML: {marked.problem or marked.context}.",
                where=f"{self._name}, {where}",
            ) from error
        except (YAMLError, ValueError) as error:
            raise InvalidInput(f"is not valid YAML: {error}.", where=self._name) from error

    def _build(self, event: Any, events: Iterator[Any], path: str, depth: int) -> Json:
        self._node_count += 1
        self._positions.setdefault(path, _position_of(event))
        if depth > _MAX_DEPTH or self._node_count > _MAX_NODES:
            raise InvalidInput(
                f"has more than {_MAX_DEPTH} levels or {_MAX_NODES:,} values.", where=self._name
            )
        kind = type(event).__name__
        if kind == "AliasEvent" or event.anchor is not None or event.tag is not None:
            raise InvalidInput(
                "anchors, aliases and tags are not supported.",
                where=f"{self._name}, {_position_of(event)}",
                advice="Write the value out where it is needed.",
            )
        if kind == "ScalarEvent":
            return event.value
        if kind == "SequenceStartEvent":
            items: list[Json] = []
            while type(item := next(events)).__name__ != "SequenceEndEvent":
                items.append(self._build(item, events, f"{path}[{len(items)}]", depth + 1))
            return items
        return self._build_mapping(events, path, depth)

    def _build_mapping(self, events: Iterator[Any], path: str, depth: int) -> dict[str, Json]:
        values: dict[str, Json] = {}
        while type(key_event := next(events)).__name__ != "MappingEndEvent":
            where = _position_of(key_event)
            key = self._build(key_event, events, f"{path}.?", depth + 1)
            del self._positions[f"{path}.?"]
            if not isinstance(key, str):
                raise InvalidInput("a key must be text.", where=f"{self._name}, {where}")
            if key in values:
                raise InvalidInput(f"the key `{key}` occurs twice.", where=f"{self._name}, {where}")
            self._positions[f"{path}.{key}"] = where
            values[key] = self._build(next(events), events, f"{path}.{key}", depth + 1)
        return values


def _position_of(event: Any) -> _Position:
    mark = event.start_mark
    return _Position(mark.line + 1, mark.column + 1)
