"""`planproof export`: write the results of a run as JSON Lines, Parquet or CSV."""

from __future__ import annotations

from typing import Annotated

import typer

from planproof.cli.inputs import ConfigOption, load_config
from planproof.cli.options import RunArgument, StoreOption, open_existing_store
from planproof.cli.outputs import OutputOption, open_binary_output
from planproof.reports.result_formats import ResultFormat, detect_result_format


def export(
    run: RunArgument,
    *,
    form: Annotated[
        ResultFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="File format; default: by the suffix of the output file, or jsonl.",
        ),
    ] = None,
    output: OutputOption = None,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Export the results of a run for other programs.

    \b
    planproof export latest -o results.parquet
    planproof export latest -o results.csv
    planproof export 20260102 > verdicts.jsonl

    JSON Lines contain the full verdicts, as written by `planproof run`; Parquet and CSV have one
    row per case. Secrets are not redacted.

    Exit code: 0 written, 2 bad usage or input.
    """
    from planproof.reports.result_files import open_result_writer
    from planproof.runs.run_names import find_run_by_name

    configuration = load_config(config)
    with open_existing_store(store, configuration) as run_store:
        run_record = find_run_by_name(run_store, run)
        with (
            open_binary_output(output) as file,
            open_result_writer(file, form or detect_result_format(output)) as writer,
        ):
            for result in run_store.iter_results(run_record.id):
                writer.add(result)
