"""`planproof run`: many cases."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from planproof.cli.failures import BELOW_MINIMUM, INTERRUPTED, NOT_JUDGED
from planproof.cli.inputs import (
    ConfigOption,
    JudgeOption,
    MinScoreOption,
    ReaderOption,
    chosen_judge,
    is_standard_input,
    name_of,
    opened,
    settled_configuration,
)
from planproof.cli.outputs import OutputOption, writing
from planproof.cli.tally import Tally
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.case_file import CaseLine
    from planproof.config import Configuration
    from planproof.judges.protocol import AnyJudge
    from planproof.verdict import Verdict


def run(
    cases: Annotated[
        Path,
        typer.Argument(
            metavar="CASES",
            help="One case a line, or a file of traces; - reads standard input.",
        ),
    ],
    *,
    output: OutputOption = None,
    min_score: MinScoreOption = None,
    judge_name: JudgeOption = None,
    reader: ReaderOption = None,
    config: ConfigOption = None,
) -> None:
    """Judge many cases.

    Writes one full verdict a line, in the order of the cases.

    \b
    planproof run cases.jsonl -o verdicts.jsonl
    planproof run cases.jsonl --min-score 0.75 > verdicts.jsonl
    planproof run log.eval -o verdicts.jsonl

    The traces of a log, of an array or of lines that each hold one are cases too: the plan is
    the one declared in the trace, the task what the user asked for first.

    A line that holds no case gives a verdict with the outcome `invalid_input`, and the run goes
    on. Nothing is masked in verdicts: quotes in them must stay what the trace says.

    Exit code: 0 all judged, 1 some below --min-score, 2 bad usage or input, 3 some could not be
    judged.
    """
    if output is not None and _same(output, cases):
        raise InvalidInput(
            "is the file that the cases are read from.", where=str(output), advice="Name another."
        )
    configuration = settled_configuration(config)
    judge = chosen_judge(judge_name, configuration)
    tally = Tally(configuration.min_score if min_score is None else min_score)
    began = monotonic()
    try:
        with opened(cases) as lines, writing(output) as stream:
            for line in _lines(lines, cases, configuration):
                verdict = _verdict(line, judge, reader, configuration)
                stream.write(_written(verdict))
                tally.add(verdict)
    except KeyboardInterrupt:
        kept = "" if output is None else f"; the verdicts so far are in {output}.partial"
        typer.echo(f"planproof: interrupted after {tally.cases:,} cases{kept}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    for summary in tally.lines(monotonic() - began):
        typer.echo(summary, err=True)
    if tally.below:
        raise typer.Exit(BELOW_MINIMUM)
    if tally.unjudged:
        raise typer.Exit(NOT_JUDGED)


def _verdict(
    line: CaseLine, judge: AnyJudge, reader: str | None, configuration: Configuration
) -> Verdict:
    from planproof.evaluation import evaluate_case, invalid

    if line.error is not None:
        return invalid(line.error, id=line.id)
    assert line.case is not None
    return evaluate_case(
        line.case,
        judge=judge,
        reader=reader,
        vocabulary=configuration.vocabulary,
        limits=configuration.limits,
        where=line.where,
    )


def _written(verdict: Verdict) -> str:
    from planproof.reports.json import line

    return line(verdict) + "\n"


def _same(output: Path, cases: Path) -> bool:
    return output.exists() and cases.exists() and output.samefile(cases)


def _lines(lines: BinaryIO, cases: Path, configuration: Configuration) -> Iterator[CaseLine]:
    """The lines of the data set; on a terminal a bar shows how far it has been read."""
    from planproof.trace_file import read_many

    read = read_many(lines, name=name_of(cases), limits=configuration.limits)
    if not sys.stderr.isatty():
        yield from read
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("[progress.description]{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    total = None if is_standard_input(cases) else cases.stat().st_size
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("judging", total=total)
        for count, line in enumerate(read, 1):
            yield line
            done = None if total is None else lines.tell()
            progress.update(bar, completed=done, description=f"judging: {count:,} cases")
