"""Progress of a run on a terminal: cases, rate, time left, scores, cost."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from planproof.runs.summary import SummaryBuilder

_REFRESH_SECONDS = 0.1


@contextmanager
def show_progress(
    tally: SummaryBuilder, fraction: Callable[[], float | None]
) -> Generator[Callable[[], None], None, None]:
    """Yield a function to call after each case. Show nothing if standard error is not a terminal.

    `fraction` returns the share of the data set that has been read, or None if unknown.
    """
    if not sys.stderr.isatty():
        yield _do_nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(20), TextColumn("{task.description}", markup=False))
    began = shown = monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(format_progress(tally, 0.0, None), total=None)

        def update() -> None:
            nonlocal shown
            now = monotonic()
            if now - shown >= _REFRESH_SECONDS:
                shown = now
                part = fraction()
                progress.update(
                    bar,
                    completed=part or 0.0,
                    total=None if part is None else 1.0,
                    description=format_progress(tally, now - began, part),
                )

        yield update


def format_progress(tally: SummaryBuilder, seconds: float, share: float | None) -> str:
    """Format the text next to the bar, given the elapsed seconds and the share that is done."""
    words = [f"{tally.cases:,} cases"]
    if seconds > 0:
        words.append(f"{tally.cases / seconds:,.0f}/s")
    if share:
        words.append(f"{_format_duration(seconds / share - seconds)} left")
    if tally.mean is not None:
        words.append(f"mean {tally.mean:.2f}")
    if unscored := tally.unscored.total():
        words.append(f"{unscored:,} unscored")
    if tally.cost is not None and tally.cost.cost is not None:
        words.append(f"{tally.cost.cost:.2f} dollars")
    return " · ".join(words)


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _do_nothing() -> None:
    pass
