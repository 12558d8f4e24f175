"""`planproof compare`: compare two runs case by case."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO, TypeAlias

import typer

from planproof.cli.inputs import ConfigOption, MinPassOption, load_config, resolve_passing_score
from planproof.cli.options import StoreOption, open_existing_store
from planproof.cli.outputs import (
    NoRedactOption,
    OutputOption,
    make_plain_stream,
    open_text_output,
    render_lines,
)

if TYPE_CHECKING:
    from planproof.runs.compare import Comparison
    from planproof.runs.run_records import Run


class ReportFormat(StrEnum):
    """Output format of a comparison or a gate."""

    TERMINAL = "terminal"
    JSON = "json"
    MARKDOWN = "markdown"


ReportFormatOption: TypeAlias = Annotated[
    ReportFormat,
    typer.Option("--format", "-f", help="Output format; use `markdown` for pull request comments."),
]


def compare(
    base: Annotated[
        str,
        typer.Argument(
            metavar="BASE",
            help="Run id or prefix, NAME=VALUE for the latest run with this tag, or `previous` for "
            "the last finished run on the same data before NEW.",
        ),
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="Run id or prefix, `latest`, or NAME=VALUE.")
    ],
    *,
    form: ReportFormatOption = ReportFormat.TERMINAL,
    min_score: MinPassOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Compare two runs case by case.

    Shows which cases are better, worse or the same, which steps broke, the change of the mean with
    a bootstrap interval, and McNemar's exact test on the pass rates. Cases are paired by id, or by
    content if they have no id.

    \b
    planproof compare previous latest
    planproof compare branch=main latest --format markdown -o comment.md
    planproof compare 20260101 20260102 --format json

    Exit code: 0 compared, 2 bad usage or input.
    """
    from planproof.runs.compare import compare as compare_results
    from planproof.runs.run_names import find_base_run, find_run_by_name

    configuration = load_config(config)
    with open_existing_store(store, configuration) as run_store:
        new_run = find_run_by_name(run_store, new)
        old_run = find_base_run(run_store, base, new_run)
        comparison = compare_results(
            run_store.iter_results(old_run.id),
            run_store.iter_results(new_run.id),
            min_score=resolve_passing_score(min_score, configuration),
        )
    with open_text_output(output) as stream:
        render_stream = stream if stream is sys.stdout else make_plain_stream()
        stream.write(
            _render_comparison(old_run, new_run, comparison, form, render_stream, secrets=no_redact)
        )


def _render_comparison(
    base: Run,
    new: Run,
    comparison: Comparison,
    form: ReportFormat,
    stream: TextIO,
    *,
    secrets: bool,
) -> str:
    if form is ReportFormat.JSON:
        from planproof.reports.json import comparison_to_json

        return comparison_to_json(base, new, comparison) + "\n"
    if form is ReportFormat.MARKDOWN:
        from planproof.reports.markdown import comparison_to_markdown

        return comparison_to_markdown(base, new, comparison, secrets=secrets)
    from planproof.reports.terminal.comparison_lines import format_comparison
    from planproof.reports.wording import make_sanitizer

    return render_lines(
        format_comparison(base, new, comparison, make_sanitizer(secrets=secrets)), stream
    )
