"""`planproof show`: show the summary of a run, or the verdict on one case."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from planproof.cli.inputs import ConfigOption, MinPassOption, load_config, resolve_passing_score
from planproof.cli.options import RunArgument, StoreOption, open_existing_store
from planproof.cli.outputs import (
    Format,
    NoRedactOption,
    OutputOption,
    format_verdict,
    make_plain_stream,
    open_text_output,
    render_lines,
)

if TYPE_CHECKING:
    from planproof.runs.run_records import Run
    from planproof.runs.store.store_protocol import Store


class ShowFormat(StrEnum):
    """Output format of a run or a case."""

    TERMINAL = "terminal"
    JSON = "json"
    MARKDOWN = "markdown"
    JUNIT = "junit"


# A case is written as the full verdict, which is what `planproof verify` reads.
_CASE_FORMATS = {
    ShowFormat.TERMINAL: Format.TERMINAL,
    ShowFormat.JSON: Format.FULL,
    ShowFormat.MARKDOWN: Format.MARKDOWN,
}


def show(
    run: RunArgument,
    case: Annotated[
        str | None,
        typer.Argument(metavar="CASE", help="Case id, or its position counted from 0."),
    ] = None,
    *,
    form: Annotated[
        ShowFormat,
        typer.Option(
            "--format",
            "-f",
            help="Output format; `json` is the summary of a run, or the full verdict on a case; "
            "`junit` has a test case for every case.",
        ),
    ] = ShowFormat.TERMINAL,
    min_score: MinPassOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Show the summary of a run, or the verdict on one of its cases.

    \b
    planproof show latest
    planproof show latest case-7
    planproof show 20260102 --format markdown -o comment.md
    planproof show latest --format junit -o junit.xml

    Exit code: 0 shown, 2 bad usage or input.
    """
    from planproof.runs.run_names import find_run_by_name

    configuration = load_config(config)
    if case is not None and form not in _CASE_FORMATS:
        raise typer.BadParameter(f"--format {form.value} is for runs, not for a single case.")
    with open_existing_store(store, configuration) as run_store, open_text_output(output) as stream:
        run_record = find_run_by_name(run_store, run)
        render_stream = stream if stream is sys.stdout else make_plain_stream()
        if case is None:
            passing_score = resolve_passing_score(min_score, configuration)
            stream.writelines(
                _render_run(
                    run_store, run_record, form, passing_score, render_stream, secrets=no_redact
                )
            )
        else:
            verdict = run_store.get_result(run_record.id, case).verdict
            stream.write(
                format_verdict(
                    verdict, _CASE_FORMATS[form], secrets=no_redact, stream=render_stream
                )
            )


def _render_run(
    store: Store,
    run: Run,
    form: ShowFormat,
    min_score: float,
    stream: TextIO,
    *,
    secrets: bool,
) -> Iterable[str]:
    from planproof.runs.summary import summarize

    summary = summarize(store.iter_results(run.id), min_score=min_score)
    if form is ShowFormat.JSON:
        from planproof.reports.json import summary_to_json

        return (summary_to_json(run, summary), "\n")
    if form is ShowFormat.MARKDOWN:
        from planproof.reports.markdown import summary_to_markdown

        return (summary_to_markdown(run, summary, secrets=secrets),)
    if form is ShowFormat.JUNIT:
        from planproof.reports.junit import generate_junit_xml

        return generate_junit_xml(run, summary, store.iter_results(run.id), secrets=secrets)
    from planproof.reports.terminal.run_lines import format_run_summary
    from planproof.reports.wording import make_sanitizer

    return (
        render_lines(format_run_summary(run, summary, make_sanitizer(secrets=secrets)), stream),
    )
