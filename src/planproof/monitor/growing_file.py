"""A file that somebody is still writing, read as it grows."""

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
    """Reads what is new of JSON Lines; any other format is read again as a whole.

    A last line that is only half written waits for its other half. A file that was cut, written
    anew or replaced by another begins again from its first byte, which `beginnings` counts.
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
        """The bytes right before the offset: they must still be there."""
        self._parser = Parser(str(self.path), self._limits)
        self._records: list[tuple[int, Json]] = []
        self._line_number = 0
        self._is_line_based = True

    def read_new(self) -> Source | None:
        """Everything that is there, if there is more than the last time; None if there is not.

        Raises `InvalidInput` for a file that is there and can't be read.
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
        """Whether what was read is no longer the beginning of the file."""
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
        """Take in whole lines; False when the first of all is no JSON value."""
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
            # Half of a document is none; whoever writes it will write the rest.
            return None
