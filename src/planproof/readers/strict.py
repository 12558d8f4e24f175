"""Strict JSON, parsed by msgspec: in half the time of the standard library, and to equal values.

It takes nothing that the standard library would not take, and refuses what a reader has to look at
more closely: NaN and infinity, numbers beyond the range of a float, halves of characters.
"""

from __future__ import annotations

from msgspec.json import Decoder

from planproof.content import Json

NOT_STRICT = (ValueError, RecursionError)
"""What is raised where a text is no strict JSON; it may still be JSON to the standard library."""

_decode = Decoder().decode


def parse_strict(text: str) -> Json:
    """The JSON value that a text holds; raises one of `NOT_STRICT`."""
    # A text keeps the bytes that it had to be encoded to, unless they are made apart from it.
    return _decode(text if text.isascii() else text.encode())
