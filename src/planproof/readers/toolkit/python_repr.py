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
_BLANKS = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_][\w.]{0,200}")
_FIELD = re.compile(r"[A-Za-z_]\w{0,80}=(?![\s=])")
_NUMBER = re.compile(r"[-+]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][-+]?\d{1,4})?")
_STRING_START = re.compile(r"([rRbBuUfF]{0,2})('''|\"\"\"|'|\")")
_STRING_STOP = {quote: re.compile(rf"[^\\{quote}]*") for quote in ("'", '"')}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "\n": ""}
_CONSTANTS: dict[str, Json] = {"None": None, "True": True, "False": False}
_CLOSING = {"[": "]", "(": ")", "{": "}"}


class ParsedRepr(NamedTuple):
    """A value, where it ends, and the range of the text of each value by its JSON pointer."""

    value: Json
    end: int
    ranges: dict[str, tuple[int, int]]


def parse_repr(text: str, start: int = 0) -> ParsedRepr | None:
    """Parse the value that begins at `start`; None if there is none, or it is cut off."""
    parser = _Parser(text)
    try:
        if _FIELD.match(text, start):
            value, end = parser.parse_fields(start)
        else:
            value, end = parser.parse_value(start, "", 0)
    except _Unparsable:
        return None
    return ParsedRepr(value, end, parser.ranges)


class _Unparsable(Exception):
    pass


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self.ranges: dict[str, tuple[int, int]] = {}

    def parse_value(self, start: int, pointer: str, depth: int) -> tuple[Json, int]:
        position = self._skip_blanks(start)
        if depth > _MAX_DEPTH or len(self.ranges) > _MAX_VALUES:
            raise _Unparsable
        self.ranges[pointer] = (position, position)
        value, end = self._parse_bare(position, pointer, depth)
        self.ranges[pointer] = (self.ranges[pointer][0], end)
        return value, end

    def parse_fields(self, start: int) -> tuple[Json, int]:
        """Parse fields `a=1 b=2` on one line."""
        entries: dict[str, Json] = {"@type": ""}
        position = self._end = start
        while (field := _FIELD.match(self._text, position)) is not None:
            self._parse_named(entries, field[0][:-1], position, field.end(), "", 0)
            position = self._end + (self._text[self._end : self._end + 1] == " ")
        kind = entries.get("type")
        entries["@type"] = kind if isinstance(kind, str) else ""
        self.ranges[""] = (start, self._end)
        return entries, self._end

    def _parse_bare(self, position: int, pointer: str, depth: int) -> tuple[Json, int]:
        text = self._text
        initial = text[position : position + 1]
        if initial in ("[", "("):
            return self._parse_items(position + 1, _CLOSING[initial], pointer, depth)
        if initial == "{":
            return self._parse_entries(position + 1, pointer, depth)
        if initial == "<":
            end = text.find(">", position)
            if end < 0:
                raise _Unparsable
            return text[position : end + 1], end + 1
        string = _STRING_START.match(text, position)
        if string is not None:
            return self._parse_string(string)
        number = _NUMBER.match(text, position)
        if number is not None:
            return _to_number(number[0]), number.end()
        name = _NAME.match(text, position)
        if name is None:
            raise _Unparsable
        if text[name.end() : name.end() + 1] == "(":
            return self._parse_object(name[0], name.end() + 1, pointer, depth)
        return _CONSTANTS.get(name[0], name[0]), name.end()

    def _parse_items(
        self, position: int, closing: str, pointer: str, depth: int
    ) -> tuple[Json, int]:
        items: list[Json] = []
        while True:
            position = self._skip_blanks(position)
            if self._text.startswith(closing, position):
                return items, position + 1
            if self._text.startswith("...", position):
                value, position = "...", position + 3
            else:
                value, position = self.parse_value(position, f"{pointer}/{len(items)}", depth + 1)
            items.append(value)
            position = self._skip_comma(position, closing)

    def _parse_entries(self, position: int, pointer: str, depth: int) -> tuple[Json, int]:
        entries: dict[str, Json] = {}
        items: list[Json] = []
        while True:
            position = self._skip_blanks(position)
            if self._text.startswith("}", position):
                return (items if items and not entries else entries), position + 1
            begin = position
            key, position = self.parse_value(position, f"{pointer}/{len(items)}", depth + 1)
            position = self._skip_blanks(position)
            if self._text.startswith(":", position):
                name = key if isinstance(key, str) else str(key)
                self._parse_named(entries, name, begin, position + 1, pointer, depth)
                position = self._end
            else:
                items.append(key)  # a set
            position = self._skip_comma(position, "}")

    def _parse_object(self, kind: str, position: int, pointer: str, depth: int) -> tuple[Json, int]:
        entries: dict[str, Json] = {"@type": kind}
        items: list[Json] = []
        while True:
            position = self._skip_blanks(position)
            if self._text.startswith(")", position):
                if items:
                    entries["@args"] = items
                return entries, position + 1
            name = _NAME.match(self._text, position)
            if name is not None and self._text.startswith("=", name.end()):
                self._parse_named(entries, name[0], position, name.end() + 1, pointer, depth)
                position = self._end
            else:
                at = f"{pointer}/@args/{len(items)}"
                value, position = self.parse_value(position, at, depth + 1)
                items.append(value)
            position = self._skip_comma(position, ")")

    def _parse_named(
        self,
        entries: dict[str, Json],
        name: str,
        begin: int,
        position: int,
        pointer: str,
        depth: int,
    ) -> None:
        at = f"{pointer}/{escape(name)}"
        entries[name], self._end = self.parse_value(position, at, depth + 1)
        # The name belongs to the range of its value.
        self.ranges[at] = (begin, self._end)

    def _parse_string(self, match: re.Match[str]) -> tuple[Json, int]:
        """Parse a string and those that follow it, which Python joins."""
        parts: list[str] = []
        end = match.end()
        following: re.Match[str] | None = match
        while following is not None:
            prefix, quote = following[1].lower(), following[2]
            end = self._find_string_end(following.end(), quote)
            raw = self._text[following.end() : end - len(quote)]
            parts.append(raw if "r" in prefix or "\\" not in raw else _ESCAPE.sub(_unescape, raw))
            following = _STRING_START.match(self._text, self._skip_blanks(end))
        return "".join(parts), end

    def _find_string_end(self, position: int, quote: str) -> int:
        text, plain = self._text, _STRING_STOP[quote[0]]
        while True:
            found = plain.match(text, position)
            position = found.end() if found is not None else position
            if position >= len(text):
                raise _Unparsable
            if text[position] == "\\":
                position += 2
            elif text.startswith(quote, position):
                return position + len(quote)
            else:
                position += 1

    def _skip_blanks(self, position: int) -> int:
        match = _BLANKS.match(self._text, position)
        return match.end() if match is not None else position

    def _skip_comma(self, position: int, closing: str) -> int:
        position = self._skip_blanks(position)
        if self._text.startswith(",", position):
            return position + 1
        if not self._text.startswith(closing, position):
            raise _Unparsable
        return position


def _unescape(match: re.Match[str]) -> str:
    found = match[1]
    if found[0] in "xuU" and len(found) > 1:
        code = int(found[1:], 16)
        is_character = code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
        return chr(code) if is_character else "\ufffd"
    if len(found) > 1 or found in "1234567":
        return chr(int(found, 8))
    return _ESCAPES.get(found, found if found in "\\'\"" else f"\\{found}")


def _to_number(text: str) -> Json:
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return number if math.isfinite(number) else text
