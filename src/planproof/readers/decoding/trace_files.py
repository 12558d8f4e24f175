"""Read files with many cases, or with traces that become cases.

A trace alone becomes a case whose plan is the one declared in the trace, and whose task is the
first user message.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.archives import is_archive
from planproof.readers.decoding.case_files import (
    CASE_FIELDS,
    CaseLine,
    CaseMaker,
    RawLine,
    build_raw_line,
    iter_raw_lines,
    line_too_long_error,
    parse_case_line,
    parse_cases,
)
from planproof.readers.decoding.json_array import ArrayElements
from planproof.readers.decoding.rewinding import Readable, RecordingFile, RewoundFile
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import find_trace_id, split_by_trace_id, split_traces
from planproof.readers.recognition import Reader, detect_reader
from planproof.readers.toolkit.entries import SNIFF_LIMIT

_BLANK = b" \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_cases(
    file: Readable,
    *,
    name: str,
    limits: Limits | None = None,
    make: CaseMaker | None = None,
    profiles: Sequence[Reader] = (),
) -> Iterator[CaseLine]:
    """Yield the cases or traces in a file: one per line, in an array, or in a log of several.

    They are read one at a time, and an invalid line or element does not stop the rest. With
    `make`, which knows where to find the fields of a case, every record is a case. `profiles` are
    the user's own, by which a trace is recognised before all other readers are asked.
    """
    reading = _CaseFileReader(name, limits or Limits(), make, profiles)
    prefix, at = read_to_first_byte(file)
    if prefix.startswith(b"[", at):
        buffered = RecordingFile(RewoundFile(prefix[at:], file))
        cases = reading.read_array(buffered)
        if cases is not None:
            yield from cases
            return
        prefix = prefix[:at] + bytes(buffered.recorded)
    yield from reading.read_lines(RewoundFile(prefix, file))


def read_trace_file(
    file: Readable,
    *,
    name: str,
    limits: Limits,
    make: CaseMaker | None = None,
    profiles: Sequence[Reader] = (),
) -> Iterator[CaseLine]:
    """Read a whole file, in any form, as a trace; or as the case or the traces that it holds."""
    return _CaseFileReader(name, limits, make, profiles, is_trace=True).read_document(file)


@dataclass(frozen=True, slots=True)
class _CaseFileReader:
    """Reads one file; `is_trace` if the file is known to be a trace."""

    name: str
    limits: Limits
    make: CaseMaker | None
    profiles: Sequence[Reader] = ()
    is_trace: bool = False

    def read_array(self, file: RecordingFile) -> Iterator[CaseLine] | None:
        """Return the cases of an array; None if it is one trace, or of an unknown format."""
        elements = self._iter_elements(file)
        opening: list[RawLine] = []
        together: list[Json] = []
        size = 0
        try:
            for element in islice(elements, SNIFF_LIMIT):
                opening.append(element)
                if element.error is not None:
                    continue
                size += len(element.data)
                value = _parse_json(element)
                if not together and (self.make or _is_case(value)):
                    file.stop_recording()
                    return parse_cases(chain(opening, elements), self.make)
                if not isinstance(value, (dict, list)):
                    return None
                together.append(value)
                # A few large elements are enough; more may take too much memory.
                if size > self.limits.values:
                    break
        except InvalidInput:
            return None
        begins = Source("", "json", together)
        if split_by_trace_id(begins) or not split_traces(begins, self.profiles):
            return None
        file.stop_recording()
        return self._iter_traces(chain(opening, elements))

    def read_lines(self, file: Readable) -> Iterator[CaseLine]:
        """Yield the cases of the lines, each by itself or all as one document."""
        lines = iter_raw_lines(file, name=self.name, limits=self.limits)
        opening = _read_through_valid(lines)
        whole = [line for line in opening if line.error is None]
        if not whole or _is_case(_parse_json(whole[0])):
            yield from parse_cases(chain(opening, lines), self.make)
            return
        # Two lines show whether each is a trace or both belong to one.
        opening += _read_through_valid(lines)
        whole = [line for line in opening if line.error is None]
        begins = [_parse_json(line) for line in whole]
        if self._is_one_document(whole[0], begins):
            for line in opening:
                if line.error is not None:
                    raise line.error
            start = b"".join(line.data for line in opening)
            yield from self.read_document(RewoundFile(start, file))
        elif self.make is None and self._is_trace(begins[0]):
            yield from self._iter_traces(chain(opening, lines))
        else:
            yield from parse_cases(chain(opening, lines), self.make)

    def _is_trace(self, value: Json) -> bool:
        return isinstance(value, (dict, list)) and self._is_claimed(Source("", "json", value))

    def _is_claimed(self, source: Source) -> bool:
        return detect_reader(source, self.profiles) is not None

    def _is_one_document(self, opening: RawLine, begins: list[Json]) -> bool:
        """Return whether the lines belong together: an archive, multi-line JSON, or one trace."""
        if any(map(_is_case, begins)):
            return False
        if begins[0] is None:
            data = opening.data
            return is_archive(data) or data.lstrip().startswith((b"{", b"["))
        if self.make is not None:
            return False
        if self._is_trace(begins[0]):
            together = Source("", "jsonl", tuple(enumerate(begins, 1)))
            return len(begins) > 1 and self._is_claimed(together)
        return isinstance(begins[0], (dict, list))

    def _iter_elements(self, file: RecordingFile) -> Iterator[RawLine]:
        elements = ArrayElements(file.read, self.name, self.limits)
        for number, data in enumerate(elements, 1):
            where = f"{self.name}, item {number}"
            if data is None:
                yield RawLine(where, b"", line_too_long_error(where, self.limits))
            else:
                yield build_raw_line(data, where, self.limits)

    def read_document(self, file: Readable) -> Iterator[CaseLine]:
        """Yield the cases of a file that has to be read as a whole."""
        data = file.read(self.limits.bytes + 1)
        source = Source.from_bytes(data, name=self.name, limits=self.limits)
        if source.form == "json" and (self.make or _is_case(source.document)):
            yield parse_case_line(source.document, self.name, self.make)
        elif traces := split_traces(source, self.profiles):
            # The source holds the traces: free the bytes.
            del data
            for member in traces:
                try:
                    yield _build_case_line(member.source, member.id)
                except InvalidInput as error:
                    yield CaseLine(f"{self.name}#{member.id}", error=error, id=member.id)
        elif self.is_trace or self._is_claimed(source):
            yield _build_case_line(source, None)
        elif source.document == []:
            return
        elif source.form != "json":
            lines = iter_raw_lines(io.BytesIO(data), name=self.name, limits=self.limits)
            yield from parse_cases(lines, self.make)
        else:
            raise InvalidInput(
                "is a single JSON document, but neither a case nor a trace.",
                where=self.name,
                advice="Write one case per line, or map the fields with --map.",
            )

    def _iter_traces(self, lines: Iterable[RawLine]) -> Iterator[CaseLine]:
        for number, line in enumerate(lines, 1):
            one = self._parse_source(line)
            if isinstance(one, InvalidInput):
                yield CaseLine(line.where, error=one)
            else:
                # Ids are not made unique: that would mean keeping all of them in memory.
                id_ = find_trace_id(one.document) or str(number)
                location = f"{self.name}#{id_}"
                yield _build_case_line(Source(location, "json", one.document, one.skipped), id_)

    def _parse_source(self, line: RawLine) -> Source | InvalidInput:
        if line.error is not None:
            return line.error
        try:
            source = Source.from_bytes(line.data, name=line.where, limits=self.limits)
        except InvalidInput as error:
            return InvalidInput(error.what, where=line.where, advice=error.advice)
        if source.form == "json" and isinstance(source.document, (dict, list)):
            return source
        return InvalidInput(
            "is not a trace.",
            where=line.where,
            advice="The file contains traces, each a JSON object or array.",
        )


def read_to_first_byte(file: Readable) -> tuple[bytes, int]:
    """Read up to the first byte that is not blank; return what was read and the byte's index."""
    prefix = b""
    # Double the size each time: linear in the blanks, and at most twice what is needed.
    while more := file.read(len(prefix) or 1):
        prefix += more
        if _BYTE_ORDER_MARK.startswith(prefix):
            continue
        if rest := prefix.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK):
            return prefix, len(prefix) - len(rest)
    return prefix, len(prefix)


def _read_through_valid(lines: Iterator[RawLine]) -> list[RawLine]:
    """Return the lines up to the next one that is not too large."""
    lines_read: list[RawLine] = []
    for line in lines:
        lines_read.append(line)
        if line.error is None:
            break
    return lines_read


def _parse_json(line: RawLine) -> Json:
    """Return the value of a line; None if it is not JSON by itself."""
    try:
        return json.loads(line.data)
    except (ValueError, RecursionError):
        return None


def _is_case(value: Json) -> bool:
    return is_object(value) and any(field in value for field in CASE_FIELDS)


def _build_case_line(source: Source, id_: str | None) -> CaseLine:
    record = source.document if source.form == "json" else None
    case = Case(task=None, plan=None, trace=source, id=id_)
    return CaseLine(source.name, case, id=id_, record=record)
