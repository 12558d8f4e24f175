"""What a step asks for, ready to be compared with events."""

from __future__ import annotations

from dataclasses import dataclass

from planproof.alignment.deeds import deeds_asked
from planproof.alignment.literals import Literal, fold, literals_of
from planproof.alignment.terms import Word, words_of
from planproof.plan import Plan, Step
from planproof.vocabulary import Vocabulary

_SAYING = frozenset({"ask", "tell"})


@dataclass(frozen=True, slots=True)
class Demand:
    """A step with its words, the values that it names, and the sorts of deed that execute it."""

    step: Step
    words: tuple[Word, ...]
    literals: tuple[Literal, ...]
    deeds: tuple[frozenset[str], ...]
    says: bool
    thinks: bool
    folded: str


def demands_of(plan: Plan, vocabulary: Vocabulary) -> list[Demand]:
    """The demands of the steps that count, in plan order."""
    return [_demand(step, vocabulary) for step in plan.leaves]


def _demand(step: Step, vocabulary: Vocabulary) -> Demand:
    text = step.text
    for word, tool in vocabulary.aliases.items():
        if word.lower() in text.lower():
            text = f"{text} {tool}"
    deeds = deeds_asked(step)
    return Demand(
        step,
        words_of(text),
        literals_of(text),
        deeds,
        any(deed & _SAYING for deed in deeds),
        any("think" in deed for deed in deeds),
        fold(text),
    )
