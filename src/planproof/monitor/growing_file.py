"""A file that somebody is still writing, read as it grows."""

from __future__ import annotations

from pathlib import Path

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.json_parsing import Parser
from planproof.readers.decoding.source import Source

_REMEMBERED = 64


class GrowingFile:
    """Reads what is new of JSON Lines; any other format is read again as a whole.

    A last line that is only half written waits for its other half. A file that was cut, written
    anew or replaced by another begins again from its first byte, which `beginnings` counts.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path = path
        self.beginnings = 0
        self._limits = limits
        self._seen: tuple[int, int, int, int] | None = None
        self._begin()

    def _begin(self) -> None:
        self._offset = 0
        self._last = b""
        """The bytes right before the offset: they must still be there."""
        self._parser = Parser(str(self.path), self._limits)
        self._records: list[tuple[int, Json]] = []
        self._line = 0
        self._by_lines = True

    def news(self) -> Source | None:
        """Everything that is there, if there is more than the last time; None if there is not.

        Raises `InvalidInput` for a file that is there and can't be read.
        """
        try:
            found = self.path.stat()
            seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            if seen == self._seen:
                return None
            if self._seen is None or self._is_another(seen):
                self._begin()
                self.beginnings += 1
            self._seen = seen
            if found.st_size > self._limits.bytes:
                raise InvalidInput(
                    f"has more than {self._limits.bytes:,} bytes.",
                    where=str(self.path),
                    advice="Raise `max_bytes` under `limits` in the configuration.",
                )
            return self._by_line() if self._by_lines else self._whole()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidInput(
                f"can't be read: {error.strerror}.", where=str(self.path), advice="Check the path."
            ) from error

    def _is_another(self, seen: tuple[int, int, int, int]) -> bool:
        """Whether what was read is no longer the beginning of the file."""
        assert self._seen is not None
        if seen[:2] != self._seen[:2] or seen[2] < self._offset:
            return True
        with self.path.open("rb") as file:
            file.seek(self._offset - len(self._last))
            return file.read(len(self._last)) != self._last

    def _by_line(self) -> Source | None:
        with self.path.open("rb") as file:
            file.seek(self._offset)
            new = file.read(self._limits.bytes)
        whole, newline, _ = new.rpartition(b"\n")
        if newline and not self._take(whole):
            self._by_lines = False
        if not self._by_lines or not self._records:
            return self._whole()
        if not newline:
            return None
        self._offset += len(whole) + 1
        self._last = (self._last + whole + newline)[-_REMEMBERED:]
        name, skipped = str(self.path), tuple(self._parser.skipped)
        if len(self._records) == 1 and not skipped:
            return Source(name, "json", self._records[0][1])
        return Source(name, "jsonl", tuple(self._records), skipped)

    def _take(self, data: bytes) -> bool:
        """Take in whole lines; False when the first of all is no JSON value."""
        for line in data.split(b"\n"):
            self._line += 1
            text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")
            found = list(self._parser.records(iter([(self._line, text)])))
            kept = [record for record in found if is_object(record[1]) or is_list(record[1])]
            if text.strip() and not kept and not self._records:
                return False
            self._records += kept
        return True

    def _whole(self) -> Source | None:
        try:
            return Source.of_path(self.path, limits=self._limits)
        except InvalidInput:
            # Half of a document is none; whoever writes it will write the rest.
            return None
