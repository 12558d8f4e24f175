"""The words that steps and events have in common, weighed by how rare they are in the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import log
from typing import TypeAlias

from planproof.checking.requirements import Demand
from planproof.contracts.terms import Word

_CONCEPT = 0.5
_STAND_IN = 0.8
_PHRASE = 0.3125
_FRACTIONS = 2**20
_MOST_REMEMBERED = 10_000

_Worths: TypeAlias = dict[int, float]
"""The worth of words, each by its index, or of those of a step together, by the step."""


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
        self.places = list(places.values())
        """For each word the steps that it stands in."""
        self.texts = list(words)
        self.indices = {text: index for index, text in enumerate(words)}
        self.of_step = [[self.indices[word.text] for word in demand.words] for demand in demands]
        """For each step its words."""
        self.terms = frozenset[str]().union(*(w.stems + w.concepts for w in words.values()))
        self.naming = dict.fromkeys(self.terms, 1) | naming
        """Term -> how many steps name it."""
        self.namings = list(map(len, self.places))
        """For each word how many steps name it."""
        self.phrases = {word.text: word.stems for word in words.values() if len(word.stems) > 1}
        """The words of several stems; any other is its stem."""
        self.sharing: dict[str, list[int]] = {}
        """Concept -> the words that it may stand in for."""
        for index, word in enumerate(words.values()):
            for concept in word.concepts:
                self.sharing.setdefault(concept, []).append(index)


words_in_plan = lru_cache(maxsize=256)(PlanWords)
"""The words of a plan, found once for all its traces."""


class Overlap:
    """For each event, the worth of a step's words that it has. Steps without any are left out."""

    def __init__(self, words: PlanWords, terms: Sequence[frozenset[str]]) -> None:
        self._places = words.places
        self.held: list[frozenset[str]] = [held & words.terms for held in terms]
        """For each event the terms that the plan has as well, and its phrases."""
        for phrase, stems in words.phrases.items():
            besides = frozenset({phrase})
            self.held = [held | besides if held.issuperset(stems) else held for held in self.held]
        known = Counter(chain.from_iterable(self.held))
        rarity, naming = _rarities_among(len(terms), words.steps), words.naming
        holding = [known.get(text, 0) for text in words.texts]
        worths = [rarity[counts] for counts in zip(holding, words.namings, strict=True)]
        for phrase, stems in words.phrases.items():
            each = [rarity[known.get(stem, 0), naming[stem]] for stem in stems]
            worths[words.indices[phrase]] = sum(each) / 2 + _PHRASE
            # Whoever has its stems apart may have none of its concepts.
            holding[words.indices[phrase]] = 0
        self._alone = dict(zip(words.texts, zip(worths, words.places, strict=True), strict=True))
        """Word that nothing stands in for -> its worth, and the steps that it stands in."""
        self._finds: dict[str, list[tuple[int, float]]] = {}
        """Any other term -> the words that it is, or stands in for, and their worth by it."""
        for concept in words.sharing.keys() & known.keys():
            # Whoever holds a word holds its concepts: those stand in for it if more hold them.
            count = known[concept]
            lacking = [word for word in words.sharing[concept] if holding[word] < count]
            if lacking:
                most = _CONCEPT * rarity[count, naming[concept]]
                self._finds[concept] = [
                    (word, _summable(min(most, _STAND_IN * worths[word]))) for word in lacking
                ]
                for word in lacking:
                    self._alone.pop(words.texts[word], None)
                    self._finds[words.texts[word]] = [(word, worths[word])]
        self._shared: dict[frozenset[str], tuple[_Worths, _Worths]] = {}
        self.total = [sum(map(worths.__getitem__, found)) for found in words.of_step]
        """For each step the worth of all its words."""

    def row(self, held: frozenset[str], shared: frozenset[str]) -> dict[int, float]:
        """By step the worth of its words that these terms hold or stand in for.

        What is found by those that are `shared` with other events is found once for all of them.
        """
        found = self._shared.get(shared)
        if found is None:
            found = self._shared[shared] = self._found(shared, {}, {})
        return self._found(held - shared, *found)[1]

    def _found(
        self, terms: frozenset[str], words: _Worths, steps: _Worths
    ) -> tuple[_Worths, _Worths]:
        """What was found already, by word and by step, and what these terms find besides."""
        words, steps, finds, alone = words.copy(), steps.copy(), self._finds, self._alone
        for term in terms:
            if term in alone:
                worth, places = alone[term]
                for step in places:
                    steps[step] = steps.get(step, 0.0) + worth
            elif term in finds:
                for word, worth in finds[term]:
                    # A word that is there itself is worth more than what stands in for it.
                    more = worth - words.get(word, 0.0)
                    if more > 0.0:
                        words[word] = worth
                        for step in self._places[word]:
                            steps[step] = steps.get(step, 0.0) + more
        return words, steps


class _Rarities(dict[tuple[int, int], float]):
    """How much a term says that so many of the events hold and so many of the steps name."""

    def __init__(self, events: int, steps: int) -> None:
        super().__init__()
        self._events = events
        self._steps = steps

    def __missing__(self, counts: tuple[int, int]) -> float:
        (holding, naming), events, steps = counts, self._events, self._steps
        rarity = log((events + 1) / (holding + 0.5)) + 0.1 if holding else log(events + 1) + 0.3
        rarity = _summable(max(rarity, 0.0) * log(1 + steps / naming) / log(1 + steps))
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        self[counts] = rarity
        return rarity


_rarities_among = lru_cache(maxsize=64)(_Rarities)
"""The rarities among so many events and steps, each found once."""


def _summable(worth: float) -> float:
    """Rounded so that sums are exact, and so the same in whatever order they are made."""
    return round(worth * _FRACTIONS) / _FRACTIONS
