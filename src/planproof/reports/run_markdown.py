"""A run, a comparison and a gate as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planproof.reports.markdown_text import code, escape, short
from planproof.reports.terminal.comparison_lines import (
    altered_told,
    cautions,
    chance_told,
    change_told,
    left_out,
    mean_told,
    passing_told,
    why_told,
)
from planproof.reports.terminal.lines import bar
from planproof.reports.terminal.run_lines import lapses_of, run_line
from planproof.reports.wording import LEVELS, Show, cost_line, many, score_digits, shows
from planproof.runs.compare import Change, Comparison
from planproof.runs.gate import Check
from planproof.runs.run_records import Run
from planproof.runs.step_counts import StepCount
from planproof.runs.summary import Summary

# A comment has a length limit; the rest is in the store.
_MOST_CHANGES = 20
_BAR_PART = 2


def summary_markdown(run: Run, summary: Summary, *, secrets: bool = False) -> str:
    """A run: the mean, the five levels, what was missed, the lowest and what was not judged."""
    return _joined(_summary(run, summary, shows(secrets=secrets)))


def comparison_markdown(
    base: Run, new: Run, comparison: Comparison, *, secrets: bool = False
) -> str:
    """Two runs: better and worse, means and chance, which steps broke, and in which cases."""
    return _joined(_comparison(base, new, comparison, shows(secrets=secrets)))


def gate_markdown(run: Run, found: Sequence[Check], *, secrets: bool = False) -> str:
    """Whether a run passes, and every condition with its figures."""
    show = shows(secrets=secrets)
    held = all(check.held for check in found)
    rows = [("✅" if c.held else "❌", escape(c.condition), escape(show(c.told))) for c in found]
    return _joined(
        (
            f"### planproof: gate {'passed' if held else 'failed'}",
            _table(("", "condition", "found"), rows),
            f"<sub>{escape(run_line(run, show))}</sub>",
        )
    )


def _summary(run: Run, summary: Summary, show: Show) -> Iterator[str]:
    if summary.mean is None:
        yield f"### planproof: {many(summary.cases, 'case')}, none with a score"
    else:
        yield f"### planproof: mean {summary.mean:.3f} over {many(summary.scored, 'scored case')}"
        yield f"{summary.passed:,} of {summary.scored:,} at {summary.min_score:g} or above."
        most = max(summary.levels.values())
        rows = [
            (f"{level}", LEVELS[level], f"{count:,}", bar(count, most)[::_BAR_PART])
            for level, count in summary.levels.items()
        ]
        yield _table(("score", "", "cases", ""), rows)
    if summary.unscored:
        rows = [(escape(show(cause)), f"{count:,}") for cause, count in summary.unscored.items()]
        yield _table(("not scored", "cases"), rows)
    yield from _steps("steps most often missed", summary.missed, show)
    low = [
        (score_digits(case.score or 0.0), code(case.name, show), short(show(case.reason)))
        for case in summary.lowest
    ]
    if low:
        yield _table(("lowest", "case", "reason"), low)
    unjudged = [(code(case.name, show), short(show(case.reason))) for case in summary.unjudged]
    if unjudged:
        yield _table(("not judged", "reason"), unjudged)
    cost = "" if summary.cost is None else f"<br>asked: {cost_line(summary.cost)}"
    yield f"<sub>{escape(run_line(run, show))}{cost}</sub>"


def _comparison(base: Run, new: Run, comparison: Comparison, show: Show) -> Iterator[str]:
    counts = (
        f"{comparison.better:,} better, {comparison.worse:,} worse, {comparison.same:,} the same"
    )
    yield f"### planproof: {counts}"
    if comparison.mean_change is None:
        yield "No case has a score in both runs."
    else:
        figures = (mean_told(comparison), passing_told(comparison), chance_told(comparison))
        yield "<br>".join(map(_sentence, figures))
    if left := left_out(comparison):
        yield f"Not compared: {left}."
    if comparison.altered:
        yield _sentence(altered_told(comparison))
    for caution in cautions(base, new):
        yield f"⚠️ {caution}"
    yield from _steps("steps that broke", comparison.broken, show)
    yield from _changes("worse", comparison.worst, comparison.worse, show)
    yield from _changes("no longer scored", comparison.lost, comparison.no_longer_scored, show)
    yield from _changes("better", comparison.best, comparison.better, show)
    runs = (f"base: {run_line(base, show)}", f"new: {run_line(new, show)}")
    yield f"<sub>{'<br>'.join(map(escape, runs))}</sub>"


def _sentence(told: str) -> str:
    return f"{told[0].upper()}{told[1:]}."


def _steps(title: str, steps: Sequence[StepCount], show: Show) -> Iterator[str]:
    rows = [
        (short(show(step.text)), f"{step.lapses:,} of {step.total:,}", lapses_of(step))
        for step in steps
    ]
    if rows:
        yield _table((title, "cases", ""), rows)


def _changes(title: str, changes: Sequence[Change], count: int, show: Show) -> Iterator[str]:
    rows = [
        (change_told(change), code(change.new.name, show), short(why_told(change, show)))
        for change in changes[:_MOST_CHANGES]
    ]
    if not rows:
        return
    if count > len(rows):
        rows.append(("", f"and {count - len(rows):,} more", ""))
    yield _table((title, "case", ""), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(head), f"|{'---|' * len(head)}", *map(_row, rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
