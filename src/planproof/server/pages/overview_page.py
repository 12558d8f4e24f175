"""The overview page: recent runs, their scores and the trend of their means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from starlette.responses import HTMLResponse

from planproof.reports.html.summary_view import (
    UNSCORED,
    Bar,
    BarSegment,
    build_bars,
    build_segments,
)
from planproof.reports.terminal.run_lines import shorten_source
from planproof.reports.wording import MEASURE_LABELS
from planproof.runs.run_names import find_previous_run, parse_tags
from planproof.runs.run_records import Run
from planproof.runs.store.queries import RunTally
from planproof.scoring import floor_to_level
from planproof.server.pages.page_queries import RunQueries
from planproof.server.pages.rendering import (
    RUNS,
    build_query_string,
    classify_change,
    format_age,
    format_change,
    mask_text,
    render_page,
)

_RUNS_PER_PAGE = 40
# Enough for most runs on a page to find the run before them.
_EXTRA_RUNS = 60
_MAX_SOURCES = 8
_MAX_TAGS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run in the list.

    `change` is the change of its mean since the previous run over the same data. Each tag has a
    link to all runs with that tag, or None.
    """

    id: str
    source: str
    judge: str
    tags: list[tuple[str, str | None]]
    created: datetime
    when: str
    state: str
    cases: int
    mean: str | None
    level: str | None
    passed: str | None
    segments: tuple[BarSegment, ...]
    change: str | None
    direction: str
    compare_link: str | None


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """A data set with its number of recent runs, and the link that toggles the filter for it."""

    name: str
    run_count: int
    link: str
    is_selected: bool
    series: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewView:
    """The data that the page shows."""

    rows: list[RunRow]
    sources: list[SourceFilter]
    tag: str
    clear_tag_link: str
    bars: tuple[Bar, ...]
    cases: int
    trend: TrendChart
    measures: tuple[MeasureTrend, ...]
    newer: str | None
    older: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewFilter:
    """The runs that the page's URL asks for: data set, tag and offset."""

    source: str = ""
    tag: str = ""
    first: int = 0

    def to_query(self, **changes: Any) -> str:
        """Return the query string for this filter, with changes."""
        other = replace(self, **changes)
        return build_query_string(source=other.source, tag=other.tag, first=other.first)


def render_overview_response(
    queries: RunQueries, overview_filter: OverviewFilter, endpoint: str
) -> HTMLResponse:
    """Render the page; `endpoint` is the URL to which OpenTelemetry can send traces."""
    tags = parse_tags([overview_filter.tag] if overview_filter.tag else ())
    recent = queries.list_recent_runs(overview_filter.first + _RUNS_PER_PAGE + _EXTRA_RUNS, tags)
    if not recent and not tags:
        return render_page("empty", RUNS, endpoint=endpoint, store=queries.store.url)
    return render_page(
        "runs", RUNS, title="Runs", data=_build_overview(queries, recent, overview_filter)
    )


def _build_overview(
    queries: RunQueries, recent: Sequence[Run], overview_filter: OverviewFilter
) -> OverviewView:
    first = overview_filter.first
    matching = [run for run in recent if overview_filter.source in {"", run.source}]
    shown = matching[first : first + _RUNS_PER_PAGE]
    before = {run.id: find_previous_run(matching, run) for run in shown}
    tallies = {run.id: queries.get_tally(run) for run in (*shown, *filter(None, before.values()))}
    trend_chart = build_trend(shown, tallies)
    total = sum((tallies[run.id] for run in shown), RunTally())
    return OverviewView(
        rows=[_build_run_row(run, before[run.id], tallies) for run in shown],
        sources=_build_source_filters(recent, overview_filter, trend_chart),
        tag=mask_text(overview_filter.tag),
        clear_tag_link=overview_filter.to_query(tag="", first=0),
        bars=build_bars(total.levels, sum(total.unscored.values())),
        cases=total.cases,
        trend=trend_chart,
        measures=tuple(build_measure_trends(shown, tallies, trend_chart)),
        newer=overview_filter.to_query(first=max(first - _RUNS_PER_PAGE, 0)) if first else None,
        older=overview_filter.to_query(first=first + _RUNS_PER_PAGE)
        if len(matching) > first + _RUNS_PER_PAGE
        else None,
    )


def _build_run_row(run: Run, before: Run | None, tallies: dict[str, RunTally]) -> RunRow:
    tally = tallies[run.id]
    mean = tally.mean
    earlier = None if before is None else tallies[before.id].mean
    change = None if mean is None or earlier is None else mean - earlier
    tags = [f"{name}={value}" for name, value in sorted(run.tags.items())]
    return RunRow(
        id=run.id,
        source=mask_text(shorten_source(run.source)),
        judge=mask_text(run.judge.name),
        # Masked text must not appear in a URL either.
        tags=[
            (mask_text(tag), build_query_string(tag=tag) if mask_text(tag) == tag else None)
            for tag in tags[:_MAX_TAGS]
        ],
        created=run.created,
        when=format_age(run.created),
        state=run.state.value,
        cases=tally.cases,
        mean=None if mean is None else f"{mean:.2f}",
        level=None if mean is None else f"{floor_to_level(mean):g}",
        passed=f"{tally.passed / tally.scored:.0%}" if tally.scored else None,
        segments=build_segments(count_levels(tally)),
        change=None if change is None else format_change(change),
        direction=classify_change(change),
        compare_link=None
        if change is None or before is None
        else "compare" + build_query_string(base=before.id, new=run.id),
    )


def _build_source_filters(
    recent: Sequence[Run], overview_filter: OverviewFilter, trend_chart: TrendChart
) -> list[SourceFilter]:
    counts = Counter(run.source for run in recent)
    if len(counts) < 2 and not overview_filter.source:
        return []
    return [
        SourceFilter(
            mask_text(shorten_source(source)),
            count,
            overview_filter.to_query(
                source="" if source == overview_filter.source else source, first=0
            ),
            source == overview_filter.source,
            trend_chart.series.index(source) if source in trend_chart.series else None,
        )
        for source, count in counts.most_common(_MAX_SOURCES)
    ]


_MAX_SERIES = 5
_MAX_WIDTH = 4.0
_CHART_FLOORS = (0.0, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A run in the chart; coordinates are in percent. `y` is None if the run has no score."""

    run: Run
    series: int
    x: float
    y: float | None
    mean: float | None
    cases: int
    parts: tuple[BarSegment, ...]


@dataclass(frozen=True, slots=True)
class TrendLine:
    """A line from one run to the next over the same data set."""

    series: int
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class MeasureTrend:
    """The means of one measure over the same runs; `latest` is that of the newest run with one.

    The chart goes from `lowest`, which shows small changes of high means, to 1.
    """

    name: str
    latest: str
    lowest: float
    points: tuple[TrendPoint, ...]
    lines: tuple[TrendLine, ...]


@dataclass(frozen=True, slots=True)
class TrendChart:
    """The whole chart; `series` are the data sets whose runs are connected by lines."""

    points: tuple[TrendPoint, ...]
    lines: tuple[TrendLine, ...]
    series: tuple[str, ...]
    width: float

    @property
    def ends(self) -> tuple[Run, Run]:
        """The first and the last run in the chart."""
        return self.points[0].run, self.points[-1].run


def count_levels(tally: RunTally) -> dict[str, int]:
    """Return the number of cases per score level and of unscored ones, by the keys of the bars."""
    levels = {f"{level:g}": count for level, count in tally.levels.items()}
    return levels | {UNSCORED: sum(tally.unscored.values())}


def build_trend(runs: Sequence[Run], tallies: dict[str, RunTally]) -> TrendChart:
    """Return the chart of these runs, which are given newest first."""
    counts = Counter(run.source for run in runs)
    series = tuple(source for source, _ in counts.most_common(_MAX_SERIES))
    spacing = 100 / max(len(runs), 1)
    dots: list[TrendPoint] = []
    for index, run in enumerate(reversed(runs)):
        tally = tallies[run.id]
        number = series.index(run.source) if run.source in series else _MAX_SERIES
        mean = tally.mean
        parts = build_segments(count_levels(tally))
        x = round((index + 0.5) * spacing, 3)
        dots.append(TrendPoint(run, number, x, _to_y(mean), mean, tally.cases, parts))
    width = min(spacing * 0.72, _MAX_WIDTH)
    return TrendChart(tuple(dots), tuple(_connect_points(dots)), series, width)


def build_measure_trends(
    runs: Sequence[Run], tallies: dict[str, RunTally], chart: TrendChart
) -> Iterator[MeasureTrend]:
    """Yield the trend of each measure that a run has, with the places and series of the chart."""
    for field, label in MEASURE_LABELS.items():
        means: dict[str, float | None] = {
            run.id: getattr(tallies[run.id].measures, field) for run in runs
        }
        known = [mean for run in runs if (mean := means[run.id]) is not None]
        if not known:
            continue
        lowest = max(floor for floor in _CHART_FLOORS if floor <= min(known))
        points = [
            replace(point, mean=mean, y=_to_y(mean, lowest), parts=())
            for point in chart.points
            for mean in [means[point.run.id]]
        ]
        lines = tuple(_connect_points(points))
        yield MeasureTrend(label, f"{known[0]:.2f}", lowest, tuple(points), lines)


def _to_y(mean: float | None, lowest: float = 0.0) -> float | None:
    return None if mean is None else round(100 * (1 - mean) / (1 - lowest), 2)


def _connect_points(points: Iterable[TrendPoint]) -> Iterator[TrendLine]:
    """Yield the lines between the points of each data set; points without a mean are skipped."""
    last: dict[int, tuple[float, float]] = {}
    for point in points:
        if point.y is None:
            continue
        if point.series in last and point.series < _MAX_SERIES:
            yield TrendLine(point.series, *last[point.series], point.x, point.y)
        last[point.series] = point.x, point.y
