"""`planproof inspect`: show how a trace is read: reader, events, plan, skipped parts."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.inputs import (
    ConfigOption,
    PickOption,
    ProfileOption,
    ReaderOption,
    load_config,
    load_profiles,
    read_source,
)
from planproof.cli.outputs import (
    NoRedactOption,
    OutputOption,
    make_plain_stream,
    open_text_output,
    render_rich,
)

if TYPE_CHECKING:
    from typing import TextIO

    from planproof.core.trace import Trace
    from planproof.readers.decoding.source import Source
    from planproof.readers.decoding.split_traces import ContainedTrace
    from planproof.reports.terminal.trace_lines import TraceEntry


class InspectFormat(StrEnum):
    """Output format of `planproof inspect`."""

    TERMINAL = "terminal"
    JSON = "json"
    HTML = "html"


def inspect(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="Trace or case file; - reads standard input.")
    ],
    *,
    pick: PickOption = None,
    form: Annotated[
        InspectFormat,
        typer.Option(
            "--format",
            "-f",
            help="Output format; `json`: the trace in the native format; `html`: a page with every "
            "record beside its events.",
        ),
    ] = InspectFormat.TERMINAL,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Show how a trace is read.

    Prints the reader, the events, the plan and where it was found, skipped parts with the reason,
    and the records whose reading is least certain beside their events. For a file with several
    traces, lists them.

    \b
    planproof inspect run.jsonl
    planproof inspect log.eval --pick 3
    planproof inspect run.jsonl --profile my-format.yaml
    planproof inspect run.jsonl --format html -o reading.html
    planproof inspect run.jsonl --format json -o native.json

    Exit code: 0 read, 2 bad usage or input.
    """
    from planproof.readers.decoding.split_traces import select_trace, split_traces
    from planproof.readers.detect import read_trace

    configuration = load_config(config)
    source = read_source(trace, configuration.limits)
    vocabulary = configuration.vocabulary
    profiles = load_profiles(profile, configuration)

    def read_one(one: Source) -> Trace:
        return read_trace(one, reader=reader, vocabulary=vocabulary, profiles=profiles)

    with open_text_output(output) as stream:
        split = pick is None and form is InspectFormat.TERMINAL
        traces = split_traces(source, profiles) if split else ()
        if len(traces) > 1:
            for line in _render_listing(source.name, traces, read_one, secrets=no_redact):
                stream.write(f"{line}\n")
            return
        source = select_trace(source, pick, profiles)
        parsed = read_one(source)
        if form is InspectFormat.JSON:
            stream.write(_render_native(parsed))
        elif form is InspectFormat.HTML:
            from planproof.reports.html.trace_page import render_trace_page

            stream.writelines(render_trace_page(source, parsed, secrets=no_redact))
        else:
            stream.write(_render_terminal(source, parsed, stream, secrets=no_redact))


def _render_native(trace: Trace) -> str:
    from planproof.readers.native import serialize_trace

    return json.dumps(serialize_trace(trace), indent=1) + "\n"


def _render_terminal(source: Source, trace: Trace, stream: TextIO, *, secrets: bool) -> str:
    from planproof.planning.find_plan import find_declared_plan
    from planproof.readers.record_counts import count_unread_characters
    from planproof.reports.side_by_side import build_rows, find_doubts
    from planproof.reports.terminal.trace_lines import render_trace

    doubts = find_doubts(build_rows(source, trace), trace)
    rendered = render_trace(
        source.name,
        trace,
        find_declared_plan(trace),
        doubts,
        unread_characters=count_unread_characters(source, trace),
        secrets=secrets,
    )
    return render_rich(rendered, stream if stream is sys.stdout else make_plain_stream())


def _render_listing(
    name: str,
    traces: Sequence[ContainedTrace],
    read: Callable[[Source], Trace],
    *,
    secrets: bool,
) -> Iterator[str]:
    from planproof.reports.terminal.trace_lines import format_trace_list

    entries = (_summarize_trace(member, read) for member in traces)
    return format_trace_list(name, entries, secrets=secrets)


def _summarize_trace(member: ContainedTrace, read: Callable[[Source], Trace]) -> TraceEntry:
    from planproof.errors import InvalidInput
    from planproof.readers.task_content import find_task
    from planproof.reports.terminal.trace_lines import TraceEntry

    try:
        trace = read(member.source)
    except InvalidInput as error:
        return TraceEntry(member.id, error=error.what)
    return TraceEntry(member.id, trace.reader, len(trace.events), find_task(trace).text)
