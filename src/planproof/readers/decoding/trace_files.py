"""Files of many: cases, or traces that are cases of their own.

A trace by itself is a case whose plan is the one that was declared in it, and whose task is what
the user asked for first.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.archives import is_archive
from planproof.readers.decoding.case_files import (
    CaseLine,
    CaseMaker,
    RawLine,
    case_line,
    cases_in,
    raw_line,
    raw_lines,
    too_long,
)
from planproof.readers.decoding.json_array import ArrayElements
from planproof.readers.decoding.rewinding import Kept, Readable, Rewound
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import id_of, members
from planproof.readers.decoding.trace_ids import by_trace_id
from planproof.readers.recognition import claimant
from planproof.readers.toolkit.entries import LOOKED_AT

_FIELDS = frozenset(("user_task", "agent_plan", "execution_trace"))
_BLANK = b" \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_many(
    file: Readable,
    *,
    name: str,
    limits: Limits | None = None,
    make: CaseMaker | None = None,
) -> Iterator[CaseLine]:
    """The cases or traces in a file: one a line, in an array, or in a log of several traces.

    They are read one at a time, and a line or element that holds none does not stop the rest. With
    `make`, which knows where the fields of a case stand, every record is a case.
    """
    reading = _Reading(name, limits or Limits(), make)
    begun, at = first_byte(file)
    if begun.startswith(b"[", at):
        kept = Kept(Rewound(begun[at:], file))
        found = reading.in_array(kept)
        if found is not None:
            yield from found
            return
        begun = begun[:at] + kept.all()
    yield from reading.in_lines(Rewound(begun, file))


def read_trace_file(
    file: Readable, *, name: str, limits: Limits, make: CaseMaker | None = None
) -> Iterator[CaseLine]:
    """The trace that a file holds as a whole, whatever its form; or the case, or the traces."""
    return _Reading(name, limits, make, is_trace=True).in_document(file)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one file is read; `is_trace` where it is known to hold nothing else."""

    name: str
    limits: Limits
    make: CaseMaker | None
    is_trace: bool = False

    def in_array(self, file: Kept) -> Iterator[CaseLine] | None:
        """What an array holds; None when it is one trace, or nothing that is known."""
        elements = self._elements(file)
        opening: list[RawLine] = []
        together: list[Json] = []
        size = 0
        try:
            for element in islice(elements, LOOKED_AT):
                opening.append(element)
                if element.error is not None:
                    continue
                size += len(element.data)
                value = _value(element)
                if not together and (self.make or _is_case(value)):
                    file.let_go()
                    return cases_in(chain(opening, elements), self.make)
                if not isinstance(value, (dict, list)):
                    return None
                together.append(value)
                # A few tell as much, if they are so large that many may take too much memory.
                if size > self.limits.values:
                    break
        except InvalidInput:
            return None
        begins = Source("", "json", together)
        if by_trace_id(begins) or not members(begins):
            return None
        file.let_go()
        return self._traces(chain(opening, elements))

    def in_lines(self, file: Readable) -> Iterator[CaseLine]:
        """What the lines hold, each by itself or together."""
        lines = raw_lines(file, name=self.name, limits=self.limits)
        opening = _through_next(lines)
        whole = [line for line in opening if line.error is None]
        if not whole or _is_case(_value(whole[0])):
            yield from cases_in(chain(opening, lines), self.make)
            return
        # Two lines tell whether each is a trace or both belong to one.
        opening += _through_next(lines)
        whole = [line for line in opening if line.error is None]
        begins = [_value(line) for line in whole]
        if _is_one_document(whole[0], begins, is_mapped=self.make is not None):
            for line in opening:
                if line.error is not None:
                    raise line.error
            start = b"".join(line.data for line in opening)
            yield from self.in_document(Rewound(start, file))
        elif self.make is None and _is_trace(begins[0]):
            yield from self._traces(chain(opening, lines))
        else:
            yield from cases_in(chain(opening, lines), self.make)

    def _elements(self, file: Kept) -> Iterator[RawLine]:
        elements = ArrayElements(file.read, self.name, self.limits)
        for number, data in enumerate(elements, 1):
            where = f"{self.name}, item {number}"
            if data is None:
                yield RawLine(where, b"", too_long(where, self.limits))
            else:
                yield raw_line(data, where, self.limits)

    def in_document(self, file: Readable) -> Iterator[CaseLine]:
        """What a file holds that has to be read whole."""
        data = file.read(self.limits.bytes + 1)
        source = Source.of_bytes(data, name=self.name, limits=self.limits)
        if source.form == "json" and (self.make or _is_case(source.document)):
            yield case_line(source.document, self.name, self.make)
        elif found := members(source):
            # The traces are in the source; their bytes are not needed besides.
            del data
            for member in found:
                try:
                    yield _trace_line(member.source, member.id)
                except InvalidInput as error:
                    yield CaseLine(f"{self.name}#{member.id}", error=error, id=member.id)
        elif self.is_trace or claimant(source) is not None:
            yield _trace_line(source, None)
        elif source.document == []:
            return
        elif source.form != "json":
            lines = raw_lines(io.BytesIO(data), name=self.name, limits=self.limits)
            yield from cases_in(lines, self.make)
        else:
            raise InvalidInput(
                "is one JSON document, and neither a case nor a trace.",
                where=self.name,
                advice="Write each case on a line of its own, or say with --map where its parts "
                "stand.",
            )

    def _traces(self, lines: Iterable[RawLine]) -> Iterator[CaseLine]:
        for number, line in enumerate(lines, 1):
            one = self._source(line)
            if isinstance(one, InvalidInput):
                yield CaseLine(line.where, error=one)
            else:
                # Ids are not made unique: that would take memory for every one that was seen.
                id_ = id_of(one.document) or str(number)
                place = f"{self.name}#{id_}"
                yield _trace_line(Source(place, "json", one.document, one.skipped), id_)

    def _source(self, line: RawLine) -> Source | InvalidInput:
        if line.error is not None:
            return line.error
        try:
            source = Source.of_bytes(line.data, name=line.where, limits=self.limits)
        except InvalidInput as error:
            return InvalidInput(error.what, where=line.where, advice=error.advice)
        if source.form == "json" and isinstance(source.document, (dict, list)):
            return source
        return InvalidInput(
            "is no trace.",
            where=line.where,
            advice="What stands before it are traces, each as JSON.",
        )


def first_byte(file: Readable) -> tuple[bytes, int]:
    """Read up to the first byte that is not blank; return what was read and the byte's index."""
    begun = b""
    # As much again each time: linear in the blanks, and no more than twice what is needed.
    while more := file.read(len(begun) or 1):
        begun += more
        if _BYTE_ORDER_MARK.startswith(begun):
            continue
        if rest := begun.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK):
            return begun, len(begun) - len(rest)
    return begun, len(begun)


def _through_next(lines: Iterator[RawLine]) -> list[RawLine]:
    """Return the lines up to the next one that is not too large."""
    found: list[RawLine] = []
    for line in lines:
        found.append(line)
        if line.error is None:
            break
    return found


def _value(line: RawLine) -> Json:
    """What stands in a line; None when it is no JSON by itself."""
    try:
        return json.loads(line.data)
    except (ValueError, RecursionError):
        return None


def _is_case(value: Json) -> bool:
    return is_object(value) and not _FIELDS.isdisjoint(value)


def _is_trace(value: Json) -> bool:
    return isinstance(value, (dict, list)) and claimant(Source("", "json", value)) is not None


def _is_one_document(opening: RawLine, begins: list[Json], *, is_mapped: bool) -> bool:
    """Whether the lines belong together: an archive, JSON over many lines, or one trace."""
    if any(map(_is_case, begins)):
        return False
    if begins[0] is None:
        data = opening.data
        return is_archive(data) or data.lstrip().startswith((b"{", b"["))
    if is_mapped:
        return False
    if _is_trace(begins[0]):
        together = Source("", "jsonl", tuple(enumerate(begins, 1)))
        return len(begins) > 1 and claimant(together) is not None
    return isinstance(begins[0], (dict, list))


def _trace_line(source: Source, id_: str | None) -> CaseLine:
    record = source.document if source.form == "json" else None
    case = Case(task=None, plan=None, trace=source, id=id_)
    return CaseLine(source.name, case, id=id_, record=record)
