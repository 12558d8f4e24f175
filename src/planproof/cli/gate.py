"""`planproof gate`: fail when a run is not good enough."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from planproof.cli.compare import ReportFormat, ReportFormatOption
from planproof.cli.exit_codes import GATE_FAILED
from planproof.cli.inputs import ConfigOption, MinPassOption, passing_score, settled_configuration
from planproof.cli.outputs import NoRedactOption, OutputOption, plain_stream, told, writing
from planproof.cli.store_options import RunArgument, StoreOption, opened_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planproof.runs.gate import Check
    from planproof.runs.run_records import Run


def gate(
    run: RunArgument,
    *,
    min_mean: Annotated[
        float | None,
        typer.Option("--min-mean", metavar="X", min=0, max=1, help="Least mean of the scores."),
    ] = None,
    min_pass_rate: Annotated[
        float | None,
        typer.Option(
            "--min-pass-rate",
            metavar="X",
            min=0,
            max=1,
            help="Least share of the scored cases that pass.",
        ),
    ] = None,
    min_score: MinPassOption = None,
    max_unscored: Annotated[
        int,
        typer.Option("--max-unscored", metavar="N", min=0, help="How many may be without a score."),
    ] = 0,
    no_worse_than: Annotated[
        str | None,
        typer.Option(
            "--no-worse-than",
            metavar="BASE",
            help="A run, as for `planproof compare`: the mean of the cases that both scored must "
            "not be lower now.",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option("--tolerance", metavar="X", min=0, max=1, help="How far that mean may fall."),
    ] = 0.0,
    max_worse: Annotated[
        int | None,
        typer.Option(
            "--max-worse",
            metavar="N",
            min=0,
            help="How many cases may have a lower score than in BASE.",
        ),
    ] = None,
    form: ReportFormatOption = ReportFormat.TERMINAL,
    store: StoreOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Pass or fail a run, and say why.

    A run that is empty or not finished fails. So does one with cases that could not be judged,
    unless --max-unscored allows for them: they are in no mean and in no pass rate.

    \b
    planproof gate latest --min-mean 0.8
    planproof gate latest --min-pass-rate 0.95 --min-score 0.5 --max-unscored 3
    planproof gate latest --no-worse-than branch=main --tolerance 0.02

    Exit code: 0 passed, 1 failed, 2 bad usage or input.
    """
    from planproof.runs.compare import compare as compared
    from planproof.runs.gate import Conditions, checks
    from planproof.runs.run_names import base_run, named_run
    from planproof.runs.summary import summarize

    if no_worse_than is None and (max_worse is not None or tolerance):
        raise typer.BadParameter("--max-worse and --tolerance go with --no-worse-than.")
    configuration = settled_configuration(config)
    passing = passing_score(min_score, configuration)
    conditions = Conditions(
        min_mean=min_mean,
        min_pass_rate=min_pass_rate,
        max_unscored=max_unscored,
        tolerance=tolerance,
        max_worse=max_worse,
    )
    with opened_store(store, configuration) as kept:
        found = named_run(kept, run)
        summary = summarize(kept.results(found.id), min_score=passing)
        comparison = None
        if no_worse_than is not None:
            base = base_run(kept, no_worse_than, found)
            comparison = compared(kept.results(base.id), kept.results(found.id), min_score=passing)
    held = checks(conditions, found, summary, comparison)
    with writing(output) as stream:
        shown_on = stream if stream is sys.stdout else plain_stream()
        stream.write(_written(found, held, form, shown_on, secrets=no_redact))
    if not all(check.held for check in held):
        raise typer.Exit(GATE_FAILED)


def _written(
    run: Run, found: Sequence[Check], form: ReportFormat, stream: TextIO, *, secrets: bool
) -> str:
    if form is ReportFormat.JSON:
        from planproof.reports.run_json import gate_json

        return gate_json(run, found) + "\n"
    if form is ReportFormat.MARKDOWN:
        from planproof.reports.run_markdown import gate_markdown

        return gate_markdown(run, found, secrets=secrets)
    from planproof.reports.terminal.comparison_lines import gate_lines
    from planproof.reports.wording import shows

    return told(gate_lines(run, found, shows(secrets=secrets)), stream)
