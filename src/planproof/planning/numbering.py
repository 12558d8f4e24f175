"""The numbers of the steps: those printed in the plan wherever they tell the steps apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


def number_steps(labels: Sequence[str | None], parents: Sequence[int | None]) -> list[str]:
    """A number for each item, from its printed label and the place of the item it refines."""
    printed = _assign_numbers(labels, parents)
    if len(set(printed)) == len(printed):
        return printed
    return _assign_numbers([None] * len(labels), parents)


def _assign_numbers(labels: Sequence[str | None], parents: Sequence[int | None]) -> list[str]:
    siblings: defaultdict[int | None, list[int]] = defaultdict(list)
    for index, parent in enumerate(parents):
        siblings[parent].append(index)
    has_unique_labels = {
        parent: _all_differ([labels[index] for index in indexes])
        for parent, indexes in siblings.items()
    }
    counts: defaultdict[int | None, int] = defaultdict(int)
    numbers: list[str] = []
    for index, parent in enumerate(parents):
        counts[parent] += 1
        label = labels[index] if has_unique_labels[parent] else None
        above = numbers[parent] if parent is not None else None
        numbers.append(_join_number(above, label or str(counts[parent])))
    return numbers


def _all_differ(labels: Sequence[str | None]) -> bool:
    return None not in labels and len(set(labels)) == len(labels)


def _join_number(above: str | None, label: str) -> str:
    if above is None or label.startswith(f"{above}."):
        return label
    return f"{above}{label}" if label.isalpha() else f"{above}.{label}"
