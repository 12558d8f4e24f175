"""The mean scores of runs in the order of time, and their scores below, as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from planproof.reports.html.summary_view import UNSCORED, Stretch, stretches
from planproof.runs.run_records import Run
from planproof.runs.store.queries import Tally

_MOST_SERIES = 5
_WIDEST = 4.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A run in the picture; places are in hundredths of it. `y` is None where it has no score."""

    run: Run
    series: int
    x: float
    y: float | None
    mean: float | None
    cases: int
    parts: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line from one run to the next over the same data."""

    series: int
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Trend:
    """The whole picture; `series` are the data sets whose runs are bound by lines."""

    dots: tuple[Dot, ...]
    strokes: tuple[Stroke, ...]
    series: tuple[str, ...]
    width: float

    @property
    def ends(self) -> tuple[Run, Run]:
        """The first and the last run in it."""
        return self.dots[0].run, self.dots[-1].run


def level_counts(tally: Tally) -> dict[str, int]:
    """How many cases have which level, or none, by the keys of the boards."""
    levels = {f"{level:g}": count for level, count in tally.levels.items()}
    return levels | {UNSCORED: sum(tally.unscored.values())}


def trend(runs: Sequence[Run], tallies: dict[str, Tally]) -> Trend:
    """The picture of these runs, which come with the newest first."""
    counts = Counter(run.source for run in runs)
    series = tuple(source for source, _ in counts.most_common(_MOST_SERIES))
    each = 100 / max(len(runs), 1)
    dots: list[Dot] = []
    strokes: list[Stroke] = []
    last: dict[int, Dot] = {}
    for place, run in enumerate(reversed(runs)):
        tally = tallies[run.id]
        number = series.index(run.source) if run.source in series else _MOST_SERIES
        mean = tally.mean
        y = None if mean is None else round(100 * (1 - mean), 2)
        parts = stretches(level_counts(tally))
        dot = Dot(run, number, round((place + 0.5) * each, 3), y, mean, tally.cases, parts)
        dots.append(dot)
        if y is None:
            continue
        before = last.get(number)
        if before is not None and before.y is not None and number < _MOST_SERIES:
            strokes.append(Stroke(number, before.x, before.y, dot.x, y))
        last[number] = dot
    return Trend(tuple(dots), tuple(strokes), series, min(each * 0.72, _WIDEST))
