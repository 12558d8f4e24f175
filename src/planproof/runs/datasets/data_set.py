"""A data set: the files it is made of, how its records become cases, and which are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from planproof.core.limits import Limits
from planproof.core.pointer import unescape
from planproof.errors import InvalidInput
from planproof.preparation import in_file
from planproof.readers.decoding.case_files import CaseLine
from planproof.readers.decoding.rewinding import Rewound
from planproof.readers.decoding.trace_files import first_byte, read_many, read_trace_file
from planproof.readers.task_content import read_task
from planproof.runs.datasets.compressed_files import opened
from planproof.runs.datasets.dataset_files import (
    TABLES,
    TEXT,
    DataFile,
    can_be_read_again,
    files_of,
    is_single,
)
from planproof.runs.datasets.field_mapping import FIELDS, FieldMap
from planproof.runs.datasets.read_extent import Extent, size_of
from planproof.runs.datasets.selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """Cases, read one at a time.

    `places` are files, folders and globs; `-` is standard input. Of several files, one that can't
    be read is told like a line that can't, and the rest is read.
    """

    places: tuple[str, ...]
    mapping: FieldMap | None = None
    selection: Selection = field(default_factory=Selection)
    limits: Limits = field(default_factory=Limits)
    _extent: Extent = field(default_factory=Extent, init=False, compare=False)

    def __iter__(self) -> Iterator[tuple[int, CaseLine]]:
        """The chosen cases, each with its place in the whole data set, counted from 0."""
        if not self.places:
            raise InvalidInput("a data set needs a file.", advice="Name a file or a folder.")
        can_repeat = all(map(can_be_read_again, self.places))
        for place, line in self.selection.chosen(self._lines, can_repeat=can_repeat):
            # What was looked at to choose is not needed to judge.
            yield place, replace(line, record=None)

    def _lines(self) -> Iterator[CaseLine]:
        single = is_single(self.places)
        self._extent.done = 0
        for found in files_of(self.places):
            file = replace(found, extent=self._extent)
            try:
                yield from _completed(file, self._in_file(file))
            except InvalidInput as error:
                if single:
                    raise
                yield CaseLine(error.where or file.name, error=error, id=file.id)
            self._extent.done += size_of(file.path)

    def bytes_read(self) -> int:
        """How much of the files has been read so far."""
        return self._extent.read

    def size(self) -> int | None:
        """The bytes of all files; None when one of them is standard input."""
        files = list(files_of(self.places))
        if any(file.is_standard_input for file in files):
            return None
        return sum(size_of(file.path) for file in files)

    def _in_file(self, file: DataFile) -> Iterator[CaseLine]:
        if file.kind in TABLES:
            from planproof.runs.datasets.tables import table_cases  # noqa: PLC0415 - when used

            yield from table_cases(file, self.mapping, self._columns(), self.limits)
            return
        how: dict[str, Any] = {"name": file.name, "limits": self.limits, "make": self.mapping}
        with opened(file) as data:
            if file.plan is not None or file.task is not None:
                yield from read_trace_file(data, **how)
                return
            begun, at = first_byte(data)
            rewound = Rewound(begun, data)
            is_json = not begun or begun.startswith((b"{", b"["), at)
            is_text = file.kind in TEXT and self.mapping is None and not is_json
            yield from (read_trace_file if is_text else read_many)(rewound, **how)

    def _columns(self) -> frozenset[str]:
        """The columns of a table that are needed; none of them means all."""
        pointers = () if self.mapping is None else self.mapping.pointers.values()
        asked = [condition.pointer for condition in self.selection.where]
        names = {_first(pointer) for pointer in (*pointers, *asked)}
        return frozenset() if "" in names else frozenset((*names, *FIELDS.values()))


def _first(pointer: str) -> str:
    return unescape(pointer[1:].partition("/")[0])


def _completed(file: DataFile, lines: Iterator[CaseLine]) -> Iterator[CaseLine]:
    """The lines with what stands beside the file, or is its name."""
    plan = None if file.plan is None else in_file(file.plan)
    task = None if file.task is None else read_task(in_file(file.task), where=str(file.task))
    opening = list(islice(lines, 2))
    # The name of a file is that of its case only where there is one.
    id_ = file.id if len(opening) == 1 else None
    for line in chain(opening, lines):
        if line.case is None:
            yield replace(line, id=line.id or id_)
            continue
        case = replace(
            line.case,
            plan=plan if line.case.plan is None else line.case.plan,
            task=task if line.case.task is None else line.case.task,
            id=line.case.id or id_,
        )
        yield replace(line, case=case, id=case.id)
