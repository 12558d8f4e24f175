"""A deviation: what has gone off the plan by now, and whether that can still be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from planproof.core.finding import Severity
from planproof.errors import PlanproofError


class Certainty(StrEnum):
    """Whether anything that may follow could undo a deviation."""

    PROVEN = "proven"
    """No continuation of the trace can undo it."""
    SUSPECTED = "suspected"
    """The trace so far shows it; what follows may still put it right."""


class DeviationKind(StrEnum):
    """What a deviation is: an extra, or the status of a step."""

    EXTRA = "extra"
    PARTIAL = "partial"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    OUT_OF_ORDER = "out_of_order"


DeviationKey: TypeAlias = tuple[DeviationKind, str]
RaiseOn: TypeAlias = Literal["minor", "major", "proven"]
"""What stops the agent: any deviation, a major one, or only a major one that is proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Something off the plan, at an event (`event`), or of a step (`step`, its number), or both.

    A lapse of a step is always major. `sureness` is the judge's own, 1.0 for what is proven.
    """

    certainty: Certainty
    kind: DeviationKind
    severity: Severity
    event: str | None
    step: str | None
    why: str
    sureness: float = 1.0

    @property
    def key(self) -> DeviationKey:
        """What it is about, whatever its certainty: an extra is its event, a lapse its step."""
        return (self.kind, (self.event if self.kind is DeviationKind.EXTRA else self.step) or "")

    def should_stop(self, raise_on: RaiseOn | None) -> bool:
        """Whether the agent is to be stopped by it."""
        if raise_on is None or raise_on == "minor":
            return raise_on is not None
        if self.severity is not Severity.MAJOR:
            return False
        return raise_on == "major" or self.certainty is Certainty.PROVEN

    def __str__(self) -> str:
        location = f"{self.event}: " if self.event else ""
        return f"{location}{self.certainty}, {self.severity}: {self.why}"


class OffPlan(PlanproofError):
    """Raised by a monitor that is to stop the agent; `deviations` are what made it."""

    def __init__(self, deviations: Sequence[Deviation]) -> None:
        first = deviations[0]
        more = f" (and {len(deviations) - 1} more)" if len(deviations) > 1 else ""
        super().__init__(
            f"the agent has left its plan: {first.why}{more}.",
            where=first.event,
            advice="Stop here, or plan anew.",
        )
        self.deviations = tuple(deviations)

    def __reduce__(self) -> tuple[object, ...]:
        return (OffPlan, (self.deviations,))
