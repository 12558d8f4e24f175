"""What a run comes to, ready for the template `boards.html.jinja`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from planproof.core.content import Json
from planproof.core.finding import Severity, Status
from planproof.reports.wording import (
    LEVEL_LABELS,
    OUTCOME_LABELS,
    STATUS_LABELS,
    STATUS_MARKS,
    TextSanitizer,
    format_cost,
    format_score,
    pluralize,
)
from planproof.runs.run_records import Result, Run
from planproof.runs.summary import StepCount, Summary

_MOST_STEPS = 6
_EXTRA_MARK = "+"
UNSCORED = "none"
"""The key of what has no score, beside those of the levels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """How many cases have a score; `key` names the level, and `part` is of the longest bar."""

    key: str
    digits: str
    name: str
    count: int
    width: float


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many steps ended in a status, or extras of a severity there are."""

    status: str
    mark: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A part of a bar: where it begins and how wide it is, of 100; what it stands for."""

    key: str
    count: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class FailedStep:
    """A step that was not executed as planned, in how many cases and how; `key` is short for it."""

    key: str
    text: str
    total: int
    counts: tuple[StatusCount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummaryView:
    """The scores, the steps by status, and what broke most."""

    bars: tuple[Bar, ...]
    causes: tuple[tuple[str, int], ...]
    steps: int
    status_segments: tuple[BarSegment, ...]
    counts: tuple[StatusCount, ...]
    failed_steps: tuple[FailedStep, ...]


def build_summary_view(summary: Summary, show: TextSanitizer) -> RunSummaryView:
    """What a summary shows at a glance."""
    return RunSummaryView(
        bars=build_bars(summary.levels, sum(summary.unscored.values())),
        causes=tuple((show(cause), count) for cause, count in summary.unscored.items()),
        steps=sum(summary.statuses.values()),
        status_segments=build_segments(summary.statuses),
        counts=(*count_statuses(summary.statuses), *_count_extras(summary.extras)),
        failed_steps=build_failed_steps(summary.missed[:_MOST_STEPS], show),
    )


def build_bars(levels: Mapping[float, int], unscored: int) -> tuple[Bar, ...]:
    """A bar a level, and one for what has no score if there is any."""
    largest = max(1, unscored, *levels.values())
    bar_list = [
        Bar(f"{level:g}", format_score(level), LEVEL_LABELS[level], count, 100 * count / largest)
        for level, count in levels.items()
    ]
    if unscored:
        bar_list.append(Bar(UNSCORED, "–", "not judged", unscored, 100 * unscored / largest))
    return tuple(bar_list)


def build_segments(counts: Mapping[str, int]) -> tuple[BarSegment, ...]:
    """One bar of all that is counted, divided."""
    total = max(1, sum(counts.values()))
    start, segments = 0.0, list[BarSegment]()
    for key, count in counts.items():
        width = 100 * count / total
        if count:
            segments.append(BarSegment(key, count, round(start, 3), round(width, 3)))
        start += width
    return tuple(segments)


def count_statuses(statuses: Mapping[str, int]) -> tuple[StatusCount, ...]:
    """How many steps ended in each status that any of them did."""
    return tuple(
        StatusCount(status.value, STATUS_MARKS[status], STATUS_LABELS[status], statuses[status])
        for status in Status
        if statuses.get(status)
    )


def build_failed_steps(steps: tuple[StepCount, ...], show: TextSanitizer) -> tuple[FailedStep, ...]:
    """Steps with how often they lapsed, of how many, and in which way."""
    return tuple(
        FailedStep(
            step_key(step.text),
            show(step.text),
            step.total,
            count_statuses(_count_deviations(step)),
        )
        for step in steps
    )


def step_key(text: str) -> str:
    """A name for a step that tells nothing of it."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def describe_run(run: Run, summary: Summary) -> Iterator[str]:
    """What is to be known of the run before its cases."""
    if summary.mean is not None:
        yield f"mean {summary.mean:.3f}"
        cases = pluralize(summary.cases, "case")
        yield f"{summary.passed:,} of {cases} at {summary.min_score:g} or above"
    else:
        yield f"{pluralize(summary.cases, 'case')}, none with a score"
    yield f"{run.source}, judged by {run.judge.name}"
    yield f"{run.created:%Y-%m-%d %H:%M} UTC, {run.state.value}"
    yield from (f"{name}={value}" for name, value in sorted(run.tags.items()))
    if summary.cost is not None:
        yield format_cost(summary.cost)


def _count_deviations(step: StepCount) -> dict[str, int]:
    return {
        status.value: getattr(step, status.value)
        for status in Status
        if status is not Status.EXECUTED
    }


def _count_extras(severities: Mapping[str, int]) -> Iterator[StatusCount]:
    for severity in Severity:
        if count := severities[severity]:
            label = f"{severity.value} extra{'' if count == 1 else 's'}"
            yield StatusCount(severity.value, _EXTRA_MARK, label, count)


STATUS_LETTERS = {
    Status.EXECUTED: "e",
    Status.PARTIAL: "p",
    Status.MISSING: "m",
    Status.AMBIGUOUS: "a",
    Status.OUT_OF_ORDER: "o",
}
_MOST_MARKS = 40
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """What is told of a case in a line; `called` names its score, or says why it has none.

    `statuses` are those of its first steps, and `steps` is how many it has in all.
    """

    position: int
    name: str
    score: str | None
    level: float | None
    label: str
    statuses: tuple[Status, ...]
    steps: int
    major: int
    minor: int
    events: int
    seconds: float

    @staticmethod
    def from_result(result: Result, show: TextSanitizer) -> CaseRow:
        """The row of a result."""
        verdict = result.verdict
        severities = [extra.severity for extra in verdict.extras]
        if verdict.level is not None:
            label = LEVEL_LABELS[verdict.level]
        else:
            cause = f" ({verdict.cause})" if verdict.cause else ""
            label = f"{OUTCOME_LABELS[verdict.outcome]}{cause}"
        statuses = tuple(step.status for step in verdict.findings.counted_steps)
        return CaseRow(
            position=result.position,
            name=show(result.name)[:_LONGEST_NAME],
            score=None if verdict.score is None else format_score(verdict.score),
            level=verdict.level,
            label=show(label),
            statuses=statuses[:_MOST_MARKS],
            steps=len(statuses),
            major=severities.count(Severity.MAJOR),
            minor=severities.count(Severity.MINOR),
            events=verdict.coverage.events if verdict.coverage else 0,
            seconds=round(result.seconds, 3),
        )

    @property
    def marks(self) -> list[tuple[str, str]]:
        """The status of each step and its mark."""
        return [(status.value, STATUS_MARKS[status]) for status in self.statuses]

    @property
    def counts(self) -> tuple[StatusCount, ...]:
        """The same in words."""
        return count_statuses({status.value: self.statuses.count(status) for status in Status})

    def to_cells(self) -> list[Json]:
        """The row as `assets/overview.js` takes it."""
        return [
            self.position,
            self.name,
            self.score,
            self.level,
            self.label,
            "".join(STATUS_LETTERS[status] for status in self.statuses),
            self.steps,
            self.major,
            self.minor,
            self.events,
            self.seconds,
        ]
