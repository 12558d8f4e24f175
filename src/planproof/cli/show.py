"""`planproof show`: a run, or one case of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from planproof.cli.inputs import ConfigOption, MinPassOption, passing_score, settled_configuration
from planproof.cli.outputs import (
    Format,
    NoRedactOption,
    OutputOption,
    plain_stream,
    told,
    writing,
    written,
)
from planproof.cli.store_options import RunArgument, StoreOption, opened_store

if TYPE_CHECKING:
    from planproof.runs.run_records import Run
    from planproof.runs.store.store_protocol import Store


class ShowFormat(StrEnum):
    """How a run is shown."""

    TERMINAL = "terminal"
    JSON = "json"
    MARKDOWN = "markdown"
    JUNIT = "junit"


# The whole verdict, for that is what `planproof verify` takes.
_OF_A_CASE = {
    ShowFormat.TERMINAL: Format.TERMINAL,
    ShowFormat.JSON: Format.FULL,
    ShowFormat.MARKDOWN: Format.MARKDOWN,
}


def show(
    run: RunArgument,
    case: Annotated[
        str | None,
        typer.Argument(metavar="CASE", help="Id of a case, or its position from 0 up."),
    ] = None,
    *,
    form: Annotated[
        ShowFormat,
        typer.Option(
            "--format",
            "-f",
            help="Of a run, `json` is the summary; of a case, the whole verdict. `junit` has a "
            "test case for every case.",
        ),
    ] = ShowFormat.TERMINAL,
    min_score: MinPassOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Show what a run comes to, or the verdict on one of its cases.

    \b
    planproof show latest
    planproof show latest case-7
    planproof show 20260102 --format markdown -o comment.md
    planproof show latest --format junit -o junit.xml

    Exit code: 0 shown, 2 bad usage or input.
    """
    from planproof.runs.run_names import named_run

    configuration = settled_configuration(config)
    if case is not None and form not in _OF_A_CASE:
        raise typer.BadParameter(f"--format {form.value} goes with a run, not with one case.")
    with opened_store(store, configuration) as kept, writing(output) as stream:
        found = named_run(kept, run)
        shown_on = stream if stream is sys.stdout else plain_stream()
        if case is None:
            least = passing_score(min_score, configuration)
            stream.writelines(_run(kept, found, form, least, shown_on, secrets=no_redact))
        else:
            verdict = kept.result(found.id, case).verdict
            stream.write(written(verdict, _OF_A_CASE[form], secrets=no_redact, stream=shown_on))


def _run(
    store: Store,
    run: Run,
    form: ShowFormat,
    min_score: float,
    stream: TextIO,
    *,
    secrets: bool,
) -> Iterable[str]:
    from planproof.runs.summary import summarize

    summary = summarize(store.results(run.id), min_score=min_score)
    if form is ShowFormat.JSON:
        from planproof.reports.run_json import summary_json

        return (summary_json(run, summary), "\n")
    if form is ShowFormat.MARKDOWN:
        from planproof.reports.run_markdown import summary_markdown

        return (summary_markdown(run, summary, secrets=secrets),)
    if form is ShowFormat.JUNIT:
        from planproof.reports.junit import junit

        return junit(run, summary, store.results(run.id), secrets=secrets)
    from planproof.reports.terminal.run_lines import run_summary_lines
    from planproof.reports.wording import shows

    return (told(run_summary_lines(run, summary, shows(secrets=secrets)), stream),)
