"""What a step asks for, ready to be compared with events."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from planproof.alignment.deeds import deeds_asked
from planproof.alignment.literals import Literal, fold, literals_of
from planproof.alignment.terms import Word, words_of
from planproof.content import Json
from planproof.plan import Plan, Step
from planproof.vocabulary import Vocabulary

_SAYING = frozenset({"ask", "tell", "delegate", "finish"})
_THINKING = frozenset({"think"})
_DEEDS = frozenset("lookup search run write change remove navigate transact".split())
_WRITTEN_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(\s*(\{.*\})\s*\)", re.DOTALL)
_AFTERWORD = re.compile(r"\n\s*\n|\bHere(?:'s| is| are) the\b|\bNote:")
_AGAIN = re.compile(
    r"\b(?:again|once more|another time|(?:second|third) (?:time|attempt|try)|twice|thrice|re-?run"
    r"|repeat(?:ed|ing)?|re-?try(?:ing)?|re-?issue|re-?send|re-?submit|anew|the same)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a step asks for: its text, its values, and the deeds that do it."""

    text: str
    deeds: frozenset[str]
    literals: tuple[Literal, ...]

    @property
    def of_words(self) -> bool:
        """Whether it may be done by saying or thinking something."""
        return bool(self.deeds & (_SAYING | _THINKING))


@dataclass(frozen=True, slots=True)
class Call:
    """A step that is written as a call: the tool, and the arguments that it must have."""

    tool: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Demand:
    """A step with its words and its parts; `again` marks one that asks for a repetition."""

    step: Step
    words: tuple[Word, ...]
    parts: tuple[Part, ...]
    says: bool
    thinks: bool
    again: bool
    folded: str
    call: Call | None

    @property
    def deeds(self) -> tuple[frozenset[str], ...]:
        """For each part the sorts of deed that would execute it."""
        return tuple(part.deeds for part in self.parts)

    @property
    def of_deeds(self) -> bool:
        """Whether something must be done for it: neither said nor thought out alone."""
        return not self.says and any(deeds & _DEEDS for deeds in self.deeds)

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The values that the step names."""
        return tuple(literal for part in self.parts for literal in part.literals)


def demands_of(plan: Plan, vocabulary: Vocabulary) -> list[Demand]:
    """The demands of the steps that count, in plan order."""
    return [_demand(step, vocabulary) for step in plan.leaves]


def _demand(step: Step, vocabulary: Vocabulary) -> Demand:
    text = _gist(step.text)
    for word, tool in vocabulary.aliases.items():
        if word.lower() in text.lower():
            text = f"{text} {tool}"
    parts = _parts(step)
    deeds = frozenset[str]().union(*(part.deeds for part in parts))
    return Demand(
        step,
        words_of(text),
        parts,
        bool(deeds & _SAYING),
        bool(deeds & _THINKING),
        _AGAIN.search(text) is not None,
        fold(text),
        _call(step.text),
    )


def _call(text: str) -> Call | None:
    match = _WRITTEN_CALL.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return Call(match[1].lower(), json.loads(match[2]))
    except (ValueError, RecursionError):
        return None


def _gist(text: str) -> str:
    """The step itself, without the explanations and listings that follow it in the same item."""
    return _AFTERWORD.split(text, maxsplit=1)[0].strip() or text


def _parts(step: Step) -> tuple[Part, ...]:
    """The parts with the values that stand in each; one that stands in none goes to the first."""
    texts = step.parts or (step.text,)
    found: list[list[Literal]] = [[] for _ in texts]
    for literal in literals_of(_gist(step.text)):
        owner = next((i for i, text in enumerate(texts) if literal.text in text), 0)
        found[owner].append(literal)
    return tuple(
        Part(text, deeds, tuple(literals))
        for text, deeds, literals in zip(texts, deeds_asked(step), found, strict=True)
    )
