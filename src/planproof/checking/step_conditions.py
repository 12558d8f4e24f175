"""Whether a trace shows that the condition of a step did not hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planproof.checking.candidates import Candidate
from planproof.contracts.terms import extract_words, stem
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
_MAX_OUTPUT_CHARS = 20_000
_MIN_COMMON_SHARE = 0.6


def find_contradiction(condition: str, candidates: Sequence[Candidate]) -> Evidence | None:
    """A sentence of an output that says the contrary; what the agent itself says proves nothing."""
    condition_stems = frozenset(part for word in extract_words(condition) for part in word.stems)
    if not condition_stems:
        return None
    is_negated = _NEGATION.search(condition) is not None
    for candidate in candidates:
        event = candidate.event
        text, pointer = event.output, event.output_pointer
        if candidate.is_text_only or not text or pointer is None:
            continue
        for match in _SENTENCE.finditer(text[:_MAX_OUTPUT_CHARS]):
            if _contradicts(match[0], condition_stems, is_negated=is_negated):
                return Evidence(event.id, pointer, match[0].strip()[:120].strip())
    return None


def _contradicts(sentence: str, condition_stems: frozenset[str], *, is_negated: bool) -> bool:
    sentence_stems = frozenset(part for word in extract_words(sentence) for part in word.stems)
    common = condition_stems & sentence_stems
    negated = (_NEGATION.search(sentence) is not None) != is_negated
    if negated and len(common) >= _MIN_COMMON_SHARE * len(condition_stems):
        return True
    for first_word, second_word in _OPPOSITES:
        for here, there in (
            (stem(first_word), stem(second_word)),
            (stem(second_word), stem(first_word)),
        ):
            rest = condition_stems - {here}
            if here in condition_stems and there in sentence_stems and not rest - sentence_stems:
                return not is_negated and _NEGATION.search(sentence) is None
    return False
