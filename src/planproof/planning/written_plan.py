"""A plan written as text, line by line or as prose."""

from __future__ import annotations

from planproof.planning.list_markers import says_something
from planproof.planning.plan_entry import Draft, Entry
from planproof.planning.prose_plans import read_prose
from planproof.planning.text_plans import read_outline


def draft_of_text(text: str) -> Draft:
    """The items of a written plan: its list if it has one, else what its prose tells."""
    outline = read_outline(text)
    if not outline.items:
        told = read_prose(text)
        return Draft(entries=[Entry(text=step) for step in told if says_something(step)])
    draft = Draft(outline.remarks)
    places: dict[int, int] = {}
    for index, item in enumerate(outline.items):
        # An item without words ("3.") is no step; what refines it refines nothing.
        if says_something(item.text):
            places[index] = len(draft.entries)
            parent = places.get(item.parent) if item.parent is not None else None
            draft.entries.append(Entry(text=item.text, label=item.label, parent=parent))
    return draft
