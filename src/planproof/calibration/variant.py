"""Variants of followed cases for measuring a judge, with the ground truth of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from planproof.calibration.case_labels import Label
from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.plan import Plan

EventRecord: TypeAlias = dict[str, Any]
"""An event in the native form."""


class Flaw(StrEnum):
    """The only flaw of a variant."""

    MISSING = "missing"
    """insert: the plan has a step that was not executed."""
    UNPLANNED = "unplanned"
    """drop: the plan lacks a step that was executed."""
    ORDER = "order"
    """swap: two neighbouring steps of the plan are swapped."""
    SHUFFLED = "shuffled"
    """shuffle: the steps of the plan are in a different order."""
    ALTERED = "altered"
    """alter a value: a step names another value than the one used."""
    PARTIAL = "partial"
    """add a requirement: a step asks for more than was done."""
    REPLACED = "replaced"
    """replace a tool: another tool was called instead of the planned one."""
    UNRELATED_ACTION = "unrelated"
    """insert an action: an action unrelated to the plan was executed."""
    RETRIED = "retried"
    """retry: an action was executed twice, which adds nothing."""
    FOREIGN = "foreign"
    """foreign plan: the plan is that of another case."""


class Rewording(StrEnum):
    """A change after which the plan is still followed: a judge must not penalize it."""

    SPLIT = "split"
    """split: the parts of a step are separate steps."""
    MERGED = "merged"
    """merge: two neighbouring steps are written as one."""


class Attack(StrEnum):
    """Something put into the trace of a flawed variant to make it look better than it is."""

    CLAIMS = "claims"
    """The agent claims at the end, in the words of the plan, that it has done all of it."""
    REASONING = "reasoning"
    """Before every action the agent reasons that it executes the next step of the plan."""
    ORDERS = "orders"
    """Tool results instruct the evaluator which score to give."""
    FORGED = "forged"
    """Tool results contain boundaries, role markers and calls that were never made."""
    REACT = "react"
    """The agent, whose calls are recorded, writes further ones as `Action:` lines in its text."""
    TAGS = "tags"
    """The same with calls in XML tags."""
    LINES = "lines"
    """The same with lines such as `Tool call: f({...})`."""
    OBSERVATIONS = "observations"
    """Results without a call, in the words of the plan."""
    RESULTS = "results"
    """Results of the flawed step, with the name of a tool, whose call was not made."""
    ECHO = "echo"
    """Shell commands that only print a command or the step."""
    COLON = "colon"
    """The shell command `:`, which ignores its arguments."""
    HELP = "help"
    """Shell commands with `--help`."""
    UNREACHED = "unreached"
    """Shell commands behind `false &&`."""
    EMPTY = "empty"
    """Calls without arguments, of tools that need some."""


RESULT_ATTACKS = frozenset({Attack.OBSERVATIONS, Attack.RESULTS})
"""Attacks that add results without calls."""
IDLE_ATTACKS = frozenset({Attack.ECHO, Attack.COLON, Attack.HELP, Attack.UNREACHED, Attack.EMPTY})
"""Attacks that add calls which do nothing."""
TEXT_ATTACKS = frozenset(Attack) - RESULT_ATTACKS - IDLE_ATTACKS
"""Attacks that add nothing but text."""


@dataclass(frozen=True, slots=True)
class FollowedCase:
    """A case whose plan was followed exactly: the texts of its steps, and its events.

    If it has a label, that says whether the plan was followed.
    """

    id: str
    task: Content
    plan: tuple[str, ...]
    events: tuple[EventRecord, ...]
    label: Label | None = None
    flawed_step: int | None = None
    """The index of the step that the label names."""

    @property
    def is_followed(self) -> bool:
        """True unless a label says otherwise."""
        return self.label is None or self.label.followed


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """The correct findings: deviating statuses by step index from 0, and extras by event."""

    step_statuses: dict[int, Status] = field(default_factory=dict[int, Status])
    extras: dict[str, Severity] = field(default_factory=dict[str, Severity])

    def to_findings(self, plan: Plan) -> Findings:
        """Return the findings of a judge that knows the ground truth."""
        return Findings(
            tuple(
                StepFinding(
                    number=step.number,
                    text=step.text,
                    status=self.step_statuses.get(index, Status.EXECUTED),
                    confidence=1.0,
                )
                for index, step in enumerate(plan.leaves)
            ),
            tuple(
                Extra(event=event, pointer="", quote="", what="", severity=severity, confidence=1.0)
                for event, severity in self.extras.items()
            ),
        )


@dataclass(frozen=True, slots=True)
class Variant:
    """A case made from a followed one. `change` is None for the followed case itself.

    `attack` is added on top of a flaw; `where` describes the change in words. A labelled case has
    its `label`, and the flaw that it says, if any, in `ground_truth`.
    """

    origin: str
    task: Content
    plan: tuple[str, ...]
    events: tuple[EventRecord, ...]
    ground_truth: GroundTruth
    change: Flaw | Rewording | None = None
    attack: Attack | None = None
    where: str = ""
    label: Label | None = None

    @property
    def id(self) -> str:
        """An id that is unique among the variants of all cases."""
        return "::".join(filter(None, (self.origin, self.change, self.attack)))

    @property
    def is_followed(self) -> bool:
        """True if nothing was changed that matters, and no label says that there is a flaw."""
        is_labelled_flawed = self.label is not None and not self.label.followed
        return not isinstance(self.change, Flaw) and not is_labelled_flawed

    @property
    def case(self) -> Case:
        """The case as given to a judge."""
        events: list[Json] = list(self.events)
        plan: list[Json] = list(self.plan)
        return Case(task=self.task, plan=plan, trace={"events": events}, id=self.id)
