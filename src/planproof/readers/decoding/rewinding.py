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


class RewoundFile:
    """A file whose beginning was read already, and is read again."""

    def __init__(self, head: bytes, file: Readable) -> None:
        self._head = io.BytesIO(head)
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most so many; fewer only at the end."""
        data = self._head.read(size)
        return data if len(data) == size else data + self._file.read(_remaining_size(size, data))

    def readline(self, size: int = -1, /) -> bytes:
        """The next line, or so many bytes of it."""
        data = self._head.readline(size)
        if data.endswith(b"\n") or len(data) == size:
            return data
        return data + self._file.readline(_remaining_size(size, data))


class RecordingFile:
    """Reads a file and keeps what was read, until it is told to let go."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._is_recording = True
        self._recorded = bytearray()

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most so many."""
        data = self._file.read(size)
        if self._is_recording:
            self._recorded += data
        return data

    def stop_recording(self) -> None:
        """Keep nothing any more."""
        self._is_recording = False
        self._recorded.clear()

    def get_recorded(self) -> bytes:
        """Everything that was read."""
        return bytes(self._recorded)


def _remaining_size(size: int, data: bytes) -> int:
    return -1 if size < 0 else size - len(data)
