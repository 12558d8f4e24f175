"""Whether the events of a step show what the step names: values, and deeds that leave a mark."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planproof.alignment.demands import Demand, Part
from planproof.alignment.literals import Literal, LiteralKind
from planproof.alignment.units import Unit

_HEAD = r"(?:^|\band\b|\bthen\b|,|;|\bto\b)\s*(?:also\s+)?"
_KEEPING = re.compile(
    _HEAD + r"(?:sav(?:e|es|ing)|stor(?:e|es|ing)|export(?:s|ing)?|back(?:s|ing)? (?:\w+ )?up"
    r"|keep(?:s|ing)? (?:a copy|[\w ]+ in \S*[./]\w)|writ(?:e|es|ing) (?:[\w ]+ )?(?:to|into) \S*[./]\w)\b",
    re.IGNORECASE,
)
_SORTING = re.compile(
    rf"{_HEAD}(?:sort|rank)(?:s|ed|ing)?\b|\bsorted (?:by|from|in|with|up|down|alphabet)"
    r"|\b(?:largest|biggest|smallest|newest|oldest) first\b"
    r"|\b(?:ascending|descending|alphabetical) order\b|\bby (?:de|a)scending\b",
    re.IGNORECASE,
)
_SORTS = re.compile(r"\b(?:sort(?:ed)?|order by|order_by|rank|nlargest|nsmallest|ls\s+-\w*[st])")
_KEEPS = frozenset({"write", "change"})
_LEAST_DIGITS = 2
_CALLED_BY = frozenset({LiteralKind.IDENTIFIER, LiteralKind.QUOTED})


def ungrounded(demand: Demand, run: Sequence[Unit], whole: Sequence[Unit]) -> list[str]:
    """What the step asks for and its events do not show, in words; empty when they show it all."""
    found = [
        f"{literal.text} stands in no event of it"
        for part in demand.parts
        for literal in part.literals
        if _is_absent(literal, part, run, whole)
    ]
    done = [unit for unit in run if not unit.said]
    if done and any(_KEEPING.search(part.text) for part in demand.parts):
        if not any(unit.deeds & _KEEPS for unit in done):
            found.append("nothing was saved")
    if done and _SORTING.search(demand.step.text):
        if not any(_SORTS.search(unit.call_text) for unit in done):
            found.append("nothing was sorted")
    return found


def _is_absent(literal: Literal, part: Part, run: Sequence[Unit], whole: Sequence[Unit]) -> bool:
    if literal.kind is LiteralKind.NUMBER and len(literal.forms[0]) < _LEAST_DIGITS:
        return False
    if part.of_words:
        # Words may speak of a value without naming it again: it need only be known to the trace.
        return not _held(literal, run) and not _held(literal, whole)
    doing = [unit for unit in run if not unit.said and unit.deeds & part.deeds] or run
    if any(literal.held_by(unit.call_text) for unit in doing):
        return False
    if literal.kind is LiteralKind.NUMBER and _held(literal, run):
        return False
    read = literal.kind not in _CALLED_BY and any(
        literal.held_by(unit.output_text) for unit in doing
    )
    # A call whose output was not recorded may have returned the value; a name may be left unsaid.
    vague = literal.kind is LiteralKind.NAME or not any(unit.output_text for unit in run)
    return not read and not (vague and _held(literal, whole))


def _held(literal: Literal, units: Sequence[Unit]) -> bool:
    return any(
        literal.held_by(unit.call_text) or literal.held_by(unit.output_text) for unit in units
    )
