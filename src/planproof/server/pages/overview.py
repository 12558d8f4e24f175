"""The first page: recent runs, their scores, and where they are going."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.responses import HTMLResponse

from planproof.reports.html.boards import Bar, Stretch, bars, stretches
from planproof.reports.run_lines import source_name
from planproof.runs.naming import previous_run
from planproof.runs.nouns import Run
from planproof.runs.store.looking import Tally
from planproof.scoring import level_of
from planproof.server.pages.records import Records
from planproof.server.pages.rendering import RUNS, SHOW, ago, direction, page, query, signed
from planproof.server.pages.trend import Trend, level_counts, trend

_ON_A_PAGE = 40
# Far enough back for most runs to find the one before them.
_FURTHER = 60
_MOST_SOURCES = 8
_MOST_TAGS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run in the list. `change` is that of its mean from the run before, over the same data."""

    id: str
    source: str
    judge: str
    tags: list[str]
    created: datetime
    when: str
    state: str
    cases: int
    mean: str | None
    level: str | None
    passed: str | None
    whole: tuple[Stretch, ...]
    change: str | None
    better: str
    compare: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """A data set, how many of the recent runs are over it, and the way to only those."""

    name: str
    runs: int
    link: str
    chosen: bool
    series: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What the page shows."""

    lines: list[RunLine]
    sources: list[Source]
    bars: tuple[Bar, ...]
    cases: int
    trend: Trend
    newer: str | None
    older: str | None


def overview_page(records: Records, *, source: str, first: int, endpoint: str) -> HTMLResponse:
    """The page; `endpoint` is where OpenTelemetry can send traces."""
    recent = records.recent(first + _ON_A_PAGE + _FURTHER)
    if not recent:
        return page("empty", RUNS, endpoint=endpoint, store=records.store.url)
    return page("runs", RUNS, title="Runs", data=_overview(records, recent, source, first))


def _overview(records: Records, recent: Sequence[Run], source: str, first: int) -> Overview:
    of_source = [run for run in recent if not source or run.source == source]
    shown = of_source[first : first + _ON_A_PAGE]
    before = {run.id: previous_run(of_source, run) for run in shown}
    tallies = {run.id: records.tally(run) for run in (*shown, *filter(None, before.values()))}
    picture = trend(shown, tallies)
    total = sum((tallies[run.id] for run in shown), Tally())
    return Overview(
        lines=[_line(run, before[run.id], tallies) for run in shown],
        sources=_sources(recent, source, picture),
        bars=bars(total.levels, sum(total.unscored.values())),
        cases=total.cases,
        trend=picture,
        newer=query(source=source, first=max(first - _ON_A_PAGE, 0)) if first else None,
        older=query(source=source, first=first + _ON_A_PAGE)
        if len(of_source) > first + _ON_A_PAGE
        else None,
    )


def _line(run: Run, before: Run | None, tallies: dict[str, Tally]) -> RunLine:
    tally = tallies[run.id]
    mean = tally.mean
    earlier = None if before is None else tallies[before.id].mean
    change = None if mean is None or earlier is None else mean - earlier
    tags = [SHOW(f"{name}={value}") for name, value in sorted(run.tags.items())]
    return RunLine(
        id=run.id,
        source=SHOW(source_name(run.source)),
        judge=SHOW(run.judge.name),
        tags=tags[:_MOST_TAGS],
        created=run.created,
        when=ago(run.created),
        state=run.state.value,
        cases=tally.cases,
        mean=None if mean is None else f"{mean:.2f}",
        level=None if mean is None else f"{level_of(mean):g}",
        passed=f"{tally.passed / tally.scored:.0%}" if tally.scored else None,
        whole=stretches(level_counts(tally)),
        change=None if change is None else signed(change),
        better=direction(change),
        compare=None
        if change is None or before is None
        else "compare" + query(base=before.id, new=run.id),
    )


def _sources(recent: Sequence[Run], chosen: str, picture: Trend) -> list[Source]:
    counts = Counter(run.source for run in recent)
    if len(counts) < 2 and not chosen:
        return []
    return [
        Source(
            SHOW(source_name(source)),
            count,
            query(source="" if source == chosen else source),
            source == chosen,
            picture.series.index(source) if source in picture.series else None,
        )
        for source, count in counts.most_common(_MOST_SOURCES)
    ]
