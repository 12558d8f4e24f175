"""Text from a trace, made safe to show: traces are hostile input."""

from __future__ import annotations

import re
import unicodedata

# Joiners that scripts such as Persian and emoji sequences need; they can't reorder or hide text.
_HARMLESS_FORMAT = "\u200c\u200d"
_NON_ASCII_OR_CONTROL = re.compile(r"[^ -~\n\t]")
_INVISIBLE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn"}


def to_one_line(text: str) -> str:
    """Fold white space, and show control, direction and other invisible characters as escapes."""
    folded = " ".join(text.split())
    if folded.isprintable():
        return folded
    return "".join(map(_escape_character, folded))


def escape_invisible(text: str) -> str:
    """Leave lines and tabs as they are, and show what `one_line` shows as escapes."""
    return _NON_ASCII_OR_CONTROL.sub(lambda match: _escape_character(match[0]), text)


def _escape_character(character: str) -> str:
    if (
        character in _HARMLESS_FORMAT
        or unicodedata.category(character) not in _INVISIBLE_CATEGORIES
    ):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"
