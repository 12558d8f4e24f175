"""Reading the beginning of a file twice: to see what it is, and then for what is in it.

Standard input can't be rewound, and more than the beginning need not be kept.
"""

from __future__ import annotations

import io
from typing import Protocol


class Readable(Protocol):
    """The part of a binary file that is needed to read it from beginning to end."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most so many; fewer only at the end."""
        ...

    def readline(self, size: int = -1, /) -> bytes:
        """The next line, or so many bytes of it."""
        ...


class Rewound:
    """A file whose beginning was read already, and is read again."""

    def __init__(self, begun: bytes, file: Readable) -> None:
        self._begun = io.BytesIO(begun)
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most so many; fewer only at the end."""
        begun = self._begun.read(size)
        return begun if len(begun) == size else begun + self._file.read(_left(size, begun))

    def readline(self, size: int = -1, /) -> bytes:
        """The next line, or so many bytes of it."""
        begun = self._begun.readline(size)
        if begun.endswith(b"\n") or len(begun) == size:
            return begun
        return begun + self._file.readline(_left(size, begun))


class Kept:
    """Reads a file and keeps what was read, until it is told to let go."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._keeps = True
        self._read = bytearray()

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many."""
        data = self._file.read(size)
        if self._keeps:
            self._read += data
        return data

    def let_go(self) -> None:
        """Keep nothing any more."""
        self._keeps = False
        self._read.clear()

    def all(self) -> bytes:
        """Everything that was read."""
        return bytes(self._read)


def _left(size: int, begun: bytes) -> int:
    return -1 if size < 0 else size - len(begun)
