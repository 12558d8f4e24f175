"""Split a file that contains several traces into one source per trace.

An Inspect log has samples; JSON Lines, arrays and objects may hold whole histories; and a file of
spans may have more than one trace id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.trace import SkippedPart
from planproof.errors import InvalidInput, UnknownName, did_you_mean
from planproof.readers.decoding.archives import Archive
from planproof.readers.decoding.source import Source
from planproof.readers.recognition import Reader, detect_reader
from planproof.readers.toolkit.entries import SNIFF_LIMIT
from planproof.readers.toolkit.span import iter_span_records

_ID_KEYS = ("instance_id", "id", "task_id", "trace_id", "eval_id")
_WRAPPER_KEYS = ("samples", "logs")
# Results of tau2 and evaluation sets of the ADK: a single run is read in place.
_RUN_LIST_KEYS = ("simulations", "eval_cases")
_MAX_ID_LENGTH = 100
_IDS_IN_ERRORS = 5


@dataclass(frozen=True, slots=True)
class ContainedTrace:
    """One trace of several. Its source is created on access, and not kept."""

    id: str
    _load_source: Callable[[], Source]

    @property
    def source(self) -> Source:
        """The trace as a separate source, with pointers relative to the trace."""
        return self._load_source()


def split_traces(source: Source, profiles: Sequence[Reader] = ()) -> tuple[ContainedTrace, ...]:
    """Return the traces in this source; none if it is a single trace."""
    if source.form == "archive":
        return _split_archive(source.document)
    if source.form == "text":
        return ()
    if apart := split_by_trace_id(source):
        return _build_traces(source, ((id_, value, ()) for id_, value in apart.items()))
    values = _list_candidates(source)
    if not values or not _may_be_trace(values[0][1]):
        return ()
    if detect_reader(source, profiles) is not None:
        return ()
    head = values[:SNIFF_LIMIT]
    known = sum(_is_trace(value, profiles) for _, value in head)
    # An object may have any keys: it holds traces only if all of its values are traces.
    needed = len(head) if isinstance(values[0][0], str) else len(head) / 2
    if known < needed:
        return ()
    notes = _group_skipped_by_line(source)
    return _build_traces(
        source,
        (
            (key, value, ())
            if isinstance(key, str)
            else (find_trace_id(value), value, notes.get(key, ()))
            for key, value in values
        ),
    )


def select_trace(
    source: Source, selector: str | None = None, profiles: Sequence[Reader] = ()
) -> Source:
    """Return the trace with this id or 1-based number; without a selector, the only trace."""
    traces = split_traces(source, profiles)
    if selector is None:
        if len(traces) > 1:
            raise multiple_traces_error(source, traces)
        return traces[0].source if traces else source
    if not traces:
        if selector == "1":
            return source
        raise InvalidInput(
            "contains a single trace.", where=source.name, advice="Leave out `pick`."
        )
    for trace in traces:
        if trace.id == selector:
            return trace.source
    if selector.isascii() and selector.isdigit() and 1 <= int(selector[:12]) <= len(traces):
        return traces[int(selector[:12]) - 1].source
    raise UnknownName(
        f"none of the {len(traces):,} traces has the id or the number `{selector}`.",
        where=source.name,
        advice=did_you_mean(selector, [trace.id for trace in traces])
        if len(traces) <= 20
        else f"Available: {_format_ids(traces)}; `planproof inspect` lists all.",
    )


def multiple_traces_error(source: Source, traces: Sequence[ContainedTrace]) -> InvalidInput:
    """Return the error for a source that contains several traces where one is needed."""
    return InvalidInput(
        f"contains {len(traces):,} trace{'s' if len(traces) > 1 else ''}: {_format_ids(traces)}.",
        where=source.name,
        advice="Select one with --pick, or judge all of them with `planproof run`.",
    )


def find_trace_id(value: Json) -> str | None:
    """Return the id that a trace has in the file that contains it."""
    if not is_object(value):
        return None
    if is_object(value.get("trace")):
        value = value["trace"]
    for key in _ID_KEYS:
        trace_id = value.get(key)
        if isinstance(trace_id, (str, int)) and not isinstance(trace_id, bool) and trace_id != "":
            epoch = value.get("epoch") if key == "id" else None
            name = f"{trace_id}_epoch_{epoch}" if isinstance(epoch, int) else f"{trace_id}"
            return name if len(name) <= _MAX_ID_LENGTH else None
    return None


def _split_archive(archive: Archive) -> tuple[ContainedTrace, ...]:
    def load_sample(number: int, name: str) -> Source:
        return Source.from_bytes(archive.read_sample(number), name=name, limits=archive.limits)

    return tuple(
        ContainedTrace(id_, partial(load_sample, number, f"{archive.name}#{id_}"))
        for number, id_ in enumerate(make_ids_unique(archive.sample_names))
    )


def _build_traces(
    source: Source, entries: Iterable[tuple[str | None, Json, tuple[SkippedPart, ...]]]
) -> tuple[ContainedTrace, ...]:
    parts = list(entries)
    return tuple(
        ContainedTrace(id_, partial(Source, f"{source.name}#{id_}", "json", value, notes))
        for id_, (_, value, notes) in zip(
            make_ids_unique(i for i, _, _ in parts), parts, strict=True
        )
    )


def make_ids_unique(ids: Iterable[str | None]) -> Iterator[str]:
    """Yield the ids, with a suffix where one is repeated; for None, the 1-based position."""
    used: set[str] = set()
    again: Counter[str] = Counter()
    for number, id_ in enumerate(ids, 1):
        name = base = id_ or str(number)
        while name in used:
            again[base] += 1
            name = f"{base}-{again[base] + 1}"
        used.add(name)
        yield name


def _list_candidates(source: Source) -> list[tuple[int | str, Json]]:
    """Return the values that may be traces, with their line, index or key."""
    document = source.document
    if source.form == "jsonl":
        return list(document)
    if is_object(document):
        for key in _RUN_LIST_KEYS:
            runs = document.get(key)
            if is_list(runs) and len(runs) > 1:
                return list(enumerate(runs))
        for key in _WRAPPER_KEYS:
            if isinstance(document.get(key), (dict, list)):
                document = document[key]
                break
    if is_object(document):
        # A single object under a name is a wrapper; under a number it is the only run.
        runs = len(document) > 1 or all(map(str.isdigit, document))
        return list(document.items()) if runs else []
    return list(enumerate(document)) if is_list(document) else []


def _may_be_trace(value: Json) -> bool:
    """Return whether a value can hold the events of a run: a list, or an object with one."""
    if is_object(value):
        return any(
            is_list(child) or (is_object(child) and any(map(is_list, child.values())))
            for child in value.values()
        )
    return is_list(value) and any(is_object(entry) for entry in islice(value, SNIFF_LIMIT))


def _is_trace(value: Json, profiles: Sequence[Reader]) -> bool:
    """Return whether a reader claims a value as a trace, and not just as a single event."""
    if not _may_be_trace(value):
        return False
    reader = detect_reader(Source("", "json", value), profiles)
    alone = Source("", "json", [value])
    return reader is not None and reader is not detect_reader(alone, profiles)


def _group_skipped_by_line(source: Source) -> dict[int, tuple[SkippedPart, ...]]:
    """Return the parser's notes by line, with pointers to the whole trace on that line."""
    notes: dict[int, tuple[SkippedPart, ...]] = {}
    if source.form == "jsonl":
        for note in source.skipped:
            line = int(note.pointer[1:] or 0)
            notes[line] = (*notes.get(line, ()), SkippedPart("", note.why))
    return notes


def _format_ids(traces: Sequence[ContainedTrace]) -> str:
    ids = [trace.id for trace in traces[:_IDS_IN_ERRORS]]
    return ", ".join(ids) + (", …" if len(traces) > len(ids) else "")


_SPAN_KEYS = frozenset(
    ("span_id", "spanId", "run_type", "parentObservationId", "parent_observation_id")
)


def split_by_trace_id(source: Source) -> dict[str, Json]:
    """Map each trace id to the list of its spans; empty if there are fewer than two."""
    apart: dict[str, list[Json]] = {}
    for number, (_, value) in enumerate(iter_span_records(source, _is_span)):
        id_ = _get_trace_id(value)
        if id_ is None and number < SNIFF_LIMIT:
            return {}
        # A value without an id stays with the first trace.
        apart.setdefault(id_ or next(iter(apart)), []).append(value)
    return dict(apart) if len(apart) > 1 else {}


def _is_span(value: Json) -> bool:
    return _get_trace_id(value) is not None


def _get_trace_id(span: Json) -> str | None:
    """Return the trace id of a span; None if the value is not a span."""
    if not is_object(span):
        return None
    holder = span["context"] if is_object(span.get("context")) else span
    if _SPAN_KEYS.isdisjoint(holder):
        return None
    id_ = holder.get("trace_id") or holder.get("traceId")
    return str(id_) if isinstance(id_, (str, int)) else None
