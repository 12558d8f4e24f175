"""Every event held against every step: what speaks for the pair, feature by feature."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from math import sqrt
from typing import TypeAlias

from planproof.alignment.demands import Demand
from planproof.alignment.mentions import mentions_of
from planproof.alignment.overlap import Overlap, PlanWords
from planproof.alignment.units import Manner, Unit
from planproof.trace import Kind

_THOUGHT = frozenset({Kind.REASONING, Kind.BOOKKEEPING})
_DOUBT = 1.0
"""Added to both sides of a ratio: little evidence makes little difference."""

_Weights: TypeAlias = Mapping[str, float]
"""Feature -> its weight."""


class Comparison:
    """What was said is weighed apart from what was done: no words can change what deeds fit."""

    def __init__(self, units: Sequence[Unit], demands: Sequence[Demand]) -> None:
        words = PlanWords(demands)
        done = [unit for unit in units if not unit.said]
        said = [unit for unit in units if unit.said]
        tools = _tools_named(done, demands)
        self._of_said = [unit.said for unit in units]
        self._done = _Half(done, demands, words, tools)
        self._said = _Half(said, demands, words, tools)

    def sums(self, of: _Weights, bias: float) -> Iterator[list[float]]:
        """For each event, for each step, the weighted sum of the features."""
        done, said = iter(self._done.sums(of, bias)), iter(self._said.sums(of, bias))
        return (next(said if was_said else done) for was_said in self._of_said)

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
    ) -> None:
        self._demands = demands
        self._tools = tools
        overlap = Overlap(words, [unit.terms for unit in units])
        self._total = overlap.total
        self._common = [overlap.row(held) for held in overlap.held]
        self._lengths = [sqrt(10 + len(unit.terms)) for unit in units]
        self._manners = [unit.manner for unit in units]
        self._named = {
            manner: overlap.row(manner.terms & words.terms) for manner in set(self._manners)
        }
        self._best_named = _highest(self._named.values(), repeat(1.0), words.steps)
        self._best = _highest(self._common, self._lengths, words.steps)
        most = _highest(self._common, repeat(1.0), words.steps)
        self.best_share = [
            worth / (3.0 + total) for worth, total in zip(most, self._total, strict=True)
        ]
        outputs = words.stems_in([unit.output_tokens for unit in units])
        self._in_output = [
            overlap.only_in(output, held) if not output <= held else {}
            for output, held in zip(outputs, overlap.held, strict=True)
        ]
        self._mentions = list(mentions_of(units, demands))

    def sums(self, of: _Weights, bias: float) -> list[list[float]]:
        """For each event, for each step, the weighted sum of the features."""
        rows = self._by_words(of, bias)
        for row, found in zip(rows, self._in_output, strict=True):
            for step, worth in found.items():
                row[step] += of["in_output"] * min(worth / (1.0 + self._total[step]), 1.0)
        for step, found in enumerate(self._mentions):
            # The ground is that of an event without any of the values.
            elsewhere = of["literals_elsewhere"] * found.elsewhere
            for index, worth in found.here.items():
                rows[index][step] += of["literals"] * worth - elsewhere
            for index, share in found.in_output.items():
                rows[index][step] += of["literals_in_output"] * share
        return rows

    def _by_words(self, of: _Weights, bias: float) -> list[list[float]]:
        """What the words and the manner of each event come to, as if it had no values."""
        shares = [of["share"] / (3.0 + total) for total in self._total]
        events = [of["best_event"] / (best + _DOUBT / 5) for best in self._best]
        ground = [
            bias + of["literals_elsewhere"] * found.elsewhere + event * _DOUBT / 5
            for found, event in zip(self._mentions, events, strict=True)
        ]
        bases = self._by_manner(ground, of)
        by_length = {
            length: [share + event / length for share, event in zip(shares, events, strict=True)]
            for length in set(self._lengths)
        }
        rows: list[list[float]] = []
        for manner, common, length in zip(self._manners, self._common, self._lengths, strict=True):
            by_step = of["best_step"] / (max(common.values(), default=0.0) + _DOUBT)
            row = [base + by_step * _DOUBT for base in bases[manner]]
            factors = by_length[length]
            for step, worth in common.items():
                row[step] += worth * (factors[step] + by_step)
            rows.append(row)
        return rows

    def _by_manner(self, ground: list[float], of: _Weights) -> dict[Manner, list[float]]:
        """For each manner, for each step, what it alone comes to on top of the ground."""
        grounds = {
            kind: [
                base + _by_kind(kind, demand, of)
                for base, demand in zip(ground, self._demands, strict=True)
            ]
            for kind in {manner.kind for manner in self._named}
        }
        by_event = [of["name_best_event"] / (best + _DOUBT) for best in self._best_named]
        found: dict[Manner, list[float]] = {}
        for manner, named in self._named.items():
            by_step = of["name_best_step"] / (max(named.values(), default=0.0) + _DOUBT)
            base = [
                total + (by_step + event) * _DOUBT + _by_deed(manner, demand, tools, of)
                for total, event, demand, tools in zip(
                    grounds[manner.kind], by_event, self._demands, self._tools, strict=True
                )
            ]
            for step, worth in named.items():
                base[step] += worth * (by_step + by_event[step])
            found[manner] = base
        return found


def _by_kind(kind: Kind, demand: Demand, of: _Weights) -> float:
    if kind is Kind.MESSAGE:
        return of["said_as_asked" if demand.says else "said_unasked"]
    if kind is Kind.ACTION:
        only_said = demand.says and not demand.thinks and len(demand.deeds) == 1
        return of["done_for_saying"] if only_said else 0.0
    if demand.thinks:
        return of["thought_as_asked"] if kind in _THOUGHT else 0.0
    return of["thought_unasked"] if kind is Kind.REASONING else 0.0


def _by_deed(manner: Manner, demand: Demand, tools: frozenset[str], of: _Weights) -> float:
    done = _done(manner.deeds, demand.deeds)
    total = of["deed"] * done
    if not done and manner.deeds and any(demand.deeds):
        total += of["no_deed"]
    if tools and manner.name not in tools:
        total += of["other_tool"]
    if manner.actor and manner.actor in demand.folded:
        total += of["actor"]
    return total


def _highest(
    rows: Iterable[Mapping[int, float]], divisors: Iterable[float], steps: int
) -> list[float]:
    """The highest value of each column, once each row is divided by its divisor."""
    highest = [0.0] * steps
    for row, divisor in zip(rows, divisors, strict=False):
        for step, value in row.items():
            if value / divisor > highest[step]:  # noqa: PLR1730 - faster than to call `max`
                highest[step] = value / divisor
    return highest


@lru_cache(maxsize=4_096)
def _done(deeds: frozenset[str], asked: tuple[frozenset[str], ...]) -> float:
    """How far the sorts of deed that something is are those that a step asks for."""
    return max((len(deeds & part) / (len(part) + 0.5) for part in asked), default=0.0)


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
