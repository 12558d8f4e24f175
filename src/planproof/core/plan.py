"""The plan: the steps that were promised, with the numbers printed in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from planproof.core.content import Image

InForce: TypeAlias = Literal["first", "latest"]
"""Of several plans that a trace declares: the first stays in force, or each until the next."""


class Origin(StrEnum):
    """Where a plan came from; judging against an inferred one is circular."""

    GIVEN = "given"
    DECLARED = "declared"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One planned item, with the number printed in the plan ("3", "2.1").

    `parts` are the things that the step asks for, one or more, each of which must be done.
    `choices` are alternatives ("A or B"), of which one suffices; empty when there is no choice.
    `condition` is the "if ..." of a conditional step.
    `parent` is the number of the step that this one refines.
    """

    number: str
    text: str
    parts: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    condition: str | None = None
    optional: bool = False
    loop: bool = False
    free_order: bool = False
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in plan order, and the images that came with them. `leaves` are what counts."""

    steps: tuple[Step, ...]
    origin: Origin = Origin.GIVEN
    images: tuple[Image, ...] = ()

    @property
    def leaves(self) -> tuple[Step, ...]:
        """The steps that no other step refines."""
        parents = {step.parent for step in self.steps}
        return tuple(step for step in self.steps if step.number not in parents)
