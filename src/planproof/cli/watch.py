"""`planproof watch`: follow a trace while it is being written."""

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
    ProfileOption,
    ReaderOption,
    TaskOption,
    load_config,
    load_profiles,
)
from planproof.cli.outputs import Format, NoRedactOption, format_verdict
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.monitor.deviation import Deviation
    from planproof.monitor.growing_file import GrowingFile
    from planproof.monitor.trace_follower import TraceFollower

    ProgressReporter = Callable[[TraceFollower, Sequence[Deviation]], None]

_POLL_SECONDS = 0.2
_REST_FACTOR = 9
"""After a read, wait this many times as long as it took: re-reading a long trace is expensive."""


def watch(
    trace: Annotated[
        Path, typer.Argument(metavar="FILE", help="Trace file; it does not have to exist yet.")
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
            help="Stop when nothing was written for this long; default: stop with Ctrl-C.",
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score",
            metavar="X",
            min=0,
            max=1,
            help="Exit with code 1 below this score, as soon as it can't be reached any more.",
        ),
    ] = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Follow a trace while it is written.

    Shows the progress of the plan, deviations when they are proven or suspected, and the verdict at
    the end. JSON Lines (Claude Code, Codex and others) are read incrementally; files in other
    formats are read again when they change.

    \b
    planproof watch session.jsonl
    planproof watch session.jsonl --plan plan.md --until-quiet 60
    planproof watch session.jsonl --until-quiet 60 --min-score 0.75

    Exit code: 0 judged, 1 below --min-score, 2 bad usage or input, 3 could not be judged.
    """
    from planproof.evaluation import evaluate, read_json_or_text
    from planproof.monitor.growing_file import GrowingFile
    from planproof.monitor.trace_follower import TraceFollower
    from planproof.readers.decoding.source import Source
    from planproof.readers.decoding.split_traces import select_trace

    configuration = load_config(config)
    vocabulary = configuration.vocabulary
    profiles = load_profiles(profile, configuration)
    if not trace.resolve().parent.is_dir():
        raise InvalidInput("folder does not exist.", where=str(trace), advice="Check the path.")
    plan_text = None if plan is None else read_json_or_text(plan)
    threshold = configuration.min_score if min_score is None else min_score
    growing = GrowingFile(trace, configuration.limits)
    follower = TraceFollower(plan_text, reader=reader, vocabulary=vocabulary, profiles=profiles)
    try:
        with _open_display(trace, no_redact) as report:
            _follow(growing, follower, report, until_quiet, threshold)
    except KeyboardInterrupt:
        # Ctrl-C is the normal way to stop watching.
        pass
    source = select_trace(Source.from_path(trace, limits=configuration.limits), profiles=profiles)
    verdict = evaluate(
        task=task,
        plan=plan_text,
        trace=source,
        reader=reader,
        vocabulary=vocabulary,
        profiles=profiles,
    )
    text = format_verdict(verdict, Format.TERMINAL, secrets=no_redact, stream=sys.stdout)
    sys.stdout.write(text)
    if verdict.score is None:
        raise typer.Exit(NOT_JUDGED)
    if threshold is not None and verdict.score < threshold:
        raise typer.Exit(BELOW_MINIMUM)


def _follow(
    growing: GrowingFile,
    follower: TraceFollower,
    report: ProgressReporter,
    until_quiet: float | None,
    threshold: float | None,
) -> None:
    """Follow the file until it is quiet or the minimum score is out of reach."""
    from planproof.reports.plain_text import to_one_line

    start = last = time.monotonic()
    problem: str | None = None
    took = 0.0
    while True:
        began = time.process_time()
        source = growing.read_new()
        if source is not None:
            try:
                report(follower, follower.follow_source(source))
            except InvalidInput as error:
                # An incomplete file may become readable once more of it is written.
                if str(error) != problem:
                    problem = str(error)
                    typer.echo(
                        f"planproof: can't read the trace yet: {to_one_line(problem)}", err=True
                    )
            # The first read is dominated by importing the reader, so don't count it.
            took = 0.0 if last == start else time.process_time() - began
            last = time.monotonic()
        ceiling = follower.monitor.ceiling if follower.monitor else 1.0
        if threshold is not None and ceiling < threshold:
            return
        rest = max(_POLL_SECONDS, _REST_FACTOR * took)
        if until_quiet is not None:
            left = last + until_quiet - time.monotonic()
            if left <= 0:
                return
            rest = min(rest, left)
        time.sleep(rest)


@contextmanager
def _open_display(trace: Path, no_redact: bool) -> Generator[ProgressReporter, None, None]:
    """Yield a progress reporter: a redrawn view on a terminal, otherwise line by line."""
    from rich.console import Console

    from planproof.reports.terminal.watch_lines import ProgressLines, render_progress
    from planproof.reports.wording import make_sanitizer

    show = make_sanitizer(secrets=no_redact)
    console = Console()
    typer.echo(f"planproof: watching {trace}; press Ctrl-C to stop", err=True)
    if not console.is_terminal:
        lines = ProgressLines(show)

        def print_lines(follower: TraceFollower, new: Sequence[Deviation]) -> None:
            if follower.monitor is not None:
                for line in lines.iter_new_lines(follower.monitor, new):
                    typer.echo(line)

        yield print_lines
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False) as live:

        def draw_progress(follower: TraceFollower, new: Sequence[Deviation]) -> None:
            del new  # already in the monitor
            if follower.monitor is None:
                live.update(f"{follower.events} events, no plan yet", refresh=True)
                return
            heading = f"{follower.events} events in {trace}"
            live.update(render_progress(follower.monitor, heading, show), refresh=True)

        yield draw_progress
