"""Sorts of deed: what a step asks for (ask, look up, write, cancel ...) and what an event is."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

from planproof.checking.distinct_actions import distinct_deeds
from planproof.contracts.terms import knowledge, pieces_of, stem
from planproof.core.plan import Step
from planproof.core.trace import Event, Kind

_WORD = re.compile(r"[A-Za-z][\w'-]*")
_PATH = re.compile(r"\w\.\w|^\W?[~.]?/|/[^/]+/")
_ASKS = re.compile(
    r"\?|\b(?:please|could you|can you|would you|let me know|provide|confirm)\b", re.IGNORECASE
)
_ENDS = re.compile(r"\bTERMINATE\b|\bFINAL ANSWER\b|\bconclude")
_PREAMBLE = re.compile(
    r"^\s*(?:(?:then|next|finally|first|also|and|now|please|lastly|afterwards?)\b[,\s]*)*"
    r"(?:(?:i|we|you|they|he|she|it|the\s+\w+(?:\s+\w+)?|[A-Z]\w+)(?:\s+(?:am|is|are))?(?:['\u2019](?:m|ll|re|s))?"
    r"\s+(?:(?:am|is|are)\s+)?(?:going\s+to|will|shall|should|must|can)\s+"
    r"|i['\u2019]ll\s+|we['\u2019]ll\s+|let\s+(?:me|us)\s+|try\s+to\s+|attempt\s+to\s+)?"
    r"(?:try\s+to\s+|attempt\s+to\s+|have\s+to\s+)?",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^\s*(?:if|when|once|should|as|after|before|on|upon|unless|in case|where)\b[^,;]{2,200},\s*",
    re.IGNORECASE,
)
_HAVING_DONE = re.compile(
    r"^\s*(?:(?:i|we)\s+will\s+)?have\s+(?:the\s+)?\w+(?:\s\w+)??\s+(?=\w)", re.IGNORECASE
)
_DOINGS = frozenset(
    "lookup search write change remove run compute finish navigate transact".split()
)
_LOOKING = frozenset({"lookup", "search", "think"})
_LOOKS = frozenset({"look"})
_ALTERING = frozenset({"write", "change", "remove", "transact"})
ALTERS = frozenset({"alter"})
_SAID_HEAD = 400
_SAID: dict[tuple[bool, bool], frozenset[str]] = {
    (False, False): frozenset({"tell", "think"}),
    (False, True): frozenset({"tell", "think", "finish"}),
    (True, False): frozenset({"tell", "think", "ask", "delegate"}),
    (True, True): frozenset({"tell", "think", "ask", "delegate", "finish"}),
}
"""What a message can be, by whether it asks and whether it ends the talk."""
_KINDS = {
    Kind.REASONING: frozenset({"think", "plan", "tell"}),
    Kind.OBSERVATION: frozenset({"run", "tell", "lookup", "plan", "change", "write", "compute"}),
    Kind.BOOKKEEPING: frozenset({"think", "plan", "change", "compute"}),
}


@cache
def _deeds() -> tuple[dict[str, frozenset[str]], dict[tuple[str, str], frozenset[str]]]:
    single: dict[str, set[str]] = {}
    pairs: dict[tuple[str, str], set[str]] = {}
    for deed, words in knowledge("deeds.txt"):
        for word in words:
            stems = [stem(part) for part in word.split("_")]
            if len(stems) == 1:
                single.setdefault(stems[0], set()).add(deed)
            else:
                pairs.setdefault((stems[0], stems[1]), set()).add(deed)
    return (
        {word: frozenset(found) for word, found in single.items()},
        {pair: frozenset(found) for pair, found in pairs.items()},
    )


@cache
def verbs() -> frozenset[str]:
    """The stems of all words that name a sort of deed."""
    single, pairs = _deeds()
    return frozenset(single).union(map(" ".join, pairs))


def _deeds_of(stems: list[str]) -> frozenset[str]:
    single, pairs = _deeds()
    found = [single[word] for word in stems if word in single]
    found += [pairs[pair] for pair in pairwise(stems) if pair in pairs]
    return frozenset[str]().union(*found)


def _pairs_of(stems: list[str]) -> frozenset[str]:
    return _deeds()[1].get((stems[0], stems[1]), frozenset()) if len(stems) > 1 else frozenset()


def deeds_asked(step: Step) -> tuple[frozenset[str], ...]:
    """For each part of a step the sorts of deed that would execute it; empty where unknown."""
    return tuple(_deeds_of_part(part) for part in step.parts or (step.text,))


def _deeds_of_part(text: str) -> frozenset[str]:
    text = _CONDITION.sub("", text, count=1)
    if _HAVING_DONE.match(text):
        return frozenset({"ask", "delegate", "tell"}) | _deeds_of_stems(_HAVING_DONE.sub("", text))
    return _deeds_of_stems(text)


def _deeds_of_stems(text: str) -> frozenset[str]:
    stems = stems_in_order(_PREAMBLE.sub("", text, count=1))
    # The verb stands first as a rule; further words are asked only when it says nothing.
    return (
        _pairs_of(stems[:2])
        or _deeds_of(stems[:1])
        or _deeds_of(stems[:2])
        or _deeds_of(stems[:4])
        or _deeds_of(stems)
    )


def stems_in_order(text: str) -> list[str]:
    """The stems of the words of a text; what stands in the name of a file is no word of it."""
    words = " ".join(word for word in text.split() if not _PATH.search(word))
    return [stem(word.lower()) for word in _WORD.findall(words)]


def deeds_done(event: Event, commands: frozenset[str], *, closing: bool) -> frozenset[str]:
    """The sorts of deed that an event can be; `commands` are the known words that it runs."""
    if event.kind is Kind.ACTION:
        # Whether one agent turned to another: the name of the action is that of somebody.
        turned = event.actor is not None and event.arguments is None
        hands_off = turned and bool(event.name) and event.name[:1].isupper()
        return _deeds_of_action(event.name or "", commands, closing=closing, hands_off=hands_off)
    if event.kind is Kind.MESSAGE:
        return deeds_said(event.text)
    return _KINDS[event.kind]


def deeds_said(text: str) -> frozenset[str]:
    """The sorts of deed that a message can be."""
    asks = _ASKS.search(text[-_SAID_HEAD:]) or (
        len(text) > _SAID_HEAD and _ASKS.search(text[:_SAID_HEAD])
    )
    return _SAID[bool(asks), _ENDS.search(text) is not None]


def _deeds_of_action(
    name: str, commands: frozenset[str], *, closing: bool, hands_off: bool
) -> frozenset[str]:
    done = _deeds_of_name(name).union(*(_commands()[word] for word in commands))
    # Whatever is called is run.
    done = (done & _DOINGS) | {"run"}
    if closing:
        done |= {"finish", "tell"}
    if hands_off:
        done |= {"delegate", "ask", "tell"}
    return done


@lru_cache(maxsize=1_024)
def _deeds_of_name(name: str) -> frozenset[str]:
    """What the first verb in a tool's name says: `get_order` looks up, it does not order."""
    for piece in pieces_of(name):
        if found := _deeds_of([stem(piece)]):
            return found
    return frozenset()


@lru_cache(maxsize=1_024)
def distinct_deeds_done(name: str) -> frozenset[str]:
    """The deeds of a call that do not stand for others: those of the first verb in its name."""
    for word in map(stem, pieces_of(name)):
        if found := distinct_deeds([word]):
            return found
        if word in verbs():
            return ALTERS if _deeds_of([word]) <= _ALTERING else frozenset()
    return frozenset()


def distinct_deeds_asked(part: str) -> frozenset[str]:
    """Likewise of a part of a step: by the verb that it begins with; to look is one of them."""
    stems = stems_in_order(_PREAMBLE.sub("", _CONDITION.sub("", part, count=1), count=1))
    if distinct_deeds(stems[:1]):
        return distinct_deeds(stems[:2])
    deeds = _pairs_of(stems) or _deeds_of(stems[:1])
    return _LOOKS if deeds and deeds <= _LOOKING else frozenset()


@cache
def _commands() -> dict[str, frozenset[str]]:
    return {
        name: _deeds_of([stem(word) for word in words]) for name, words in knowledge("commands.txt")
    }
