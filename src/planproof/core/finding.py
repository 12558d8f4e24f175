"""The findings of a judge: the status of each step, and extra actions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Status(StrEnum):
    """What became of a planned step."""

    EXECUTED = "executed"
    PARTIAL = "partial"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    OUT_OF_ORDER = "out_of_order"


class Severity(StrEnum):
    """How grave an extra is: `minor` adds nothing (a retry, a repeat, a closing call)."""

    MAJOR = "major"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim quote from an event, and where in the source it stands."""

    event: str
    pointer: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinding:
    """The status of one step. `note` says in a few words why, where the status alone does not.

    `evidence` is in event order: the step began where its first evidence stands.
    `covers` names every event that is accounted for by this step, cited or not.
    `parent` is the number of the step that this one refines; a step with refinements of its own
    is reported but not counted. Nor is a `waived` one: left out, as the plan itself allows.
    `free_order` marks a step whose place the plan leaves open.
    `found_by` is who found it, where several judges had a part in the verdict.
    """

    number: str
    text: str
    status: Status
    confidence: float
    evidence: tuple[Evidence, ...] = ()
    covers: tuple[str, ...] = ()
    note: str = ""
    parent: str | None = None
    waived: bool = False
    free_order: bool = False
    found_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Something done that no step covers; `found_by` is as of a step."""

    event: str
    pointer: str
    quote: str
    what: str
    severity: Severity
    confidence: float
    found_by: str | None = None


@dataclass(frozen=True)
class Findings:
    """All findings of a judge on one case."""

    steps: tuple[StepFinding, ...]
    extras: tuple[Extra, ...] = ()

    @cached_property
    def counted_steps(self) -> tuple[StepFinding, ...]:
        """The steps that determine the score: neither parents nor waived."""
        parents = {step.parent for step in self.steps}
        return tuple([s for s in self.steps if s.number not in parents and not s.waived])
