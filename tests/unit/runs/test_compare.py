"""Two runs compared, on tables whose answers were worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from planproof.core.finding import Findings, Status
from planproof.core.verdict import Measures, Verdict
from planproof.runs.compare import Comparison, compare
from planproof.runs.run_records import Result
from planproof.runs.statistics import Interval
from tests.run_builders import (
    failed_verdict,
    make_results,
    make_scored_results,
    result,
    scored_verdict,
    verdict_with,
)
from tests.unit.finding_builders import findings, step


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Two runs as scores by case, and everything that is to be counted."""

    why: str
    base: dict[str, Verdict | float | None]
    new: dict[str, Verdict | float | None]
    better: int = 0
    worse: int = 0
    same: int = 0
    no_longer_scored: int = 0
    newly_scored: int = 0
    unscored: int = 0
    only_base: int = 0
    only_new: int = 0
    means: tuple[float | None, float | None, float | None] = (None, None, None)
    # Passing in both, broke, mended, in neither.
    passing: tuple[int, int, int, int] = (0, 0, 0, 0)
    p: float = 1.0
    interval: Interval | None = field(default=None)


TABLE = [
    Row(
        why="one better, one worse, one the same",
        base={"a": 0.5, "b": 1.0, "c": 0.25},
        new={"a": 1.0, "b": 0.75, "c": 0.25},
        better=1,
        worse=1,
        same=1,
        means=(7 / 12, 8 / 12, 1 / 12),
        passing=(1, 0, 1, 1),
        # 27 resamples of (0.5, -0.25, 0): the lowest and the highest have more than 2.5 % each.
        interval=Interval(-0.25, 0.5),
    ),
    Row(why="two empty runs", base={}, new={}),
    Row(why="an empty base", base={}, new={"a": 1.0, "b": None}, only_new=2),
    Row(why="an empty new run", base={"a": 1.0, "b": None}, new={}, only_base=2),
    Row(
        why="no case in common",
        base={"a": 1.0, "b": 0.0},
        new={"c": 1.0, "d": 0.0, "e": 0.5},
        only_base=2,
        only_new=3,
    ),
    Row(
        why="one case in common is no interval",
        base={"a": 1.0, "b": 0.0},
        new={"b": 0.75, "c": 0.0},
        better=1,
        only_base=1,
        only_new=1,
        means=(0.0, 0.75, 0.75),
        passing=(0, 0, 1, 0),
    ),
    Row(
        why="all ties",
        base={"a": 1.0, "b": 0.5, "c": 0.0},
        new={"c": 0.0, "b": 0.5, "a": 1.0},
        same=3,
        means=(0.5, 0.5, 0.0),
        passing=(1, 0, 0, 2),
        interval=Interval(0.0, 0.0),
    ),
    Row(
        why="what has no score is in no mean",
        base={"lost": 1.0, "gained": None, "never": None, "both": 0.5},
        new={"lost": None, "gained": 1.0, "never": None, "both": 0.5},
        same=1,
        no_longer_scored=1,
        newly_scored=1,
        unscored=1,
        means=(0.5, 0.5, 0.0),
        passing=(0, 0, 0, 1),
    ),
    Row(
        why="all unscored",
        base={"a": None, "b": None},
        new={"a": None, "b": None},
        unscored=2,
    ),
    Row(
        why="seven broke, one mended",
        base={**{f"x{n}": 1.0 for n in range(7)}, "y": 0.0, "z": 1.0, "w": 0.0},
        new={**{f"x{n}": 0.5 for n in range(7)}, "y": 1.0, "z": 1.0, "w": 0.25},
        better=2,
        worse=7,
        same=1,
        means=(0.8, 0.575, -0.225),
        passing=(1, 7, 1, 1),
        p=2 * (1 + 8) / 2**8,
    ),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.why)
def test_the_table(row: Row) -> None:
    comparison = compare(make_results(row.base), make_results(row.new))
    counted = (
        *("better", "worse", "same", "no_longer_scored", "newly_scored"),
        *("unscored", "only_base", "only_new"),
    )
    assert {name: getattr(comparison, name) for name in counted} == {
        name: getattr(row, name) for name in counted
    }
    means = (comparison.base_mean, comparison.new_mean, comparison.mean_change)
    assert means == pytest.approx(row.means)
    passing = comparison.passing
    assert (passing.both, passing.broke, passing.mended, passing.neither) == row.passing
    assert passing.p == row.p
    assert comparison.altered == 0
    if row.p == 1.0:
        assert comparison.interval == row.interval


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.why)
def test_the_other_way_round_everything_is_reversed(row: Row) -> None:
    there, back = (
        compare(make_results(row.base), make_results(row.new)),
        compare(make_results(row.new), make_results(row.base)),
    )
    assert (there.better, there.worse, there.same) == (back.worse, back.better, back.same)
    assert (there.only_base, there.no_longer_scored) == (back.only_new, back.newly_scored)
    assert (there.mean_change or 0) == -(back.mean_change or 0)
    assert there.passing.p == back.passing.p
    assert (there.passing.broke, there.passing.both) == (back.passing.mended, back.passing.both)


def _list_worst(comparison: Comparison) -> list[tuple[str | None, float | None]]:
    return [(change.new.id, change.new.score) for change in comparison.worst]


def test_cases_are_paired_by_id_though_their_traces_differ() -> None:
    base = [
        result(0, scored_verdict(1.0), id="a", case="old"),
        result(1, scored_verdict(1.0), id="b"),
    ]
    new = [
        result(0, scored_verdict(1.0), id="b"),
        result(1, scored_verdict(0.5), id="a", case="other"),
    ]
    comparison = compare(base, new)
    assert (comparison.worse, comparison.same, comparison.altered) == (1, 1, 1)
    assert _list_worst(comparison) == [("a", 0.5)]


def test_cases_without_an_id_are_paired_by_content() -> None:
    base = [result(0, scored_verdict(1.0), case="one"), result(1, scored_verdict(0.5), case="two")]
    new = [result(0, scored_verdict(0.5), case="two"), result(1, scored_verdict(0.0), case="three")]
    comparison = compare(base, new)
    assert (comparison.same, comparison.only_base, comparison.only_new) == (1, 1, 1)
    assert comparison.only_base_names == ("case 0",)
    assert comparison.only_new_names == ("case 1",)


def test_an_id_that_is_the_content_of_another_case_is_not_that_case() -> None:
    base = [result(0, scored_verdict(1.0), case="one")]
    assert compare(base, [result(0, scored_verdict(1.0), id="one", case="one")]).only_new == 1


def test_cases_of_the_same_id_are_paired_in_order_and_each_once() -> None:
    base = [result(n, scored_verdict(score), id="x") for n, score in enumerate([1.0, 0.5])]
    new = [result(n, scored_verdict(score), id="x") for n, score in enumerate([1.0, 0.25, 0.0])]
    comparison = compare(base, new)
    assert (comparison.same, comparison.worse, comparison.only_new) == (1, 1, 1)
    assert _list_worst(comparison) == [("x", 0.25)]


def test_the_worst_come_first_and_equals_in_the_order_of_the_cases() -> None:
    base = make_scored_results([1.0] * 200)
    new = make_scored_results([0.75 if n % 2 else 0.0 if n == 150 else 0.5 for n in range(200)])
    worst = compare(base, new).worst
    assert len(worst) == 50
    assert [change.new.id for change in worst[:4]] == ["c150", "c0", "c2", "c4"]


def test_which_steps_broke() -> None:
    base = make_results(
        {
            "a": verdict_with(findings("EEE")),
            "b": verdict_with(findings("EEE")),
            "c": scored_verdict(1.0),
        }
    )
    new = make_results(
        {
            "a": verdict_with(findings("ELP")),
            "b": verdict_with(findings("ELE")),
            "c": scored_verdict(1.0),
        }
    )
    comparison = compare(base, new)
    worst = comparison.worst
    assert [[(step.number, step.status) for step in change.broken] for change in worst] == [
        [("2", Status.MISSING), ("3", Status.PARTIAL)],
        [("2", Status.MISSING)],
    ]
    assert [(step.text, step.deviations, step.executed) for step in comparison.broken] == [
        ("Do thing 2", 2, 0),
        ("Do thing 3", 1, 1),
    ]


@pytest.mark.parametrize(
    ("before", "after", "broken"),
    [
        ("PLAO", "LLLL", []),  # was not executed before
        ("LE", "EE", []),  # mended
        ("EE", "EE", []),
        ("EE", "AO", ["1", "2"]),
        ("E", "LL", ["1"]),  # a step that is new in the plan has not broken
        ("EE", "E", []),  # nor has one that the plan no longer has
    ],
)
def test_a_step_broke_that_was_executed_and_is_not(
    before: str, after: str, broken: list[str]
) -> None:
    comparison = compare(
        make_results({"a": scored_verdict(1.0, before)}),
        make_results({"a": scored_verdict(0.0, after)}),
    )
    assert [step.number for step in comparison.worst[0].broken] == broken


def test_steps_are_known_by_their_words_and_the_second_of_two_alike_is_the_second() -> None:
    alike = (
        replace(step("1", "E"), text="Run the tests"),
        step("2", "E"),
        replace(step("3", "E"), text="Run  the tests"),
    )
    moved = (step("1", "L"), alike[0], replace(alike[2], status=Status.MISSING))
    comparison = compare(
        make_results({"a": verdict_with(Findings(alike), 1.0)}),
        make_results({"a": verdict_with(Findings(moved), 0.5)}),
    )
    assert [(s.number, s.text) for s in comparison.worst[0].broken] == [("3", "Run  the tests")]


def test_a_step_breaks_where_the_score_stays_as_well() -> None:
    base = make_results({"a": scored_verdict(0.25, "EELL")})
    new = make_results({"a": scored_verdict(0.25, "ELEL")})
    comparison = compare(base, new)
    assert comparison.same == 1
    assert [(step.text, step.missing) for step in comparison.broken] == [("Do thing 2", 1)]


def test_what_lost_its_score_is_named_with_its_outcome() -> None:
    comparison = compare(
        make_results({"a": 0.75}), make_results({"a": failed_verdict(cause="timeout")})
    )
    (lost,) = comparison.lost
    assert (lost.base, lost.new.id, lost.new.outcome) == (0.75, "a", "judge_failed")


def test_passing_is_at_the_minimum_that_was_asked_for() -> None:
    base, new = make_scored_results([1.0, 0.5]), make_scored_results([0.5, 0.5])
    assert compare(base, new).passing.broke == 1
    assert compare(base, new, min_score=0.5).passing.both == 2
    assert compare(base, new, min_score=0.5).min_score == 0.5


def test_scores_that_a_model_gave_are_taken_as_they_are() -> None:
    third = 1 / 3
    comparison = compare(
        make_scored_results([third, third]), make_scored_results([2 * third, 2 * third])
    )
    assert comparison.mean_change == pytest.approx(third)
    assert comparison.interval is not None
    assert comparison.interval.low == pytest.approx(third)
    assert comparison.interval.high == pytest.approx(third)


def test_runs_are_read_once_and_not_kept_in_memory() -> None:
    alive = 0

    class Counted(Result):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def streamed() -> Iterator[Result]:
        nonlocal alive
        for n in range(300):
            assert alive < 10
            alive += 1
            yield Counted(n, f"{n}", None, scored_verdict(1.0, "EEE"), 0.0)

    assert compare(streamed(), streamed()).same == 300


def test_measures_are_compared_where_both_verdicts_have_them() -> None:
    def measure(**shares: float) -> Verdict:
        return replace(scored_verdict(0.5), measures=Measures(**shares))

    base = make_results({"a": measure(step_share=0.5), "b": measure(step_share=0.25), "c": 0.5})
    new = make_results(
        {
            "a": measure(step_share=1.0, order_share=1.0),
            "b": measure(order_share=0.5),
            "c": measure(step_share=1.0),
        }
    )
    comparison = compare(base, new)
    assert comparison.base_measures == Measures(step_share=0.5)
    assert comparison.new_measures == Measures(step_share=1.0)
