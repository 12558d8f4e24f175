"""Put the records of a source beside the events that were read from them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.trace import Event, EventStatus, Kind, SkippedPart, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.record_counts import find_record_list, has_words

_LINES = re.compile(r"L(\d{1,12})(?:-(\d{1,12}))?")
_DOUBTFUL = ("no rule", "unknown", "contains nothing", "nothing in it", "not ")


@dataclass(slots=True)
class RecordRow:
    """A record of the source: where it is, its text, and what was read from it.

    `results` are events whose result is in this record; `part_of` is the event of which the record
    is a chunk.
    """

    pointer: str
    raw: str
    events: list[Event] = field(default_factory=list[Event])
    results: list[Event] = field(default_factory=list[Event])
    skipped: list[SkippedPart] = field(default_factory=list[SkippedPart])
    part_of: str | None = None

    @property
    def is_unread(self) -> bool:
        """Whether nothing was read from the record, and nothing says why."""
        is_known = self.events or self.results or self.skipped or self.part_of
        return not is_known and has_words(self.raw)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A record of which the reading is uncertain, and why."""

    why: str
    row: RecordRow
    event: Event | None = None


def build_rows(source: Source, trace: Trace) -> list[RecordRow]:
    """Return all records of a source, in order, each with what was read from it."""
    if source.form == "text":
        rows = _build_text_rows(source.document, trace)
    elif source.form == "jsonl":
        rows = [RecordRow(f"L{line}", _format(value)) for line, value in source.document]
    else:
        rows = list(_iter_document_rows(source.document, trace))
    index = _RowIndex(rows, is_text=source.form == "text")
    for event in trace.events:
        if (row := index.find(event.pointer)) is not None:
            row.events.append(event)
            index.mark_parts(event)
        if event.output_pointer is not None:
            result = index.find(event.output_pointer)
            if result is not None and result is not row:
                result.results.append(event)
    for part in trace.skipped:
        if (row := index.find(part.pointer)) is not None and part.pointer:
            row.skipped.append(part)
    return rows


class _RowIndex:
    """Finds the row that holds a pointer."""

    def __init__(self, rows: Sequence[RecordRow], *, is_text: bool) -> None:
        self._is_text = is_text
        self._rows: dict[str, RecordRow] = {}
        for row in rows:
            match = _LINES.fullmatch(row.pointer) if is_text else None
            if match is None:
                self._rows[row.pointer] = row
                continue
            for line in range(int(match[1]), int(match[2] or match[1]) + 1):
                self._rows[f"L{line}"] = row

    def find(self, pointer: str) -> RecordRow | None:
        """Return the row; None if the pointer leads to none."""
        if match := _LINES.match(pointer):
            return self._rows.get(f"L{match[1]}")
        while pointer not in self._rows and pointer:
            pointer = pointer.rpartition("/")[0]
        return self._rows.get(pointer)

    def mark_parts(self, event: Event) -> None:
        """Mark the lines that are chunks of an event."""
        match = None if self._is_text else _LINES.match(event.pointer)
        if match is None or match[2] is None:
            return
        for line in range(int(match[1]) + 1, int(match[2]) + 1):
            row = self._rows.get(f"L{line}")
            if row is not None and row.part_of is None:
                row.part_of = event.id


def _build_text_rows(text: str, trace: Trace) -> list[RecordRow]:
    """Divide a text into the ranges that pointers name, and the lines between them."""
    lines = text.split("\n")
    pointers = [event.pointer for event in trace.events]
    pointers += [event.output_pointer or "" for event in trace.events]
    pointers += [part.pointer for part in trace.skipped]
    ranges = sorted(
        (int(match[1]), int(match[2] or match[1]))
        for pointer in pointers
        if (match := _LINES.fullmatch(pointer))
    )
    rows: list[RecordRow] = []
    following = 1
    for first, last in ranges:
        if first < following:
            if last >= following and rows:
                # A range that overlaps the one before becomes part of it.
                begin = int(rows.pop().pointer[1:].partition("-")[0])
                rows.append(_make_text_row(lines, begin, last))
                following = last + 1
            continue
        rows += _make_gap(lines, following, first - 1)
        rows.append(_make_text_row(lines, first, last))
        following = last + 1
    return [*rows, *_make_gap(lines, following, len(lines))]


def _make_gap(lines: Sequence[str], first: int, last: int) -> list[RecordRow]:
    between = any(line.strip() for line in lines[first - 1 : last])
    return [_make_text_row(lines, first, last)] if between else []


def _make_text_row(lines: Sequence[str], first: int, last: int) -> RecordRow:
    pointer = f"L{first}" if first == last else f"L{first}-{last}"
    return RecordRow(pointer, "\n".join(lines[first - 1 : last]))


def _iter_document_rows(document: Json, trace: Trace) -> Iterator[RecordRow]:
    """Yield the items of the list that the events come from, after the rest of the document."""
    path, items = find_record_list(document, trace)
    if not items:
        yield RecordRow("", _format(document))
        return
    if path or is_object(document):
        yield RecordRow("", _format(_without(document, path.split("/")[1:])))
    for key, item in items:
        yield RecordRow(f"{path}/{key}", _format(item))


def _without(document: Json, keys: Sequence[str]) -> Json:
    """Return a document without the records at a path."""
    if not keys and is_object(document):
        return {k: "…" if isinstance(v, dict | list) else v for k, v in document.items()}
    if is_object(document) and keys[0] in document:
        return {**document, keys[0]: _without(document[keys[0]], keys[1:])}
    return "…"


def _format(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) if not isinstance(value, str) else value


def find_doubts(rows: Sequence[RecordRow], trace: Trace) -> list[Doubt]:
    """Return the records whose reading is least certain, one for each reason."""
    found: dict[str, Doubt] = {}
    skipped = sorted(
        ((part, row) for row in rows for part in row.skipped),
        key=lambda pair: not pair[0].why.startswith(_DOUBTFUL),
    )
    for part, row in skipped:
        found.setdefault(part.why, Doubt(f"skipped: {part.why}", row))
    for row in rows:
        # The rest of a document holds settings, not records.
        if row.is_unread and row.pointer:
            found.setdefault("unread", Doubt("not read", row))
        for event in row.events:
            if why := _find_doubt(event, trace):
                found.setdefault(why, Doubt(why, row, event))
    if not found and not trace.events and rows:
        return [Doubt("not read", rows[0])]
    return list(found.values())


def _find_doubt(event: Event, trace: Trace) -> str | None:
    if event.kind is Kind.OBSERVATION:
        return "a result without its call"
    if event.kind is Kind.ACTION and event.output_pointer is None:
        answered = any(one.output_pointer is not None for one in trace.events)
        if answered and event.status is EventStatus.UNKNOWN:
            return "a call without a result"
    if trace.reader == "general":
        return f"guessed: {event.kind.value}"
    return None
