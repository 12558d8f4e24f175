"""The plan: its steps, with their printed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from planproof.core.content import Image

InForce: TypeAlias = Literal["first", "latest"]
"""The plan that counts if a trace declares several: the first, or each until the next."""


class Origin(StrEnum):
    """The origin of a plan; judging against an inferred plan is circular."""

    GIVEN = "given"
    DECLARED = "declared"
    INFERRED = "inferred"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One item of the plan, with its printed number ("3", "2.1").

    `parts` are the things that the step asks for, one or more, all of which must be done. `choices`
    are alternatives ("A or B"), one of which suffices; empty if there is no choice. `condition` is
    the "if ..." of a conditional step. `parent` is the number of the step that this one refines.
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
    """The steps in plan order, and their images. Only the `leaves` are counted."""

    steps: tuple[Step, ...]
    origin: Origin = Origin.GIVEN
    images: tuple[Image, ...] = ()

    @property
    def leaves(self) -> tuple[Step, ...]:
        """The steps that no other step refines."""
        parents = {step.parent for step in self.steps}
        return tuple(step for step in self.steps if step.number not in parents)
