"""What the page of a run is given: totals, a row for every case, and which of them have pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planproof.reports.html.run_data import run_data
from planproof.runs.nouns import Result
from planproof.usage import Usage
from planproof.verdict import Coverage
from tests.hand_made_runs import RUN, failed, found, result, run_of, run_scoring, scored
from tests.unit.findings_made import findings


def overview(results: list[Result]) -> dict[str, Any]:
    return run_data(RUN, results, min_score=0.75, secrets=False).overview


def test_a_row_tells_a_case_in_a_line() -> None:
    verdict = replace(
        found(findings("EPLO", major=1, minor=1)), coverage=Coverage(reader="native", events=12)
    )
    (row,) = overview([result(3, verdict, id="c3", seconds=1.23456)])["rows"]
    assert row == [3, "c3", "0.25", 0.25, "weak adherence", "epmo", 4, 1, 1, 12, 1.235, 0]


def test_a_case_without_a_score_says_why() -> None:
    (row,) = overview([result(0, failed(cause="timeout"))])["rows"]
    assert row[1:5] == ["case 0", None, None, "the judge failed (timeout)"]
    assert overview([])["rows"] == []


def test_scores_steps_and_causes_are_counted() -> None:
    data = overview(run_of({"a": found(findings("EL")), "b": 1.0, "c": None}))
    assert [count for _, _, count in data["levels"]] == [1, 0, 1, 0, 0]
    assert data["unscored"] == [["judge_failed", 1]]
    assert data["steps"] == [1, 0, 1, 0, 0]
    ((_, total, *counts),) = data["broke"]
    assert (total, counts) == (1, [0, 0, 1, 0, 0])
    assert data["facts"][:2] == ["mean 0.750", "1 of 3 cases at 0.75 or above"]


def test_what_it_cost_and_its_tags_are_told() -> None:
    asked = failed(cost=Usage(calls=2, tokens_in=10, tokens_out=3))
    facts = overview([result(0, asked)])["facts"]
    assert facts[0] == "1 case, none with a score"
    assert "branch=main" in facts
    assert facts[-1].startswith("2 calls")


def test_where_there_are_too_many_the_lowest_scores_have_pages() -> None:
    results = run_scoring([1.0] * 700 + [0.25] * 700)
    made = run_data(RUN, results, min_score=0.75, secrets=False)
    assert made.pages == frozenset((*range(300), *range(700, 1_400)))
    pages = [row[-1] for row in made.overview["rows"]]
    assert pages == [*range(300), *([None] * 400), *range(300, 1_000)]


def test_secrets_in_names_are_masked() -> None:
    secret = [result(0, scored(1.0), id="password=hunter2hunter2")]
    assert "hunter2" not in str(overview(secret))
    assert "hunter2" in str(run_data(RUN, secret, min_score=0.75, secrets=True).overview)
