"""What a later plan changes of the one before it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planproof.core.plan import Plan, Step

_WORD = re.compile(r"\w+")
_ALIKE = 0.5
# Beyond this a comparison of all with all would cost more than it tells.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Changes:
    """The texts of the items that were added, dropped, and said in other words (old, new).

    `reordered` says that items which stand in both come one after another in another way.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    reordered: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.renamed or self.reordered)


def changes_between(old: Plan, new: Plan) -> Changes:
    """The items that differ; the same words in another case or spacing are the same item."""
    kept = kept_steps(old.steps, new.steps)
    dropped = [step.text for step in old.steps if step.number not in kept]
    standing = set(kept.values())
    added = [step.text for step in new.steps if step.number not in standing]
    renamed: list[tuple[str, str]] = []
    if len(dropped) <= _MOST and len(added) <= _MOST:
        for text in tuple(dropped):
            nearest = max(added, key=lambda other: _likeness(text, other), default=None)
            if nearest is not None and _likeness(text, nearest) >= _ALIKE:
                renamed.append((text, nearest))
                dropped.remove(text)
                added.remove(nearest)
    places = {step.number: place for place, step in enumerate(new.steps)}
    now = [places[number] for number in kept.values()]
    return Changes(tuple(added), tuple(dropped), tuple(renamed), reordered=now != sorted(now))


def kept_steps(old: Sequence[Step], new: Sequence[Step]) -> dict[str, str]:
    """The numbers of the old steps that stand among the new in the same words -> their new numbers.

    Of several in the same words it is the first that a shorter list leaves out.
    """
    before, after = _by_words(old), _by_words(new)
    found: dict[str, str] = {}
    for words, steps in before.items():
        others = after.get(words, [])
        staying = steps[max(0, len(steps) - len(others)) :]
        found |= {one.number: other.number for one, other in zip(staying, others, strict=False)}
    return {step.number: found[step.number] for step in old if step.number in found}


def continued(old: Plan, new: Plan) -> Plan:
    """The new plan with the steps that it leaves standing: a list that goes on from 5 drops none.

    Agents print only what is still to do, under the numbers that it had.
    """
    numbers = [step.number for step in old.steps]
    there = [step.number for step in new.steps]
    last = numbers.index(there[0]) if there and there[0] in numbers else 0
    kept = tuple(step for step in old.steps[:last] if step.number not in there)
    return replace(new, steps=(*kept, *new.steps)) if kept else new


def folded(text: str) -> str:
    """A text as it is compared: letters and digits alone."""
    return " ".join(_WORD.findall(text.lower()))


def _by_words(steps: Sequence[Step]) -> dict[str, list[Step]]:
    found: defaultdict[str, list[Step]] = defaultdict(list)
    for step in steps:
        found[folded(step.text)].append(step)
    return found


def _likeness(one: str, other: str) -> float:
    words, others = set(folded(one).split()), set(folded(other).split())
    return len(words & others) / max(len(words | others), 1)
