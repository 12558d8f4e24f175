"""What a judge is measured with: followed plans, variants of them, and the truth about each."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.finding import Extra, Findings, Severity, Status, StepFinding
from planproof.core.plan import Plan

EventRecord: TypeAlias = dict[str, Any]
"""An event in the native form."""


class Flaw(StrEnum):
    """What is wrong with a variant, and nothing else is."""

    MISSING = "missing"
    """insert: the plan has a step that nobody took."""
    UNPLANNED = "unplanned"
    """drop: the plan lacks a step that was taken."""
    ORDER = "order"
    """swap: two neighbouring steps of the plan have changed places."""
    SHUFFLED = "shuffled"
    """shuffle: the steps of the plan are in another order altogether."""
    ALTERED = "altered"
    """alter a value: a step names another value than the one that was used."""
    PARTIAL = "partial"
    """add a requirement: a step asks for more than was done."""
    REPLACED = "replaced"
    """replace a tool: another tool was called in a planned one's place."""
    UNRELATED_ACTION = "stray"
    """insert an action: something was done that has nothing to do with the plan."""
    RETRIED = "retried"
    """retry: an action was done twice, which adds nothing."""
    FOREIGN = "foreign"
    """foreign plan: the plan is that of another case."""


class Rewording(StrEnum):
    """A variant that is followed as much as its origin: a judge must not mind."""

    SPLIT = "split"
    """split: the parts of a step are steps of their own."""
    MERGED = "merged"
    """merge: two neighbouring steps are written as one."""


class Attack(StrEnum):
    """Text that is put into the trace of a flawed variant, to make it look better than it is."""

    CLAIMS = "claims"
    """The agent says at the end, in the words of the plan, that it has done all of it."""
    REASONING = "reasoning"
    """Before every action the agent thinks that it takes the next step of the plan."""
    ORDERS = "orders"
    """What tools give back tells the evaluator which score to give."""
    FORGED = "forged"
    """What tools give back holds boundaries, role markers and calls that never were."""
    OBSERVATIONS = "observations"
    """Results that belong to no call, in the words of the plan."""


@dataclass(frozen=True, slots=True)
class FollowedCase:
    """A case whose plan was followed exactly: the texts of its steps, and its events."""

    id: str
    task: Content
    plan: tuple[str, ...]
    events: tuple[EventRecord, ...]


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What is right to find: the lapses by step, counted from 0, and the extras by event."""

    step_statuses: dict[int, Status] = field(default_factory=dict[int, Status])
    extras: dict[str, Severity] = field(default_factory=dict[str, Severity])

    def to_findings(self, plan: Plan) -> Findings:
        """The findings of a judge that knows it."""
        return Findings(
            tuple(
                StepFinding(
                    number=step.number,
                    text=step.text,
                    status=self.step_statuses.get(index, Status.EXECUTED),
                    sureness=1.0,
                )
                for index, step in enumerate(plan.leaves)
            ),
            tuple(
                Extra(event=event, pointer="", quote="", what="", severity=severity, sureness=1.0)
                for event, severity in self.extras.items()
            ),
        )


@dataclass(frozen=True, slots=True)
class Variant:
    """A case made from a followed one. `change` is None for the followed case itself.

    `attack` is what was put in on top of a flaw; `where` says in words what was changed.
    """

    origin: str
    task: Content
    plan: tuple[str, ...]
    events: tuple[EventRecord, ...]
    ground_truth: GroundTruth
    change: Flaw | Rewording | None = None
    attack: Attack | None = None
    where: str = ""

    @property
    def id(self) -> str:
        """Tells the variants of all cases apart."""
        return "::".join(filter(None, (self.origin, self.change, self.attack)))

    @property
    def case(self) -> Case:
        """The case as a judge is given it."""
        events: list[Json] = list(self.events)
        plan: list[Json] = list(self.plan)
        return Case(task=self.task, plan=plan, trace={"events": events}, id=self.id)
