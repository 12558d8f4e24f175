"""The alternatives that a step leaves open: "A or B", of which one suffices."""

from __future__ import annotations

import re
from itertools import pairwise

from planproof.planning.instruction_verbs import begins_instruction
from planproof.planning.masking import shield

_OR = re.compile(
    r",?\s+or\s+(?!(?:more|less|so|not|other|others|later|earlier|higher|lower|fewer|greater|above|"
    r"below|better|worse|else|older|newer|any|equal)\b)",
    re.IGNORECASE,
)
_NO_CHOICE = re.compile(
    r"\b(?:whether|if|unless|when|no|not|without|neither|nor|which|cannot|\w+n['’]t)\b[^.;]*$",
    re.IGNORECASE,
)
# "or call the user", but not "or source on the matter".
_ACTION = re.compile(
    r"(?!\w+\s+(?:for|to|on|up|out|in|into|with|from|at|as|of|through|against|over|that)\b)\w"
)
_EITHER = re.compile(r"\beither\s+", re.IGNORECASE)
_STOPS = re.compile(
    r"(?:[,;:.!?]\s|\s(?:to|for|from|in|on|at|of|with|by|into|and|via|through|using|as|about|near|when|if|"
    r"between|before|after|like|than|that|which|who|the|a|an|any|its|their|either|both|should|will|"
    r"is|are)\s)",
    re.IGNORECASE,
)
_CLAUSE_STOPS = re.compile(r"[;.!?](?:\s|$)|,\s|\s(?:then|and)\s|$")
_LIST_ITEM = re.compile(r",\s+")
_MAX_CHARS_BEFORE = 160


def find_choices(text: str) -> tuple[str, ...]:
    """The alternatives that the text names; empty when it leaves no choice."""
    shielded = shield(text)
    for conjunction in _OR.finditer(shielded):
        sentence = max(
            shielded.rfind(". ", 0, conjunction.start()),
            shielded.rfind("; ", 0, conjunction.start()),
        )
        before = shielded[
            max(sentence + 1, conjunction.start() - _MAX_CHARS_BEFORE, 0) : conjunction.start()
        ]
        if _NO_CHOICE.search(before):
            continue
        if _ACTION.match(shielded, conjunction.end()) and begins_instruction(
            shielded, conjunction.end()
        ):
            return _split_action_choices(text, shielded, conjunction, before)
        return _split_object_choices(text, shielded, conjunction, before)
    return ()


def _split_action_choices(
    text: str, shielded: str, conjunction: re.Match[str], before: str
) -> tuple[str, ...]:
    start = conjunction.start() - len(before)
    either = _EITHER.search(before)
    if either:
        start += either.end()
    end = _CLAUSE_STOPS.search(shielded, conjunction.end())
    right = text[conjunction.end() : end.start() if end else len(text)]
    return _deduplicate(text[start : conjunction.start()], right)


def _split_object_choices(
    text: str, shielded: str, conjunction: re.Match[str], before: str
) -> tuple[str, ...]:
    offset = conjunction.start() - len(before)
    either = _EITHER.search(before)
    if either:
        starts = [offset + either.end()]
    else:
        stops = [stop.end() for stop in _find_overlapping(_STOPS, before)]
        starts = [offset + (stops[-1] if stops else _after_first_word(before))]
        # "A, B, or C": go back over the items of the list.
        while stops and before[: stops[-1]].rstrip(" ").endswith(","):
            stops.pop()
            starts.insert(0, offset + (stops[-1] if stops else _after_first_word(before)))
    end = _STOPS.search(shielded + " ", conjunction.end())
    right = text[conjunction.end() : end.start() if end else len(text)]
    edges = [*starts, conjunction.start()]
    left = [text[a:b].strip(" ,") for a, b in pairwise(edges)]
    return _deduplicate(*left, right)


def _find_overlapping(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """All matches, also those that share a space with the one before."""
    matches: list[re.Match[str]] = []
    at = pattern.search(text)
    while at:
        matches.append(at)
        at = pattern.search(text, at.end() - 1)
    return matches


def _after_first_word(text: str) -> int:
    stripped = len(text) - len(text.lstrip())
    space = text.find(" ", stripped)
    return space + 1 if space > 0 else stripped


def _deduplicate(*texts: str) -> tuple[str, ...]:
    cleaned = tuple(dict.fromkeys(text.strip(" .,;*") for text in texts))
    return cleaned if len(cleaned) > 1 and all(cleaned) else ()
