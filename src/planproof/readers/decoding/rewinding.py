"""Read the beginning of a file twice: to detect its format, and to read its content.

Standard input can't be rewound, and only the beginning needs to be kept.
"""

from __future__ import annotations

import io
from typing import Protocol


class Readable(Protocol):
    """The methods of a binary file that are needed to read it from beginning to end."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next `size` bytes; fewer only at the end of the file."""
        ...

    def readline(self, size: int = -1, /) -> bytes:
        """Return the next line, or the first `size` bytes of it."""
        ...


class RewoundFile:
    """A file whose beginning was already read, and is read again."""

    def __init__(self, head: bytes, file: Readable) -> None:
        self._head = io.BytesIO(head)
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        """Return the next `size` bytes; fewer only at the end of the file."""
        data = self._head.read(size)
        return data if len(data) == size else data + self._file.read(max(size - len(data), -1))

    def readline(self, size: int = -1, /) -> bytes:
        """Return the next line, or the first `size` bytes of it."""
        data = self._head.readline(size)
        if data.endswith(b"\n") or len(data) == size:
            return data
        return data + self._file.readline(max(size - len(data), -1))
