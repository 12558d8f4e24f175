"""Every event held against every step: what speaks for the pair, feature by feature."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from math import sqrt
from typing import TypeAlias

from planproof.checking.candidates import Manner, Unit
from planproof.checking.lexical_overlap import Overlap, PlanWords, words_in_plan
from planproof.checking.requirements import Demand
from planproof.checking.value_mentions import Mentioned, Mentions
from planproof.core.trace import Kind

_DOUBT = 1.0
"""Added to both sides of a ratio: little evidence makes little difference."""
# Looked up once: to take a member from its class takes longer than to compare it.
_ACTION, _MESSAGE, _REASONING = Kind.ACTION, Kind.MESSAGE, Kind.REASONING
_ROUNDED_UP = 2
"""Sums are rounded in parts, three at most."""

_Weights: TypeAlias = Mapping[str, float]
"""Feature -> its weight."""
_Alike: TypeAlias = tuple[Manner, frozenset[str], int]
"""What the words of an event come to depends on nothing else: its manner, the terms that it has in
common with the plan, and the number of all its terms. Traces are full of calls that are alike."""


class Words(Enum):
    """What words an event has in common with a plan."""

    NONE = 0
    OF_OTHERS = 1
    """With other steps only, and no value of this one."""
    OF_STEP = 2


class Comparison:
    """What was said is weighed apart from what was done: no words can change what deeds fit.

    Neither can what came back: a call is held to what it asks for.
    """

    def __init__(self, units: Sequence[Unit], demands: Sequence[Demand]) -> None:
        words = words_in_plan(tuple(demands))
        done = [unit for unit in units if not unit.said]
        said = [unit for unit in units if unit.said]
        tools = _tools_named(done, demands)
        self._of_said = [unit.said for unit in units]
        mentions = Mentions(done, said, demands)
        self._done = _Half(done, demands, words, tools, mentions.done)
        self._said = _Half(said, demands, words, tools, mentions.said)

    def sums(self, of: _Weights, bias: float) -> list[list[int]]:
        """For each event, for each step, the weighted sum of the features."""
        done, said = iter(self._done.sums(of, bias)), iter(self._said.sums(of, bias))
        return [next(said if was_said else done) for was_said in self._of_said]

    def best_shares(self) -> list[float]:
        """For each step the greatest share of its words that an event has."""
        return list(map(max, self._done.best_share, self._said.best_share))


class _Half:
    """The events that were done, or those that were said, against the steps."""

    def __init__(
        self,
        units: Sequence[Unit],
        demands: Sequence[Demand],
        words: PlanWords,
        tools: Sequence[frozenset[str]],
        mentions: Sequence[Mentioned],
    ) -> None:
        self._demands = demands
        self._tools = tools
        overlap = Overlap(words, [unit.terms for unit in units])
        self._total = overlap.total
        sorts: dict[_Alike, int] = {}
        self._sorts = [
            sorts.setdefault((unit.manner, held, len(unit.terms)), len(sorts))
            for unit, held in zip(units, overlap.held, strict=True)
        ]
        """For each event which of those in common it is alike to."""
        self._manners: dict[Manner, list[frozenset[str]]] = {}
        for manner, held, _ in sorts:
            self._manners.setdefault(manner, []).append(held)
        # Events of a manner have most of their terms from it.
        shared = {
            manner: all_held[0].intersection(*all_held)
            for manner, all_held in self._manners.items()
        }
        self._common = [
            (manner, _length(terms), overlap.row(held, shared[manner]))
            for manner, held, terms in sorts
        ]
        best = self._best = [0.0] * words.steps
        most = [0.0] * words.steps
        for _, length, row in self._common:
            for step, worth in row.items():
                # To call `max` for every pair would take as long as all the rest here.
                if worth > most[step]:  # noqa: PLR1730
                    most[step] = worth
                if worth / length > best[step]:  # noqa: PLR1730
                    best[step] = worth / length
        self.best_share = [
            worth / (3.0 + total) for worth, total in zip(most, self._total, strict=True)
        ]
        self._mentions = mentions

    def sums(self, of: _Weights, bias: float) -> list[list[int]]:
        """For each event, for each step, the weighted sum of the features."""
        rows = self._by_words(of, bias)
        for step, found in enumerate(self._mentions):
            # The ground is that of an event without any of the values.
            raised = round(-of["values_elsewhere"] * found.share)
            for index in found.events:
                rows[index][step] += raised
        return rows

    def _by_words(self, of: _Weights, bias: float) -> list[list[int]]:
        """What the words and the manner of each event come to, as if it had no values."""
        shares = [of["share"] / (3.0 + total) for total in self._total]
        events = [of["best_event"] / (best + _DOUBT / 5) for best in self._best]
        ground = [
            bias + of["values_elsewhere"] * found.share + event * _DOUBT / 5
            for found, event in zip(self._mentions, events, strict=True)
        ]
        bases = self._by_manner(ground, of)
        nearest = of["best_step"]
        rows: list[list[int]] = []
        for manner, length, common in self._common:
            if not common:
                # Whoever has nothing in common with any step is not the nearest to each of them.
                rows.append(bases[manner])
                continue
            by_step = nearest / (max(common.values()) + _DOUBT)
            raised = round(by_step * _DOUBT)
            row = [base + raised for base in bases[manner]]
            rows.append(row)
            for step, worth in common.items():
                row[step] += round(worth * (shares[step] + events[step] / length + by_step))
        return [rows[sort].copy() for sort in self._sorts]

    def _by_manner(self, ground: list[float], of: _Weights) -> dict[Manner, list[int]]:
        """For each manner, for each step, what it alone comes to on top of the ground."""
        by_kind = {
            kind: [
                base + _by_kind(kind, demand, of)
                for base, demand in zip(ground, self._demands, strict=True)
            ]
            for kind in {manner.kind for manner in self._manners}
        }
        return {
            manner: [
                round(base + more)
                for base, more in zip(
                    by_kind[manner.kind],
                    _by_deed(manner, self._demands, self._tools, of),
                    strict=True,
                )
            ]
            for manner in self._manners
        }


def most_of(manner: Manner, demand: Demand, of: _Weights, bias: float, words: Words) -> float:
    """The most that an event can come to for a step, in whatever trace.

    Each feature is 1 at most; what may speak against the pair besides is left out.
    """
    (by_deed,) = _by_deed(manner, [demand], [frozenset()], of)
    most = bias + of["best_event"] + _by_kind(manner.kind, demand, of) + by_deed
    if words is not Words.NONE:
        most += of["best_step"]
    if words is Words.OF_STEP:
        most += of["share"]
    return most + _ROUNDED_UP


def _length(terms: int) -> float:
    """What the words in common are divided by, lest long events fit everything."""
    return sqrt(10 + terms)


def _by_kind(kind: Kind, demand: Demand, of: _Weights) -> float:
    if kind is _MESSAGE:
        return of["said_as_asked" if demand.says else "said_unasked"]
    if kind is _ACTION:
        only_said = demand.says and not demand.thinks and len(demand.deeds) == 1
        return of["done_for_saying"] if only_said else 0.0
    unasked = kind is _REASONING and not demand.thinks
    return of["thought_unasked"] if unasked else 0.0


def _by_deed(
    manner: Manner, demands: Sequence[Demand], tools: Sequence[frozenset[str]], of: _Weights
) -> list[float]:
    distinct, deeds, actor = manner.distinct, manner.deeds, manner.actor
    totals: list[float] = []
    for demand, named in zip(demands, tools, strict=True):
        total = 0.0
        if distinct and demand.distinct and distinct.isdisjoint(demand.named):
            total += of["other_deed"]
        if deeds and demand.asked and deeds.isdisjoint(demand.asked):
            total += of["no_deed"]
        if named and manner.name not in named:
            total += of["other_tool"]
        if actor and actor in demand.folded:
            total += of["actor"]
        totals.append(total)
    return totals


def _tools_named(units: Sequence[Unit], demands: Sequence[Demand]) -> list[frozenset[str]]:
    """For each step the tools of this trace that its text calls by name."""
    names = sorted({unit.manner.name for unit in units})
    return [
        frozenset(
            name
            for name in names
            if len(name) > 3
            and name in demand.folded
            and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", demand.folded)
        )
        for demand in demands
    ]
