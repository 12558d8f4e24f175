"""The picture of runs over time: where they stand, and which are bound by lines."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from planproof.runs.store.queries import RunTally
from planproof.scoring import LEVELS
from planproof.server.pages.overview_page import build_measure_trends, build_trend
from planproof.server.pages.rendering import build_query_string, format_age, format_change
from tests.run_builders import RUN


def tally(**levels: int) -> RunTally:
    counts = {level: levels.get(f"at_{int(level * 100)}", 0) for level in LEVELS}
    total = sum(level * count for level, count in counts.items())
    return RunTally(counts, {}, total, 0)


def test_runs_go_from_left_to_right_and_lines_bind_those_over_the_same_data() -> None:
    runs = [
        replace(RUN, id="d"),
        replace(RUN, id="c", source="other"),
        replace(RUN, id="b"),
        replace(RUN, id="a"),
    ]
    tallies = {"a": tally(at_100=1), "b": RunTally(), "c": tally(at_0=1), "d": tally(at_50=3)}
    made = build_trend(runs, tallies)
    assert [(dot.run.id, dot.x, dot.y) for dot in made.points] == [
        ("a", 12.5, 0),
        ("b", 37.5, None),
        ("c", 62.5, 100),
        ("d", 87.5, 50),
    ]
    (stroke,) = made.lines
    assert (stroke.x1, stroke.y1, stroke.x2, stroke.y2) == (12.5, 0, 87.5, 50)
    assert made.series == ("cases.jsonl", "other")
    assert [run.id for run in made.ends] == ["a", "d"]


def with_shares(**means: float) -> RunTally:
    shares = {name: (means.get(name, 0.0), int(name in means)) for name in RunTally().shares}
    return replace(tally(at_100=1), shares=shares)


def test_measures_have_charts_of_their_own_with_the_places_of_the_runs() -> None:
    runs = [replace(RUN, id="c"), replace(RUN, id="b"), replace(RUN, id="a")]
    tallies = {
        "a": with_shares(step_share=1.0, order_share=0.6),
        "b": with_shares(),
        "c": with_shares(step_share=0.8, order_share=1.0),
    }
    chart = build_trend(runs, tallies)
    steps, order = build_measure_trends(runs, tallies, chart)
    assert (steps.name, steps.latest, steps.lowest) == ("steps executed", "0.80", 0.75)
    assert [(dot.x, dot.y) for dot in steps.points] == [
        (chart.points[0].x, 0),
        (chart.points[1].x, None),
        (chart.points[2].x, 80),
    ]
    (line,) = steps.lines
    assert (line.y1, line.y2) == (0, 80)
    # From 0.5, so that a mean of 0.6 is near the bottom.
    assert (order.name, order.lowest, order.points[0].y) == ("steps in order", 0.5, 80)
    assert list(build_measure_trends(runs[1:2], tallies, build_trend(runs[1:2], tallies))) == []


NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "told"),
    [
        (timedelta(seconds=3), "just now"),
        (timedelta(seconds=61), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=23), "23 hours ago"),
        (timedelta(days=1), "2026-01-01 00:00"),
        (-timedelta(seconds=5), "just now"),
    ],
)
def test_how_long_ago_it_was(passed: timedelta, told: str) -> None:
    assert format_age(NOW - passed, NOW) == told


def test_changes_and_queries_are_written() -> None:
    assert [format_change(each) for each in (0.0312, -0.0312, 0.0004, -0.0004)] == [
        "+0.031",
        "−0.031",
        "0.000",
        "0.000",
    ]
    assert (
        build_query_string(score=["0", "none"], find="", first=0, by="a&b")
        == "?score=0&score=none&by=a%26b"
    )
    assert build_query_string() == "?"
