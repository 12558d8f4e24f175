"""Parse YAML files that people write: data only, with the line and column of every error.

All scalars are strings and are converted by the schema, so `no`, `007` and `2.10` keep their form.
Anchors, aliases and tags are refused: a file can't expand to more than it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from msgspec import ValidationError, convert

from planproof.core.content import Json
from planproof.errors import InvalidInput

_T = TypeVar("_T")
_MAX_CHARS = 1_000_000
_MAX_NODES = 100_000
_MAX_DEPTH = 50
_MAX_PURE_CHARS = 200_000
_MESSAGE_PATH = re.compile(r"(?P<what>.*?) - at `(?:key in )?(?P<path>\$[^`]*)`$", re.DOTALL)
_PATH_PART = re.compile(r"\[(\d+)\]|\.?([^.\[]+)")
_FIELD = re.compile(r"(?:unknown|required) field `([^`]*)`")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

YamlPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead from the root of a document to a value."""


def read_yaml_text(path: Path, max_bytes: int = 4 * _MAX_CHARS) -> str:
    """Return the text of a YAML file."""
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise InvalidInput(f"has more than {max_bytes:,} bytes.", where=str(path))
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(
            f"can't be read: {error.strerror}.", where=str(path), advice="Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"byte {error.start} is not valid UTF-8.",
            where=str(path),
            advice="Save the file as UTF-8 text.",
        ) from error


def split_validation_message(message: str) -> tuple[str, str]:
    """Split a message of msgspec into what is wrong and the path of the value, such as `$.a[0]`."""
    match = _MESSAGE_PATH.match(message)
    what, path = (match["what"], match["path"]) if match else (message, "$")
    field = _FIELD.search(what)
    return what, f"{path}.{field[1]}" if field else path


class _UnexpectedColon(Exception):
    """The fast parser, of YAML 1.1, refuses `{url: https://...}`, which YAML 1.2 allows."""


class YamlDocument:
    """The values of a YAML document, and where each of them is.

    With `nulls`, an empty value, `~` and `null` are None unless they are quoted; JSON, which is
    read as YAML, needs it.
    """

    def __init__(
        self,
        text: str,
        name: str,
        *,
        nulls: bool = False,
        max_chars: int = _MAX_CHARS,
        max_nodes: int = _MAX_NODES,
    ) -> None:
        self._name = name
        self._nulls = nulls
        self._max_chars, self._max_nodes = max_chars, max_nodes
        try:
            self.value: Json = self._load(text, is_pure=False)
        except _UnexpectedColon:
            self.value = self._load(text, is_pure=True)

    def _load(self, text: str, *, is_pure: bool) -> Json:
        self._positions: dict[YamlPath, str] = {}
        self._node_count = 0
        events = self._parse(text, is_pure=is_pure)
        next(events)  # the start of the stream
        if type(next(events)).__name__ != "DocumentStartEvent":
            raise InvalidInput("is empty.", where=self._name)
        value = self._build(next(events), events, ())
        next(events)
        if type(extra := next(events)).__name__ != "StreamEndEvent":
            raise InvalidInput(
                "contains more than one document.", where=f"{self._name}, {_position_of(extra)}"
            )
        return value

    def convert(self, type_: type[_T]) -> _T:
        """Convert the document to a type; errors name the line and column."""
        try:
            return convert(self.value, type_, strict=False)
        except ValidationError as error:
            raise self._locate_message(str(error)) from error

    def error(
        self, what: str, path: str | YamlPath = (), advice: str | None = None
    ) -> InvalidInput:
        """Return an error at a path: `$.rules[2].call`, or a tuple of keys and indices."""
        return InvalidInput(what, where=self.locate(path), advice=advice)

    def locate(self, path: str | YamlPath) -> str:
        """Return the name of the document with the line and column of a path.

        Parts of the path that the document does not have are left out.
        """
        found: YamlPath = ()
        for part in _split_path(path) if isinstance(path, str) else path:
            found = (*found, part) if (*found, part) in self._positions else found
        return f"{self._name}, {self._positions[found]}"

    def _locate_message(self, message: str) -> InvalidInput:
        what, path = split_validation_message(message)
        return self.error(f"{what}.", path)

    def _parse(self, text: str, *, is_pure: bool) -> Iterator[Any]:
        """Yield the parser's events: they show anchors and tags, which nodes do not."""
        from ruamel.yaml import YAML  # noqa: PLC0415 - only where a YAML file is read
        from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415 - as above

        if len(text) > self._max_chars:
            raise InvalidInput(
                f"has {len(text):,} characters; at most {self._max_chars:,} are allowed.",
                where=self._name,
            )
        try:
            parser: Any = YAML(typ="safe", pure=is_pure)
            yield from parser.parse(text)
        except MarkedYAMLError as error:
            marked: Any = error
            mark = marked.problem_mark or marked.context_mark
            where = _format_mark(mark) if mark else "line 1, column 1"
            problem = str(marked.problem or marked.context)
            if "':'" in problem and not is_pure and len(text) <= _MAX_PURE_CHARS:
                raise _UnexpectedColon from error
            raise InvalidInput(
                f"is not valid YAML: {problem}.",
                where=f"{self._name}, {where}",
                advice="Put text with a colon in quotes." if "':'" in problem else None,
            ) from error
        except (YAMLError, ValueError) as error:
            raise InvalidInput(f"is not valid YAML: {error}.", where=self._name) from error

    def _build(self, event: Any, events: Iterator[Any], path: YamlPath) -> Json:
        self._positions.setdefault(path, _position_of(event))
        self._node_count += 1
        if len(path) > _MAX_DEPTH or self._node_count > self._max_nodes:
            raise InvalidInput(
                f"has more than {_MAX_DEPTH} levels or {self._max_nodes:,} values.",
                where=self._name,
            )
        kind = type(event).__name__
        if kind == "AliasEvent" or event.anchor is not None or event.tag is not None:
            raise InvalidInput(
                "anchors, aliases and tags are not supported.",
                where=f"{self._name}, {_position_of(event)}",
                advice="Write the value out where it is needed.",
            )
        if kind == "ScalarEvent":
            is_null = self._nulls and event.implicit[0] and event.value in _NULLS
            return None if is_null else event.value
        if kind == "SequenceStartEvent":
            items: list[Json] = []
            while type(item := next(events)).__name__ != "SequenceEndEvent":
                items.append(self._build(item, events, (*path, len(items))))
            return items
        values: dict[str, Json] = {}
        while type(item := next(events)).__name__ != "MappingEndEvent":
            where = f"{self._name}, {_position_of(item)}"
            # A key is where its value is, for the reader of an error.
            key = self._build(item, events, (*path, getattr(item, "value", "")))
            if not isinstance(key, str):
                raise InvalidInput("a key must be text.", where=where)
            if key in values:
                raise InvalidInput(f"the key `{key}` occurs twice.", where=where)
            values[key] = self._build(next(events), events, (*path, key))
        return values


def _split_path(path: str) -> Iterator[str | int]:
    for match in _PATH_PART.finditer(path.removeprefix("$")):
        yield int(match[1]) if match[1] else match[2]


def _position_of(event: Any) -> str:
    return _format_mark(event.start_mark)


def _format_mark(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}"
