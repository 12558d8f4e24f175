"""Files of many: cases, or traces that are cases of their own.

A trace by itself is a case whose plan is the one that was declared in it, and whose task is what
the user asked for first.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice, tee
from typing import BinaryIO

from planproof.case import Case
from planproof.case_file import CaseLine, RawLine, cases_in, raw_lines
from planproof.content import Json
from planproof.errors import InvalidInput
from planproof.readers.archive import is_archive
from planproof.readers.members import id_of, members, unique
from planproof.readers.parsing import Limits
from planproof.readers.pieces.shapes import is_object
from planproof.readers.recognition import claimant
from planproof.readers.source import Source

_FIELDS = frozenset(("user_task", "agent_plan", "execution_trace"))


def read_many(file: BinaryIO, *, name: str, limits: Limits | None = None) -> Iterator[CaseLine]:
    """The cases or traces in a file: a case a line, a trace a line, or a log of several traces.

    Lines are read one at a time, and one that holds neither does not stop the rest.
    """
    limits = limits or Limits()
    lines = raw_lines(file, name=name, limits=limits)
    opening = list(islice(lines, 1))
    begins = [_value(line) for line in opening]
    if not opening or _is_case(begins[0]):
        yield from cases_in(chain(opening, lines))
        return
    # Two lines tell whether each is a trace or both belong to one.
    opening += islice(lines, 1)
    begins += [_value(line) for line in opening[1:]]
    if _is_one_document(opening[0], begins):
        start = b"".join(line.data for line in opening)
        yield from _in_document(start, file, name, limits)
    elif _is_trace(begins[0]):
        yield from _trace_lines(chain(opening, lines), name, limits)
    else:
        yield from cases_in(chain(opening, lines))


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


def _is_one_document(opening: RawLine, begins: list[Json]) -> bool:
    """Whether the lines belong together: an archive, JSON over many lines, or one trace."""
    if any(map(_is_case, begins)):
        return False
    if begins[0] is None:
        data = opening.data
        return is_archive(data) or data.lstrip().startswith((b"{", b"["))
    if _is_trace(begins[0]):
        together = Source("", "jsonl", tuple(enumerate(begins, 1)))
        return len(begins) > 1 and claimant(together) is not None
    return isinstance(begins[0], (dict, list))


def _in_document(start: bytes, file: BinaryIO, name: str, limits: Limits) -> Iterator[CaseLine]:
    data = start + file.read(max(limits.bytes + 1 - len(start), 0))
    source = Source.of_bytes(data, name=name, limits=limits)
    if found := members(source):
        # The traces are in the source; their bytes are not needed besides.
        del data, start
        for member in found:
            try:
                yield _case_line(member.source, member.id)
            except InvalidInput as error:
                yield CaseLine(f"{name}#{member.id}", error=error, id=member.id)
    elif claimant(source) is not None:
        yield _case_line(source, None)
    elif source.form != "json":
        yield from cases_in(raw_lines(io.BytesIO(data), name=name, limits=limits))
    else:
        raise InvalidInput(
            "is one JSON document, not one case a line.",
            where=name,
            advice="Use `planproof judge` for a single case, or write each case on a line of its "
            "own.",
        )


def _trace_lines(lines: Iterable[RawLine], name: str, limits: Limits) -> Iterator[CaseLine]:
    read, named = tee(_source(line, limits) for line in lines)
    ids = unique(None if isinstance(one, InvalidInput) else id_of(one.document) for one in named)
    for one, id_ in zip(read, ids, strict=True):
        place = f"{name}#{id_}"
        if isinstance(one, InvalidInput):
            yield CaseLine(one.where or place, error=one)
        else:
            yield _case_line(Source(place, "json", one.document, one.skipped), id_)


def _source(line: RawLine, limits: Limits) -> Source | InvalidInput:
    if line.error is not None:
        return line.error
    try:
        source = Source.of_bytes(line.data, name=line.where, limits=limits)
    except InvalidInput as error:
        return InvalidInput(error.what, where=line.where, advice=error.advice)
    if source.form == "json" and isinstance(source.document, (dict, list)):
        return source
    return InvalidInput(
        "is no trace.", where=line.where, advice="The lines before it each hold a trace as JSON."
    )


def _case_line(source: Source, id_: str | None) -> CaseLine:
    return CaseLine(source.name, Case(task=None, plan=None, trace=source, id=id_), id=id_)
