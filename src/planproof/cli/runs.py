"""`planproof runs`: the runs in the store."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from planproof.cli.inputs import ConfigOption, settled_configuration
from planproof.cli.outputs import NoRedactOption, told
from planproof.cli.store_options import StoreOption, TagOption, opened_store


class RunsFormat(StrEnum):
    """How runs are listed."""

    TERMINAL = "terminal"
    JSON = "json"


def runs(
    *,
    tag: TagOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, help="At most so many.")
    ] = 20,
    form: Annotated[
        RunsFormat, typer.Option("--format", "-f", help="A line each, or JSON.")
    ] = RunsFormat.TERMINAL,
    store: StoreOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """List runs, the newest first.

    Id, time (UTC), state, number of results, judge, data set and tags.

    \b
    planproof runs
    planproof runs --tag branch=main -n 5
    planproof runs --format json --store postgresql://eval@db/planproof

    Exit code: 0 listed, 2 bad usage or input.
    """
    from planproof.reports.run_json import runs_json
    from planproof.reports.terminal.run_lines import runs_lines
    from planproof.reports.wording import shows
    from planproof.runs.run_names import tags_of

    tags = tags_of(tag or ())
    with opened_store(store, settled_configuration(config)) as kept:
        found = kept.runs(limit=limit, tags=tags)
    if form is RunsFormat.JSON:
        sys.stdout.write(f"{runs_json(found)}\n")
    elif found:
        sys.stdout.write(told(runs_lines(found, shows(secrets=no_redact)), sys.stdout))
    else:
        typer.echo("planproof: no such run", err=True)
