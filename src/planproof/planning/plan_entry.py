"""One item of a plan before it has its number."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """An item as it was read; `parent` is the place of the item that it refines."""

    text: str
    label: str | None = None
    parent: int | None = None
    condition: str | None = None
    optional: bool = False
    free_order: bool = False


@dataclass(slots=True)
class PlanDraft:
    """The items of a plan, in order, and what is said around them."""

    remarks: str = ""
    entries: list[PlanEntry] = field(default_factory=list[PlanEntry])
