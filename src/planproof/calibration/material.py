"""What flaws are made of: steps, requirements and tools that are in no trace by chance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from random import Random

from planproof.calibration.variant import EventRecord
from planproof.contracts.terms import extract_terms


@cache
def load_material(section: str) -> tuple[str, ...]:
    """The lines of one section of the file beside this module."""
    text = files("planproof.calibration").joinpath("material.txt").read_text("utf-8")
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            current.append(line)
    return tuple(sections[section])


def choose_unrelated(
    section: str, plan: Sequence[str], events: Iterable[EventRecord], random: Random
) -> str | None:
    """A line of a section that has no word in common with a case; None where all have."""
    case_terms = extract_terms(" ".join((*plan, json.dumps(list(events), ensure_ascii=False))))
    lines = list(load_material(section))
    random.shuffle(lines)
    return next((line for line in lines if case_terms.isdisjoint(_distinctive_terms(line))), None)


def _distinctive_terms(line: str) -> frozenset[str]:
    """The words of a line, but for concepts, which nearly any text has some of."""
    return frozenset(
        term for term in extract_terms(line) if not term.startswith("~") and len(term) > 3
    )
