"""Strict JSON, parsed by msgspec: in half the time of the standard library, and to equal values.

It takes nothing that the standard library would not take, and refuses what a reader has to look at
more closely: NaN and infinity, numbers beyond the range of a float, halves of characters.
"""

from __future__ import annotations

from msgspec.json import Decoder

from planproof.core.content import Json

NOT_STRICT_ERRORS = (ValueError, RecursionError)
"""What is raised where a text is no strict JSON; it may still be JSON to the standard library."""

MAX_VALUES = 2_000_000
"""How many values and keys JSON may hold, unless something else is configured."""

_BLOCK = 1 << 20
_decode = Decoder().decode


def parse_strict(text: str) -> Json:
    """The JSON value that a text holds; raises one of `NOT_STRICT`."""
    # A text keeps the bytes that it had to be encoded to, unless they are made apart from it.
    return _decode(text if text.isascii() else text.encode())


def has_more_values(text: str, limit: int) -> bool:
    """Return whether JSON text holds more than so many values and keys, without parsing it.

    Three bytes of text may become an object of a hundred. An empty list or object counts twice.
    """
    # Marks inside strings are counted as well: if these are few enough, there is no need to look.
    if len(text) < limit or _count_marks(text) < limit:
        return False
    count, start, in_string = 1, 0, False
    while start < len(text) and count <= limit:
        end = start + _BLOCK
        # A backslash belongs to the character that follows it.
        while text[end - 1 : end] == "\\":
            end += 1
        parts = text[start:end].replace("\\\\", "").replace('\\"', "").split('"')
        count += _count_marks("".join(parts[in_string::2]))
        in_string ^= len(parts) % 2 == 0
        start = end
    return count > limit


def _count_marks(text: str) -> int:
    """Count what begins a value or ends a key."""
    return sum(map(text.count, ",:[{"))
