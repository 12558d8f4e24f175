"""Every event held against every step: what speaks for the pair, feature by feature."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from math import sqrt
from typing import TypeAlias

from msgspec import Struct

from planproof.checking.candidates import ActionSignature, Candidate
from planproof.checking.lexical_overlap import Overlap, PlanWords, index_plan_words
from planproof.checking.requirements import Requirement
from planproof.contracts.values import Literal, TextIndex
from planproof.core.trace import Kind

_SMOOTHING = 1.0
"""Added to both sides of a ratio: little evidence makes little difference."""
# Looked up once: to take a member from its class takes longer than to compare it.
_ACTION, _MESSAGE, _REASONING = Kind.ACTION, Kind.MESSAGE, Kind.REASONING
_ROUNDING_MARGIN = 2
"""Sums are rounded in parts, three at most."""

_Weights: TypeAlias = Mapping[str, float]
"""Feature -> its weight."""
_CandidateKey: TypeAlias = tuple[ActionSignature, frozenset[str], int]
"""What the words of an event come to depends on nothing else: its manner, the terms that it has in
common with the plan, and the number of all its terms. Traces are full of calls that are alike."""


class WordOverlap(Enum):
    """What words an event has in common with a plan."""

    NONE = 0
    OTHER_STEPS = 1
    """With other steps only, and no value of this one."""
    THIS_STEP = 2


class Comparison:
    """What was said is weighed apart from what was done: no words can change what deeds fit.

    Neither can what came back: a call is held to what it asks for.
    """

    def __init__(
        self, candidates: Sequence[Candidate], requirements: Sequence[Requirement]
    ) -> None:
        words = index_plan_words(tuple(requirements))
        actions = [candidate for candidate in candidates if not candidate.is_text_only]
        texts = [candidate for candidate in candidates if candidate.is_text_only]
        named_tools = _find_named_tools(actions, requirements)
        self._text_only = [candidate.is_text_only for candidate in candidates]
        mentions = Mentions(actions, texts, requirements)
        self._actions = _GroupComparison(
            actions, requirements, words, named_tools, mentions.actions
        )
        self._texts = _GroupComparison(texts, requirements, words, named_tools, mentions.texts)

    def compute_scores(self, weights: _Weights, bias: float) -> list[list[int]]:
        """For each event, for each step, the weighted sum of the features."""
        action_rows, text_rows = (
            iter(self._actions.compute_scores(weights, bias)),
            iter(self._texts.compute_scores(weights, bias)),
        )
        return [next(text_rows if is_text else action_rows) for is_text in self._text_only]

    def best_shares(self) -> list[float]:
        """For each step the greatest share of its words that an event has."""
        return list(map(max, self._actions.best_share, self._texts.best_share))


class _GroupComparison:
    """The events that were done, or those that were said, against the steps."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        requirements: Sequence[Requirement],
        words: PlanWords,
        named_tools: Sequence[frozenset[str]],
        mentions: Sequence[StepMentions],
    ) -> None:
        self._requirements = requirements
        self._named_tools = named_tools
        overlap = Overlap(words, [candidate.terms for candidate in candidates])
        self._step_weights = overlap.step_weights
        groups: dict[_CandidateKey, int] = {}
        self._row_indices = [
            groups.setdefault(
                (candidate.signature, shared_terms, len(candidate.terms)), len(groups)
            )
            for candidate, shared_terms in zip(candidates, overlap.shared_terms, strict=True)
        ]
        """For each event which of those in common it is alike to."""
        self._terms_by_signature: dict[ActionSignature, list[frozenset[str]]] = {}
        for signature, shared_terms, _ in groups:
            self._terms_by_signature.setdefault(signature, []).append(shared_terms)
        # Events of a manner have most of their terms from it.
        shared = {
            signature: term_sets[0].intersection(*term_sets)
            for signature, term_sets in self._terms_by_signature.items()
        }
        self._overlap_rows = [
            (
                signature,
                _normalize_length(terms),
                overlap.compute_row(shared_terms, shared[signature]),
            )
            for signature, shared_terms, terms in groups
        ]
        best = self._best_normalized = [0.0] * words.step_count
        most_overlap = [0.0] * words.step_count
        for _, length, row in self._overlap_rows:
            for step, worth in row.items():
                # To call `max` for every pair would take as long as all the rest here.
                if worth > most_overlap[step]:  # noqa: PLR1730
                    most_overlap[step] = worth
                if worth / length > best[step]:  # noqa: PLR1730
                    best[step] = worth / length
        self.best_share = [
            worth / (3.0 + total)
            for worth, total in zip(most_overlap, self._step_weights, strict=True)
        ]
        self._mentions = mentions

    def compute_scores(self, weights: _Weights, bias: float) -> list[list[int]]:
        """For each event, for each step, the weighted sum of the features."""
        rows = self._score_words(weights, bias)
        for step, step_mentions in enumerate(self._mentions):
            # The ground is that of an event without any of the values.
            bonus = round(-weights["values_elsewhere"] * step_mentions.share)
            for index in step_mentions.indices:
                rows[index][step] += bonus
        return rows

    def _score_words(self, weights: _Weights, bias: float) -> list[list[int]]:
        """What the words and the manner of each event come to, as if it had no values."""
        shares = [weights["share"] / (3.0 + total) for total in self._step_weights]
        events = [weights["best_event"] / (best + _SMOOTHING / 5) for best in self._best_normalized]
        baseline = [
            bias + weights["values_elsewhere"] * step_mentions.share + event * _SMOOTHING / 5
            for step_mentions, event in zip(self._mentions, events, strict=True)
        ]
        bases = self._score_signatures(baseline, weights)
        best_step_weight = weights["best_step"]
        rows: list[list[int]] = []
        for signature, length, common in self._overlap_rows:
            if not common:
                # Whoever has nothing in common with any step is not the nearest to each of them.
                rows.append(bases[signature])
                continue
            by_step = best_step_weight / (max(common.values()) + _SMOOTHING)
            bonus = round(by_step * _SMOOTHING)
            row = [base + bonus for base in bases[signature]]
            rows.append(row)
            for step, worth in common.items():
                row[step] += round(worth * (shares[step] + events[step] / length + by_step))
        return [rows[row_index].copy() for row_index in self._row_indices]

    def _score_signatures(
        self, baseline: list[float], weights: _Weights
    ) -> dict[ActionSignature, list[int]]:
        """For each manner, for each step, what it alone comes to on top of the ground."""
        by_kind = {
            kind: [
                base + _score_kind(kind, requirement, weights)
                for base, requirement in zip(baseline, self._requirements, strict=True)
            ]
            for kind in {signature.kind for signature in self._terms_by_signature}
        }
        return {
            signature: [
                round(base + bonus)
                for base, bonus in zip(
                    by_kind[signature.kind],
                    _score_action_types(signature, self._requirements, self._named_tools, weights),
                    strict=True,
                )
            ]
            for signature in self._terms_by_signature
        }


def bound_score(
    signature: ActionSignature,
    requirement: Requirement,
    weights: _Weights,
    bias: float,
    words: WordOverlap,
) -> float:
    """The most that an event can come to for a step, in whatever trace.

    Each feature is 1 at most; what may speak against the pair besides is left out.
    """
    (action_score,) = _score_action_types(signature, [requirement], [frozenset()], weights)
    max_score = (
        bias
        + weights["best_event"]
        + _score_kind(signature.kind, requirement, weights)
        + action_score
    )
    if words is not WordOverlap.NONE:
        max_score += weights["best_step"]
    if words is WordOverlap.THIS_STEP:
        max_score += weights["share"]
    return max_score + _ROUNDING_MARGIN


def _normalize_length(term_count: int) -> float:
    """What the words in common are divided by, lest long events fit everything."""
    return sqrt(10 + term_count)


def _score_kind(kind: Kind, requirement: Requirement, weights: _Weights) -> float:
    if kind is _MESSAGE:
        return weights["said_as_asked" if requirement.accepts_message else "said_unasked"]
    if kind is _ACTION:
        message_only = (
            requirement.accepts_message
            and not requirement.accepts_reasoning
            and len(requirement.action_types) == 1
        )
        return weights["done_for_saying"] if message_only else 0.0
    is_unasked_reasoning = kind is _REASONING and not requirement.accepts_reasoning
    return weights["thought_unasked"] if is_unasked_reasoning else 0.0


def _score_action_types(
    signature: ActionSignature,
    requirements: Sequence[Requirement],
    named_tools: Sequence[frozenset[str]],
    weights: _Weights,
) -> list[float]:
    exclusive_types, action_types, actor = (
        signature.exclusive_types,
        signature.action_types,
        signature.actor,
    )
    totals: list[float] = []
    for requirement, step_tools in zip(requirements, named_tools, strict=True):
        total = 0.0
        if (
            exclusive_types
            and requirement.exclusive_types
            and exclusive_types.isdisjoint(requirement.compatible_types)
        ):
            total += weights["other_deed"]
        if (
            action_types
            and requirement.all_action_types
            and action_types.isdisjoint(requirement.all_action_types)
        ):
            total += weights["no_deed"]
        if step_tools and signature.name not in step_tools:
            total += weights["other_tool"]
        if actor and actor in requirement.folded_text:
            total += weights["actor"]
        totals.append(total)
    return totals


def _find_named_tools(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement]
) -> list[frozenset[str]]:
    """For each step the tools of this trace that its text calls by name."""
    names = sorted({candidate.signature.name for candidate in candidates})
    return [
        frozenset(
            name
            for name in names
            if len(name) > 3
            and name in requirement.folded_text
            and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", requirement.folded_text)
        )
        for requirement in requirements
    ]


class StepMentions(Struct, frozen=True):
    """What the values of a step say about some events."""

    indices: frozenset[int]
    """Those that hold any of them, by index."""
    share: float
    """The share of the values that any event holds: it speaks against those that hold none."""


_NONE: frozenset[int] = frozenset()
_NO_MENTIONS = StepMentions(_NONE, 0.0)


class Mentions:
    """For each step what its values say of that which was done, and of that which was said.

    Names are no values here.
    """

    def __init__(
        self,
        actions: Sequence[Candidate],
        texts: Sequence[Candidate],
        requirements: Sequence[Requirement],
    ) -> None:
        calls = TextIndex(
            [candidate.call_text for candidates in (actions, texts) for candidate in candidates]
        )
        values, values_by_step = _collect_values(tuple(requirements))
        indices_by_value = [
            _split_indices(calls.find_indices(value), len(actions)) for value in values
        ]
        self.actions = [
            _summarize_mentions([indices_by_value[value][0] for value in step_values])
            for step_values in values_by_step
        ]
        self.texts = [
            _summarize_mentions([indices_by_value[value][1] for value in step_values])
            for step_values in values_by_step
        ]


@lru_cache(maxsize=256)
def _collect_values(requirements: tuple[Requirement, ...]) -> tuple[list[Literal], list[list[int]]]:
    """The values of a plan, each once, and for each step which of them it names."""
    values = {
        (value.kind, value.text): value
        for requirement in requirements
        for value in requirement.values
    }
    indices = {key: index for index, key in enumerate(values)}
    return list(values.values()), [
        [indices[value.kind, value.text] for value in requirement.values]
        for requirement in requirements
    ]


def _split_indices(indices: list[int], action_count: int) -> tuple[list[int], list[int]]:
    """Those that were done, and those that were said, which are counted behind them."""
    text_indices = [index - action_count for index in indices if index >= action_count]
    return (
        [index for index in indices if index < action_count] if text_indices else indices
    ), text_indices


def _summarize_mentions(indices_by_value: list[list[int]]) -> StepMentions:
    """What it says that these events hold the values of a step, each."""
    found_count = sum(map(bool, indices_by_value))
    return (
        StepMentions(_NONE.union(*indices_by_value), found_count / len(indices_by_value))
        if found_count
        else _NO_MENTIONS
    )
