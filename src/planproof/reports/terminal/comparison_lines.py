"""A comparison of two runs, and a gate, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planproof.reports.terminal.lines import WIDTH, Line, cut, folded, titled, wrapped
from planproof.reports.terminal.run_lines import run_line, step_lines
from planproof.reports.wording import STATUSES, Show, many, score_digits
from planproof.runs.compare import Change, Comparison
from planproof.runs.gate import Check
from planproof.runs.run_records import Run

_MOST_CHANGES = 10
_WIDEST_NAME = 30


def comparison_lines(base: Run, new: Run, comparison: Comparison, show: Show) -> Iterator[Line]:
    """Better, worse, same; means and chance; which steps broke, and in which cases."""
    yield (cut(f"base  {run_line(base, show)}", WIDTH),)
    yield (cut(f"new   {run_line(new, show)}", WIDTH),)
    for caution in cautions(base, new):
        yield from wrapped(caution, "yellow")
    yield ()
    yield (
        f"{many(comparison.paired, 'pair')}: ",
        (f"{comparison.better:,} better", "green" if comparison.better else ""),
        ", ",
        (f"{comparison.worse:,} worse", "red" if comparison.worse else ""),
        f", {comparison.same:,} the same",
    )
    if comparison.mean_change is not None:
        for told in (mean_told(comparison), passing_told(comparison), chance_told(comparison)):
            yield from wrapped(told)
    if left := left_out(comparison):
        yield from wrapped(f"not compared: {left}")
    if comparison.altered:
        yield (altered_told(comparison),)
    yield from step_lines("steps that broke", comparison.broken, show)
    for title, changes, count in (
        ("worse", comparison.worst, comparison.worse),
        ("better", comparison.best, comparison.better),
        ("no longer scored", comparison.lost, comparison.no_longer_scored),
    ):
        yield from _changes(title, changes, count, show)
    for title, names, count in (
        ("only in the base", comparison.only_base_names, comparison.only_base),
        ("only in the new run", comparison.only_new_names, comparison.only_new),
    ):
        shown = names[:_MOST_CHANGES]
        yield from titled(_of(title, len(shown), count), [(show(name),) for name in shown])


def gate_lines(run: Run, found: Sequence[Check], show: Show) -> Iterator[Line]:
    """Whether a run passes, and every condition with its figures."""
    broken = [check for check in found if not check.held]
    yield (
        (f"gate {'failed' if broken else 'passed'}", "bold red" if broken else "bold green"),
        f": {cut(run_line(run, show), WIDTH - 13)}",
    )
    for check in found:
        mark = ("✓", "green") if check.held else ("✗", "red")
        first, *rest = folded(f"{check.condition}: {show(check.told)}", WIDTH - 4)
        yield ("  ", mark, f" {first}")
        yield from ((f"    {told}",) for told in rest)


def mean_told(comparison: Comparison) -> str:
    """The means of the pairs, their change, and its interval."""
    told = f"mean {comparison.base_mean:.3f} → {comparison.new_mean:.3f}"
    told += f", change {comparison.mean_change:+.3f}"
    if spread := comparison.interval:
        told += f", 95 % interval {spread.low:+.3f} to {spread.high:+.3f}"
    return told


def passing_told(comparison: Comparison) -> str:
    """How many pairs pass in which run."""
    passing = comparison.passing
    return (
        f"at {comparison.min_score:g} or above: {passing.both:,} in both, {passing.broke:,} no "
        f"longer, {passing.mended:,} newly, {passing.neither:,} in neither"
    )


def chance_told(comparison: Comparison) -> str:
    """Whether it could be chance which run a case passes in."""
    return f"by chance alone such a split has p = {comparison.passing.p:.3g} (McNemar, exact)"


def left_out(comparison: Comparison) -> str:
    """The cases that have no pair of scores."""
    counts = {
        "no longer scored": comparison.no_longer_scored,
        "newly scored": comparison.newly_scored,
        "scored in neither": comparison.unscored,
        "only in the base": comparison.only_base,
        "only in the new run": comparison.only_new,
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def altered_told(comparison: Comparison) -> str:
    """How many pairs are no longer of the very same case."""
    return f"task, plan or trace are others now in {many(comparison.altered, 'pair')}"


def cautions(base: Run, new: Run) -> Iterator[str]:
    """What to know before the figures are believed."""
    if base.fingerprint != new.fingerprint:
        yield "The runs were judged differently: a change may come from the judge."
    for name, run in (("base", base), ("new run", new)):
        if run.state.value != "finished":
            yield f"The {name} is {run.state.value}: not all of its cases are here."


def change_told(change: Change) -> str:
    """The scores of a case in both runs."""
    now = change.new.score
    return f"{score_digits(change.base)} → {'none' if now is None else score_digits(now)}"


def why_told(change: Change, show: Show) -> str:
    """The steps that broke in a case; where none did, the reason of its new verdict."""
    if not change.broken:
        return show(change.new.reason)
    return ", ".join(f"step {show(s.number)} {STATUSES[s.status]}" for s in change.broken)


def _changes(title: str, changes: Sequence[Change], count: int, show: Show) -> Iterator[Line]:
    shown = changes[:_MOST_CHANGES]
    rows = [
        (
            change_told(change),
            cut(show(change.new.name), _WIDEST_NAME),
            (why_told(change, show), "dim"),
        )
        for change in shown
    ]
    return titled(_of(title, len(rows), count), rows)


def _of(title: str, shown: int, count: int) -> str:
    return title if shown == count else f"{title}, {shown:,} of {count:,}"
