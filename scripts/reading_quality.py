"""Measure how well traces of the second bench are read, against what a careful reader counted.

A label lists the actions of a run and, for each, an anchor: a verbatim piece of the trace. An
action was read if it has an event of its own, in order, whose source span holds the anchor. A trace
is read well if all of its actions were, no call was read twice, and at most 1.1 times as many calls
were read as the label has actions. Labelled actions that are calls (see `labelled_calls`) are also
counted if they were read as a call of their own, and, where the label names a tool, if that call
has its name. Of `val` only totals are shown.

    python -m scripts.reading_quality [val|train] [--list SOURCE]
    python -m scripts.reading_quality --write-docs     measure both, write the tables into docs

The columns: traces read well, actions found, labelled calls that were read as calls, calls that
were read with the tool's name, all calls read, traces that were not understood.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from planproof.core.pointer import resolve
from planproof.core.trace import Event, Kind, Trace
from planproof.errors import PlanproofError
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.record_counts import explain_not_understood
from scripts import bench, quality_tables
from scripts.labelled_calls import LabelledCall, find_labelled_call

AGENT_KINDS = frozenset({Kind.ACTION, Kind.MESSAGE, Kind.REASONING, Kind.BOOKKEEPING})
_MAX_CALL_RATIO = 1.1
_FOLDED = str.maketrans("", "", " \t\n\r\f\v\u00a0\"'`\\\u2018\u2019\u201c\u201d")


class CallCounts(NamedTuple):
    """How the labelled actions that are calls were read."""

    labelled: int = 0
    as_calls: int = 0
    named: int = 0
    """Labels that name a tool."""
    right_name: int = 0
    first_wrong: str = ""


class TraceReading(NamedTuple):
    """How one trace was read."""

    id: str
    source: str
    reader: str
    actions: int
    found: int
    calls: int
    repeated: int
    understood: bool
    first_missing: str
    called: CallCounts

    @property
    def is_read_well(self) -> bool:
        """True if every action has its event and no call was read twice or made up."""
        return (
            self.found == self.actions
            and not self.repeated
            and self.calls <= _MAX_CALL_RATIO * self.actions
        )


def measure_trace(record: dict[str, Any]) -> TraceReading:
    """Read the trace of one labelled record and compare it with the label."""
    anchors: list[str] = record["anchors"]
    labels = [find_labelled_call(*pair) for pair in zip(record["actions"], anchors, strict=True)]
    labelled = [label for label in labels if label is not None]
    name, source = record["id"], Source.from_value(record["execution_trace"])
    try:
        trace = read_trace(source)
    except PlanproofError as error:
        return TraceReading(
            name, record["source"], "none", len(anchors), 0, 0, 0, understood=False,
            first_missing=str(error), called=_count_called(labelled, [], source),
        )  # fmt: skip
    found, missing = _find_actions(anchors, trace, source)
    calls = [event for event in trace.events if _is_call(event)]
    return TraceReading(
        name,
        record["source"],
        trace.reader,
        len(anchors),
        found,
        len(calls),
        _count_repeated(calls),
        explain_not_understood(trace) is None,
        missing,
        _count_called(labelled, calls, source),
    )


def _find_actions(anchors: Sequence[str], trace: Trace, source: Source) -> tuple[int, str]:
    """Return how many anchors have an event of their own, in order, and the first that has none."""
    spans = [
        (event, fold(source_span(event, source)))
        for event in trace.events
        if event.kind in AGENT_KINDS and event.actor != "user"
    ]
    found, position, first_missing = 0, 0, ""
    for anchor in anchors:
        folded = fold(anchor)
        at = next(
            (index for index in range(position, len(spans)) if folded in spans[index][1]), None
        )
        if at is None:
            first_missing = first_missing or anchor
            continue
        found, position = found + 1, at + 1
    return found, first_missing


def _count_called(
    labelled: Sequence[LabelledCall], calls: Sequence[Event], source: Source
) -> CallCounts:
    """Give each label the first call left whose span has its anchor, best one with its name."""
    left = [(call, fold(source_span(call, source))) for call in calls]
    as_calls = right = 0
    first_wrong = ""
    for label in labelled:
        folded = fold(label.anchor)
        fitting = [pair for pair in left if folded in pair[1]]
        named = [pair for pair in fitting if label.is_call_of(pair[0].name, pair[0].text)]
        for pair in (named or fitting)[:1]:
            left.remove(pair)
        as_calls += bool(fitting)
        right += bool(named)
        if not fitting or (label.tool is not None and not named):
            read_as = repr(fitting[0][0].name) if fitting else "no call"
            first_wrong = first_wrong or f"{label.tool} as {read_as}: {label.anchor}"
    tools = sum(label.tool is not None for label in labelled)
    return CallCounts(len(labelled), as_calls, tools, right, first_wrong)


def source_span(event: Event, source: Source) -> str:
    """Return the text that an event was read from."""
    value = resolve(source.document, event.pointer)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def fold(text: str) -> str:
    """Return a text without white space, quotes and backslashes."""
    return text.replace("\\n", "").replace("\\t", "").translate(_FOLDED)


def _is_call(event: Event) -> bool:
    """Return whether an event is a call: also one of a to-do tool, but not a note or a plan."""
    if event.kind is Kind.BOOKKEEPING:
        return event.name is not None and event.arguments is not None
    return event.kind is Kind.ACTION


def _count_repeated(calls: Sequence[Event]) -> int:
    """Count the calls that share source spans, name and arguments with another call."""
    keys = Counter(
        (call.pointer, call.output_pointer, call.name, repr(call.arguments), call.text)
        for call in calls
    )
    return sum(count - 1 for count in keys.values())


def measure_split(split: str) -> list[TraceReading]:
    """Measure all traces of a split."""
    return [measure_trace(record) for record in bench.load_v2_traces(split)]


def summarize(readings: Sequence[TraceReading]) -> dict[str, Any]:
    """Return the figures of some traces."""
    actions = sum(reading.actions for reading in readings)
    return {
        "traces": len(readings),
        "read_well": sum(reading.is_read_well for reading in readings),
        "actions": actions,
        "found": sum(reading.found for reading in readings),
        "calls": sum(reading.calls for reading in readings),
        **{
            field: sum(getattr(reading.called, field) for reading in readings)
            for field in ("labelled", "as_calls", "named", "right_name")
        },
        "not_understood": sum(not reading.understood for reading in readings),
    }


def summarize_by_source(readings: Sequence[TraceReading]) -> dict[str, dict[str, Any]]:
    """Return the figures of each source, and `all`."""
    sources = sorted({reading.source for reading in readings})
    by_source = {
        source: summarize([reading for reading in readings if reading.source == source])
        for source in sources
    }
    return {**by_source, "all": summarize(readings)}


def main(arguments: list[str] | None = None) -> int:
    """Print the figures of a split by source; of train, single traces on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("split", nargs="?", choices=bench.V2_SPLITS, default="train")
    parser.add_argument("--list", metavar="SOURCE", help="single traces of a source of train")
    parser.add_argument("--write-docs", action="store_true", help="write the tables into docs")
    options = parser.parse_args(arguments)
    if options.write_docs:
        found = {split: summarize_by_source(measure_split(split)) for split in bench.V2_SPLITS}
        for page in quality_tables.write_pages(quality_tables.build_reading_tables(found)):
            print(f"{page} written")
        return 0
    if options.list is not None and options.split != "train":
        parser.error("nobody reads the traces of val")
    readings = measure_split(options.split)
    for source, figures in summarize_by_source(readings).items():
        found = figures["found"] / max(figures["actions"], 1)
        print(
            f"{source[:44]:<45}{figures['read_well']:>4}/{figures['traces']:<4}"
            f"{figures['found']:>5}/{figures['actions']:<5}{found:>5.2f}"
            f"{figures['as_calls']:>6}/{figures['labelled']:<5}"
            f"{figures['right_name']:>5}/{figures['named']:<5}"
            f"{figures['calls']:>6}{figures['not_understood']:>5}"
        )
    if options.list is not None:
        for reading in readings:
            if options.list in reading.source:
                print(
                    f"{'ok ' if reading.is_read_well else 'BAD'} {reading.id[:48]:<49}"
                    f"{reading.reader:<18}{reading.found}/{reading.actions} calls {reading.calls}"
                    f" repeated {reading.repeated} {reading.first_missing[:70]!r}"
                    f" as calls {reading.called.as_calls}/{reading.called.labelled}"
                    f" named {reading.called.right_name}/{reading.called.named}"
                    f" {reading.called.first_wrong[:90]!r}"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
