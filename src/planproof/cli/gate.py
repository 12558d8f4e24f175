"""`planproof gate`: exit with an error if a run does not meet its conditions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from planproof.cli.compare import ReportFormat, ReportFormatOption
from planproof.cli.exit_codes import GATE_FAILED
from planproof.cli.inputs import ConfigOption, MinPassOption, load_config, resolve_passing_score
from planproof.cli.options import RunArgument, StoreOption, open_existing_store
from planproof.cli.outputs import (
    NoRedactOption,
    OutputOption,
    make_plain_stream,
    open_text_output,
    render_lines,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planproof.runs.gate import GateCheck
    from planproof.runs.run_records import Run
    from planproof.runs.summary import Summary


def gate(
    run: RunArgument,
    *,
    min_mean: Annotated[
        float | None,
        typer.Option("--min-mean", metavar="X", min=0, max=1, help="Minimum mean score."),
    ] = None,
    min_pass_rate: Annotated[
        float | None,
        typer.Option(
            "--min-pass-rate",
            metavar="X",
            min=0,
            max=1,
            help="Minimum share of scored cases that pass.",
        ),
    ] = None,
    min_score: MinPassOption = None,
    min_share: Annotated[
        list[str] | None,
        typer.Option(
            "--min-share",
            metavar="NAME=X",
            help="Minimum mean of step_share, order_share or action_share; repeatable.",
        ),
    ] = None,
    max_unscored: Annotated[
        int,
        typer.Option(
            "--max-unscored", metavar="N", min=0, help="Maximum number of cases without a score."
        ),
    ] = 0,
    max_low_confidence: Annotated[
        int | None,
        typer.Option(
            "--max-low-confidence",
            metavar="N",
            min=0,
            help="Maximum number of levels with a confidence below 0.5.",
        ),
    ] = None,
    no_worse_than: Annotated[
        str | None,
        typer.Option(
            "--no-worse-than",
            metavar="BASE",
            help="Base run, as for `planproof compare`: the mean over the cases scored in both "
            "runs must not fall.",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option("--tolerance", metavar="X", min=0, max=1, help="How much that mean may fall."),
    ] = 0.0,
    max_worse: Annotated[
        int | None,
        typer.Option(
            "--max-worse",
            metavar="N",
            min=0,
            help="Maximum number of cases with a lower score than in BASE.",
        ),
    ] = None,
    form: ReportFormatOption = ReportFormat.TERMINAL,
    store: StoreOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Pass or fail a run, and explain why.

    An empty or unfinished run fails. So does a run with cases that could not be judged, unless
    --max-unscored allows them: the mean and the pass rate don't include them.

    \b
    planproof gate latest --min-mean 0.8
    planproof gate latest --min-pass-rate 0.95 --min-score 0.5 --max-unscored 3
    planproof gate latest --no-worse-than branch=main --tolerance 0.02

    Exit code: 0 passed, 1 failed, 2 bad usage or input.
    """
    from planproof.runs.compare import compare as compare_results
    from planproof.runs.gate import GateConditions, check_gate, parse_shares
    from planproof.runs.run_names import find_base_run, find_run_by_name
    from planproof.runs.summary import summarize

    if no_worse_than is None and (max_worse is not None or tolerance):
        raise typer.BadParameter("--max-worse and --tolerance require --no-worse-than.")
    configuration = load_config(config)
    passing = resolve_passing_score(min_score, configuration)
    conditions = GateConditions(
        min_mean=min_mean,
        min_pass_rate=min_pass_rate,
        max_unscored=max_unscored,
        tolerance=tolerance,
        max_worse=max_worse,
        min_shares=parse_shares(min_share or ()),
        max_low_confidence=max_low_confidence,
    )
    with open_existing_store(store, configuration) as run_store:
        run_record = find_run_by_name(run_store, run)
        summary = summarize(run_store.iter_results(run_record.id), min_score=passing)
        comparison = None
        if no_worse_than is not None:
            base = find_base_run(run_store, no_worse_than, run_record)
            comparison = compare_results(
                run_store.iter_results(base.id),
                run_store.iter_results(run_record.id),
                min_score=passing,
            )
    check_results = check_gate(conditions, run_record, summary, comparison)
    with open_text_output(output) as stream:
        render_stream = stream if stream is sys.stdout else make_plain_stream()
        stream.write(
            _render_gate(run_record, summary, check_results, form, render_stream, secrets=no_redact)
        )
    if not all(check.held for check in check_results):
        raise typer.Exit(GATE_FAILED)


def _render_gate(
    run: Run,
    summary: Summary,
    check_results: Sequence[GateCheck],
    form: ReportFormat,
    stream: TextIO,
    *,
    secrets: bool,
) -> str:
    if form is ReportFormat.JSON:
        from planproof.reports.json import gate_to_json

        return gate_to_json(run, summary, check_results) + "\n"
    if form is ReportFormat.MARKDOWN:
        from planproof.reports.markdown import gate_to_markdown

        return gate_to_markdown(run, summary, check_results, secrets=secrets)
    from planproof.reports.terminal.comparison_lines import format_gate
    from planproof.reports.wording import make_sanitizer

    return render_lines(
        format_gate(run, summary, check_results, make_sanitizer(secrets=secrets)), stream
    )
