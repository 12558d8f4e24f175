"""The contract: what a run must show for every step of a plan, as data.

These classes are the contract file in its long form. `contracts/contract_file.py` reads the short
forms, `checking/` decides what a requirement means for an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from planproof.core.plan import Origin, Plan, Step

CONTRACT_FORMAT = "contract/1"
ANY_ARGUMENT = "*"
"""The name of an argument that stands for all arguments of a call: one of them must match."""


class Truth(StrEnum):
    """The result of checking one condition."""

    MATCH = "match"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"
    """The trace does not show the value: it was not recorded, cut, or computed. Never a match."""


class Match(StrEnum):
    """How well a candidate satisfies a requirement."""

    FULL = "full"
    """It is the action, and all values match."""
    NEAR = "near"
    """It is the action, with a value that does not match."""
    OPEN = "open"
    """It is the action, and no value mismatches, but at least one is unknown."""
    NONE = "none"
    """It is another action."""


# Structs share these options: unknown fields are errors, defaults are not written.
class _Data(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of a contract."""


class SqlCondition(_Data, frozen=True):
    """What an SQL statement must do: its verb, and tables and columns that it must name."""

    verb: str | None = None
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


class Condition(
    _Data, frozen=True, rename={"not_": "not", "for_": "for", "any_value": "any", "is_each": "each"}
):
    """A condition on one value; all forms that are given must hold.

    `any_of` are texts, one of which must occur as whole words. `equals` and `glob` compare the
    whole value. `number` (with `tolerance`), `min` and `max` compare numbers, `date` dates that may
    be partial (`--03-12`), `path` and `url` by their parts. `program` and `argument` are of one
    shell command, `calls` are functions that Python code calls, `sql` is a statement. `any_value`
    only requires the argument to be there. `not_` are texts that must not occur. `from_step`: the
    value occurs in a result of that step. `same_as`: it occurs in a call of that step, or in its
    result. `var`: it equals that variable. `is_each` stands for the current value of the
    requirement's `each`. `for_` quotes the words of the step that the value stands for. `all_of`
    are further conditions on the same value.
    """

    any_of: tuple[str, ...] = ()
    equals: str | None = None
    glob: str | None = None
    number: float | None = None
    tolerance: float = 0.0
    min: float | None = None
    max: float | None = None
    date: str | None = None
    path: str | None = None
    url: str | None = None
    program: tuple[str, ...] = ()
    argument: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    sql: SqlCondition | None = None
    any_value: bool = False
    not_: tuple[str, ...] = ()
    from_step: str | None = None
    same_as: str | None = None
    var: str | None = None
    is_each: bool = False
    for_: str | None = None
    all_of: tuple[Condition, ...] = ()

    @property
    def parts(self) -> tuple[Condition, ...]:
        """The condition without its `all_of`, and those in it one by one."""
        if not self.all_of:
            return (self,)
        further = (part for condition in self.all_of for part in condition.parts)
        return (replace(self, all_of=()), *further)


Conditions: TypeAlias = dict[str, Condition]
"""Conditions by the argument that they are about; nested arguments as `a.b`."""


class MessageCondition(_Data, frozen=True, rename={"not_": "not"}):
    """What a message, or reasoning, must say.

    `says` are groups of alternatives: one of each group must occur. `values` must occur, compared
    by type. `to` is who is addressed; `asks` requires a question. `not_` are texts that must not
    occur.
    """

    to: str | None = None
    says: tuple[tuple[str, ...], ...] = ()
    values: tuple[Condition, ...] = ()
    asks: bool = False
    not_: tuple[str, ...] = ()


class Similarity(_Data, frozen=True):
    """What the built-in compiler states about a step: words and values, graded by similarity."""

    kind: str
    words: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


class Times(_Data, frozen=True):
    """How many matches a requirement takes; `max` None means any number."""

    min: int = 1
    max: int | None = 1


class Requirement(_Data, frozen=True, rename={"is_": "is", "with_": "with"}):
    """What must be visible: a call, a message, reasoning, or one of several alternatives.

    `call` are tool names, any of which will do; with `is_` they say which action it is, and
    `where` says with which values. `absent` arguments must not be given; `only` allows no argument
    that is not named. `each` requires one match per value, `each_from` per value of the list that a
    step returned. Calls of the tools in `with_` between the first and the last match belong to it.
    `by` is the agent that must do it.
    """

    call: tuple[str, ...] = ()
    is_: Conditions = {}
    where: Conditions = {}
    absent: tuple[str, ...] = ()
    only: bool = False
    message: MessageCondition | None = None
    reasoning: MessageCondition | None = None
    like: Similarity | None = None
    any_of: tuple[Requirement, ...] = ()
    times: Times = Times()
    each: tuple[str, ...] = ()
    each_from: str | None = None
    with_: tuple[str, ...] = ()
    by: str | None = None

    @property
    def alternatives(self) -> tuple[Requirement, ...]:
        """The requirements of which one must be met: the requirement itself if it has no choice."""
        return self.any_of or (self,)

    @property
    def names_action(self) -> bool:
        """True if a call is required: by its tool, or by what it is whatever the tool."""
        return bool(self.call or self.is_)


class When(_Data, frozen=True, rename={"for_": "for"}):
    """The condition of a step: keys of the last JSON result of another step.

    Without `step` a program can't decide it. `for_` quotes the words of the plan.
    """

    step: str | None = None
    result: Conditions = {}
    for_: str | None = None


class StepContract(_Data, frozen=True):
    """The requirements of one step; all of `all_of` must be met, in that order if it is `ordered`.

    `uncheckable` says why a program can't check the step. Only a person may set `counted` to False;
    the step is then reported without counting. `optional` quotes the words of the plan that allow
    leaving it out. `else_of` is the number of the step whose condition must be false. `parent` is
    the number of the step that this one refines; a step with sub-steps has no requirements.
    """

    number: str
    text: str
    all_of: tuple[Requirement, ...] = ()
    ordered: bool = False
    when: When | None = None
    else_of: str | None = None
    optional: str | None = None
    free_order: bool = False
    uncheckable: str | None = None
    counted: bool = True
    parent: str | None = None


ToolMark: TypeAlias = Literal["bookkeeping", "supporting", "closing", "ignored"]


class ToolMarks(_Data, frozen=True):
    """What a person says about a tool: its role, and other names of it."""

    mark: ToolMark | None = None
    also: tuple[str, ...] = ()


class Variable(_Data, frozen=True, rename={"from_": "from"}):
    """Where a variable gets its value: case metadata; else its first full match binds it."""

    from_: str | None = None


class Precedence(_Data, frozen=True):
    """Every call of `then` needs an earlier call of `first`."""

    first: Requirement
    then: Requirement


class Review(_Data, frozen=True):
    """Who reviewed the contract, and when."""

    by: str
    date: str


class ContractOrigin(_Data, frozen=True):
    """Where the contract comes from: plan, tool catalogue, compiler, review.

    The promise that no trace influenced the contract holds only for a plan that was given.
    """

    plan: Origin = Origin.GIVEN
    catalogue: Literal["complete", "observed", "none"] = "none"
    catalogue_digest: str | None = None
    compiler: str = ""
    reviewed: Review | None = None


class Contract(_Data, frozen=True, rename={"variables": "vars", "format": "planproof"}):
    """A contract: the requirements of all steps, tool marks, variables and constraints.

    `plan` is the digest of the steps that it was compiled from. No call may match `never`; `before`
    are orders of calls that hold for the whole run.
    """

    format: Literal["contract/1"] = CONTRACT_FORMAT
    name: str | None = None
    plan: str | None = None
    origin: ContractOrigin = ContractOrigin()
    variables: dict[str, Variable] = {}
    tools: dict[str, ToolMarks] = {}
    steps: tuple[StepContract, ...] = ()
    never: tuple[Requirement, ...] = ()
    before: tuple[Precedence, ...] = ()

    @property
    def leaves(self) -> tuple[StepContract, ...]:
        """The steps that no other step refines."""
        parents = {step.parent for step in self.steps}
        return tuple(step for step in self.steps if step.number not in parents)

    @property
    def is_similarity(self) -> bool:
        """True if the built-in compiler wrote it: every requirement is graded by similarity."""
        return any(part.like is not None for step in self.steps for part in step.all_of)

    def to_plan(self) -> Plan:
        """Return the plan that the steps of this contract describe."""
        return Plan(
            tuple(
                Step(
                    number=step.number,
                    text=step.text,
                    parts=(step.text,),
                    condition=step.when.for_ if step.when else None,
                    optional=step.optional is not None or not step.counted,
                    free_order=step.free_order,
                    parent=step.parent,
                )
                for step in self.steps
            ),
            origin=self.origin.plan,
        )


def iter_requirements(step: StepContract) -> Iterator[Requirement]:
    """Yield the requirements of a step, alternatives one by one."""
    for requirement in step.all_of:
        yield from requirement.alternatives
