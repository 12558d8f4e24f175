"""`planproof contract test`: check a contract with runs whose verdict is known."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.exit_codes import NOT_JUDGED, REJECTED, print_notice
from planproof.cli.inputs import (
    ConfigOption,
    ProfileOption,
    ReaderOption,
    load_config,
    load_profiles,
)
from planproof.cli.options import VariableOption, parse_variables
from planproof.cli.outputs import OutputOption, make_plain_stream, open_text_output, render_lines
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planproof.core.case import Case
    from planproof.evaluation import ReadOptions


class TrialFormat(StrEnum):
    """Output format of a test."""

    TERMINAL = "terminal"
    JSON = "json"


def check_known_runs(
    contract: Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract.")],
    *,
    good: Annotated[
        list[str] | None,
        typer.Option(
            "--good", metavar="RUN", help="Run that followed the plan: a trace, a case, or many."
        ),
    ] = None,
    bad: Annotated[
        list[str] | None, typer.Option("--bad", metavar="RUN", help="Run that did not follow it.")
    ] = None,
    mutate: Annotated[
        bool,
        typer.Option("--mutate", help="Change every call of the good runs, one at a time."),
    ] = False,
    min_noticed: Annotated[
        float,
        typer.Option(
            "--min-noticed", metavar="X", min=0, max=1, help="Share of mutations to be noticed."
        ),
    ] = 0.0,
    tools: Annotated[
        Path | None,
        typer.Option("--tools", metavar="FILE", help="Tools of the agent, to insert calls of."),
    ] = None,
    var: VariableOption = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    form: Annotated[
        TrialFormat, typer.Option("--format", "-f", help="Output format.")
    ] = TrialFormat.TERMINAL,
    output: OutputOption = None,
) -> None:
    """Test a contract with runs whose verdict is known.

    Good runs must score 0.75 or more, bad ones 0.5 or less. With --mutate, every call of the good
    runs is dropped, claimed instead of made, given other values, and swapped with the next one,
    and calls of another tool are inserted; what the contract does not notice is listed.

    \b
    planproof contract test plan.contract.yaml --good runs/good/ --bad runs/bad/
    planproof contract test plan.contract.yaml --good run.json --mutate

    Exit code: 0 as expected, 1 a run or too many mutations are not, 2 bad usage or input, 3 a run
    could not be judged.
    """
    from planproof.calibration.contract_trial import check_runs, count_mutations
    from planproof.checking.contract_judge import ContractJudge
    from planproof.contracts.catalogues import read_catalogue
    from planproof.contracts.contract_validation import read_valid_contract
    from planproof.core.vocabulary import Vocabulary
    from planproof.evaluation import ReadOptions
    from planproof.reports.wording import pluralize

    if not good and not bad:
        raise typer.BadParameter("pass runs with --good or --bad.")
    if mutate and not good:
        raise typer.BadParameter("--mutate requires --good.")
    configuration = load_config(config)
    profiles = load_profiles(profile, configuration)
    reading = ReadOptions(reader, configuration.vocabulary, configuration.limits, profiles=profiles)
    judge = ContractJudge(
        read_valid_contract(contract),
        configuration.vocabulary or Vocabulary(),
        parse_variables(var),
        allow_drift=True,
    )
    catalogue = None if tools is None else read_catalogue(tools)
    runs = [
        *check_runs(
            judge, _read_cases(good, reading), reading, is_good=True, mutate=mutate,
            catalogue=catalogue,
        ),
        *check_runs(judge, _read_cases(bad, reading), reading, is_good=False),
    ]  # fmt: skip
    counts = count_mutations(runs)
    with open_text_output(output) as stream:
        if form is TrialFormat.JSON:
            stream.write(json.dumps([asdict(run) for run in runs], indent=2) + "\n")
        else:
            from planproof.reports.terminal.contract_lines import format_trial
            from planproof.reports.wording import make_sanitizer

            target = sys.stdout if output is None else make_plain_stream()
            show = make_sanitizer(secrets=False)
            stream.write(render_lines(format_trial(runs, counts, show), target))
    failed = sum(run.is_good and not run.is_as_expected for run in runs)
    if mutate and failed:
        print_notice(f"planproof: not mutated: {pluralize(failed, 'good run')} that did not pass")
    if any(run.score is None for run in runs):
        raise typer.Exit(NOT_JUDGED)
    noticed = sum(count for count, _ in counts.values())
    total = sum(count for _, count in counts.values())
    if not all(run.is_as_expected for run in runs) or noticed < min_noticed * total:
        raise typer.Exit(REJECTED)


def _read_cases(paths: list[str] | None, reading: ReadOptions) -> Iterator[Case]:
    """Yield the cases of files and folders; raise an error for one that can't be read."""
    from planproof.core.limits import Limits
    from planproof.runs.datasets.data_set import DataSet

    if not paths:
        return
    limits = reading.limits or Limits()
    for path in paths:
        for _, line in DataSet(paths=(path,), limits=limits, profiles=reading.profiles):
            if line.case is None:
                raise line.error or InvalidInput("has no case.", where=line.where)
            # A trace has no id but its file, and perhaps its position in it.
            has_id = line.case.id and not line.where.endswith(f"#{line.case.id}")
            yield line.case if has_id else replace(line.case, id=line.where)
