"""What the page of a run is given: totals, a row for every case, and which of them have pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planproof.core.usage import Usage
from planproof.core.verdict import Coverage
from planproof.reports.html.report_page import RunData, build_run_data
from planproof.runs.run_records import Result
from tests.run_builders import (
    RUN,
    failed_verdict,
    make_results,
    make_scored_results,
    result,
    scored_verdict,
    verdict_with,
)
from tests.unit.finding_builders import findings


def build_data(results: list[Result], *, secrets: bool = False) -> RunData:
    return build_run_data(RUN, results, min_score=0.75, secrets=secrets)


def build_rows(results: list[Result]) -> list[list[Any]]:
    rows: Any = build_data(results).table["rows"]
    return rows


def test_a_row_summarizes_a_case() -> None:
    verdict = replace(
        verdict_with(findings("EPLO", major=1, minor=1)),
        coverage=Coverage(reader="native", events=12),
    )
    (row,) = build_rows([result(3, verdict, id="c3", seconds=1.23456)])
    assert row == [3, "c3", "0.25", 0.25, "weak adherence", "epmo", 4, 1, 1, 12, 1.235, 0]


def test_a_case_without_a_score_says_why() -> None:
    (row,) = build_rows([result(0, failed_verdict(cause="timeout"))])
    assert row[1:5] == ["case 0", None, None, "the judge failed (timeout)"]
    assert build_rows([]) == []


def test_scores_steps_and_causes_are_counted() -> None:
    data = build_data(make_results({"a": verdict_with(findings("EL")), "b": 1.0, "c": None}))
    assert [(bar.key, bar.count) for bar in data.summary_view.bars] == [
        ("1", 1),
        ("0.75", 0),
        ("0.5", 1),
        ("0.25", 0),
        ("0", 0),
        ("none", 1),
    ]
    assert data.summary_view.causes == (("judge_failed", 1),)
    assert data.summary_view.steps == 2
    assert [(each.status, each.count) for each in data.summary_view.counts] == [
        ("executed", 1),
        ("missing", 1),
    ]
    assert [(part.key, part.start, part.width) for part in data.summary_view.status_segments] == [
        ("executed", 0, 50),
        ("missing", 50, 50),
    ]
    (broken,) = data.summary_view.failed_steps
    assert (broken.total, [each.label for each in broken.counts]) == (1, ["missing"])
    assert data.facts[:2] == ["mean 0.750", "1 of 3 cases at 0.75 or above"]


def test_cost_and_tags_are_shown() -> None:
    asked = failed_verdict(cost=Usage(calls=2, tokens_in=10, tokens_out=3))
    facts = build_data([result(0, asked)]).facts
    assert facts[0] == "1 case, none with a score"
    assert "branch=main" in facts
    assert facts[-1].startswith("2 calls")


def test_where_there_are_too_many_the_lowest_scores_have_pages() -> None:
    results = make_scored_results([1.0] * 700 + [0.25] * 700)
    made = build_data(results)
    assert made.pages == frozenset((*range(300), *range(700, 1_400)))
    pages = [row[-1] for row in build_rows(results)]
    assert pages == [*range(300), *([None] * 400), *range(300, 1_000)]


def test_secrets_in_names_are_masked() -> None:
    secret = [result(0, scored_verdict(1.0), id="password=hunter2hunter2")]
    assert "hunter2" not in str(build_data(secret))
    assert "hunter2" in str(build_data(secret, secrets=True))
