"""The words that steps and events have in common, weighed by how rare they are in the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import log

from planproof.alignment.demands import Demand
from planproof.alignment.terms import Word

_CONCEPT = 0.5
_STAND_IN = 0.8
_PHRASE = 0.3125
_FRACTIONS = 2**20


class PlanWords:
    """The words of a plan, each once, with the steps that they stand in."""

    def __init__(self, demands: Sequence[Demand]) -> None:
        words: dict[str, Word] = {}
        places: dict[str, list[int]] = {}
        in_steps: dict[str, int] = {}
        for step, demand in enumerate(demands):
            concepts: set[str] = set()
            for word in demand.words:
                words[word.text] = word
                places.setdefault(word.text, []).append(step)
                concepts.update(word.concepts)
            # A step counts once for a concept, however many of its words share it.
            for concept in concepts:
                in_steps[concept] = in_steps.get(concept, 0) + 1
        self.steps = len(demands)
        self.words = list(words.values())
        self.places = list(places.values())
        self.in_steps = {**in_steps, **{text: len(found) for text, found in places.items()}}
        self.terms = frozenset[str]().union(*(word.stems + word.concepts for word in self.words))


class Overlap:
    """For each event, the worth of a step's words that it has. Steps without any are left out."""

    def __init__(self, words: PlanWords, terms: Sequence[frozenset[str]]) -> None:
        self._plan = words
        self._events = len(terms)
        self.held = [held & words.terms for held in terms]
        """For each event the terms that the plan has as well."""
        self._in_events = Counter(chain.from_iterable(self.held))
        self._worths = [self._worth(word) for word in words.words]
        self._has: dict[str, list[tuple[int, float]]] = {}
        self._stands_in: dict[str, list[tuple[int, float]]] = {}
        self._phrases: list[int] = []
        self._what_fills()
        self._rows: dict[frozenset[str], dict[int, float]] = {}
        self.total = [0.0] * words.steps
        """For each step the worth of all its words."""
        for worth, places in zip(self._worths, words.places, strict=True):
            for step in places:
                self.total[step] += worth

    def row(self, held: frozenset[str]) -> dict[int, float]:
        """By step the worth of its words that these terms hold or stand in for."""
        row = self._rows.get(held)
        if row is None:
            row = self._rows[held] = {}
            for term in held:
                for step, worth in self._has.get(term, ()):
                    row[step] = row.get(step, 0.0) + worth
            for word, worth in self._beyond_words(held).items():
                for step in self._plan.places[word]:
                    row[step] = row.get(step, 0.0) + worth
        return row

    def _beyond_words(self, held: frozenset[str]) -> dict[int, float]:
        """The phrases that these terms hold, and the words that a concept stands in for."""
        words = self._plan.words
        found = {
            word: self._worths[word] for word in self._phrases if held.issuperset(words[word].stems)
        }
        for concept in held & self._stands_in.keys():
            for word, worth in self._stands_in[concept]:
                if worth > found.get(word, 0.0) and not held.issuperset(words[word].stems):
                    found[word] = worth
        return found

    def _what_fills(self) -> None:
        """Note what each term that events have is worth in the steps, and for which words."""
        plan, known = self._plan, self._in_events
        for index, word in enumerate(plan.words):
            worth = self._worths[index]
            if len(word.stems) > 1:
                self._phrases.append(index)
            elif word.text in known:
                self._has[word.text] = [(step, worth) for step in plan.places[index]]
            for concept in word.concepts:
                if concept in known:
                    value = _summable(min(_CONCEPT * self._rarity(concept), _STAND_IN * worth))
                    self._stands_in.setdefault(concept, []).append((index, value))

    def _worth(self, word: Word) -> float:
        if len(word.stems) == 1:
            return self._rarity(word.stems[0])
        return sum(map(self._rarity, word.stems)) / 2 + _PHRASE

    def _rarity(self, term: str) -> float:
        plan = self._plan
        return _rarity(
            self._in_events.get(term, 0), self._events, plan.in_steps.get(term, 1), plan.steps
        )


@lru_cache(maxsize=8_192)
def _rarity(holding: int, events: int, naming: int, steps: int) -> float:
    """How much a term says that so many of the events hold and so many of the steps name."""
    rarity = log((events + 1) / (holding + 0.5)) + 0.1 if holding else log(events + 1) + 0.3
    return _summable(max(rarity, 0.0) * log(1 + steps / naming) / log(1 + steps))


def _summable(worth: float) -> float:
    """Rounded so that sums are exact, and so the same in whatever order they are made."""
    return round(worth * _FRACTIONS) / _FRACTIONS
