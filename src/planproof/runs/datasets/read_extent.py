"""How much of a data set has been read."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass(slots=True)
class ReadProgress:
    """Counts the bytes of the files that were read, and of the one that is being read."""

    bytes_done: int = 0
    _open: IO[bytes] | None = None

    @contextmanager
    def track(self, file: IO[bytes]) -> Generator[None, None, None]:
        """Look how far a file has been read, for as long as it is open."""
        self._open = file
        try:
            yield
        finally:
            self._open = None

    @property
    def bytes_read(self) -> int:
        """The bytes that have been read."""
        return self.bytes_done + (0 if self._open is None else self._open.tell())


def get_file_size(path: Path) -> int:
    """The bytes of a file; none where it can't be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
