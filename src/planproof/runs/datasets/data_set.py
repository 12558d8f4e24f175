"""Read a data set: find its files, convert records to cases, and apply the selection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from planproof.core.limits import Limits
from planproof.core.pointer import unescape
from planproof.errors import InvalidInput
from planproof.evaluation import read_json_or_text
from planproof.readers.decoding.case_files import CaseLine
from planproof.readers.decoding.rewinding import RewoundFile
from planproof.readers.decoding.trace_files import read_cases, read_to_first_byte, read_trace_file
from planproof.readers.recognition import Reader
from planproof.readers.task_content import read_task
from planproof.runs.datasets.dataset_files import (
    TABLE_SUFFIXES,
    TEXT_SUFFIXES,
    DataFile,
    ReadProgress,
    can_be_read_again,
    find_files,
    get_file_size,
    is_single,
    open_data_file,
)
from planproof.runs.datasets.field_mapping import FIELDS, FieldMap
from planproof.runs.datasets.selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """Cases, read one at a time.

    `paths` are files, folders and globs; `-` is standard input. With several files, an unreadable
    one is reported like an invalid line, and the rest is read. `profiles` are the user's own, by
    which files and records are recognised as traces. The records of cases are returned too if
    `keep_records` is true.
    """

    paths: tuple[str, ...]
    mapping: FieldMap | None = None
    selection: Selection = field(default_factory=Selection)
    limits: Limits = field(default_factory=Limits)
    profiles: tuple[Reader, ...] = ()
    keep_records: bool = False
    _progress: ReadProgress = field(default_factory=ReadProgress, init=False, compare=False)

    def __iter__(self) -> Iterator[tuple[int, CaseLine]]:
        """Yield the selected cases, each with its position in the whole data set, from 0."""
        if not self.paths:
            raise InvalidInput("a data set needs a file.", advice="Name a file or a folder.")
        can_repeat = all(map(can_be_read_again, self.paths))
        for position, line in self.selection.select(self._iter_lines, can_repeat=can_repeat):
            # The record is usually needed only for selecting cases.
            yield position, line if self.keep_records else replace(line, record=None)

    def _iter_lines(self) -> Iterator[CaseLine]:
        single = is_single(self.paths)
        self._progress.bytes_done = 0
        for data_file in find_files(self.paths):
            file = replace(data_file, progress=self._progress)
            try:
                yield from _add_sidecar_fields(file, self._read_file(file))
            except InvalidInput as error:
                if single:
                    raise
                yield CaseLine(error.where or file.name, error=error, id=file.id)
            self._progress.bytes_done += get_file_size(file.path)

    def bytes_read(self) -> int:
        """Return the number of bytes read so far."""
        return self._progress.bytes_read

    def size(self) -> int | None:
        """Return the bytes of all files; None if one of them is standard input."""
        files = list(find_files(self.paths))
        if any(file.is_standard_input for file in files):
            return None
        return sum(get_file_size(file.path) for file in files)

    def _read_file(self, file: DataFile) -> Iterator[CaseLine]:
        if file.suffix in TABLE_SUFFIXES:
            from planproof.runs.datasets.tables import read_table  # noqa: PLC0415 - when used

            yield from read_table(file, self.mapping, self._required_columns(), self.limits)
            return
        options: dict[str, Any] = {
            "name": file.name,
            "limits": self.limits,
            "make": self.mapping,
            "profiles": self.profiles,
        }
        with open_data_file(file) as data:
            if file.plan is not None or file.task is not None:
                yield from read_trace_file(data, **options)
                return
            head, at = read_to_first_byte(data)
            rewound = RewoundFile(head, data)
            is_json = not head or head.startswith((b"{", b"["), at)
            is_text = file.suffix in TEXT_SUFFIXES and self.mapping is None and not is_json
            yield from (read_trace_file if is_text else read_cases)(rewound, **options)

    def _required_columns(self) -> frozenset[str]:
        """Return the columns needed from a table; empty means all."""
        pointers = () if self.mapping is None else self.mapping.pointers.values()
        condition_pointers = [condition.pointer for condition in self.selection.where]
        names = {_get_first_token(pointer) for pointer in (*pointers, *condition_pointers)}
        return frozenset() if "" in names else frozenset((*names, *FIELDS.values()))


def _get_first_token(pointer: str) -> str:
    return unescape(pointer[1:].partition("/")[0])


def _add_sidecar_fields(file: DataFile, lines: Iterator[CaseLine]) -> Iterator[CaseLine]:
    """Yield the lines with the plan and task from sidecar files, and the id from the file name."""
    plan = None if file.plan is None else read_json_or_text(file.plan)
    task = (
        None if file.task is None else read_task(read_json_or_text(file.task), where=str(file.task))
    )
    head = list(islice(lines, 2))
    # A file name identifies a case only if the file has one case.
    id_ = file.id if len(head) == 1 else None
    for line in chain(head, lines):
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
