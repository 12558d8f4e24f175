"""The words that steps and events have in common, weighed by how rare they are in the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, filterfalse
from math import log

from planproof.alignment.demands import Demand
from planproof.alignment.terms import TERMS_OF_TOKEN, Word

_CONCEPT = 0.5
_STAND_IN = 0.8


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
        self.by_stem: dict[str, list[int]] = {}
        for index, word in enumerate(self.words):
            for stem in word.stems:
                self.by_stem.setdefault(stem, []).append(index)
        self.stems = frozenset(self.by_stem)
        self.terms = self.stems.union(*(word.concepts for word in self.words))

    def stems_in(self, texts: Sequence[list[str]]) -> list[frozenset[str]]:
        """For each text, given as tokens, the stems in it that are the plan's."""
        tokens = set(chain.from_iterable(texts))
        plain: frozenset[str] = frozenset()
        found = {
            token: terms & self.stems
            # Outputs are full of numbers: those that the plan has not are not worth remembering.
            for token in chain(filterfalse(str.isdigit, tokens), tokens & self.stems)
            if not self.stems.isdisjoint(terms := TERMS_OF_TOKEN[token])
        }
        telling = frozenset(found)
        return [plain.union(*map(found.__getitem__, telling.intersection(text))) for text in texts]


class Overlap:
    """For each event, the worth of a step's words that it has. Steps without any are left out."""

    def __init__(self, words: PlanWords, terms: Sequence[frozenset[str]]) -> None:
        self._plan = words
        self._events = len(terms)
        self.held = [held & words.terms for held in terms]
        """For each event the terms that the plan has as well."""
        self._in_events = Counter(chain.from_iterable(self.held))
        self._worths = [self._worth(word) for word in words.words]
        self._fills = self._what_fills()
        self._phrases = [
            (index, word.stems) for index, word in enumerate(words.words) if len(word.stems) > 1
        ]
        self._rows: dict[frozenset[str], dict[int, float]] = {}
        total = self._by_step(dict(enumerate(self._worths)))
        self.total = [total.get(step, 0.0) for step in range(words.steps)]
        """For each step the worth of all its words."""

    def row(self, held: frozenset[str]) -> dict[int, float]:
        """By step the worth of its words that these terms hold or stand in for."""
        row = self._rows.get(held)
        if row is None:
            best: dict[int, float] = {}
            for term in held:
                for word, value in self._fills[term]:
                    if value > best.get(word, 0.0):
                        best[word] = value
            for word, stems in self._phrases:
                if held.issuperset(stems):
                    best[word] = self._worths[word]
            row = self._rows[held] = self._by_step(best)
        return row

    def only_in(self, output: frozenset[str], held: frozenset[str]) -> dict[int, float]:
        """By step the worth of the words that the output has and the call has not."""
        plan = self._plan
        return self._by_step(
            {
                word: self._worths[word]
                for stem in output - held
                for word in plan.by_stem[stem]
                if output.issuperset(plan.words[word].stems)
            }
        )

    def _by_step(self, worths: Mapping[int, float]) -> dict[int, float]:
        # Sums of floats depend on their order: go by word, so that every process adds alike.
        found: dict[int, float] = {}
        places = self._plan.places
        for word in sorted(worths):
            worth = worths[word]
            for step in places[word]:
                found[step] = found.get(step, 0.0) + worth
        return found

    def _what_fills(self) -> dict[str, list[tuple[int, float]]]:
        """Term -> the words of the plan that it is or stands in for, and what it is worth there."""
        fills: dict[str, list[tuple[int, float]]] = {term: [] for term in self._in_events}
        for index, word in enumerate(self._plan.words):
            worth = self._worths[index]
            if len(word.stems) == 1 and word.stems[0] in fills:
                fills[word.stems[0]].append((index, worth))
            for concept in word.concepts:
                if concept in fills:
                    value = min(_CONCEPT * self._rarity(concept), _STAND_IN * worth)
                    fills[concept].append((index, value))
        return fills

    def _worth(self, word: Word) -> float:
        if len(word.stems) == 1:
            return self._rarity(word.stems[0])
        return sum(map(self._rarity, word.stems)) / 2 + 0.3

    def _rarity(self, term: str) -> float:
        plan = self._plan
        return _rarity(
            self._in_events.get(term, 0), self._events, plan.in_steps.get(term, 1), plan.steps
        )


@lru_cache(maxsize=8_192)
def _rarity(holding: int, events: int, naming: int, steps: int) -> float:
    """How much a term says that so many of the events hold and so many of the steps name."""
    rarity = log((events + 1) / (holding + 0.5)) + 0.1 if holding else log(events + 1) + 0.3
    return max(rarity, 0.0) * log(1 + steps / naming) / log(1 + steps)
