"""`planproof run`: many cases."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from planproof.cli.asking import (
    AskingOptions,
    BaseUrlOption,
    BudgetOption,
    ConcurrencyOption,
    DeadlineOption,
    DoubtOption,
    ImageUrlsOption,
    MaxCostOption,
    ModelOption,
    NoCacheOption,
    RpmOption,
    SamplesOption,
    TemplateOption,
    TpmOption,
)
from planproof.cli.estimate import Estimate
from planproof.cli.failures import BELOW_MINIMUM, INTERRUPTED, NOT_JUDGED
from planproof.cli.inputs import (
    ConfigOption,
    JudgeOption,
    MinScoreOption,
    ReaderOption,
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
    from planproof.preparation import Reading
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
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    samples: SamplesOption = 1,
    budget: BudgetOption = 120_000,
    deadline: DeadlineOption = 120,
    concurrency: ConcurrencyOption = 8,
    rpm: RpmOption = None,
    tpm: TpmOption = None,
    no_cache: NoCacheOption = False,
    max_cost: MaxCostOption = None,
    doubt: DoubtOption = 0.03,
    allow_image_urls: ImageUrlsOption = False,
    template: TemplateOption = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say how much would be asked of a model; ask nobody."),
    ] = False,
) -> None:
    """Judge many cases.

    Writes one full verdict a line, in the order of the cases.

    \b
    planproof run cases.jsonl -o verdicts.jsonl
    planproof run cases.jsonl --min-score 0.75 > verdicts.jsonl
    planproof run log.eval -o verdicts.jsonl
    planproof run cases.jsonl --judge cascade --model openai:NAME

    The traces of a log, of an array or of lines that each hold one are cases too: the plan is
    the one declared in the trace, the task what the user asked for first.

    A line that holds no case gives a verdict with the outcome `invalid_input`, and the run goes
    on. Nothing is masked in verdicts: quotes in them must stay what the trace says. Answers of
    models are kept: a run that is started again asks only for what it lacks.

    Exit code: 0 all judged, 1 some below --min-score, 2 bad usage or input, 3 some could not be
    judged.
    """
    if output is not None and _same(output, cases):
        raise InvalidInput(
            "is the file that the cases are read from.", where=str(output), advice="Name another."
        )
    asked = AskingOptions(
        models=tuple(model or ()),
        base_url=base_url,
        samples=samples,
        budget=budget,
        deadline=deadline,
        concurrency=concurrency,
        rpm=rpm,
        tpm=tpm,
        cached=not no_cache,
        max_cost=max_cost,
        doubt=doubt,
        image_urls=allow_image_urls,
        template=template,
    )
    configuration = settled_configuration(config)
    if dry_run:
        estimate = Estimate()
        unasked = asked.unasked_judge(judge_name, configuration)
        with opened(cases) as lines:
            for line in _lines(lines, cases, configuration):
                estimate.add(line, unasked, _reading(line, reader, configuration))
        for told in estimate.lines():
            typer.echo(told)
        return
    judge = asked.judge(judge_name, configuration)
    tally = Tally(configuration.min_score if min_score is None else min_score)
    began = monotonic()
    try:
        with opened(cases) as lines, writing(output) as stream:
            read = _lines(lines, cases, configuration)
            for verdict in _verdicts(read, judge, reader, configuration, concurrency):
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


def _verdicts(
    lines: Iterator[CaseLine],
    judge: AnyJudge,
    reader: str | None,
    configuration: Configuration,
    at_once: int,
) -> Iterator[Verdict]:
    """The verdicts in order: one after another, or many at once where a model is asked."""
    from planproof.evaluation import awaits

    if not awaits(judge):
        for line in lines:
            yield _verdict(line, judge, reader, configuration)
        return
    from planproof.many import in_order

    yield from in_order(
        (_awaited_verdict(line, judge, reader, configuration) for line in lines), at_once
    )


async def _awaited_verdict(
    line: CaseLine, judge: AnyJudge, reader: str | None, configuration: Configuration
) -> Verdict:
    from planproof.evaluation import aevaluate_case, invalid

    if line.error is not None:
        return invalid(line.error, id=line.id)
    assert line.case is not None
    return await aevaluate_case(
        line.case,
        judge=judge,
        reader=reader,
        vocabulary=configuration.vocabulary,
        limits=configuration.limits,
        where=line.where,
    )


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


def _reading(line: CaseLine, reader: str | None, configuration: Configuration) -> Reading:
    from planproof.preparation import Reading

    return Reading(reader, configuration.vocabulary, configuration.limits, line.where)


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
