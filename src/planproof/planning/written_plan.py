"""A plan written as text, line by line or as prose."""

from __future__ import annotations

from planproof.planning.list_markers import has_text
from planproof.planning.plan_entry import PlanDraft, PlanEntry
from planproof.planning.prose_plans import read_prose
from planproof.planning.text_plans import read_outline


def parse_plan_text(text: str) -> PlanDraft:
    """The items of a written plan: its list if it has one, else what its prose tells."""
    outline = read_outline(text)
    if not outline.items:
        prose_steps = read_prose(text)
        return PlanDraft(entries=[PlanEntry(text=step) for step in prose_steps if has_text(step)])
    draft = PlanDraft(outline.remarks)
    entry_index: dict[int, int] = {}
    for index, item in enumerate(outline.items):
        # An item without words ("3.") is no step; what refines it refines nothing.
        if has_text(item.text):
            entry_index[index] = len(draft.entries)
            parent = entry_index.get(item.parent) if item.parent is not None else None
            draft.entries.append(PlanEntry(text=item.text, label=item.label, parent=parent))
    return draft
