"""Patterns for lines of text in profiles: literal text with named fields, matched in linear time.

`Action {n:number}: {name}[{input}]` matches `Action 3: Search[Paris]`. A field takes as little as
possible up to the literal text after it, the last one the rest of the line. Types: `number`
(digits), `word` (no white space), `name` (letters, digits, `_`, `-`, `.`), `label` (at most 80
characters of a name or blanks), `rule` (one character repeated, such as `-----`, or nothing). There
is no backtracking: a line is searched from left to right once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from planproof.errors import InvalidInput

_FIELD = re.compile(r"\{([a-z_]+)(?::([a-z]+))?\}")
_NAME_MARKS = frozenset("_-.")
_MAX_LABEL_LENGTH = 80


def _is_name(text: str) -> bool:
    return bool(text) and all(c.isalnum() or c in _NAME_MARKS for c in text)


_TYPES: dict[str, Callable[[str], bool]] = {
    "": lambda text: True,
    "number": lambda text: text.isascii() and text.isdigit(),
    "word": lambda text: bool(text) and not any(map(str.isspace, text)),
    "name": _is_name,
    "label": lambda text: len(text) <= _MAX_LABEL_LENGTH and _is_name(text.replace(" ", "")),
    "rule": lambda text: not text.strip(text[:1]) and not text[:1].isalnum(),
}


class _Field(NamedTuple):
    name: str
    is_valid: Callable[[str], bool]
    literal_after: str


class LinePattern:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        fields = list(_FIELD.finditer(pattern))
        self.prefix = pattern[: fields[0].start()] if fields else pattern
        self._fields: list[_Field] = []
        for index, match in enumerate(fields):
            end = fields[index + 1].start() if index + 1 < len(fields) else len(pattern)
            literal = pattern[match.end() : end]
            if match[2] not in (None, *_TYPES):
                raise InvalidInput(
                    f"`{match[2]}` is not a type of a field.",
                    advice=f"Known: {', '.join(name for name in _TYPES if name)}.",
                )
            if not literal and index + 1 < len(fields):
                raise InvalidInput(
                    f"two fields of the pattern `{pattern}` have nothing between them.",
                    advice="Put literal text between them.",
                )
            self._fields.append(_Field(match[1], _TYPES[match[2] or ""], literal))
        if not self.prefix and not any(field.literal_after for field in self._fields):
            raise InvalidInput(
                f"the pattern `{pattern}` matches every line.", advice="Add literal text."
            )

    @property
    def open_field(self) -> str | None:
        """The field without a type that takes the rest of the line: the lines after continue it."""
        last = self._fields[-1] if self._fields else None
        is_open = last is not None and not last.literal_after and last.is_valid is _TYPES[""]
        return last.name if last is not None and is_open else None

    def match(self, line: str) -> dict[str, str] | None:
        """Return the fields of a line; None if it does not match."""
        if not line.startswith(self.prefix):
            return None
        values: dict[str, str] = {}
        position = len(self.prefix)
        for index, field in enumerate(self._fields):
            is_last = index == len(self._fields) - 1
            if not field.literal_after:
                end = after = len(line)
            elif is_last:
                end = len(line) - len(field.literal_after)
                after = len(line)
                if end < position or not line.endswith(field.literal_after):
                    return None
            else:
                end = line.find(field.literal_after, position)
                after = end + len(field.literal_after)
                if end < 0:
                    return None
            value = line[position:end]
            if not field.is_valid(value):
                return None
            values[field.name] = value
            position = after
        return values if self._fields or len(line) == position else None
