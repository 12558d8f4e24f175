"""Detect words that begin an instruction, by the verbs that plans use."""

from __future__ import annotations

import re

from planproof.core.knowledge import read_knowledge

_WORD = re.compile(r"[\w'’\-]+")
_JOINED = re.compile(r"[./(]\w")
_LEAD_IN = re.compile(
    r"(?:(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|next|then|afterwards?|after (?:that|this)|"
    r"finally|lastly|last|also|and|subsequently|to (?:begin|start)(?: with)?|now|optionally)"
    r",?\s+)+",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:(?:i|we|you|it|they|he|she)(?=['’\s])|(?:the|this|each|another)(?:\s+(?!(?:that|which|who)\b)[\w\-]+){1,3}?|[A-Z][\w\-]*)"
    r"(?:['’]ll|\s+(?:will|shall|should|must|can|may|might|(?:am|are|is)\s+(?:going\s+)?to|"
    r"(?:has|have|needs?)\s+to|(?P<finite>[a-z]+s)\b))(?=\s)",
)
_SUBJECT_CASELESS_START = re.compile(r"(?:i|we|you|it|they|he|she|the|this)\b", re.IGNORECASE)
_WORDS = {name: frozenset(words) for name, words in read_knowledge("instructions.txt")}
_PLAIN, _ALSO_NOUNS = _WORDS["verbs"], _WORDS["verbs_and_nouns"]
_ACCOMPANYING, _ADVERBS = _WORDS["accompanying_verbs"], _WORDS["adverbs"]
_OBJECT_OPENERS = _WORDS["object_openers"]
VERBS = _PLAIN | _ALSO_NOUNS


def is_verb(word: str) -> bool:
    """Return whether the word is the base form of a verb that plans use."""
    return word.lower() in VERBS


def is_plain_verb(word: str) -> bool:
    """Return whether the word is such a verb and hardly ever a noun."""
    return word.lower() in _PLAIN


def begins_instruction(text: str, start: int = 0, *, certain: bool = False) -> bool:
    """Return whether an instruction ("list all files") begins at `start`.

    `certain`: the position cannot continue a list of nouns, as after "then" or a full stop.
    """
    word = _WORD.match(text, start)
    while word and (word[0].lower() in _ADVERBS or _is_adverb(word[0])):
        following = _WORD.match(text, _skip_spaces(text, word.end()))
        if following is None:
            break
        word = following
    if word is None:
        return False
    name = word[0].lower()
    if name in _PLAIN:
        return True
    return name in _ALSO_NOUNS and (certain or _takes_object(text, word.end()))


def begins_clause(text: str, start: int = 0) -> bool:
    """Return whether a clause with its own subject ("it will search") begins at `start`."""
    match = _SUBJECT.match(text, start)
    if match is None and _SUBJECT_CASELESS_START.match(text, start):
        match = _SUBJECT.match(text[start : start + 1].lower() + text[start + 1 : start + 80])
    if match is None:
        return False
    finite = match["finite"]
    return finite is None or any(base in VERBS for base in _list_base_forms(finite))


def begins_finite(text: str, start: int) -> bool:
    """Return whether a finite verb without its subject ("tells the user") begins at `start`."""
    word = _WORD.match(text, start)
    if word is None or not word[0].endswith("s") or not _takes_object(text, word.end()):
        return False
    return any(base in VERBS for base in _list_base_forms(word[0]))


def begins_accompaniment(text: str, start: int) -> bool:
    """Return whether a phrase like "saving the result to a file" begins at `start`."""
    word = _WORD.match(text, start)
    if word is None or not word[0].endswith("ing") or _skip_spaces(text, word.end()) >= len(text):
        return False
    stem = word[0].lower()[:-3]
    bases = {stem, stem + "e"}
    if len(stem) > 2 and stem[-1] == stem[-2]:
        bases.add(stem[:-1])
    return not bases.isdisjoint(_ACCOMPANYING)


def find_lead_in_end(text: str) -> int:
    """Return the index after a lead-in such as "First," or "And then"; 0 if there is none."""
    match = _LEAD_IN.match(text)
    return match.end() if match else 0


def _takes_object(text: str, end: int) -> bool:
    start = _skip_spaces(text, end)
    character = text[start : start + 1]
    if start == end or not character:
        return False
    if character.isdigit() or character.isupper() or character in "\"'`‘“<[{#$/.*@\x00":
        return True
    word = _WORD.match(text, start)
    if word is None:
        return False
    name = word[0].lower()
    return (
        name in _OBJECT_OPENERS
        or _is_adverb(name)
        or "_" in name
        # A path, a call or a file name: "run src/main", "run main.py".
        or _JOINED.match(text, word.end()) is not None
    )


def _list_base_forms(word: str) -> tuple[str, ...]:
    return (word[:-1], word[:-2], word[:-3] + "y") if len(word) > 3 else (word[:-1],)


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") and len(word) > 4 and word.lower() not in VERBS


def _skip_spaces(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start
