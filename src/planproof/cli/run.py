"""`planproof run`: many cases."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.data_options import DataOptions, PlacesArgument
from planproof.cli.engine_options import EngineOptions, MakingJudge
from planproof.cli.estimate import Estimate
from planproof.cli.exit_codes import BELOW_MINIMUM, INTERRUPTED, NOT_JUDGED
from planproof.cli.inputs import (
    ConfigOption,
    InForceOption,
    JudgeOption,
    MinScoreOption,
    ReaderOption,
    passing_score,
    settled_configuration,
)
from planproof.cli.model_options import AskingOptions
from planproof.cli.option_groups import takes
from planproof.cli.outputs import OutputOption, told, writing_bytes
from planproof.cli.progress import showing
from planproof.cli.store_options import StoreOption, TagOption, new_store
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.plan import InForce
    from planproof.runs.datasets.data_set import DataSet
    from planproof.runs.run_records import Result, Run
    from planproof.runs.store.store_protocol import Store
    from planproof.runs.summary import RunningSummary

_PASSWORD = re.compile(r"(://[^/:@\s]*):[^/@\s]*@")


@takes(data=DataOptions, where=EngineOptions, asked=AskingOptions)
def run(
    places: PlacesArgument,
    *,
    output: OutputOption = None,
    min_score: MinScoreOption = None,
    store: StoreOption = None,
    tag: TagOption = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the run over the same data that was broken off."),
    ] = False,
    data: DataOptions,
    where: EngineOptions,
    judge_name: JudgeOption = None,
    reader: ReaderOption = None,
    plan_in_force: InForceOption = "first",
    config: ConfigOption = None,
    asked: AskingOptions,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say how much would be asked of a model; ask nobody."),
    ] = False,
) -> None:
    """Judge many cases.

    \b
    planproof run cases.jsonl
    planproof run cases.jsonl -o verdicts.jsonl --tag night=42
    planproof run traces/ more.jsonl.gz --sample 200 --min-score 0.75
    planproof run rows.parquet --map plan=/meta/plan --where team=search
    planproof run cases.jsonl --judge cascade --model openai:NAME
    planproof run cases.jsonl --resume
    planproof run cases/ --engine ray --ray-address head:6379

    DATA is cases or traces: JSON Lines, an array, Parquet, CSV, a log, a folder. A trace by itself
    is judged by the plan that is declared in it.

    Results are kept in the store, in the order of the cases; `--store none` keeps nothing. -o
    writes them out as well: whole verdicts as JSON Lines, or rows as Parquet or CSV, by the name of
    the file. Without -o, whole verdicts go to standard output where that is no terminal.

    A case that was judged before, in the same way, is not judged again. Ctrl-C ends a run, and
    --resume goes on with it. A line that holds no case gives a verdict with the outcome
    `invalid_input`. Nothing is masked: quotes must stay what the trace says.

    Exit code: 0 all judged, 1 some below --min-score, 2 bad usage or input, 3 some could not be
    judged, 130 interrupted.
    """
    from planproof.runs.run_names import tags_of

    if output is not None and any(_same(output, Path(place)) for place in places):
        raise InvalidInput(
            "is the file that the cases are read from.", where=str(output), advice="Name another."
        )
    configuration = settled_configuration(config)
    cases = data.data_set(places, configuration.limits)
    if dry_run:
        _estimate(cases, asked, judge_name, (reader, plan_in_force), configuration)
        return
    from planproof.runs.execution import begun, running
    from planproof.runs.summary import RunningSummary

    making = MakingJudge(asked, judge_name, reader, plan_in_force, configuration)
    judging = making()
    tally = RunningSummary(passing_score(min_score, configuration))
    began = monotonic()
    # Where nothing can be written, nothing is begun.
    with _writing(output) as write, new_store(store, configuration) as kept:
        going = begun(
            kept,
            judging,
            source=data.source(places),
            models=asked.models,
            tags=tags_of(tag or ()),
            resume=resume,
        )
        if resume:
            _tell_resumed(going)
        try:
            with (
                running(
                    kept,
                    going,
                    cases,
                    judging,
                    anew=asked.no_cache,
                    at_once=asked.concurrency,
                    elsewhere=where.elsewhere(cases, making, going, store or configuration.store),
                ) as results,
                showing(tally, data.share_read(cases, tally)) as show,
            ):
                for result in results:
                    write(result)
                    tally.add(result)
                    show()
                if not tally.cases:
                    # An empty file must not pass for one where all went well.
                    raise InvalidInput(
                        "there are no cases.",
                        where=", ".join(places),
                        advice="Look into the data, and at --where if it was given.",
                    )
        except KeyboardInterrupt:
            _tell_interrupted(tally, kept, output)
            raise typer.Exit(INTERRUPTED) from None
    _tell_summary(tally, monotonic() - began)
    if kept.keeps:
        typer.echo(f"kept as run {going.id} in {kept.url}", err=True)
    asked_for = min_score is not None or configuration.min_score is not None
    if asked_for and tally.passed < tally.scored:
        raise typer.Exit(BELOW_MINIMUM)
    if tally.unscored:
        raise typer.Exit(NOT_JUDGED)


def _estimate(
    cases: DataSet,
    asked: AskingOptions,
    judge_name: str | None,
    how: tuple[str | None, InForce],
    configuration: Configuration,
) -> None:
    from planproof.preparation import Reading

    (reader, in_force), estimate = how, Estimate()
    unasked = asked.unasked_judge(judge_name, configuration)
    for _, line in cases:
        vocabulary, limits = configuration.vocabulary, configuration.limits
        estimate.add(line, unasked, Reading(reader, vocabulary, limits, line.where, in_force))
    for figure in estimate.lines():
        typer.echo(figure)


@contextmanager
def _writing(output: Path | None) -> Generator[Callable[[Result], None], None, None]:
    """What each result is given to: the file, or standard output if that is no terminal."""
    if output is None and sys.stdout.isatty():
        yield _unwritten
        return
    from planproof.reports.result_files import result_writer
    from planproof.reports.result_formats import form_of

    with writing_bytes(output) as file, result_writer(file, form_of(output)) as writer:
        yield writer.add


def _unwritten(_: Result) -> None:
    """Nothing is written where nobody could read it."""


def _tell_summary(tally: RunningSummary, seconds: float) -> None:
    from planproof.reports.terminal.run_lines import score_lines, step_lines
    from planproof.reports.wording import many, shows

    typer.echo(f"planproof: {many(tally.cases, 'case')} in {seconds:.1f} s", err=True)
    summary, show = tally.summary(), shows(secrets=False)
    sys.stderr.write(told(score_lines(summary, show), sys.stderr))
    sys.stderr.write(told(step_lines("steps most often missed", summary.missed, show), sys.stderr))


def _tell_resumed(going: Run) -> None:
    if going.cases:
        typer.echo(f"planproof: going on with run {going.id} after {going.cases:,} cases", err=True)
    else:
        typer.echo("planproof: no run over this data was broken off; this is a new one", err=True)


def _tell_interrupted(tally: RunningSummary, kept: Store, output: Path | None) -> None:
    told = f"planproof: interrupted after {tally.cases:,} cases"
    if kept.keeps:
        again = [word for word in sys.argv[1:] if word != "--resume"]
        command = _PASSWORD.sub(r"\1:***@", shlex.join(["planproof", *again, "--resume"]))
        typer.echo(f"{told}, which are kept; go on with\n  {command}", err=True)
    elif output is None:
        typer.echo(told, err=True)
    else:
        typer.echo(f"{told}; the verdicts so far are in {output}.partial", err=True)


def _same(output: Path, place: Path) -> bool:
    return output.exists() and place.exists() and output.samefile(place)
