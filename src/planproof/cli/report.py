"""`planproof report`: write a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planproof.cli.inputs import (
    ConfigOption,
    MinPassOption,
    ProfileOption,
    load_config,
    load_profiles,
    resolve_passing_score,
)
from planproof.cli.options import RunArgument, StoreOption, open_existing_store
from planproof.cli.outputs import NoRedactOption, open_text_output


def report(
    run: RunArgument = "latest",
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Output file; - writes to standard output."
        ),
    ] = Path("report.html"),
    min_score: MinPassOption = None,
    store: StoreOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Write an HTML report of a run.

    The page shows the scores, the steps that failed most often, and every case with its evidence.
    It is a single file that loads nothing from the network, so it can be sent by mail or stored as
    a build artifact.

    \b
    planproof report
    planproof report latest -o report.html
    planproof report branch=main -o main.html
    planproof report 20260102 --no-redact -o full.html

    Exit code: 0 written, 2 bad usage or input.
    """
    from planproof.evaluation import ReadOptions
    from planproof.reports.html.report_page import render_run_page
    from planproof.reports.wording import pluralize
    from planproof.runs.run_names import find_run_by_name

    configuration = load_config(config)
    reading = ReadOptions(
        vocabulary=configuration.vocabulary,
        limits=configuration.limits,
        profiles=load_profiles(profile, configuration),
    )
    passing_score = resolve_passing_score(min_score, configuration)
    with open_existing_store(store, configuration) as run_store:
        run_record = find_run_by_name(run_store, run)
        with open_text_output(output) as stream:
            stream.writelines(
                render_run_page(
                    run_record, run_store, reading, min_score=passing_score, secrets=no_redact
                )
            )
    if str(output) != "-":
        typer.echo(f"{output}: {pluralize(run_record.cases, 'case')} of {run_record.id}", err=True)
