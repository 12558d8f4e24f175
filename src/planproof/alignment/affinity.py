"""How well each event fits each step: a weighted sum of features, rounded to an integer.

A weight never lets less evidence look better: the fitting holds each to the sign given here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import log, sqrt
from typing import NamedTuple

from planproof.alignment.demands import Demand
from planproof.alignment.literals import LiteralKind
from planproof.alignment.terms import Word
from planproof.alignment.units import Unit
from planproof.trace import Kind

SIGNS = {
    "share": +1,  # of the step's words, by rarity, that the event has
    "best_step": +1,  # the words in common, against the step with most in common with the event
    "best_event": +1,  # likewise against the event with most, longer events counting less
    "name_best_step": +1,  # the same two for the name of the tool alone
    "name_best_event": +1,
    "in_output": +1,  # words that only the output has
    "literals": +1,  # values named by the step that stand in the call, rare ones more
    "literals_in_output": +1,
    "literals_elsewhere": -1,  # values that other events have and this one has not
    "other_tool": -1,  # the step names a tool of this trace, but not this one
    "actor": +1,  # the step names who did it
    "deed": +1,  # the sort of deed is one that the step asks for
    "no_deed": -1,  # it is none of them
    "said_as_asked": +1,  # a message where the step is to say something
    "said_unasked": -1,
    "done_for_saying": -1,  # an action where the step is only to say something
    "thought_as_asked": +1,
    "thought_unasked": -1,
}
SCALE = 100
_SHARE = list(SIGNS).index("share")
_CONCEPT = 0.5
_STAND_IN = 0.8
_MOST_LITERALS = 2.0
_DOUBT = 1.0


class Weights(NamedTuple):
    """What the fitting found: a weight for each feature, and the bias."""

    of: tuple[float, ...]
    bias: float


@cache
def shipped_weights() -> Weights:
    """The weights in the data file beside this module."""
    text = files("planproof.alignment").joinpath("weights.json").read_text("utf-8")
    stored = json.loads(text)
    return Weights(tuple(stored["weights"][name] for name in SIGNS), stored["bias"])


class Affinity(NamedTuple):
    """How well each event fits each step, and how near the plan's words are to the trace's."""

    fits: list[list[int]]
    """A row an event, a column a step; above zero speaks for the pair."""
    nearness: float
    """Of each step's words the share that its best event has, on the average."""


def affinity_of(units: Sequence[Unit], demands: Sequence[Demand], weights: Weights) -> Affinity:
    """Compare every event with every step."""
    rows = features(units, demands)
    fits = [
        [round(SCALE * (weights.bias + sum(map(float.__mul__, weights.of, pair)))) for pair in row]
        for row in rows
    ]
    shares = [max((row[j][_SHARE] for row in rows), default=0.0) for j in range(len(demands))]
    return Affinity(fits, sum(shares) / len(shares) if shares else 0.0)


def features(units: Sequence[Unit], demands: Sequence[Demand]) -> list[list[tuple[float, ...]]]:
    """The features of every pair, in the order of `SIGNS`.

    What was said is weighed apart from what was done, so that no words can change what deeds fit.
    """
    said = [unit for unit in units if unit.said]
    done = [unit for unit in units if not unit.said]
    tools = _tools_named(done, demands)
    rows_said = iter(_rows(said, demands, tools))
    rows_done = iter(_rows(done, demands, tools))
    return [next(rows_said if unit.said else rows_done) for unit in units]


def _rows(
    units: Sequence[Unit], demands: Sequence[Demand], tools: Sequence[frozenset[str]]
) -> list[list[tuple[float, ...]]]:
    shared = _Shared(units, demands)
    literals = [_literal_features(units, demand) for demand in demands]
    rows: list[list[tuple[float, ...]]] = []
    for i, unit in enumerate(units):
        kind = unit.event.kind
        name = (unit.event.name or "").lower()
        actor = (unit.event.actor or "").lower()
        said = kind is Kind.MESSAGE
        thought = kind is Kind.REASONING or kind is Kind.BOOKKEEPING
        most = max(shared.call[i], default=0.0)
        most_named = max(shared.named[i], default=0.0)
        row: list[tuple[float, ...]] = []
        for j, demand in enumerate(demands):
            common = shared.call[i][j]
            named = shared.named[i][j]
            done = max((len(unit.deeds & d) / (len(d) + 0.5) for d in demand.deeds), default=0.0)
            asked = any(demand.deeds)
            row.append(
                (
                    common / (3.0 + shared.total[j]),
                    _ratio(common, most, _DOUBT),
                    _ratio(common / shared.length[i], shared.best_event[j], _DOUBT / 5),
                    _ratio(named, most_named, _DOUBT),
                    _ratio(named, shared.best_named_event[j], _DOUBT),
                    min(shared.output[i][j] / (1.0 + shared.total[j]), 1.0),
                    *literals[j][i],
                    float(bool(tools[j]) and name not in tools[j]),
                    float(bool(actor) and actor in demand.folded),
                    done,
                    float(asked and bool(unit.deeds) and not done),
                    float(said and demand.says),
                    float(said and not demand.says),
                    float(
                        kind is Kind.ACTION
                        and demand.says
                        and not demand.thinks
                        and len(demand.deeds) == 1
                    ),
                    float(thought and demand.thinks),
                    float(kind is Kind.REASONING and not demand.thinks),
                )
            )
        rows.append(row)
    return rows


def _ratio(part: float, whole: float, doubt: float) -> float:
    """The part of the whole, `doubt` added to both: little evidence makes little difference."""
    return (part + doubt) / (whole + doubt)


class _Shared:
    """The words that steps and events have in common, weighed by how rare they are in the case."""

    def __init__(self, units: Sequence[Unit], demands: Sequence[Demand]) -> None:
        self._in_units = Counter(term for unit in units for term in unit.terms)
        self._in_steps = Counter(
            term
            for demand in demands
            for term in {t for word in demand.words for t in (word.text, *word.concepts)}
        )
        self._units = len(units)
        self._steps = len(demands)
        # term -> the slots (a word of a step) that it fills, and what it is worth there
        fills: dict[str, list[tuple[int, float]]] = {}
        slots: list[tuple[int, tuple[str, ...]]] = []
        self.total = [0.0] * len(demands)
        for j, demand in enumerate(demands):
            for word in demand.words:
                worth = self._worth(word)
                self.total[j] += worth
                slot = len(slots)
                slots.append((j, word.stems))
                if len(word.stems) == 1:
                    fills.setdefault(word.stems[0], []).append((slot, worth))
                for concept in word.concepts:
                    if concept in self._in_units:
                        value = min(_CONCEPT * self._rarity(concept), _STAND_IN * worth)
                        fills.setdefault(concept, []).append((slot, value))
        self._fills = fills
        self._slots = slots
        self._phrases = [(slot, stems) for slot, (_, stems) in enumerate(slots) if len(stems) > 1]
        self._worths = [self._worth(word) for demand in demands for word in demand.words]
        self._terms = frozenset(fills)
        self.call = [self._common(unit.terms) for unit in units]
        self.named = [self._common(unit.name_terms) for unit in units]
        self.output = [self._words_only(unit.output_terms, unit.terms) for unit in units]
        self.length = [sqrt(10 + len(unit.terms)) for unit in units]
        self.best_event = [
            max(
                (row[j] / length for row, length in zip(self.call, self.length, strict=True)),
                default=0.0,
            )
            for j in range(len(demands))
        ]
        self.best_named_event = [
            max((row[j] for row in self.named), default=0.0) for j in range(len(demands))
        ]

    def _rarity(self, term: str) -> float:
        held = self._in_units.get(term, 0)
        if held:
            rarity = log((self._units + 1) / (held + 0.5)) + 0.1
        else:
            rarity = log(self._units + 1) + 0.3
        steps = max(1, self._in_steps.get(term, 1))
        return max(rarity, 0.0) * log(1 + self._steps / steps) / log(1 + self._steps)

    def _worth(self, word: Word) -> float:
        if len(word.stems) == 1:
            return self._rarity(word.stems[0])
        return sum(self._rarity(stem) for stem in word.stems) / 2 + 0.3

    def _common(self, terms: frozenset[str]) -> list[float]:
        """For each step the worth of its words that these terms hold or stand in for."""
        best: dict[int, float] = {}
        for term in terms & self._terms:
            for slot, value in self._fills[term]:
                if value > best.get(slot, 0.0):
                    best[slot] = value
        for slot, stems in self._phrases:
            if terms.issuperset(stems):
                best[slot] = self._worths[slot]
        # Sums of floats depend on their order: go by slot, so that every process adds alike.
        found = [0.0] * self._steps
        for slot in sorted(best):
            found[self._slots[slot][0]] += best[slot]
        return found

    def _words_only(self, terms: frozenset[str], without: frozenset[str]) -> list[float]:
        found = [0.0] * self._steps
        for slot, (j, stems) in enumerate(self._slots):
            if terms.issuperset(stems) and not without.issuperset(stems):
                found[j] += self._worths[slot]
        return found


def _literal_features(units: Sequence[Unit], demand: Demand) -> list[tuple[float, float, float]]:
    literals = [literal for literal in demand.literals if literal.kind is not LiteralKind.NAME]
    if not literals:
        return [(0.0, 0.0, 0.0)] * len(units)
    held = [[literal.held_by(unit.call_text) for literal in literals] for unit in units]
    holders = [sum(column) for column in zip(*held, strict=True)]
    found: list[tuple[float, float, float]] = []
    for unit, mine in zip(units, held, strict=True):
        here = sum(1 / sqrt(count) for has, count in zip(mine, holders, strict=True) if has)
        later = sum(
            not has and literal.held_by(unit.output_text)
            for has, literal in zip(mine, literals, strict=True)
        )
        elsewhere = 0 if any(mine) else sum(count > 0 for count in holders)
        size = len(literals)
        found.append((min(here, _MOST_LITERALS), later / size, elsewhere / size))
    return found


def _tools_named(units: Sequence[Unit], demands: Sequence[Demand]) -> list[frozenset[str]]:
    """For each step the tools of this trace that its text calls by name."""
    names = {(unit.event.name or "").lower() for unit in units}
    patterns = {
        name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in names if len(name) > 3
    }
    return [
        frozenset(name for name, pattern in patterns.items() if pattern.search(demand.folded))
        for demand in demands
    ]
