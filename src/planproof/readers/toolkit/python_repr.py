"""Parse what Python's `repr` prints, without running it.

Literals become JSON values; an object `Name(a=1)` becomes `{"@type": "Name", "a": 1}`, in which the
arguments without a name are the list `@args`. Fields that `str` prints without a class, `a=1 b=2`,
are an object whose `@type` is that of the field `type`, if any. What is neither, such as `<Thing at
0x1>`, is a text. The parser reads each character once and bounds depth and number of values.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from planproof.core.content import Json
from planproof.core.pointer import escape

_MAX_DEPTH = 60
_MAX_VALUES = 200_000
_FIELD = re.compile(r"([A-Za-z_]\w{0,80})=(?![\s=])")
_NAMED = re.compile(r"([A-Za-z_][\w.]{0,200})=")
_TOKEN = re.compile(
    r"(?P<string>[rRbBuUfF]{0,2}(?:'''(?:[^'\\]|\\.|'(?!''))*+'''|'(?:[^'\\]|\\.)*+'"
    r'|"""(?:[^"\\]|\\.|"(?!""))*+"""|"(?:[^"\\]|\\.)*+"))'
    r"|(?P<number>[-+]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][-+]?\d{1,4})?)"
    r"|(?P<object>[A-Za-z_][\w.]{0,200})\(|(?P<text>[A-Za-z_][\w.]{0,200}|<[^>]*+>|\.\.\.)"
    r"|(?P<open>[\[({])",
    re.DOTALL,
)
_BLANKS = re.compile(r"\s*")
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[ntrab\n\\'\"])"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "\n": ""}
_CONSTANTS: dict[str, Json] = {"None": None, "True": True, "False": False}
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class ParsedRepr(NamedTuple):
    """A value, where it ends, and the range of the text of each value by its JSON pointer."""

    value: Json
    end: int
    ranges: dict[str, tuple[int, int]]


def parse_repr(text: str, start: int = 0) -> ParsedRepr | None:
    """Parse the value that begins at `start`; None if there is none, or it is cut off."""
    parser = _Parser(text, start)
    try:
        value = parser.parse_fields() if _FIELD.match(text, start) else parser.parse_value("", 0)
    except _Unparsable:
        return None
    return ParsedRepr(value, parser.position, parser.ranges)


class _Unparsable(Exception):
    pass


class _Parser:
    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position
        self.ranges: dict[str, tuple[int, int]] = {}

    def parse_fields(self) -> Json:
        """Parse fields `a=1 b=2` on one line."""
        entries: dict[str, Json] = {}
        start = end = self.position
        while (field := _FIELD.match(self._text, self.position)) is not None:
            self._parse_named(entries, field, "", 0)
            end = self.position
            self.position += self._text.startswith(" ", end)
        self.position = end
        self.ranges[""] = (start, end)
        kind = entries.get("type")
        return {"@type": kind if isinstance(kind, str) else "", **entries}

    def parse_value(self, pointer: str, depth: int) -> Json:
        start = self._skip_blanks()
        token = _TOKEN.match(self._text, start)
        if token is None or depth > _MAX_DEPTH or len(self.ranges) > _MAX_VALUES:
            raise _Unparsable
        self.ranges[pointer] = (start, start)
        self.position = token.end()
        value = self._parse_token(token, pointer, depth)
        self.ranges[pointer] = (start, self.position)
        return value

    def _parse_token(self, token: re.Match[str], pointer: str, depth: int) -> Json:
        if token["open"]:
            items, entries = self._parse_items(_CLOSING[token[0]], pointer, depth)
            return entries if entries or (token[0] == "{" and not items) else items
        if token["object"]:
            items, entries = self._parse_items(")", pointer, depth, "/@args")
            return {"@type": token["object"], **entries, **({"@args": items} if items else {})}
        if token["number"]:
            return _parse_number(token[0])
        if not token["string"]:
            return _CONSTANTS.get(token[0], token[0])
        value = ""
        following: re.Match[str] | None = token
        while following is not None and following["string"]:
            # Python joins strings that follow each other.
            value += _unquote(following[0])
            self.position = following.end()
            following = _TOKEN.match(self._text, self._skip_blanks())
        return value

    def _parse_items(
        self, closing: str, pointer: str, depth: int, place: str = ""
    ) -> tuple[list[Json], dict[str, Json]]:
        """Parse what is between brackets: values, and values with a name or a key."""
        items: list[Json] = []
        entries: dict[str, Json] = {}
        while not self._take(closing):
            named = _NAMED.match(self._text, self._skip_blanks()) if place else None
            if named is not None:
                self._parse_named(entries, named, pointer, depth)
            else:
                start = self._skip_blanks()
                item = self.parse_value(f"{pointer}{place}/{len(items)}", depth + 1)
                if closing == "}" and self._take(":"):
                    key = item if isinstance(item, str) else str(item)
                    at = f"{pointer}/{escape(key)}"
                    entries[key] = self.parse_value(at, depth + 1)
                    self.ranges[at] = (start, self.position)
                else:
                    items.append(item)
            if not self._take(",") and not self._text.startswith(closing, self._skip_blanks()):
                raise _Unparsable
        return items, entries

    def _parse_named(
        self, entries: dict[str, Json], name: re.Match[str], pointer: str, depth: int
    ) -> None:
        at = f"{pointer}/{escape(name[1])}"
        self.position = name.end()
        entries[name[1]] = self.parse_value(at, depth + 1)
        # The name belongs to the range of its value.
        self.ranges[at] = (name.start(), self.position)

    def _skip_blanks(self) -> int:
        blanks = _BLANKS.match(self._text, self.position)
        return blanks.end() if blanks is not None else self.position

    def _take(self, mark: str) -> bool:
        position = self._skip_blanks()
        if self._text.startswith(mark, position):
            self.position = position + len(mark)
            return True
        return False


def _unquote(token: str) -> str:
    prefix, _, _ = token.partition(quote := token[-1])
    size = 3 if token.startswith(quote * 3, len(prefix)) and len(token) > len(prefix) + 5 else 1
    raw = token[len(prefix) + size : -size]
    return raw if "r" in prefix.lower() else _ESCAPE.sub(_unescape, raw)


def _unescape(match: re.Match[str]) -> str:
    found = match[1]
    if not found[-1].isalnum() or found in _ESCAPES:
        return _ESCAPES.get(found, found)
    code = int(found[1:], 16) if found[0] in "xuU" else int(found, 8)
    is_character = code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else "\ufffd"


def _parse_number(text: str) -> Json:
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return number if math.isfinite(number) else text
