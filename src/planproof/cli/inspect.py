"""`planproof inspect`: what is understood of a trace."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.inputs import (
    ConfigOption,
    PickOption,
    ReaderOption,
    read_source,
    settled_configuration,
)
from planproof.cli.outputs import NoRedactOption, OutputOption, drawn, plain_stream, writing

if TYPE_CHECKING:
    from typing import TextIO

    from planproof.core.trace import Trace
    from planproof.core.vocabulary import Vocabulary
    from planproof.readers.decoding.source import Source
    from planproof.readers.decoding.split_traces import Member
    from planproof.reports.terminal.trace_listing import Listed


class InspectFormat(StrEnum):
    """How a trace is shown."""

    TERMINAL = "terminal"
    JSON = "json"


def inspect(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="Trace, or a case; - reads standard input.")
    ],
    *,
    pick: PickOption = None,
    form: Annotated[
        InspectFormat,
        typer.Option("--format", "-f", help="A picture; `json`: the trace in the native form."),
    ] = InspectFormat.TERMINAL,
    reader: ReaderOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Show what is understood of a trace.

    Which reader knows its format, the events, the plan that was found and where, and what was
    skipped and why. A file that holds several traces is listed.

    \b
    planproof inspect run.jsonl
    planproof inspect log.eval --pick 3
    planproof inspect run.jsonl --format json -o native.json

    Exit code: 0 read, 2 bad usage or input.
    """
    from planproof.readers.decoding.split_traces import members
    from planproof.readers.decoding.split_traces import pick as picked

    configuration = settled_configuration(config)
    source = read_source(trace, configuration.limits)
    vocabulary = configuration.vocabulary
    with writing(output) as stream:
        found = members(source) if pick is None and form is InspectFormat.TERMINAL else ()
        if len(found) > 1:
            for line in _listed(source.name, found, reader, vocabulary, secrets=no_redact):
                stream.write(f"{line}\n")
            return
        source = picked(source, pick)
        read = _read(source, reader, vocabulary)
        if form is InspectFormat.JSON:
            stream.write(_native(read))
        else:
            stream.write(_picture(source.name, read, stream, secrets=no_redact))


def _read(source: Source, reader: str | None, vocabulary: Vocabulary) -> Trace:
    from planproof.readers.detect import read_trace

    return read_trace(source, reader=reader, vocabulary=vocabulary)


def _native(trace: Trace) -> str:
    from planproof.readers.write_native import native_form

    return json.dumps(native_form(trace), indent=1) + "\n"


def _picture(name: str, trace: Trace, stream: TextIO, *, secrets: bool) -> str:
    from planproof.planning.locate_plan import locate
    from planproof.reports.terminal.trace_lines import understanding

    shown = understanding(name, trace, locate(trace), secrets=secrets)
    return drawn(shown, stream if stream is sys.stdout else plain_stream())


def _listed(
    name: str,
    found: Sequence[Member],
    reader: str | None,
    vocabulary: Vocabulary,
    *,
    secrets: bool,
) -> Iterator[str]:
    from planproof.reports.terminal.trace_listing import listing

    traces = (_summary(member, reader, vocabulary) for member in found)
    return listing(name, traces, secrets=secrets)


def _summary(member: Member, reader: str | None, vocabulary: Vocabulary) -> Listed:
    from planproof.errors import InvalidInput
    from planproof.readers.task_content import task_of
    from planproof.reports.terminal.trace_listing import Listed

    try:
        trace = _read(member.source, reader, vocabulary)
    except InvalidInput as error:
        return Listed(member.id, error=error.what)
    return Listed(member.id, trace.reader, len(trace.events), task_of(trace).text)
