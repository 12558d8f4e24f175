"""The plan: its steps, with their printed numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from planproof.core.content import Image

InForce: TypeAlias = Literal["first", "latest"]
"""The plan in force if a trace declares several: the first one, or each one until the next."""


class Origin(StrEnum):
    """The origin of a plan."""

    GIVEN = "given"
    """Given with the case."""
    DECLARED = "declared"
    """Declared by the agent in the trace."""
    INFERRED = "inferred"
    """Inferred from the trace by a model; judging the same trace against it is circular."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One item of the plan, with its printed number ("3", "2.1").

    `parts` are the things that the step asks for; all of them must be done. `choices` are
    alternatives ("A or B"), one of which is enough; empty if there is no choice. `condition` is the
    "if ..." of a conditional step. `optional` steps may be left out, `loop` steps cover their
    repeats, and `free_order` steps have no fixed position. `parent` is the number of the step that
    this one refines.
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
    """The steps of a plan, in order, and its images.

    Only the `leaves` count for the score; a step with sub-steps is executed when they are.
    """

    steps: tuple[Step, ...]
    origin: Origin = Origin.GIVEN
    images: tuple[Image, ...] = ()

    @property
    def leaves(self) -> tuple[Step, ...]:
        """The steps that no other step refines."""
        parents = {step.parent for step in self.steps}
        return tuple(step for step in self.steps if step.number not in parents)
