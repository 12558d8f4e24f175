"""`planproof report`: a run as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planproof.cli.inputs import ConfigOption, MinPassOption, passing_score, settled_configuration
from planproof.cli.outputs import NoRedactOption, writing
from planproof.cli.store_options import RunArgument, StoreOption, opened_store


def report(
    run: RunArgument = "latest",
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The page; it appears when whole. - prints it."
        ),
    ] = Path("report.html"),
    min_score: MinPassOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Draw a run as a page: its scores, what broke most, and every case with its evidence.

    The page is one file. It fetches nothing, and can be sent or kept beside a build.

    \b
    planproof report
    planproof report latest -o report.html
    planproof report branch=main -o main.html
    planproof report 20260102 --no-redact -o whole.html

    Exit code: 0 drawn, 2 bad usage or input.
    """
    from planproof.preparation import Reading
    from planproof.reports.html.report_page import run_page
    from planproof.reports.wording import many
    from planproof.runs.run_names import named_run

    configuration = settled_configuration(config)
    reading = Reading(None, configuration.vocabulary, configuration.limits)
    least = passing_score(min_score, configuration)
    with opened_store(store, configuration) as kept:
        found = named_run(kept, run)
        with writing(output) as stream:
            stream.writelines(run_page(found, kept, reading, min_score=least, secrets=no_redact))
    if str(output) != "-":
        typer.echo(f"{output}: {many(found.cases, 'case')} of {found.id}", err=True)
