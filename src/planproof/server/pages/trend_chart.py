"""The mean scores of runs in the order of time, and their scores below, as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from planproof.reports.html.summary_view import UNSCORED, BarSegment, build_segments
from planproof.runs.run_records import Run
from planproof.runs.store.queries import RunTally

_MAX_SERIES = 5
_MAX_WIDTH = 4.0


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run in the picture; places are in hundredths of it. `y` is None where it has no score."""

    run: Run
    series: int
    x: float
    y: float | None
    mean: float | None
    cases: int
    parts: tuple[BarSegment, ...]


@dataclass(frozen=True, slots=True)
class TrendLine:
    """A line from one run to the next over the same data."""

    series: int
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class TrendChart:
    """The whole picture; `series` are the data sets whose runs are bound by lines."""

    points: tuple[TrendPoint, ...]
    lines: tuple[TrendLine, ...]
    series: tuple[str, ...]
    width: float

    @property
    def ends(self) -> tuple[Run, Run]:
        """The first and the last run in it."""
        return self.points[0].run, self.points[-1].run


def count_levels(tally: RunTally) -> dict[str, int]:
    """How many cases have which level, or none, by the keys of the boards."""
    levels = {f"{level:g}": count for level, count in tally.levels.items()}
    return levels | {UNSCORED: sum(tally.unscored.values())}


def build_trend(runs: Sequence[Run], tallies: dict[str, RunTally]) -> TrendChart:
    """The picture of these runs, which come with the newest first."""
    counts = Counter(run.source for run in runs)
    series = tuple(source for source, _ in counts.most_common(_MAX_SERIES))
    spacing = 100 / max(len(runs), 1)
    dots: list[TrendPoint] = []
    strokes: list[TrendLine] = []
    last: dict[int, TrendPoint] = {}
    for index, run in enumerate(reversed(runs)):
        tally = tallies[run.id]
        number = series.index(run.source) if run.source in series else _MAX_SERIES
        mean = tally.mean
        y = None if mean is None else round(100 * (1 - mean), 2)
        parts = build_segments(count_levels(tally))
        dot = TrendPoint(
            run, number, round((index + 0.5) * spacing, 3), y, mean, tally.cases, parts
        )
        dots.append(dot)
        if y is None:
            continue
        before = last.get(number)
        if before is not None and before.y is not None and number < _MAX_SERIES:
            strokes.append(TrendLine(number, before.x, before.y, dot.x, y))
        last[number] = dot
    return TrendChart(tuple(dots), tuple(strokes), series, min(spacing * 0.72, _MAX_WIDTH))
