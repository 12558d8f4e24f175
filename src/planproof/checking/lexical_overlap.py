"""Compute the lexical overlap of steps and events, with words weighted by rarity in the case."""

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
"""Weights of words by word index, or total weights of steps by step index."""


class PlanWords:
    """The distinct words of a plan, by index, with the steps that contain them."""

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
        """The steps that contain each word."""
        self.texts = list(words)
        self.indices = {text: index for index, text in enumerate(words)}
        self.words_by_step = [
            [self.indices[word.text] for word in requirement.words] for requirement in requirements
        ]
        """The words of each step."""
        self.terms = frozenset[str]().union(*(w.stems + w.concepts for w in words.values()))
        self.step_counts = dict.fromkeys(self.terms, 1) | step_counts
        """Term -> number of steps that contain it."""
        self.word_step_counts = list(map(len, self.steps_by_word))
        """The number of steps that contain each word."""
        self.phrases = {word.text: word.stems for word in words.values() if len(word.stems) > 1}
        """The words with several stems; any other word is its stem."""
        self.words_by_concept: dict[str, list[int]] = {}
        """Concept -> the words that it can replace."""
        for index, word in enumerate(words.values()):
            for concept in word.concepts:
                self.words_by_concept.setdefault(concept, []).append(index)


index_plan_words = lru_cache(maxsize=256)(PlanWords)
"""Return the words of a plan; cached for all its traces."""


class Overlap:
    """The weight of a step's words that each event has; steps without any are left out."""

    def __init__(self, words: PlanWords, terms: Sequence[frozenset[str]]) -> None:
        self._steps_by_word = words.steps_by_word
        self.shared_terms: list[frozenset[str]] = [
            event_terms & words.terms for event_terms in terms
        ]
        """The terms that each event shares with the plan, and its phrases."""
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
            # An event with the stems apart may have none of the phrase's concepts.
            event_counts[words.indices[phrase]] = 0
        self._exact_weights = dict(
            zip(words.texts, zip(worths, words.steps_by_word, strict=True), strict=True)
        )
        """Word that no concept replaces -> its weight, and the steps that contain it."""
        self._concept_weights: dict[str, list[tuple[int, float]]] = {}
        """Any other term -> the words that it is or can replace, and their weights by this term."""
        for concept in words.words_by_concept.keys() & term_counts.keys():
            # An event with a word has its concepts too: a concept adds something only if more
            # events have the concept than the word.
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
        """The total weight of the words of each step."""

    def compute_row(self, terms: frozenset[str], shared: frozenset[str]) -> dict[int, float]:
        """Return by step the weight of its words that these terms contain or can replace.

        The result for the terms `shared` with other events is computed once for all of them.
        """
        cached = self._cache.get(shared)
        if cached is None:
            cached = self._cache[shared] = self._accumulate(shared, {}, {})
        return self._accumulate(terms - shared, *cached)[1]

    def _accumulate(
        self, terms: frozenset[str], words: _Weights, steps: _Weights
    ) -> tuple[_Weights, _Weights]:
        """Add these terms to the weights found so far, by word and by step; return copies."""
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
                    # The word itself has more weight than a concept that replaces it.
                    more = worth - words.get(word, 0.0)
                    if more > 0.0:
                        words[word] = worth
                        for step in self._steps_by_word[word]:
                            steps[step] = steps.get(step, 0.0) + more
        return words, steps


class _Rarities(dict[tuple[int, int], float]):
    """The weight of a term by the number of events and of steps that contain it."""

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
"""Return the weights for this number of events and steps; cached."""


def _round_exactly(worth: float) -> float:
    """Round so that sums are exact, and therefore independent of the order of addition."""
    return round(worth * _ROUNDING_DENOMINATOR) / _ROUNDING_DENOMINATOR
