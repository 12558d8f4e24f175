"""The findings of a judge: the status of each step, and extra actions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from planproof.core.contract import Truth


class Status(StrEnum):
    """The status of a planned step."""

    EXECUTED = "executed"
    """The trace shows it."""
    PARTIAL = "partial"
    """Only a part of it was done, or with another target or value."""
    MISSING = "missing"
    """The trace does not show it."""
    AMBIGUOUS = "ambiguous"
    """The trace does not show clearly that it was done; it counts as not executed."""
    OUT_OF_ORDER = "out_of_order"
    """It was done, but not at its position in the plan."""


_PRESENT = frozenset({Status.EXECUTED, Status.PARTIAL, Status.OUT_OF_ORDER})
CONDITION_NOT_MET = "condition not met"
"""The note on a step that was rightly not executed."""
EQUATED = "same"
"""The path of a check of words that a model says mean the same, such as Boston and BOS."""
VALUE = "value"
"""The path of a check of a value of the step, compared by its type."""
EQUATED_CONFIDENCE = 0.8
"""The highest confidence of a finding that depends on such words."""


class Severity(StrEnum):
    """The severity of an extra."""

    MAJOR = "major"
    """It does something that the plan does not include."""
    MINOR = "minor"
    """It adds nothing: a retry, a repeat, or a closing call."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim quote from an event, and its position in the source."""

    event: str
    pointer: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one condition of a contract, or of comparing a value in `audit`.

    `path` names the condition (`call`, `is.cmd`, `where.origin`, `message.says.0`), or is `value`
    or, for words that a model says mean the same, `same`. `found` is what
    `event` shows, empty if it shows nothing; `event` is None if no event came near.
    """

    path: str
    expected: str
    found: str
    event: str | None
    result: Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinding:
    """The status of one step, with its evidence.

    `evidence` is in event order: the step began at the event of its first evidence. `covers` lists
    every event that the step accounts for, cited or not. `note` explains the status in a few words
    if it needs an explanation. `parent` is the number of the step that this one refines; a step
    with sub-steps is reported but not counted. A `waived` step was left out as the plan allows, and
    is not counted either. `free_order` marks a step without a fixed position. `found_by` names the
    judge that made the finding if several judges contributed to the verdict. `checks` are the
    conditions of the step's contract, as they were checked, or the values that `audit` compared.
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
    checks: tuple[Check, ...] = ()

    @property
    def has_position(self) -> bool:
        """True if the step began somewhere, and its place in the plan is fixed.

        A step whose condition did not hold did not begin: its evidence is a result of another step.
        """
        is_left_out = self.status is Status.EXECUTED and self.note.startswith(CONDITION_NOT_MET)
        return self.status in _PRESENT and not self.free_order and not is_left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Something that the agent did and no step covers.

    `what` describes it; `found_by` is the same as in a step finding.
    """

    event: str
    pointer: str
    quote: str
    what: str
    severity: Severity
    confidence: float
    found_by: str | None = None


@dataclass(frozen=True)
class Findings:
    """All findings of a judge on one case; its `notes` belong to the coverage of the trace."""

    steps: tuple[StepFinding, ...]
    extras: tuple[Extra, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def counted_steps(self) -> tuple[StepFinding, ...]:
        """The steps that determine the score: neither parents nor waived steps."""
        parents = {step.parent for step in self.steps}
        return tuple([s for s in self.steps if s.number not in parents and not s.waived])
