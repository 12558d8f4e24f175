"""`planproof plan`: the plan that an agent declared."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planproof.cli.failures import NO_PLAN
from planproof.cli.inputs import (
    ConfigOption,
    PickOption,
    ReaderOption,
    read_source,
    settled_configuration,
)
from planproof.cli.outputs import NoRedactOption, OutputOption, writing


class PlanFormat(StrEnum):
    """How a plan is written."""

    TERMINAL = "terminal"
    JSON = "json"


def plan(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="The trace; - reads standard input.")
    ],
    *,
    form: Annotated[
        PlanFormat,
        typer.Option(
            "--format", "-f", help="Lines for people, or `json`, in which nothing is cut."
        ),
    ] = PlanFormat.TERMINAL,
    pick: PickOption = None,
    reader: ReaderOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Show the plan that was declared in a trace.

    Its steps with the numbers printed there, where it stands, who declared it and whether before
    acting; the later plans with what they change; and plans that the user rejected.

    \b
    planproof plan run.jsonl
    planproof plan run.jsonl --format json

    Exit code: 0 found, 2 bad usage or input, 3 no plan was found.
    """
    from planproof.planning.locate import locate
    from planproof.readers.detect import read_trace
    from planproof.readers.members import pick as picked
    from planproof.reports.plan import plan_json, plan_lines
    from planproof.reports.wording import shows

    configuration = settled_configuration(config)
    source = picked(read_source(trace, configuration.limits), pick)
    located = locate(read_trace(source, reader=reader, vocabulary=configuration.vocabulary))
    with writing(output) as stream:
        if form is PlanFormat.JSON:
            stream.write(plan_json(located) + "\n")
        else:
            lines = plan_lines(located, shows(secrets=no_redact))
            stream.writelines(f"{line}\n" for line in lines)
    if located.declaration is None:
        raise typer.Exit(NO_PLAN)
