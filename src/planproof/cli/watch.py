"""`planproof watch`: a trace that is still being written."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.exit_codes import BELOW_MINIMUM, NOT_JUDGED
from planproof.cli.inputs import (
    ConfigOption,
    PlanOption,
    ReaderOption,
    TaskOption,
    settled_configuration,
)
from planproof.cli.outputs import Format, NoRedactOption, written
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.monitor.deviation import Deviation
    from planproof.monitor.growing_file import GrowingFile
    from planproof.monitor.trace_follower import Follower

    Tells = Callable[[Follower, Sequence[Deviation]], None]

_POLL = 0.2
_RESTED = 9
"""Reading a long trace again takes its time; it is left alone for so many times as long."""


def watch(
    trace: Annotated[
        Path, typer.Argument(metavar="FILE", help="The trace; it need not be there yet.")
    ],
    *,
    plan: PlanOption = None,
    task: TaskOption = None,
    until_quiet: Annotated[
        float | None,
        typer.Option(
            "--until-quiet",
            metavar="SECONDS",
            min=0,
            help="End when nothing was written for so long; else with Ctrl-C.",
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score",
            metavar="X",
            min=0,
            max=1,
            help="Exit with 1 below this score, as soon as no continuation can reach it.",
        ),
    ] = None,
    reader: ReaderOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Follow a trace while it is written, and tick off its plan.

    JSON Lines (Claude Code, Codex and others) are read as they grow; any other format is read
    again when it has changed. Deviations are shown when they are proven or suspected, and the
    verdict at the end.

    \b
    planproof watch session.jsonl
    planproof watch session.jsonl --plan plan.md --until-quiet 60
    planproof watch session.jsonl --until-quiet 60 --min-score 0.75

    Exit code: 0 judged, 1 below --min-score, 2 bad usage or input, 3 could not be judged.
    """
    from planproof.evaluation import evaluate
    from planproof.monitor.growing_file import GrowingFile
    from planproof.monitor.trace_follower import Follower
    from planproof.preparation import in_file
    from planproof.readers.decoding.source import Source
    from planproof.readers.decoding.split_traces import pick

    configuration = settled_configuration(config)
    vocabulary = configuration.vocabulary
    if not trace.resolve().parent.is_dir():
        raise InvalidInput("its folder does not exist.", where=str(trace), advice="Check the path.")
    given = None if plan is None else in_file(plan)
    least = configuration.min_score if min_score is None else min_score
    growing = GrowingFile(trace, configuration.limits)
    follower = Follower(given, reader=reader, vocabulary=vocabulary)
    try:
        with _display(trace, no_redact) as tell:
            _follow(growing, follower, tell, until_quiet, least)
    except KeyboardInterrupt:
        # That is how to stop watching.
        pass
    source = pick(Source.of_path(trace, limits=configuration.limits))
    verdict = evaluate(task=task, plan=given, trace=source, reader=reader, vocabulary=vocabulary)
    text = written(verdict, Format.TERMINAL, secrets=no_redact, stream=sys.stdout)
    sys.stdout.write(text)
    if verdict.score is None:
        raise typer.Exit(NOT_JUDGED)
    if least is not None and verdict.score < least:
        raise typer.Exit(BELOW_MINIMUM)


def _follow(
    growing: GrowingFile,
    follower: Follower,
    tell: Tells,
    until_quiet: float | None,
    least: float | None,
) -> None:
    """Read what comes, until it is quiet or the least score is out of reach."""
    from planproof.reports.plain_text import one_line

    start = last = time.monotonic()
    problem: str | None = None
    took = 0.0
    while True:
        began = time.process_time()
        source = growing.news()
        if source is not None:
            try:
                tell(follower, follower.take(source))
            except InvalidInput as error:
                # What can't be read yet may be readable once there is more of it.
                if str(error) != problem:
                    problem = str(error)
                    typer.echo(f"planproof: not yet readable: {one_line(problem)}", err=True)
            # The first time, most of it goes into loading what reads.
            took = 0.0 if last == start else time.process_time() - began
            last = time.monotonic()
        ceiling = follower.monitor.ceiling if follower.monitor else 1.0
        if least is not None and ceiling < least:
            return
        rest = max(_POLL, _RESTED * took)
        if until_quiet is not None:
            left = last + until_quiet - time.monotonic()
            if left <= 0:
                return
            rest = min(rest, left)
        time.sleep(rest)


@contextmanager
def _display(trace: Path, no_redact: bool) -> Generator[Tells, None, None]:
    """What tells of progress: a picture that is drawn again on a terminal, else line by line."""
    from rich.console import Console

    from planproof.reports.terminal.watch_lines import Lines, progress
    from planproof.reports.wording import shows

    show = shows(secrets=no_redact)
    console = Console()
    typer.echo(f"planproof: watching {trace}; Ctrl-C ends it", err=True)
    if not console.is_terminal:
        lines = Lines(show)

        def tell(follower: Follower, new: Sequence[Deviation]) -> None:
            if follower.monitor is not None:
                for line in lines.since(follower.monitor, new):
                    typer.echo(line)

        yield tell
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False) as live:

        def draw(follower: Follower, new: Sequence[Deviation]) -> None:
            del new  # among all that is shown
            if follower.monitor is None:
                live.update(f"{follower.events} events, no plan yet", refresh=True)
                return
            heading = f"{follower.events} events of {trace}"
            live.update(progress(follower.monitor, heading, show), refresh=True)

        yield draw
