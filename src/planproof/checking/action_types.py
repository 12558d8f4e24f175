"""Classify the action types of steps and events (ask, look up, write, cancel ...)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise

from planproof.contracts.terms import split_identifier, stem
from planproof.core.knowledge import read_knowledge
from planproof.core.plan import Step
from planproof.core.trace import Event, Kind

_WORD = re.compile(r"[A-Za-z][\w'-]*")
_PATH = re.compile(r"\w\.\w|^\W?[~.]?/|/[^/]+/")
_REQUEST_PHRASE = re.compile(
    r"\?|\b(?:please|could you|can you|would you|let me know|provide|confirm)\b", re.IGNORECASE
)
_ENDING_PHRASE = re.compile(r"\bTERMINATE\b|\bFINAL ANSWER\b|\bconclude")
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
_CAUSATIVE = re.compile(
    r"^\s*(?:(?:i|we)\s+will\s+)?have\s+(?:the\s+)?\w+(?:\s\w+)??\s+(?=\w)", re.IGNORECASE
)
_OUTCOME_FOR_SOMEBODY = re.compile(
    r"^\W*(?:(?:then|finally|now|next|so)\W+)?(?:the|our|an?|every|each)?\s*"
    r"(?:users?|customers?|clients?|callers?|guests?|passengers?|patients?|readers?|requesters?"
    r"|shoppers?|travell?ers?|members?|employees?|colleagues?|team|manager)\b[^.;:]{0,20}?\b"
    r"(?:knows?|learns?|hears?|(?:has|have|is|are|was|were|gets?)\s(?:\w+\s){0,2}?"
    r"(?:(?P<asked>asked)|told|informed|aware|notified|advised|reminded|warned|thanked|assured"
    r"|refused|offered|shown))\b",
    re.IGNORECASE,
)
"""A step that states what somebody knows or was asked in the end: "The user knows the date"."""
_ACTION_TYPES = frozenset(
    "lookup search write change remove run compute finish navigate transact".split()
)
_READING_TYPES = frozenset({"lookup", "search", "think"})
_LOOK = frozenset({"look"})
_ALTERING_TYPES = frozenset({"write", "change", "remove", "transact"})
ALTER = frozenset({"alter"})
_MESSAGE_EDGE_CHARS = 400
_MESSAGE_TYPES: dict[tuple[bool, bool], frozenset[str]] = {
    (False, False): frozenset({"tell", "think"}),
    (False, True): frozenset({"tell", "think", "finish"}),
    (True, False): frozenset({"tell", "think", "ask", "delegate"}),
    (True, True): frozenset({"tell", "think", "ask", "delegate", "finish"}),
}
"""The action types of a message, by whether it asks something and ends the conversation."""
_TYPES_BY_KIND = {
    Kind.REASONING: frozenset({"think", "plan", "tell"}),
    Kind.OBSERVATION: frozenset({"run", "tell", "lookup", "plan", "change", "write", "compute"}),
    Kind.BOOKKEEPING: frozenset({"think", "plan", "change", "compute"}),
}


@cache
def _load_action_types() -> tuple[dict[str, frozenset[str]], dict[tuple[str, str], frozenset[str]]]:
    single: dict[str, set[str]] = {}
    pairs: dict[tuple[str, str], set[str]] = {}
    for action_type, words in read_knowledge("action_types.txt"):
        for word in words:
            stems = [stem(part) for part in word.split("_")]
            if len(stems) == 1:
                single.setdefault(stems[0], set()).add(action_type)
            else:
                pairs.setdefault((stems[0], stems[1]), set()).add(action_type)
    return (
        {word: frozenset(action_types) for word, action_types in single.items()},
        {pair: frozenset(action_types) for pair, action_types in pairs.items()},
    )


@cache
def load_action_verbs() -> frozenset[str]:
    """Return the stems of all words that name an action type."""
    single, pairs = _load_action_types()
    return frozenset(single).union(map(" ".join, pairs))


def _find_action_types(stems: list[str]) -> frozenset[str]:
    single, pairs = _load_action_types()
    matches = [single[word] for word in stems if word in single]
    matches += [pairs[pair] for pair in pairwise(stems) if pair in pairs]
    return frozenset[str]().union(*matches)


def _find_phrase_types(stems: list[str]) -> frozenset[str]:
    return (
        _load_action_types()[1].get((stems[0], stems[1]), frozenset())
        if len(stems) > 1
        else frozenset()
    )


def classify_step_parts(step: Step) -> tuple[frozenset[str], ...]:
    """Return for each part of a step the action types that execute it; empty if unknown."""
    return tuple(_classify_part(part) for part in step.parts or (step.text,))


def _classify_part(text: str) -> frozenset[str]:
    text = _CONDITION.sub("", text, count=1)
    if outcome := _OUTCOME_FOR_SOMEBODY.match(text):
        return frozenset({"ask" if outcome["asked"] else "tell"})
    if _CAUSATIVE.match(text):
        return frozenset({"ask", "delegate", "tell"}) | _classify_clause(_CAUSATIVE.sub("", text))
    return _classify_clause(text)


def _classify_clause(text: str) -> frozenset[str]:
    stems = stem_words(_PREAMBLE.sub("", text, count=1))
    # The verb is usually first; later words count only if it is unknown.
    return (
        _find_phrase_types(stems[:2])
        or _find_action_types(stems[:1])
        or _find_action_types(stems[:2])
        or _find_action_types(stems[:4])
        or _find_action_types(stems)
    )


def stem_words(text: str) -> list[str]:
    """Return the stems of the words of a text, without those in file names."""
    words = " ".join(word for word in text.split() if not _PATH.search(word))
    return [stem(word.lower()) for word in _WORD.findall(words)]


def classify_event(event: Event, commands: frozenset[str], *, closing: bool) -> frozenset[str]:
    """Return the possible action types of an event; `commands` are the known words that it runs."""
    if event.kind is Kind.ACTION:
        # When one agent addresses another, the name of the action is a proper name.
        addresses_agent = event.actor is not None and event.arguments is None
        hands_off = addresses_agent and bool(event.name) and event.name[:1].isupper()
        return _classify_action(event.name or "", commands, closing=closing, hands_off=hands_off)
    if event.kind is Kind.MESSAGE:
        return classify_message(event.text)
    return _TYPES_BY_KIND[event.kind]


def classify_message(text: str) -> frozenset[str]:
    """Return the possible action types of a message."""
    asks = _REQUEST_PHRASE.search(text[-_MESSAGE_EDGE_CHARS:]) or (
        len(text) > _MESSAGE_EDGE_CHARS and _REQUEST_PHRASE.search(text[:_MESSAGE_EDGE_CHARS])
    )
    return _MESSAGE_TYPES[bool(asks), _ENDING_PHRASE.search(text) is not None]


def _classify_action(
    name: str, commands: frozenset[str], *, closing: bool, hands_off: bool
) -> frozenset[str]:
    action_types = _classify_tool_name(name).union(
        *(_load_command_types()[word] for word in commands)
    )
    # Every call runs something.
    action_types = (action_types & _ACTION_TYPES) | {"run"}
    if closing:
        action_types |= {"finish", "tell"}
    if hands_off:
        action_types |= {"delegate", "ask", "tell"}
    return action_types


@lru_cache(maxsize=1_024)
def _classify_tool_name(name: str) -> frozenset[str]:
    """Return the types of the first verb in a tool's name: `get_order` looks up, not orders."""
    for word in split_identifier(name):
        if action_types := _find_action_types([stem(word)]):
            return action_types
    return frozenset()


@lru_cache(maxsize=1_024)
def find_tool_exclusive_types(name: str) -> frozenset[str]:
    """Return the exclusive action types of a call, from the first verb in its tool's name."""
    for word in map(stem, split_identifier(name)):
        if exclusive_types := find_exclusive_types([word]):
            return exclusive_types
        if word in load_action_verbs():
            return ALTER if _find_action_types([word]) <= _ALTERING_TYPES else frozenset()
    return frozenset()


def find_part_exclusive_types(part: str) -> frozenset[str]:
    """Return the exclusive action types of a part of a step, from its first verb, or "look"."""
    stems = stem_words(_PREAMBLE.sub("", _CONDITION.sub("", part, count=1), count=1))
    if find_exclusive_types(stems[:1]):
        return find_exclusive_types(stems[:2])
    action_types = _find_phrase_types(stems) or _find_action_types(stems[:1])
    return _LOOK if action_types and action_types <= _READING_TYPES else frozenset()


@cache
def _load_command_types() -> dict[str, frozenset[str]]:
    return {
        name: _find_action_types([stem(word) for word in words])
        for name, words in read_knowledge("commands.txt")
    }


@cache
def _load_exclusive_types() -> tuple[
    dict[str, frozenset[str]], dict[tuple[str, str], frozenset[str]]
]:
    """Return a mapping from stem, and from pair of stems ("call off"), to exclusive types."""
    single: dict[str, set[str]] = {}
    pairs: dict[tuple[str, str], set[str]] = {}
    for action_type, words in read_knowledge("distinct.txt"):
        for word in words:
            first, *rest = map(stem, word.split("_"))
            if rest:
                pairs.setdefault((first, rest[0]), set()).add(action_type)
            else:
                single.setdefault(first, set()).add(action_type)
    return (
        {word: frozenset(action_types) for word, action_types in single.items()},
        {pair: frozenset(action_types) for pair, action_types in pairs.items()},
    )


def find_exclusive_types(stems: Sequence[str]) -> frozenset[str]:
    """Return the exclusive action types that words name; none of them can replace another."""
    single, pairs = _load_exclusive_types()
    matches = [single[word] for word in stems if word in single]
    matches += [pairs[pair] for pair in pairwise(stems) if pair in pairs]
    return frozenset[str]().union(*matches)
