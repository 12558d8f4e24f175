"""The words that steps and events have in common, weighed by how rare they are in the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import log
from typing import TypeAlias

from planproof.checking.requirements import Requirement
from planproof.contracts.terms import Word

_CONCEPT_WEIGHT = 0.5
_MAX_CONCEPT_SHARE = 0.8
_PHRASE_BONUS = 0.3125
_ROUNDING_DENOMINATOR = 2**20
_MAX_CACHE_SIZE = 10_000

_Weights: TypeAlias = dict[int, float]
"""The worth of words, each by its index, or of those of a step together, by the step."""


class PlanWords:
    """The words of a plan, each once and by index, with the steps that they stand in."""

    def __init__(self, requirements: tuple[Requirement, ...]) -> None:
        words: dict[str, Word] = {}
        steps_by_word: dict[str, list[int]] = {}
        step_counts: dict[str, int] = {}
        for step, requirement in enumerate(requirements):
            concepts: set[str] = set()
            for word in requirement.words:
                words[word.text] = word
                steps_by_word.setdefault(word.text, []).append(step)
                concepts.update(word.concepts)
            # A step counts once for a concept, however many of its words share it.
            for concept in concepts:
                step_counts[concept] = step_counts.get(concept, 0) + 1
        step_counts |= {text: len(word_steps) for text, word_steps in steps_by_word.items()}
        self.step_count = len(requirements)
        self.steps_by_word = list(steps_by_word.values())
        """For each word the steps that it stands in."""
        self.texts = list(words)
        self.indices = {text: index for index, text in enumerate(words)}
        self.words_by_step = [
            [self.indices[word.text] for word in requirement.words] for requirement in requirements
        ]
        """For each step its words."""
        self.terms = frozenset[str]().union(*(w.stems + w.concepts for w in words.values()))
        self.step_counts = dict.fromkeys(self.terms, 1) | step_counts
        """Term -> how many steps name it."""
        self.word_step_counts = list(map(len, self.steps_by_word))
        """For each word how many steps name it."""
        self.phrases = {word.text: word.stems for word in words.values() if len(word.stems) > 1}
        """The words of several stems; any other is its stem."""
        self.words_by_concept: dict[str, list[int]] = {}
        """Concept -> the words that it may stand in for."""
        for index, word in enumerate(words.values()):
            for concept in word.concepts:
                self.words_by_concept.setdefault(concept, []).append(index)


index_plan_words = lru_cache(maxsize=256)(PlanWords)
"""The words of a plan, found once for all its traces."""


class Overlap:
    """For each event, the worth of a step's words that it has. Steps without any are left out."""

    def __init__(self, words: PlanWords, terms: Sequence[frozenset[str]]) -> None:
        self._steps_by_word = words.steps_by_word
        self.shared_terms: list[frozenset[str]] = [
            event_terms & words.terms for event_terms in terms
        ]
        """For each event the terms that the plan has as well, and its phrases."""
        for phrase, stems in words.phrases.items():
            phrase_term = frozenset({phrase})
            self.shared_terms = [
                event_terms | phrase_term if event_terms.issuperset(stems) else event_terms
                for event_terms in self.shared_terms
            ]
        term_counts = Counter(chain.from_iterable(self.shared_terms))
        rarity, step_counts = _get_rarities(len(terms), words.step_count), words.step_counts
        event_counts = [term_counts.get(text, 0) for text in words.texts]
        worths = [
            rarity[counts] for counts in zip(event_counts, words.word_step_counts, strict=True)
        ]
        for phrase, stems in words.phrases.items():
            stem_weights = [rarity[term_counts.get(stem, 0), step_counts[stem]] for stem in stems]
            worths[words.indices[phrase]] = sum(stem_weights) / 2 + _PHRASE_BONUS
            # Whoever has its stems apart may have none of its concepts.
            event_counts[words.indices[phrase]] = 0
        self._exact_weights = dict(
            zip(words.texts, zip(worths, words.steps_by_word, strict=True), strict=True)
        )
        """Word that nothing stands in for -> its worth, and the steps that it stands in."""
        self._concept_weights: dict[str, list[tuple[int, float]]] = {}
        """Any other term -> the words that it is, or stands in for, and their worth by it."""
        for concept in words.words_by_concept.keys() & term_counts.keys():
            # Whoever holds a word holds its concepts: those stand in for it if more hold them.
            count = term_counts[concept]
            lacking = [
                word for word in words.words_by_concept[concept] if event_counts[word] < count
            ]
            if lacking:
                most = _CONCEPT_WEIGHT * rarity[count, step_counts[concept]]
                self._concept_weights[concept] = [
                    (word, _round_exactly(min(most, _MAX_CONCEPT_SHARE * worths[word])))
                    for word in lacking
                ]
                for word in lacking:
                    self._exact_weights.pop(words.texts[word], None)
                    self._concept_weights[words.texts[word]] = [(word, worths[word])]
        self._cache: dict[frozenset[str], tuple[_Weights, _Weights]] = {}
        self.step_weights = [
            sum(map(worths.__getitem__, step_words)) for step_words in words.words_by_step
        ]
        """For each step the worth of all its words."""

    def compute_row(self, terms: frozenset[str], shared: frozenset[str]) -> dict[int, float]:
        """By step the worth of its words that these terms hold or stand in for.

        What is found by those that are `shared` with other events is found once for all of them.
        """
        cached = self._cache.get(shared)
        if cached is None:
            cached = self._cache[shared] = self._accumulate(shared, {}, {})
        return self._accumulate(terms - shared, *cached)[1]

    def _accumulate(
        self, terms: frozenset[str], words: _Weights, steps: _Weights
    ) -> tuple[_Weights, _Weights]:
        """What was found already, by word and by step, and what these terms find besides."""
        words, steps, concept_weights, exact_weights = (
            words.copy(),
            steps.copy(),
            self._concept_weights,
            self._exact_weights,
        )
        for term in terms:
            if term in exact_weights:
                worth, word_steps = exact_weights[term]
                for step in word_steps:
                    steps[step] = steps.get(step, 0.0) + worth
            elif term in concept_weights:
                for word, worth in concept_weights[term]:
                    # A word that is there itself is worth more than what stands in for it.
                    more = worth - words.get(word, 0.0)
                    if more > 0.0:
                        words[word] = worth
                        for step in self._steps_by_word[word]:
                            steps[step] = steps.get(step, 0.0) + more
        return words, steps


class _Rarities(dict[tuple[int, int], float]):
    """How much a term says that so many of the events hold and so many of the steps name."""

    def __init__(self, events: int, steps: int) -> None:
        super().__init__()
        self._events = events
        self._steps = steps

    def __missing__(self, counts: tuple[int, int]) -> float:
        (event_count, step_count), events, steps = counts, self._events, self._steps
        rarity = (
            log((events + 1) / (event_count + 0.5)) + 0.1 if event_count else log(events + 1) + 0.3
        )
        rarity = _round_exactly(max(rarity, 0.0) * log(1 + steps / step_count) / log(1 + steps))
        if len(self) >= _MAX_CACHE_SIZE:
            self.clear()
        self[counts] = rarity
        return rarity


_get_rarities = lru_cache(maxsize=64)(_Rarities)
"""The rarities among so many events and steps, each found once."""


def _round_exactly(worth: float) -> float:
    """Rounded so that sums are exact, and so the same in whatever order they are made."""
    return round(worth * _ROUNDING_DENOMINATOR) / _ROUNDING_DENOMINATOR
