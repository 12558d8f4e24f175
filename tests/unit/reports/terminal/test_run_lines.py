"""Runs on a terminal: every figure, in 80 columns, and nothing that the trace could do to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from planproof.core.usage import Usage
from planproof.core.verdict import Outcome
from planproof.reports.terminal.comparison_lines import format_comparison, format_gate
from planproof.reports.terminal.lines import (
    Line,
    draw_bar,
    format_columns,
    format_section,
    to_plain_text,
    truncate,
)
from planproof.reports.terminal.run_lines import (
    format_run_list,
    format_run_summary,
    shorten_source,
)
from planproof.reports.wording import make_sanitizer
from planproof.runs.compare import compare
from planproof.runs.gate import GateConditions, check_gate
from planproof.runs.run_records import RunState
from planproof.runs.summary import summarize
from tests.run_builders import (
    RUN,
    failed_verdict,
    make_results,
    make_scored_results,
    result,
    verdict_with,
)
from tests.unit.finding_builders import findings

SHOW = make_sanitizer(secrets=False)
OTHER = replace(RUN, id="20260102-030000-def456", fingerprint="g")


def _render_lines(lines: Iterable[Line]) -> list[str]:
    told = [to_plain_text(line) for line in lines]
    assert all(len(line) <= 80 for line in told)
    return told


def test_a_run_shows_all_that_it_comes_to() -> None:
    usage = Usage(calls=2, tokens_in=300, tokens_out=20, cost=0.01)
    run = [
        result(0, verdict_with(findings("EEE")), id="a", seconds=1.25),
        result(1, verdict_with(findings("EEE")), id="b"),
        result(2, verdict_with(findings("ELE", major=1)), id="c"),
        result(3, failed_verdict(Outcome.NO_PLAN), id="d"),
        result(4, failed_verdict(cause="timeout", cost=usage), seconds=30),
    ]
    assert _render_lines(format_run_summary(RUN, summarize(run), SHOW)) == [
        "20260101-030000-abc123  finished  rules  cases.jsonl  branch=main",
        "",
        "mean 0.750 over 3 scored cases; 2 of them at 0.75 or above",
        "  1.0          2  ████████████████████████████████████████",
        "  0.75         0",
        "  0.5          0",
        "  0.25         1  ████████████████████",
        "  0.0          0",
        "steps: 8 executed, 1 missing",
        "extras: 1 major",
        "not scored: 1 judge_failed (timeout), 1 no_plan",
        "3 already judged",
        "model usage: 2 calls, 300 input tokens, 20 output tokens, 0.0100 dollars",
        "",
        "steps most often missed",
        "  1 of 3  Do thing 2  1 missing",
        "",
        "lowest scores",
        "  0.25  c  It scores 0.25.",
        "",
        "not judged",
        "  no_plan       d       It could not be judged.",
        "  judge_failed  case 4  It could not be judged.",
        "",
        "slowest",
        "  30.00 s  case 4",
        "  1.25 s   a",
    ]


def test_an_empty_run_and_one_without_scores() -> None:
    empty = _render_lines(format_run_summary(RUN, summarize([]), SHOW))
    assert empty[2:] == ["0 cases, none with a score"]
    unscored = _render_lines(format_run_summary(RUN, summarize(make_scored_results([None])), SHOW))
    assert unscored[2:4] == ["1 case, none with a score", "not scored: 1 judge_failed"]


def test_runs_are_listed_in_columns() -> None:
    second = replace(OTHER, state=RunState.INTERRUPTED, cases=12_000, source="s" * 100, tags={})
    first, other = _render_lines(format_run_list([RUN, second], SHOW))
    assert first == ("20260101-030000-abc123  finished     2       rules  cases.jsonl branch=main")
    assert other.startswith("20260102-030000-def456  interrupted  12,000  rules  sssss")
    assert other.endswith("s…")
    assert list(format_run_list([], SHOW)) == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("cases.jsonl", "cases.jsonl"),
        ("data/cases.jsonl", "data/cases.jsonl"),
        ("/srv/data/cases.jsonl --limit 5", "cases.jsonl --limit 5"),
        ("/srv/a.jsonl /srv/b.jsonl", "a.jsonl b.jsonl"),
        ("s3://bucket/cases.jsonl", "s3://bucket/cases.jsonl"),
        ("/srv/traces/", "traces/"),
        ("/" * 50_000, "/" * 50_000),
    ],
)
def test_a_data_set_is_called_by_its_name(source: str, name: str) -> None:
    assert shorten_source(source) == name


def test_a_comparison_shows_all_that_changed() -> None:
    base = make_results(
        {
            "a": verdict_with(findings("EEE")),
            "b": verdict_with(findings("EEE")),
            "c": verdict_with(findings("LEE")),
            "d": 1.0,
            "e": None,
            "old": 0.5,
        }
    )
    new = make_results(
        {
            "a": verdict_with(findings("ELL")),
            "b": verdict_with(findings("EEE")),
            "c": verdict_with(findings("EEE")),
            "d": None,
            "e": None,
            "fresh": 1.0,
        }
    )
    new[1] = replace(new[1], case="another trace")
    told = _render_lines(format_comparison(RUN, OTHER, compare(base, new), SHOW))
    assert told == [
        "base  20260101-030000-abc123  finished  rules  cases.jsonl  branch=main",
        "new   20260102-030000-def456  finished  rules  cases.jsonl  branch=main",
        "The runs were judged with different settings: changes may come from the judge.",
        "",
        "3 pairs: 1 better, 1 worse, 1 the same",
        "mean 0.833 → 0.667, change -0.167, 95 % interval -1.000 to +0.500",
        "at 0.75 or above: 1 in both, 1 no longer, 1 newly, 0 in neither",
        "change of the pass rate: not significant (McNemar's exact test, p = 1)",
        "not compared: 1 no longer scored, 1 scored in neither, 1 only in the base, 1",
        "only in the new run",
        "task, plan or trace changed in 1 pair",
        "",
        "steps that broke",
        "  1 of 3  Do thing 2  1 missing",
        "  1 of 3  Do thing 3  1 missing",
        "",
        "worse",
        "  1.0 → 0.0  a  step 2 missing, step 3 missing",
        "",
        "better",
        "  0.5 → 1.0  c  It scores 1.0.",
        "",
        "no longer scored",
        "  1.0 → none  d  It could not be judged.",
        "",
        "only in the base",
        "  old",
        "",
        "only in the new run",
        "  fresh",
    ]


def test_a_comparison_of_nothing_says_so() -> None:
    running = replace(RUN, state=RunState.RUNNING)
    told = _render_lines(format_comparison(running, RUN, compare([], []), SHOW))
    assert told[2:] == [
        "The base is running: some of its cases are missing.",
        "",
        "0 pairs: 0 better, 0 worse, 0 the same",
    ]


def test_of_many_changes_a_few_are_shown_and_all_are_counted() -> None:
    comparison = compare(make_scored_results([1.0] * 1_200), make_scored_results([0.5] * 1_200))
    told = _render_lines(format_comparison(RUN, RUN, comparison, SHOW))
    assert "worse, 10 of 1,200" in told
    assert sum("1.0 → 0.5" in line for line in told) == 10
    left = compare(make_scored_results([1.0] * 30), [])
    assert "only in the base, 10 of 30" in _render_lines(format_comparison(RUN, RUN, left, SHOW))


def test_a_gate_shows_every_condition() -> None:
    summary = summarize(make_scored_results([1.0, 0.5, None]))
    asked = GateConditions(min_mean=0.8, min_pass_rate=0.5)
    assert _render_lines(format_gate(RUN, summary, check_gate(asked, RUN, summary), SHOW)) == [
        "gate failed: 20260101-030000-abc123  finished  rules  cases.jsonl  branch=main",
        "  ✓ the run is finished: it is finished",
        "  ✓ the run has results: 3",
        "  ✗ at most 0 unscored: 1 of 3; 1 judge_failed",
        "  ✗ mean score at least 0.8: 0.7500 over 2 scored",
        "  ✓ at least 0.5 of the cases score 0.75 or more: 0.5000, 1 of 2",
    ]


def test_long_conditions_are_wrapped() -> None:
    scores = make_scored_results([0.5] * 10)
    against = compare(make_scored_results([1.0] * 12), scores)
    told = _render_lines(
        format_gate(
            RUN,
            summarize(scores),
            check_gate(GateConditions(), RUN, summarize(scores), against),
            SHOW,
        )
    )
    assert told[-2].startswith("  ✗ mean not lower than in the base: -0.5000 over 10 pairs")
    assert told[-1].startswith("    ")


HOSTILE = "\x1b[31mred\x07\x00 \u202egnp \ud800 [bold]x[/bold]\r\n\nnext"


def test_text_from_a_case_stays_one_line_of_text() -> None:
    hostile = replace(verdict_with(findings("EL")), reason=HOSTILE, id=HOSTILE)
    steps = tuple(replace(step, text=HOSTILE) for step in hostile.steps)
    run = [result(0, replace(hostile, steps=steps), id=HOSTILE)]
    before = [result(0, verdict_with(findings("EE")), id=HOSTILE)]
    named = replace(RUN, source=HOSTILE, tags={HOSTILE: HOSTILE})
    told = [
        *_render_lines(format_run_summary(named, summarize(run), SHOW)),
        *_render_lines(format_comparison(named, named, compare(before, run), SHOW)),
        *_render_lines(format_run_list([named], SHOW)),
    ]
    assert all(line.isprintable() for line in told)
    assert any("\\x1b[31mred" in line for line in told)


def test_secrets_are_masked_unless_asked_for() -> None:
    token = "sk-" + "a1" * 9
    verdict = replace(verdict_with(findings("EL")), reason=f"It used {token}.")
    summary = summarize([result(0, verdict, id="a")])
    assert token not in "".join(_render_lines(format_run_summary(RUN, summary, SHOW)))
    assert token in "".join(
        _render_lines(format_run_summary(RUN, summary, make_sanitizer(secrets=True)))
    )


@pytest.mark.parametrize(
    ("count", "most", "length"), [(0, 5, 0), (1, 1_000_000, 1), (5, 5, 40), (5, 10, 20)]
)
def test_a_bar_is_as_long_as_its_share_and_something_is_never_nothing(
    count: int, most: int, length: int
) -> None:
    assert draw_bar(count, most) == "█" * length


def test_columns_are_cut_and_a_title_without_rows_is_not_shown() -> None:
    assert [
        to_plain_text(line) for line in format_columns([("a", "x" * 100), ("bcd", ("y", "red"))])
    ] == [
        f"a    {'x' * 74}…",
        "bcd  y",
    ]
    assert list(format_section("nothing", [])) == []
    assert (truncate("abc", 3), truncate("abcd", 3)) == ("abc", "ab…")
