"""What a later plan changes of the one before it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from planproof.plan import Plan

_WORD = re.compile(r"\w+")
_ALIKE = 0.5
# Beyond this a comparison of all with all would cost more than it tells.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Changes:
    """The texts of the items that were added, dropped, and said in other words (old, new)."""

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.renamed)


def changes_between(old: Plan, new: Plan) -> Changes:
    """The items that differ; the same words in another case or spacing are the same item."""
    before = {folded(step.text): step.text for step in old.steps}
    after = {folded(step.text): step.text for step in new.steps}
    dropped = [text for key, text in before.items() if key not in after]
    added = [text for key, text in after.items() if key not in before]
    renamed: list[tuple[str, str]] = []
    if len(dropped) <= _MOST and len(added) <= _MOST:
        for text in tuple(dropped):
            nearest = max(added, key=lambda other: _likeness(text, other), default=None)
            if nearest is not None and _likeness(text, nearest) >= _ALIKE:
                renamed.append((text, nearest))
                dropped.remove(text)
                added.remove(nearest)
    return Changes(tuple(added), tuple(dropped), tuple(renamed))


def continued(old: Plan, new: Plan) -> Plan:
    """The new plan with the steps that it leaves standing: a list that goes on from 5 drops none.

    Agents print only what is still to do, under the numbers that it had.
    """
    numbers = [step.number for step in old.steps]
    first = new.steps[0].number if new.steps else ""
    kept = old.steps[: numbers.index(first)] if first in numbers else ()
    return replace(new, steps=(*kept, *new.steps)) if kept else new


def folded(text: str) -> str:
    """A text as it is compared: letters and digits alone."""
    return " ".join(_WORD.findall(text.lower()))


def _likeness(one: str, other: str) -> float:
    words, others = set(folded(one).split()), set(folded(other).split())
    return len(words & others) / max(len(words | others), 1)
