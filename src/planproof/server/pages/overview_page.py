"""The first page: recent runs, their scores, and where they are going."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from starlette.responses import HTMLResponse

from planproof.reports.html.summary_view import Bar, Stretch, bars, stretches
from planproof.reports.terminal.run_lines import source_name
from planproof.runs.run_names import previous_run, tags_of
from planproof.runs.run_records import Run
from planproof.runs.store.queries import Tally
from planproof.scoring import level_of
from planproof.server.pages.page_queries import Records
from planproof.server.pages.rendering import RUNS, SHOW, ago, direction, page, query, signed
from planproof.server.pages.trend_chart import Trend, level_counts, trend

_ON_A_PAGE = 40
# Far enough back for most runs to find the one before them.
_FURTHER = 60
_MOST_SOURCES = 8
_MOST_TAGS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """A run in the list. `change` is that of its mean from the run before, over the same data.

    Tags come with the way to all runs that have them.
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
    tag: str
    untagged: str
    bars: tuple[Bar, ...]
    cases: int
    trend: Trend
    newer: str | None
    older: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which runs the address of the page asks for: over which data, with which tag, from where."""

    source: str = ""
    tag: str = ""
    first: int = 0

    def link(self, **changed: Any) -> str:
        """The query that asks for this, with changes."""
        other = replace(self, **changed)
        return query(source=other.source, tag=other.tag, first=other.first)


def overview_page(records: Records, chosen: Chosen, endpoint: str) -> HTMLResponse:
    """The page; `endpoint` is where OpenTelemetry can send traces."""
    tags = tags_of([chosen.tag] if chosen.tag else ())
    recent = records.recent(chosen.first + _ON_A_PAGE + _FURTHER, tags)
    if not recent and not tags:
        return page("empty", RUNS, endpoint=endpoint, store=records.store.url)
    return page("runs", RUNS, title="Runs", data=_overview(records, recent, chosen))


def _overview(records: Records, recent: Sequence[Run], chosen: Chosen) -> Overview:
    first = chosen.first
    of_source = [run for run in recent if chosen.source in {"", run.source}]
    shown = of_source[first : first + _ON_A_PAGE]
    before = {run.id: previous_run(of_source, run) for run in shown}
    tallies = {run.id: records.tally(run) for run in (*shown, *filter(None, before.values()))}
    picture = trend(shown, tallies)
    total = sum((tallies[run.id] for run in shown), Tally())
    return Overview(
        lines=[_line(run, before[run.id], tallies) for run in shown],
        sources=_sources(recent, chosen, picture),
        tag=SHOW(chosen.tag),
        untagged=chosen.link(tag="", first=0),
        bars=bars(total.levels, sum(total.unscored.values())),
        cases=total.cases,
        trend=picture,
        newer=chosen.link(first=max(first - _ON_A_PAGE, 0)) if first else None,
        older=chosen.link(first=first + _ON_A_PAGE)
        if len(of_source) > first + _ON_A_PAGE
        else None,
    )


def _line(run: Run, before: Run | None, tallies: dict[str, Tally]) -> RunLine:
    tally = tallies[run.id]
    mean = tally.mean
    earlier = None if before is None else tallies[before.id].mean
    change = None if mean is None or earlier is None else mean - earlier
    tags = [f"{name}={value}" for name, value in sorted(run.tags.items())]
    return RunLine(
        id=run.id,
        source=SHOW(source_name(run.source)),
        judge=SHOW(run.judge.name),
        # What is masked must not stand in an address either.
        tags=[
            (SHOW(tag), query(tag=tag) if SHOW(tag) == tag else None) for tag in tags[:_MOST_TAGS]
        ],
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


def _sources(recent: Sequence[Run], chosen: Chosen, picture: Trend) -> list[Source]:
    counts = Counter(run.source for run in recent)
    if len(counts) < 2 and not chosen.source:
        return []
    return [
        Source(
            SHOW(source_name(source)),
            count,
            chosen.link(source="" if source == chosen.source else source, first=0),
            source == chosen.source,
            picture.series.index(source) if source in picture.series else None,
        )
        for source, count in counts.most_common(_MOST_SOURCES)
    ]
