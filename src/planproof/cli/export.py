"""`planproof export`: the results of a run, as a file for other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from planproof.cli.inputs import ConfigOption, settled_configuration
from planproof.cli.outputs import OutputOption, writing_bytes
from planproof.cli.store_options import RunArgument, StoreOption, opened_store
from planproof.reports.result_formats import ResultForm, form_of


def export(
    run: RunArgument,
    *,
    form: Annotated[
        ResultForm | None,
        typer.Option(
            "--format",
            "-f",
            help="Form of the results; without it, what the name of the file says, or jsonl.",
        ),
    ] = None,
    output: OutputOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Write the results of a run for other programs.

    \b
    planproof export latest -o results.parquet
    planproof export latest -o results.csv
    planproof export 20260102 > verdicts.jsonl

    JSON Lines hold the whole verdicts, as `planproof run` writes them; Parquet and CSV have a row a
    case. Nothing is masked.

    Exit code: 0 written, 2 bad usage or input.
    """
    from planproof.reports.result_files import result_writer
    from planproof.runs.run_names import named_run

    configuration = settled_configuration(config)
    with opened_store(store, configuration) as kept:
        found = named_run(kept, run)
        with writing_bytes(output) as file, result_writer(file, form or form_of(output)) as writer:
            for result in kept.results(found.id):
                writer.add(result)
