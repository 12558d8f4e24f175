"""A deviation from the plan, and whether it can still be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from planproof.core.finding import Severity
from planproof.errors import PlanproofError


class Certainty(StrEnum):
    """The certainty of a deviation: whether later events can undo it."""

    PROVEN = "proven"
    """No continuation of the trace can undo it."""
    SUSPECTED = "suspected"
    """The trace so far shows it; later events may still undo it."""


class DeviationKind(StrEnum):
    """The kind of a deviation: an extra, or the status of a step."""

    EXTRA = "extra"
    PARTIAL = "partial"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    OUT_OF_ORDER = "out_of_order"


DeviationKey: TypeAlias = tuple[DeviationKind, str]
RaiseOn: TypeAlias = Literal["minor", "major", "proven"]
"""The deviations that stop the agent: any, a major one, or only a proven major one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A deviation at an event (`event`), of a step (`step`, its number), or both.

    A deviation of a step is always major. `confidence` comes from the judge; 1.0 if proven.
    """

    certainty: Certainty
    kind: DeviationKind
    severity: Severity
    event: str | None
    step: str | None
    why: str
    confidence: float = 1.0

    @property
    def key(self) -> DeviationKey:
        """The identity of the deviation, whatever its certainty: kind, and event or step."""
        return (self.kind, (self.event if self.kind is DeviationKind.EXTRA else self.step) or "")

    def should_stop(self, raise_on: RaiseOn | None) -> bool:
        """Return whether this deviation should stop the agent."""
        if raise_on is None or raise_on == "minor":
            return raise_on is not None
        if self.severity is not Severity.MAJOR:
            return False
        return raise_on == "major" or self.certainty is Certainty.PROVEN

    def __str__(self) -> str:
        location = f"{self.event}: " if self.event else ""
        return f"{location}{self.certainty}, {self.severity}: {self.why}"


class OffPlan(PlanproofError):
    """Raised by a monitor to stop the agent because of `deviations`."""

    def __init__(self, deviations: Sequence[Deviation]) -> None:
        first = deviations[0]
        more = f" (and {len(deviations) - 1} more)" if len(deviations) > 1 else ""
        super().__init__(
            f"the agent deviated from its plan: {first.why}{more}.",
            where=first.event,
            advice="Stop here, or make a new plan.",
        )
        self.deviations = tuple(deviations)

    def __reduce__(self) -> tuple[object, ...]:
        return (OffPlan, (self.deviations,))
