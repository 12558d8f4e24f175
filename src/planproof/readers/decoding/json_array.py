"""Split a JSON array into its elements, one at a time, however long the array is.

Elements are split, not parsed: their bytes are passed on unchanged, so that an element means what
the same bytes mean on a line of their own, and an invalid one does not affect those after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from planproof.core.limits import Limits
from planproof.errors import InvalidInput

_CHUNK = 1 << 16
_BOM = b"\xef\xbb\xbf"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Bytes that can't end an element; a comma ends one only outside all brackets.
_SKIP_TOP_LEVEL = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+", re.DOTALL)
_SKIP_NESTED = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+", re.DOTALL)
_REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_QUOTE, _COMMA = ord('"'), ord(",")
_OPENING_BRACKETS, _CLOSING_BRACKETS = frozenset(b"[{"), frozenset(b"]}")


@dataclass(slots=True)
class ArrayElements:
    """The elements of an array in a file that begins with its `[`; None for one that is too long.

    `name` is the file's, for errors: a truncated array, or data after its end.
    """

    read: Callable[[int], bytes]
    name: str
    limits: Limits
    _buffer: bytearray = field(default_factory=bytearray, init=False)
    """The bytes read of the next element, and of what may follow it."""
    _position: int = field(default=0, init=False)
    _too_long: bool = field(default=False, init=False)

    def __iter__(self) -> Iterator[bytes | None]:
        """Yield every element, once."""
        self._fill_buffer()
        begins = self._buffer.removeprefix(_BOM).lstrip()
        assert begins.startswith(b"[")
        del self._buffer[: len(self._buffer) - len(begins) + 1]
        first = True
        while True:
            closed = self._find_end()
            self._too_long = self._too_long or self._position > self.limits.bytes
            element = None if self._too_long else bytes(self._buffer[: self._position])
            del self._buffer[: self._position + 1]
            self._position, self._too_long = 0, False
            # An empty array has no element; a blank one after a comma is invalid JSON.
            if not (closed and first and element is not None and not element.strip()):
                yield element
            if closed:
                break
            first = False
        while self._buffer or self._fill_buffer():
            if self._buffer.strip():
                raise InvalidInput(
                    "has unexpected data after the end of the JSON array.",
                    where=self.name,
                    advice="Write one JSON array, or one case per line.",
                )
            self._buffer.clear()

    def _fill_buffer(self) -> bool:
        chunk = self.read(_CHUNK)
        self._buffer += chunk
        return bool(chunk)

    def _find_end(self) -> bool:
        """Move to the comma or bracket after the element; return whether it closes the array."""
        depth = 0
        in_string = False
        while True:
            skip = _REST_OF_STRING if in_string else _SKIP_NESTED if depth else _SKIP_TOP_LEVEL
            match = skip.match(self._buffer, self._position)
            assert match is not None
            self._position = match.end()
            # A backslash at the end of the buffer needs the next byte.
            if self._position == len(self._buffer) or (
                in_string and self._buffer[self._position] != _QUOTE
            ):
                self._read_more()
                continue
            byte = self._buffer[self._position]
            if byte == _QUOTE:
                in_string = not in_string
            elif byte in _OPENING_BRACKETS:
                depth += 1
            elif depth == 0:
                return byte != _COMMA
            elif byte in _CLOSING_BRACKETS:
                depth -= 1
            self._position += 1

    def _read_more(self) -> None:
        if self._position > self.limits.bytes:
            self._too_long = True
        if self._too_long:
            del self._buffer[: self._position]
            self._position = 0
        if not self._fill_buffer():
            raise InvalidInput(
                "is a truncated JSON array.",
                where=self.name,
                advice="Write the file again. Only in JSON Lines may the last line be truncated.",
            )
