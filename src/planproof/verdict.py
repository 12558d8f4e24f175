"""The verdict: outcome, score, reason, and everything they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from planproof.content import Json
from planproof.finding import Extra, StepFinding


class Outcome(StrEnum):
    """Whether a case could be judged; only a scored verdict has a score."""

    SCORED = "scored"
    NO_PLAN = "no_plan"
    NO_EVENTS = "no_events"
    INVALID_INPUT = "invalid_input"
    JUDGE_FAILED = "judge_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    """Which plan the trace was held against."""

    origin: str
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the trace was read, by which reader, and what was left out."""

    reader: str
    events: int
    by_kind: dict[str, int] = field(default_factory=dict[str, int])
    skipped: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSummary:
    """Which judge gave the verdict; the fingerprint changes whenever its answers may."""

    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """SHA-256 digests of what was judged."""

    task: str
    plan: str
    trace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestBetter:
    """The smallest change of findings that would reach the next level."""

    score: float
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One case, judged; or the reason why it could not be."""

    outcome: Outcome
    reason: str
    score: float | None = None
    level: float | None = None
    id: str | None = None
    steps: tuple[StepFinding, ...] = ()
    extras: tuple[Extra, ...] = ()
    nearest_better: NearestBetter | None = None
    plan: PlanSummary | None = None
    coverage: Coverage | None = None
    judge: JudgeSummary | None = None
    inputs: Inputs | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])

    def brief(self) -> dict[str, float | str | None]:
        """Exactly the two fields of the specification; the score is null unless `scored`."""
        return {"score": self.score, "reason": self.reason}
