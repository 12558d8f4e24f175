"""Affinity and alignment, against slow and obvious ways to find the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.checking.candidates import Unit
from planproof.checking.requirements import Demand
from planproof.checking.segmentation import Segmentation, freely, in_order
from planproof.checking.similarity import SIGNS, affinity_of, features, shipped_weights
from planproof.contracts.terms import tokens_of
from planproof.contracts.values import Literal, LiteralKind, Texts
from planproof.core.trace import Event
from tests.unit.checking.alignment_cases import call, demands, says, units

PRICE = st.integers(0, 6)
FITS = st.integers(0, 3).flatmap(
    lambda steps: st.tuples(
        st.just(steps),
        st.lists(
            st.tuples(st.lists(st.integers(-6, 6), min_size=steps, max_size=steps), PRICE),
            max_size=5,
        ),
    )
)
Rows = tuple[int, list[tuple[list[int], int]]]


def worth(rows: Rows, assigned: tuple[int, ...]) -> int:
    """What an explanation is worth before steps and jumps are paid for."""
    return sum(
        row[step] if step >= 0 else -price
        for (row, price), step in zip(rows[1], assigned, strict=True)
    )


def worth_in_order(rows: Rows, price: int, assigned: tuple[int, ...]) -> int | None:
    used = [step for step in assigned if step >= 0]
    if used != sorted(used):
        return None
    return worth(rows, assigned) - price * (rows[0] - len(set(used)))


def worth_freely(rows: Rows, price: int, assigned: tuple[int, ...]) -> int:
    stops = [-1, *(step for step in assigned if step >= 0)]
    jumps = sum(there not in (here, here + 1) for here, there in pairwise(stops))
    return worth(rows, assigned) - price * (jumps + (stops[-1] != rows[0] - 1))


Align = Callable[[list[list[int]], list[int], int, int], Segmentation]


@pytest.mark.parametrize(
    ("align", "worth_of"), [(in_order, worth_in_order), (freely, worth_freely)]
)
@given(rows=FITS, price=PRICE)
def test_no_explanation_is_worth_more(
    align: Align,
    worth_of: Callable[[Rows, int, tuple[int, ...]], int | None],
    rows: Rows,
    price: int,
) -> None:
    steps, events = rows
    found = align([row for row, _ in events], [leave for _, leave in events], price, steps)

    tried = (
        worth_of(rows, price, assigned)
        for assigned in product(range(-1, steps), repeat=len(events))
    )
    assert found.worth == max(value for value in tried if value is not None)
    assert found.worth == worth_of(rows, price, tuple(found.steps))


WORDS = "read delete erase invoice file report a-1 b2c 4 call off".split()
TEXT = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
NAMES = st.sampled_from(["read_file", "erase", "zebra"])
SAID = TEXT.map(lambda text: says(f"I {text}"))
EVENTS = st.lists(SAID | st.builds(call, NAMES, text=TEXT, output=TEXT), max_size=5)
STEPS = st.lists(TEXT.map(lambda text: f"Check {text}"), min_size=1, max_size=3)


class Oracle:
    """The features that rest on words, as they are defined, for events of one sort."""

    def __init__(self, of: list[Unit], steps: Sequence[Demand]) -> None:
        self.units, self.steps = of, steps

    def rarity(self, term: str) -> float:
        held = sum(term in unit.terms for unit in self.units)
        named = sum(
            any(term in (word.text, *word.concepts) for word in step.words) for step in self.steps
        )
        many = len(self.units) + 1
        rare = log(many / (held + 0.5)) + 0.1 if held else log(many) + 0.3
        count = len(self.steps)
        return max(rare, 0.0) * log(1 + count / max(1, named)) / log(1 + count)

    def total(self, step: Demand) -> float:
        return sum(self.worth(word.stems) for word in step.words)

    def worth(self, stems: tuple[str, ...]) -> float:
        if len(stems) == 1:
            return self.rarity(stems[0])
        return sum(map(self.rarity, stems)) / 2 + 0.3125

    def common(self, terms: frozenset[str], step: Demand) -> float:
        found = 0.0
        for word in step.words:
            whole = self.worth(word.stems)
            near = [min(self.rarity(c) / 2, 0.8 * whole) for c in word.concepts if c in terms]
            found += whole if terms.issuperset(word.stems) else max(near, default=0.0)
        return found

    def features(self, unit: Unit, step: Demand) -> dict[str, float]:
        def in_call(unit: Unit, step: Demand) -> float:
            return self.common(unit.terms, step)

        def by_length(unit: Unit, step: Demand) -> float:
            return in_call(unit, step) / sqrt(10 + len(unit.terms))

        nearest = max(in_call(unit, other) for other in self.steps)
        return {
            "share": in_call(unit, step) / (3 + self.total(step)),
            # Who has nothing in common with any step is near to none of them.
            "best_step": (in_call(unit, step) + 1) / (nearest + 1) if nearest else 0,
            "best_event": (by_length(unit, step) + 0.2)
            / (max(by_length(other, step) for other in self.units) + 0.2),
        }


@given(EVENTS, STEPS)
def test_features_of_words_are_what_they_are_defined_to_be(
    events: list[Event], texts: list[str]
) -> None:
    found, steps = units(*events), demands(*texts)
    table = features(found, steps)
    for unit, row in zip(found, table, strict=True):
        oracle = Oracle([other for other in found if other.said is unit.said], steps)
        for step, pair in zip(steps, row, strict=True):
            named = dict(zip(SIGNS, pair, strict=True))
            for name, value in oracle.features(unit, step).items():
                assert named[name] == pytest.approx(value, abs=1e-5), name


@given(EVENTS, STEPS, st.lists(SAID, max_size=3))
def test_no_words_change_what_deeds_fit(
    events: list[Event], texts: list[str], more: list[Event]
) -> None:
    steps, weights = demands(*texts), shipped_weights()
    before = affinity_of(units(*events), steps, weights).fits
    after = affinity_of(units(*events, *more), steps, weights).fits
    for event, row, same in zip(events, before, after, strict=False):
        assert event.name is None or row == same


NUMBERS = st.text("14a. ", max_size=8)


@given(
    st.sampled_from([LiteralKind.NUMBER, LiteralKind.IDENTIFIER]),
    st.sampled_from(["4", "14", "4.1", "a4"]),
    st.lists(NUMBERS.map(str.strip), max_size=5),
)
def test_all_texts_at_once_hold_what_each_of_them_holds(
    kind: LiteralKind, form: str, texts: list[str]
) -> None:
    literal = Literal(kind, form, (form,))
    apart = [index for index, text in enumerate(texts) if literal.held_by(text)]
    assert Texts(texts).holders(literal) == apart


@given(st.text())
def test_tokens_are_what_the_pattern_finds(text: str) -> None:
    assert sorted(tokens_of(text)) == sorted(re.findall(r"[^\W_]+", text))
