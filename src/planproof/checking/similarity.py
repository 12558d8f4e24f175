"""Score each event for each step: a weighted sum of features, rounded to an integer.

The fitting constrains each weight to the sign given here, so that less evidence never scores
higher.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache, lru_cache
from math import sqrt
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from planproof.checking.candidates import ActionSignature, Candidate
from planproof.checking.fitted_values import load_fitted_values
from planproof.checking.lexical_overlap import Overlap, PlanWords, index_plan_words
from planproof.checking.requirements import Requirement
from planproof.contracts.values import Literal, TextIndex
from planproof.core.trace import Kind

FEATURE_SIGNS = {
    "share": +1,  # share of the step's words, by rarity, that the event has
    "best_step": +1,  # shared words, relative to the step that shares most with the event
    "best_event": +1,  # shared words, relative to the event that shares most; length counts against
    "values_elsewhere": -1,  # share of the step's values in other calls; none here
    "other_tool": -1,  # the step names another tool of this trace
    "actor": +1,  # the step names the actor of the event
    "no_common_action_type": -1,  # the event has none of the action types of the step
    "requested_message": +1,  # a message for a step that asks for one
    "unrequested_message": -1,  # a message for any other step
    "action_for_message": -1,  # an action for a step that only asks for a message
    "unrequested_reasoning": -1,  # reasoning for a step that does not ask for it
}
FIXED_WEIGHTS = {"excluded_action_type": -20.0}
"""Not fitted, because it is rare in labelled cases: refunding is not cancelling."""
SCALE = 100
_FEATURE_SCALE = 1e9
"""Sums are integers: a single feature is multiplied by this, then divided by it again."""


class Weights(NamedTuple):
    """The fitted weight of each feature, and the bias."""

    values: tuple[float, ...]
    bias: float


@cache
def load_shipped_weights() -> Weights:
    """Return the weights in the data file next to this module."""
    fitted = load_fitted_values("similarity")
    return Weights(tuple(fitted[name] for name in FEATURE_SIGNS), fitted["bias"])


class Similarity(NamedTuple):
    """The score of each event for each step, and the lexical overlap of plan and trace."""

    scores: list[list[int]]
    """One row per event, one column per step; positive scores support the pair."""
    lexical_overlap: float
    """The share of a step's words that its best event has, averaged over the steps."""


def compute_similarity(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement], weights: Weights
) -> Similarity:
    """Compare every event with every step."""
    comparison = Comparison(candidates, requirements)
    scaled = _scale_weights(weights)
    shares = comparison.best_shares()
    return Similarity(
        comparison.compute_scores(scaled, SCALE * weights.bias),
        sum(shares) / len(shares) if shares else 0.0,
    )


def compute_max_score(
    candidate: Candidate, requirement: Requirement, weights: Weights, *, words: WordOverlap
) -> float:
    """Return the highest score that an event can have for a step, in any trace."""
    return bound_score(
        candidate.signature, requirement, _scale_weights(weights), SCALE * weights.bias, words
    )


def _scale_weights(weights: Weights) -> dict[str, float]:
    combined = {**dict(zip(FEATURE_SIGNS, weights.values, strict=True)), **FIXED_WEIGHTS}
    return {name: SCALE * weight for name, weight in combined.items()}


def compute_features(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement]
) -> list[list[tuple[float, ...]]]:
    """Return the features of each pair, in the order of `FEATURE_SIGNS`.

    Each feature is the weighted sum with all other weights at zero.
    """
    comparison = Comparison(candidates, requirements)
    zero_weights = dict.fromkeys((*FEATURE_SIGNS, *FIXED_WEIGHTS), 0.0)
    tables = [
        comparison.compute_scores({**zero_weights, name: _FEATURE_SCALE}, 0.0)
        for name in FEATURE_SIGNS
    ]
    return [
        [tuple(value / _FEATURE_SCALE for value in pair) for pair in zip(*rows, strict=True)]
        for rows in zip(*tables, strict=True)
    ]


_SMOOTHING = 1.0
"""Added to both sides of a ratio, so that little evidence makes little difference."""
# Bound once: attribute access on an enum takes longer than the comparison.
_ACTION, _MESSAGE, _REASONING = Kind.ACTION, Kind.MESSAGE, Kind.REASONING
_ROUNDING_MARGIN = 2
"""Sums are rounded in at most three parts."""

_Weights: TypeAlias = Mapping[str, float]
"""Feature -> its weight."""
_CandidateKey: TypeAlias = tuple[ActionSignature, frozenset[str], int]
"""All that the word score of an event depends on: signature, shared terms, number of terms.

Traces contain many calls with equal keys.
"""


class WordOverlap(Enum):
    """The words that an event shares with a plan."""

    NONE = 0
    OTHER_STEPS = 1
    """Shares words with other steps only, and no value with this one."""
    THIS_STEP = 2


class Comparison:
    """The features of each pair of event and step, for texts and actions separately.

    Words in messages cannot change the scores of actions. Neither can outputs: a call is scored by
    what it asks for.
    """

    def __init__(
        self, candidates: Sequence[Candidate], requirements: Sequence[Requirement]
    ) -> None:
        self._requirements = requirements
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
        """Return the weighted sum of the features for each event and each step."""
        action_rows, text_rows = (
            iter(self._actions.compute_scores(weights, bias)),
            iter(self._texts.compute_scores(weights, bias)),
        )
        return [next(text_rows if is_text else action_rows) for is_text in self._text_only]

    def best_shares(self) -> list[float]:
        """Return for each step the greatest share of its words that any event has.

        Texts count only for steps that a text can execute: claims must not change the others.
        """
        return [
            in_actions if requirement.requires_action else max(in_actions, in_texts)
            for requirement, in_actions, in_texts in zip(
                self._requirements, self._actions.best_share, self._texts.best_share, strict=True
            )
        ]


class _GroupComparison:
    """The features of the actions, or of the texts, for each step."""

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
        """The row of each event in `_overlap_rows`; events with equal keys share a row."""
        self._terms_by_signature: dict[ActionSignature, list[frozenset[str]]] = {}
        for signature, shared_terms, _ in groups:
            self._terms_by_signature.setdefault(signature, []).append(shared_terms)
        # Events with the same signature get most of their terms from it.
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
                # Calling `max` for each pair would take as long as the rest of this method.
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
        """Return the weighted sum of the features for each event and each step."""
        rows = self._score_words(weights, bias)
        for step, step_mentions in enumerate(self._mentions):
            # The baseline is that of an event without any of the values.
            bonus = round(-weights["values_elsewhere"] * step_mentions.share)
            for index in step_mentions.indices:
                rows[index][step] += bonus
        return rows

    def _score_words(self, weights: _Weights, bias: float) -> list[list[int]]:
        """Score the words and the signature of each event as if it had no values."""
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
                # An event that shares no words with any step gets no best-step bonus.
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
        """Score each signature for each step, on top of the baseline."""
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
    """Return the highest score that an event can have for a step, in any trace.

    Each feature is at most 1; features that could only lower the score are left out.
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
    """Return the divisor of the overlap, so that long events do not match every step."""
    return sqrt(10 + term_count)


def _score_kind(kind: Kind, requirement: Requirement, weights: _Weights) -> float:
    if kind is _MESSAGE:
        return weights[
            "requested_message" if requirement.accepts_message else "unrequested_message"
        ]
    if kind is _ACTION:
        message_only = (
            requirement.accepts_message
            and not requirement.accepts_reasoning
            and len(requirement.action_types) == 1
        )
        return weights["action_for_message"] if message_only else 0.0
    is_unasked_reasoning = kind is _REASONING and not requirement.accepts_reasoning
    return weights["unrequested_reasoning"] if is_unasked_reasoning else 0.0


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
            total += weights["excluded_action_type"]
        if (
            action_types
            and requirement.all_action_types
            and action_types.isdisjoint(requirement.all_action_types)
        ):
            total += weights["no_common_action_type"]
        if step_tools and signature.name not in step_tools:
            total += weights["other_tool"]
        if actor and actor in requirement.folded_text:
            total += weights["actor"]
        totals.append(total)
    return totals


def _find_named_tools(
    candidates: Sequence[Candidate], requirements: Sequence[Requirement]
) -> list[frozenset[str]]:
    """Return for each step the tools of this trace that its text names."""
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
    """The events that mention the values of a step."""

    indices: frozenset[int]
    """The events that mention any of the values."""
    share: float
    """The share of the values that any event mentions; it lowers the scores of all others."""


_NONE: frozenset[int] = frozenset()
_NO_MENTIONS = StepMentions(_NONE, 0.0)


class Mentions:
    """For each step, the actions and the texts that mention its values, names excluded."""

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
    """Return the distinct values of a plan, and for each step the indices of its values."""
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
    """Split indices into those of actions, and those of texts, which are counted after them."""
    text_indices = [index - action_count for index in indices if index >= action_count]
    return (
        [index for index in indices if index < action_count] if text_indices else indices
    ), text_indices


def _summarize_mentions(indices_by_value: list[list[int]]) -> StepMentions:
    """Summarize the events that mention each value of a step."""
    found_count = sum(map(bool, indices_by_value))
    return (
        StepMentions(_NONE.union(*indices_by_value), found_count / len(indices_by_value))
        if found_count
        else _NO_MENTIONS
    )
