"""Compute the score from findings, the smallest change that would raise it, and measures."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.phrases import format_name, format_steps, join_items
from planproof.core.score_table import Tally, find_row
from planproof.core.trace import Kind, Trace
from planproof.core.verdict import Measures, NearestBetter

LEVELS = (1.0, 0.75, 0.5, 0.25, 0.0)
_IN_ORDER = frozenset({Status.EXECUTED, Status.PARTIAL})
_DIGITS = 4


def floor_to_level(score: float) -> float:
    """Return the level of the scale at or below a score."""
    return next((level for level in LEVELS if level <= score), 0.0)


def compute_score(findings: Findings) -> float:
    """Return the score that the table gives for these findings."""
    return _score_tally(Tally.of(findings))


def find_nearest_better(findings: Findings) -> NearestBetter | None:
    """Return the smallest change of findings that gives a better score; None at the top.

    If the same number of changes reaches several levels, the best one is returned.
    """
    tally = Tally.of(findings)
    now = _score_tally(tally)
    ways = [repair(tally) for level, repair in _REPAIRS.items() if level > now]
    reached = [(way, _score_tally(way.apply_to(tally))) for way in ways]
    better = [(way, score) for way, score in reached if score > now]
    if not better:
        return None
    nearest, score = min(better, key=lambda option: (option[0].size, -option[1]))
    return NearestBetter(score=score, change=f"if {_describe_repair(nearest, findings)}")


def compute_measures(findings: Findings, trace: Trace) -> Measures:
    """Compute the shares of executed steps, steps in order and planned actions.

    Actions that do nothing but print, which no finding names, are not counted.
    """
    counted = findings.counted_steps
    placed = [step for step in counted if step.has_position]
    extra = {extra.event for extra in findings.extras}
    covered = {event for step in findings.steps for event in step.covers}
    covered |= {cited.event for step in findings.steps for cited in step.evidence}
    planned = _count_actions(covered - extra, trace)
    return Measures(
        step_share=_divide(sum(s.status is Status.EXECUTED for s in counted), len(counted)),
        order_share=_divide(sum(s.status in _IN_ORDER for s in placed), len(placed)),
        action_share=_divide(planned, planned + _count_actions(extra, trace)),
    )


def _count_actions(ids: set[str], trace: Trace) -> int:
    events = [event for id_ in ids if (event := trace.by_id.get(id_)) is not None]
    return sum([event.kind is Kind.ACTION and event.actor != "user" for event in events])


def _divide(part: int, whole: int) -> float | None:
    return round(part / whole, _DIGITS) if whole else None


class _Repair(Struct, frozen=True, kw_only=True):
    """The number of findings to change: steps to make executed, extras to drop."""

    moved: int = 0
    recovered: int = 0
    completed: int = 0
    major: int = 0
    minor: int = 0

    @property
    def size(self) -> int:
        return self.moved + self.recovered + self.completed + self.major + self.minor

    def apply_to(self, tally: Tally) -> Tally:
        return Tally(
            n=tally.n,
            E=tally.E + self.moved + self.recovered + self.completed,
            P=tally.P - self.completed,
            L=tally.L - self.recovered,
            O=tally.O - self.moved,
            M=tally.M - self.major,
            m=tally.m - self.minor,
        )


def _to_perfect(t: Tally) -> _Repair:
    return replace(_to_strong(t), minor=t.m)


def _to_strong(t: Tally) -> _Repair:
    return _Repair(moved=t.O, recovered=t.L, completed=t.P, major=t.M, minor=max(0, t.m - 1))


def _to_partial(t: Tally) -> _Repair:
    """Fix the order, keep at most one missing step or major extra, execute half of the steps."""
    too_many = max(0, t.L + t.M - 1)
    recovered = min(t.L, too_many)
    short = max(0, (t.n + 1) // 2 - (t.E + t.O + recovered))
    # Recovering a step helps both conditions; completing a partial one only the second.
    further = min(t.L - recovered, short)
    return _Repair(
        moved=t.O,
        recovered=recovered + further,
        completed=short - further,
        major=too_many - recovered,
    )


def _to_weak(t: Tally) -> _Repair:
    """Leave the rows that give 0.0: move some steps, and recover no more than needed."""
    ways = [
        _Repair(moved=moved, recovered=_count_recoveries_to_leave_zero(t, moved))
        for moved in range(t.O + 1)
    ]
    leaving = [way for way in ways if _score_tally(way.apply_to(t)) > 0]
    # Completing a partial step never helps more here than recovering a missing one.
    return min(leaving, key=lambda way: (way.size, way.recovered), default=_Repair())


def _count_recoveries_to_leave_zero(t: Tally, moved: int) -> int:
    """Return how many missing steps must be recovered after moving `moved` steps."""
    displaced, executed = t.O - moved, t.E + moved
    for_order = displaced + t.L - (2 * t.n - 1) // 3 if displaced else 0
    for_rest = min(t.n // 3 + 1 - executed, t.L - (2 * t.n - 1) // 3)
    return min(t.L, max(0, for_order, for_rest))


_REPAIRS = {1.0: _to_perfect, 0.75: _to_strong, 0.5: _to_partial, 0.25: _to_weak}


def _score_tally(tally: Tally) -> float:
    return find_row(tally).score


def _describe_repair(repair: _Repair, findings: Findings) -> str:
    """Describe the repair in words, naming the first findings of each kind."""
    steps = findings.counted_steps
    lost = [s for s in steps if s.status in {Status.MISSING, Status.AMBIGUOUS}][: repair.recovered]
    partial = [s for s in steps if s.status is Status.PARTIAL][: repair.completed]
    displaced = [s for s in steps if s.status is Status.OUT_OF_ORDER][: repair.moved]
    extras = [
        extra
        for severity, number in ((Severity.MAJOR, repair.major), (Severity.MINOR, repair.minor))
        for extra in [e for e in findings.extras if e.severity is severity][:number]
    ]
    clauses = [
        _describe_move(displaced, steps) if displaced else "",
        f"{format_steps([s.number for s in lost])} had been executed" if lost else "",
        f"{format_steps([s.number for s in partial])} had been executed in full" if partial else "",
        f"{_format_extras(extras)} had not been done" if extras else "",
    ]
    return join_items([clause for clause in clauses if clause], most=4)


def _describe_move(displaced: list[StepFinding], steps: tuple[StepFinding, ...]) -> str:
    if len(displaced) > 1:
        return f"{format_steps([step.number for step in displaced])} had come in plan order"
    (step,) = displaced
    position = next(index for index, other in enumerate(steps) if other is step)
    before = [s.number for s in steps[:position] if s.status in _IN_ORDER and s.evidence][-1:]
    after = [s.number for s in steps[position + 1 :] if s.status in _IN_ORDER and s.evidence][:1]
    subject = format_steps([step.number])
    if before and after:
        return f"{subject} had come between {format_steps([*before, *after])}"
    if before or after:
        return (
            f"{subject} had come {'after' if before else 'before'} {format_steps(before or after)}"
        )
    return f"{subject} had come in plan order"


def _format_extras(extras: list[Extra]) -> str:
    names = join_items(
        extras, format_item=lambda extra: f"{format_name(extra.event)} ({format_name(extra.what)})"
    )
    return f"the extra{'s' * (len(extras) > 1)} {names}"
