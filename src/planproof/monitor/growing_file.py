"""Read a file incrementally while another process writes it."""

from __future__ import annotations

from pathlib import Path

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.json_parsing import Parser
from planproof.readers.decoding.source import Source

_TAIL_BYTES = 64


class GrowingFile:
    """Reads only what is new in JSON Lines; other formats are read again as a whole.

    An incomplete last line is read once it is complete. A file that was truncated, rewritten or
    replaced is read again from its first byte; `restarts` counts how often reading began.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path = path
        self.restarts = 0
        self._limits = limits
        self._last_stat: tuple[int, int, int, int] | None = None
        self._reset()

    def _reset(self) -> None:
        self._offset = 0
        self._tail = b""
        """The bytes right before the offset, to detect that the file was rewritten."""
        self._parser = Parser(str(self.path), self._limits)
        self._records: list[tuple[int, Json]] = []
        self._line_number = 0
        self._is_line_based = True

    def read_new(self) -> Source | None:
        """Return the whole content if there is more than last time; otherwise None.

        Raises `InvalidInput` for a file that exists and cannot be read.
        """
        try:
            stat = self.path.stat()
            seen = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
            if seen == self._last_stat:
                return None
            if self._last_stat is None or self._was_replaced(seen):
                self._reset()
                self.restarts += 1
            self._last_stat = seen
            if stat.st_size > self._limits.bytes:
                raise InvalidInput(
                    f"has more than {self._limits.bytes:,} bytes.",
                    where=str(self.path),
                    advice="Raise `max_bytes` under `limits` in the configuration.",
                )
            return self._read_new_lines() if self._is_line_based else self._read_whole()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(
                f"can't be read: {error.strerror}.", where=str(self.path), advice="Check the path."
            ) from error

    def _was_replaced(self, seen: tuple[int, int, int, int]) -> bool:
        """Return whether the bytes read so far are no longer the beginning of the file."""
        assert self._last_stat is not None
        if seen[:2] != self._last_stat[:2] or seen[2] < self._offset:
            return True
        with self.path.open("rb") as file:
            file.seek(self._offset - len(self._tail))
            return file.read(len(self._tail)) != self._tail

    def _read_new_lines(self) -> Source | None:
        with self.path.open("rb") as file:
            file.seek(self._offset)
            new = file.read(self._limits.bytes)
        whole, newline, _ = new.rpartition(b"\n")
        if newline and not self._parse_lines(whole):
            self._is_line_based = False
        if not self._is_line_based or not self._records:
            return self._read_whole()
        if not newline:
            return None
        self._offset += len(whole) + 1
        self._tail = (self._tail + whole + newline)[-_TAIL_BYTES:]
        name, skipped = str(self.path), tuple(self._parser.skipped)
        if len(self._records) == 1 and not skipped:
            return Source(name, "json", self._records[0][1])
        return Source(name, "jsonl", tuple(self._records), skipped)

    def _parse_lines(self, data: bytes) -> bool:
        """Parse complete lines; return False if the first one is not a JSON object or array."""
        for line in data.split(b"\n"):
            self._line_number += 1
            text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")
            records = list(self._parser.parse_records(iter([(self._line_number, text)])))
            containers = [
                record for record in records if is_object(record[1]) or is_list(record[1])
            ]
            if text.strip() and not containers and not self._records:
                return False
            self._records += containers
        return True

    def _read_whole(self) -> Source | None:
        try:
            return Source.from_path(self.path, limits=self._limits)
        except InvalidInput:
            # The document is incomplete; the rest is still to be written.
            return None
