"""Read files with many cases, or with traces that become cases.

A trace alone becomes a case whose plan is the one declared in the trace, and whose task is the
first user message.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

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
    parse_case_line,
    parse_cases,
)
from planproof.readers.decoding.json_parsing import limit_error
from planproof.readers.decoding.rewinding import Readable, RewoundFile
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import find_trace_id, split_traces
from planproof.readers.recognition import Reader, detect_reader

_BLANK = b" \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 16
_ARRAY_ADVICE = "Write the file again: one JSON array, or one case per line."
_CONTROL_BYTES = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# Bytes that can't end an element; a comma ends one only outside all brackets.
_SKIP_TOP_LEVEL = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+", re.DOTALL)
_TOO_DEEP = -2
_SKIP_NESTED = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+", re.DOTALL)


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
    head, at = read_to_first_byte(file)
    rest = RewoundFile(head[at:], file)
    if head.startswith(b"[", at):
        pieces: list[bytes] = []

        def read_and_keep(size: int) -> bytes:
            pieces.append(rest.read(size))
            return pieces[-1]

        is_array = reading.is_array_of_cases(read_and_keep)
        rest = RewoundFile(b"".join(pieces), rest)
        if is_array:
            yield from reading.read_array(rest.read)
            return
    yield from reading.read_lines(RewoundFile(head[:at], rest))


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

    def is_array_of_cases(self, read: Callable[[int], bytes]) -> bool:
        """Return whether a file that begins with a bracket is an array of cases."""
        try:
            opening = _read_through_valid(self._iter_elements(read))
        except InvalidInput:
            return False
        return bool(opening) and (self.make is not None or _is_case(_parse_json(opening[-1])))

    def read_array(self, read: Callable[[int], bytes]) -> Iterator[CaseLine]:
        """Yield the cases of an array, one at a time."""
        return parse_cases(self._iter_elements(read), self.make)

    def _iter_elements(self, read: Callable[[int], bytes]) -> Iterator[RawLine]:
        for number, data in enumerate(split_array(read, self.name, self.limits), 1):
            yield build_raw_line(data, f"{self.name}, item {number}", self.limits)

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
        elif all(value is None for value in begins) and _is_binary(whole):
            raise InvalidInput(
                "is not UTF-8 text.",
                where=self.name,
                advice="Pass cases or traces: JSON, JSON Lines, CSV, Parquet or a log.",
            )
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
            try:
                if line.error is not None:
                    raise line.error
                one = Source.from_bytes(line.data, name=line.where, limits=self.limits)
                value: Json = one.document
                if one.form != "json" or not isinstance(one.document, (dict, list)):
                    what = "is not a trace."
                    raise InvalidInput(what, advice="Each line must be a JSON object or array.")
            except InvalidInput as error:
                told = InvalidInput(error.what, where=line.where, advice=error.advice)
                yield CaseLine(line.where, error=told)
                continue
            # Ids are not made unique: that would mean keeping all of them in memory.
            id_ = find_trace_id(value) or str(number)
            yield _build_case_line(Source(f"{self.name}#{id_}", "json", value, one.skipped), id_)


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


def split_array(read: Callable[[int], bytes], name: str, limits: Limits) -> Iterator[bytes]:
    """Yield the elements of a JSON array unparsed, so that an invalid one does not stop the rest.

    What is read begins with the opening bracket.
    """
    buffer, position, is_first = read(1), 1, True
    while True:
        end = _find_element_end(buffer, position, limits.depth)
        if end == _TOO_DEEP:
            raise limit_error(f"has an element of more than {limits.depth:,} levels.", name)
        if end < 0:
            left = len(buffer) - position
            if left > limits.bytes:
                raise limit_error(f"has an element of more than {limits.bytes:,} bytes.", name)
            # As much again as there is: a long element is not searched many times.
            more = read(max(_CHUNK, left))
            if not more:
                raise InvalidInput("is a truncated JSON array.", where=name, advice=_ARRAY_ADVICE)
            buffer, position = buffer[position:] + more, 0
            continue
        element = buffer[position:end]
        position, is_closed = end + 1, buffer[end : end + 1] != b","
        # An empty array has no element; a blank one after a comma is invalid JSON.
        if element.strip() or not (is_first and is_closed):
            yield element
        is_first = False
        if is_closed:
            break
    rest = buffer[position:]
    while not rest.strip() and (rest := read(_CHUNK)):
        pass
    if rest.strip():
        what = "has unexpected data after the end of the JSON array."
        raise InvalidInput(what, where=name, advice=_ARRAY_ADVICE)


def _find_element_end(buffer: bytes, position: int, max_depth: int) -> int:
    """Return the index of the comma or bracket after an element; -1 if it is not in the buffer.

    Return `_TOO_DEEP` for an element that is nested too deeply: every bracket takes a search.
    """
    depth = 0
    while match := (_SKIP_NESTED if depth else _SKIP_TOP_LEVEL).match(buffer, position):
        position = match.end() + 1
        mark = buffer[match.end() : position]
        if not depth and mark in (b",", b"]", b"}"):
            return match.end()
        if mark not in (b"[", b"{", b"]", b"}"):
            break  # the end of the buffer, maybe inside a string
        depth += 1 if mark in (b"[", b"{") else -1
        if depth > max_depth:
            return _TOO_DEEP
    return -1


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


def _is_binary(lines: Sequence[RawLine]) -> bool:
    """Return True if there are control bytes, which text in UTF-8 or Latin-1 does not have."""
    return any(line.data.translate(None, _CONTROL_BYTES) != line.data for line in lines)


def _is_case(value: Json) -> bool:
    return is_object(value) and any(field in value for field in CASE_FIELDS)


def _build_case_line(source: Source, id_: str | None) -> CaseLine:
    record = source.document if source.form == "json" else None
    case = Case(task=None, plan=None, trace=source, id=id_)
    return CaseLine(source.name, case, id=id_, record=record)
