"""Whether a trace shows that the condition of a step did not hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planproof.checking.candidates import Unit
from planproof.contracts.terms import stem, words_of
from planproof.core.finding import Evidence

_SENTENCE = re.compile(r"[^\n.!?]+")
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|nothing|without|0|zero|false|empty|neither|\w+n't)\b", re.IGNORECASE
)
_OPPOSITES = (
    ("fail", "pass"),
    ("fail", "succeed"),
    ("fail", "ok"),
    ("error", "success"),
    ("miss", "exist"),
    ("miss", "found"),
    ("missing", "present"),
    ("unavailable", "available"),
    ("invalid", "valid"),
    ("closed", "open"),
    ("disabled", "enabled"),
    ("different", "same"),
    ("delayed", "on time"),
)
_READ = 20_000
_ENOUGH = 0.6


def evidence_against(condition: str, units: Sequence[Unit]) -> Evidence | None:
    """A sentence of an output that says the contrary; what the agent itself says proves nothing."""
    wanted = frozenset(part for word in words_of(condition) for part in word.stems)
    if not wanted:
        return None
    denied = _NEGATION.search(condition) is not None
    for unit in units:
        event = unit.event
        text, pointer = event.output, event.output_pointer
        if unit.said or not text or pointer is None:
            continue
        for match in _SENTENCE.finditer(text[:_READ]):
            if _contradicts(match[0], wanted, denied=denied):
                return Evidence(event.id, pointer, match[0].strip()[:120].strip())
    return None


def _contradicts(sentence: str, wanted: frozenset[str], *, denied: bool) -> bool:
    held = frozenset(part for word in words_of(sentence) for part in word.stems)
    common = wanted & held
    negated = (_NEGATION.search(sentence) is not None) != denied
    if negated and len(common) >= _ENOUGH * len(wanted):
        return True
    for one, other in _OPPOSITES:
        for here, there in ((stem(one), stem(other)), (stem(other), stem(one))):
            rest = wanted - {here}
            if here in wanted and there in held and not rest - held:
                return not denied and _NEGATION.search(sentence) is None
    return False
