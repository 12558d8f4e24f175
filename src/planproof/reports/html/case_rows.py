"""A case of a run as one row of a table."""

from __future__ import annotations

from dataclasses import dataclass

from planproof.core.content import Json
from planproof.core.finding import Severity, Status
from planproof.reports.html.summary_view import StatusCount, count_statuses
from planproof.reports.wording import (
    LEVEL_LABELS,
    OUTCOME_LABELS,
    STATUS_MARKS,
    TextSanitizer,
    format_score,
)
from planproof.runs.run_records import Result

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
