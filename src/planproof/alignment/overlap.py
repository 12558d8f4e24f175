"""The words that steps and events have in common, weighed by how rare they are in the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
    """The words of a plan, each once and by index, with the steps that they stand in."""

    def __init__(self, demands: tuple[Demand, ...]) -> None:
        words: dict[str, Word] = {}
        places: dict[str, list[int]] = {}
        naming: dict[str, int] = {}
        for step, demand in enumerate(demands):
            concepts: set[str] = set()
            for word in demand.words:
                words[word.text] = word
                places.setdefault(word.text, []).append(step)
                concepts.update(word.concepts)
            # A step counts once for a concept, however many of its words share it.
            for concept in concepts:
                naming[concept] = naming.get(concept, 0) + 1
        naming |= {text: len(found) for text, found in places.items()}
        self.steps = len(demands)
        self.words = list(words.values())
        self.places = list(places.values())
        self.terms = frozenset[str]().union(*(word.stems + word.concepts for word in self.words))
        self.naming = {term: naming.get(term, 1) for term in sorted(self.terms)}
        """Term -> how many steps name it."""
        stems = [(index, word.stems) for index, word in enumerate(self.words)]
        self.singles = {found[0]: index for index, found in stems if len(found) == 1}
        """The words of one stem, by it."""
        self.phrases = [index for index, found in stems if len(found) > 1]
        self.sharing: dict[str, list[int]] = {}
        """Concept -> the words that it may stand in for."""
        for index, word in enumerate(self.words):
            for concept in word.concepts:
                self.sharing.setdefault(concept, []).append(index)


words_in_plan = lru_cache(maxsize=256)(PlanWords)
"""The words of a plan, found once for all its traces."""


class Overlap:
    """For each event, the worth of a step's words that it has. Steps without any are left out."""

    def __init__(self, words: PlanWords, terms: Sequence[frozenset[str]]) -> None:
        self._plan = words
        self.held = [held & words.terms for held in terms]
        """For each event the terms that the plan has as well."""
        known = Counter(chain.from_iterable(self.held))
        rarities = {
            term: _rarity(known[term], len(terms), naming, words.steps)
            for term, naming in words.naming.items()
        }
        self._worths = [_worth(word, rarities) for word in words.words]
        self._stand_ins = {
            concept: [(word, _stand_in(rarities[concept], self._worths[word])) for word in sharing]
            for concept, sharing in words.sharing.items()
            if concept in known
        }
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
            for word, worth in self._found(held).items():
                for step in self._plan.places[word]:
                    row[step] = row.get(step, 0.0) + worth
        return row

    def _found(self, held: frozenset[str]) -> dict[int, float]:
        """The words that these terms hold, and those that a concept stands in for."""
        words, singles, worths = self._plan.words, self._plan.singles, self._worths
        found: dict[int, float] = {}
        for word in self._plan.phrases:
            if held.issuperset(words[word].stems):
                found[word] = worths[word]
        for term in held:
            if term in singles:
                found[singles[term]] = worths[singles[term]]
            elif term in self._stand_ins:
                for word, worth in self._stand_ins[term]:
                    # A word that is there itself is worth more than what stands in for it.
                    if worth > found.get(word, 0.0):
                        found[word] = worth
        return found


def _worth(word: Word, rarities: Mapping[str, float]) -> float:
    if len(word.stems) == 1:
        return rarities[word.stems[0]]
    return sum([rarities[stem] for stem in word.stems]) / 2 + _PHRASE


def _stand_in(rarity: float, worth: float) -> float:
    return _summable(min(_CONCEPT * rarity, _STAND_IN * worth))


@lru_cache(maxsize=8_192)
def _rarity(holding: int, events: int, naming: int, steps: int) -> float:
    """How much a term says that so many of the events hold and so many of the steps name."""
    rarity = log((events + 1) / (holding + 0.5)) + 0.1 if holding else log(events + 1) + 0.3
    return _summable(max(rarity, 0.0) * log(1 + steps / naming) / log(1 + steps))


def _summable(worth: float) -> float:
    """Rounded so that sums are exact, and so the same in whatever order they are made."""
    return round(worth * _FRACTIONS) / _FRACTIONS
