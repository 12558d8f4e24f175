"""View of a run summary for the template `run_summary.html.jinja`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from planproof.core.content import Json
from planproof.core.finding import Severity, Status
from planproof.core.verdict import Measures
from planproof.reports.wording import (
    LEVEL_LABELS,
    OUTCOME_LABELS,
    STATUS_LABELS,
    STATUS_MARKS,
    TextSanitizer,
    format_cost,
    format_low_confidence_count,
    format_score,
    list_measures,
    pluralize,
)
from planproof.runs.run_records import Result, Run
from planproof.runs.summary import StepCount, Summary

_MAX_STEPS = 6
_EXTRA_MARK = "+"
UNSCORED = "none"
"""Key for cases without a score, in addition to the levels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Number of cases at a level.

    `key` names the level; `width` is a percentage of the longest bar.
    """

    key: str
    digits: str
    name: str
    count: int
    width: float


@dataclass(frozen=True, slots=True)
class ShareBar:
    """The mean of a measure over the cases of a run; `width` is a percentage."""

    name: str
    mean: str
    width: float


@dataclass(frozen=True, slots=True)
class StatusCount:
    """Number of steps with a status, or of extras with a severity."""

    status: str
    mark: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A segment of a bar; `start` and `width` are percentages of it, `key` names what it counts."""

    key: str
    count: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class FailedStep:
    """A step not executed as planned, with counts by status; `key` is a hash of its text."""

    key: str
    text: str
    total: int
    counts: tuple[StatusCount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummaryView:
    """Scores, mean measures, steps by status, and the steps that failed most often."""

    bars: tuple[Bar, ...]
    shares: tuple[ShareBar, ...]
    causes: tuple[tuple[str, int], ...]
    steps: int
    status_segments: tuple[BarSegment, ...]
    counts: tuple[StatusCount, ...]
    failed_steps: tuple[FailedStep, ...]


def build_summary_view(summary: Summary, show: TextSanitizer) -> RunSummaryView:
    """Build the view of a summary."""
    return RunSummaryView(
        bars=build_bars(summary.levels, sum(summary.unscored.values())),
        shares=build_share_bars(summary.measures),
        causes=tuple((show(cause), count) for cause, count in summary.unscored.items()),
        steps=sum(summary.statuses.values()),
        status_segments=build_segments(summary.statuses),
        counts=(*count_statuses(summary.statuses), *_count_extras(summary.extras)),
        failed_steps=build_failed_steps(summary.missed[:_MAX_STEPS], show),
    )


def build_bars(levels: Mapping[float, int], unscored: int) -> tuple[Bar, ...]:
    """Build one bar per level, and one for cases without a score if there are any."""
    largest = max(1, unscored, *levels.values())
    bars = [
        Bar(f"{level:g}", format_score(level), LEVEL_LABELS[level], count, 100 * count / largest)
        for level, count in levels.items()
    ]
    if unscored:
        bars.append(Bar(UNSCORED, "–", "not judged", unscored, 100 * unscored / largest))
    return tuple(bars)


def build_share_bars(measures: Measures) -> tuple[ShareBar, ...]:
    """Build one bar for each measure that has a mean."""
    return tuple(
        ShareBar(label, f"{value:.2f}", round(100 * value, 2))
        for label, value in list_measures(measures)
    )


def build_segments(counts: Mapping[str, int]) -> tuple[BarSegment, ...]:
    """Divide one bar into segments in proportion to the counts."""
    total = max(1, sum(counts.values()))
    start, segments = 0.0, list[BarSegment]()
    for key, count in counts.items():
        width = 100 * count / total
        if count:
            segments.append(BarSegment(key, count, round(start, 3), round(width, 3)))
        start += width
    return tuple(segments)


def count_statuses(statuses: Mapping[str, int]) -> tuple[StatusCount, ...]:
    """Count the steps by status, omitting statuses without steps."""
    return tuple(
        StatusCount(status.value, STATUS_MARKS[status], STATUS_LABELS[status], statuses[status])
        for status in Status
        if statuses.get(status)
    )


def build_failed_steps(steps: tuple[StepCount, ...], show: TextSanitizer) -> tuple[FailedStep, ...]:
    """Build the failed steps, each with its total and its deviations by status."""
    return tuple(
        FailedStep(
            hash_step(step.text),
            show(step.text),
            step.total,
            count_statuses(_count_deviations(step)),
        )
        for step in steps
    )


def hash_step(text: str) -> str:
    """Return a key for a step that does not reveal its text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def describe_run(run: Run, summary: Summary) -> Iterator[str]:
    """Yield the facts shown above the cases of a run."""
    if summary.mean is not None:
        yield f"mean {summary.mean:.3f}"
        cases = pluralize(summary.cases, "case")
        yield f"{summary.passed:,} of {cases} at {summary.min_score:g} or above"
    else:
        yield f"{pluralize(summary.cases, 'case')}, none with a score"
    if notice := format_low_confidence_count(
        summary.low_confidence, summary.scored, run.judge.name
    ):
        yield notice
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
_MAX_MARKS = 40
_MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    """One case as a table row.

    `label` is the name of its score level, or the reason why it has no score. `statuses` covers its
    first steps, `steps` counts all of them.
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
        """Build the row of a result."""
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
            name=show(result.name)[:_MAX_NAME_LENGTH],
            score=None if verdict.score is None else format_score(verdict.score),
            level=verdict.level,
            label=show(label),
            statuses=statuses[:_MAX_MARKS],
            steps=len(statuses),
            major=severities.count(Severity.MAJOR),
            minor=severities.count(Severity.MINOR),
            events=verdict.coverage.events if verdict.coverage else 0,
            seconds=round(result.seconds, 3),
        )

    @property
    def marks(self) -> list[tuple[str, str]]:
        """Status and mark of each step shown."""
        return [(status.value, STATUS_MARKS[status]) for status in self.statuses]

    @property
    def counts(self) -> tuple[StatusCount, ...]:
        """Number of steps shown, by status."""
        return count_statuses({status.value: self.statuses.count(status) for status in Status})

    def to_cells(self) -> list[Json]:
        """Return the row as `assets/overview.js` expects it."""
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
