"""What a later plan changes of the one before it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planproof.core.plan import Plan, Step

_WORD = re.compile(r"\w+")
_MIN_SIMILARITY = 0.5
# Beyond this a comparison of all with all would cost more than it tells.
_MAX_COMPARED = 200


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """The texts of the items that were added, dropped, and said in other words (old, new).

    `reordered` says that items which stand in both come one after another in another way.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    reordered: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.renamed or self.reordered)


def diff_plans(old: Plan, new: Plan) -> PlanChanges:
    """The items that differ; the same words in another case or spacing are the same item."""
    unchanged = match_unchanged_steps(old.steps, new.steps)
    dropped = [step.text for step in old.steps if step.number not in unchanged]
    unchanged_numbers = set(unchanged.values())
    added = [step.text for step in new.steps if step.number not in unchanged_numbers]
    renamed: list[tuple[str, str]] = []
    if len(dropped) <= _MAX_COMPARED and len(added) <= _MAX_COMPARED:
        for text in tuple(dropped):
            nearest = max(added, key=lambda other: _word_similarity(text, other), default=None)
            if nearest is not None and _word_similarity(text, nearest) >= _MIN_SIMILARITY:
                renamed.append((text, nearest))
                dropped.remove(text)
                added.remove(nearest)
    positions = {step.number: position for position, step in enumerate(new.steps)}
    now = [positions[number] for number in unchanged.values()]
    return PlanChanges(tuple(added), tuple(dropped), tuple(renamed), reordered=now != sorted(now))


def match_unchanged_steps(old: Sequence[Step], new: Sequence[Step]) -> dict[str, str]:
    """The numbers of the old steps that stand among the new in the same words -> their new numbers.

    Of several in the same words it is the first that a shorter list leaves out.
    """
    before, after = _group_by_text(old), _group_by_text(new)
    new_numbers: dict[str, str] = {}
    for words, steps in before.items():
        others = after.get(words, [])
        staying = steps[max(0, len(steps) - len(others)) :]
        new_numbers |= {
            one.number: other.number for one, other in zip(staying, others, strict=False)
        }
    return {step.number: new_numbers[step.number] for step in old if step.number in new_numbers}


def restore_earlier_steps(old: Plan, new: Plan) -> Plan:
    """The new plan with the steps that it leaves standing: a list that goes on from 5 drops none.

    Agents print only what is still to do, under the numbers that it had.
    """
    numbers = [step.number for step in old.steps]
    new_numbers = [step.number for step in new.steps]
    last = numbers.index(new_numbers[0]) if new_numbers and new_numbers[0] in numbers else 0
    earlier_steps = tuple(step for step in old.steps[:last] if step.number not in new_numbers)
    return replace(new, steps=(*earlier_steps, *new.steps)) if earlier_steps else new


def normalize_text(text: str) -> str:
    """A text as it is compared: letters and digits alone."""
    return " ".join(_WORD.findall(text.lower()))


def _group_by_text(steps: Sequence[Step]) -> dict[str, list[Step]]:
    groups: defaultdict[str, list[Step]] = defaultdict(list)
    for step in steps:
        groups[normalize_text(step.text)].append(step)
    return groups


def _word_similarity(one: str, other: str) -> float:
    words, others = set(normalize_text(one).split()), set(normalize_text(other).split())
    return len(words & others) / max(len(words | others), 1)
