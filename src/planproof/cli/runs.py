"""`planproof runs`: list the runs in the store."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from planproof.cli.inputs import ConfigOption, load_config
from planproof.cli.options import StoreOption, TagOption, open_existing_store
from planproof.cli.outputs import NoRedactOption, render_lines


class RunsFormat(StrEnum):
    """Output format of the list of runs."""

    TERMINAL = "terminal"
    JSON = "json"


def runs(
    *,
    tag: TagOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="Maximum number of runs.")
    ] = 20,
    form: Annotated[
        RunsFormat, typer.Option("--format", "-f", help="Output format.")
    ] = RunsFormat.TERMINAL,
    store: StoreOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """List runs, newest first.

    Prints id, state, number of results, judge, data set and tags. The id starts with the time
    (UTC).

    \b
    planproof runs
    planproof runs --tag branch=main -n 5
    planproof runs --format json --store postgresql://eval@db/planproof

    Exit code: 0 listed, 2 bad usage or input.
    """
    from planproof.reports.json import runs_to_json
    from planproof.reports.terminal.run_lines import format_run_list
    from planproof.reports.wording import make_sanitizer
    from planproof.runs.run_names import parse_tags

    tags = parse_tags(tag or ())
    with open_existing_store(store, load_config(config)) as run_store:
        run_records = run_store.list_runs(limit=limit, tags=tags)
    if form is RunsFormat.JSON:
        sys.stdout.write(f"{runs_to_json(run_records)}\n")
    elif run_records:
        sys.stdout.write(
            render_lines(
                format_run_list(run_records, make_sanitizer(secrets=no_redact)), sys.stdout
            )
        )
    else:
        typer.echo("planproof: no runs found", err=True)
