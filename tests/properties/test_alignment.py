"""Similarity and alignment, compared with slow reference implementations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.checking.candidates import Candidate
from planproof.checking.requirements import Requirement
from planproof.checking.segmentation import Segmentation, align_any_order, align_monotonic
from planproof.checking.similarity import (
    FEATURE_SIGNS,
    compute_features,
    compute_similarity,
    load_shipped_weights,
)
from planproof.contracts.terms import split_tokens
from planproof.contracts.values import Literal, LiteralKind, TextIndex
from planproof.core.trace import Event
from tests.unit.checking.alignment_cases import call, make_candidates, make_requirements, says

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


def score_assignment(rows: Rows, assigned: tuple[int, ...]) -> int:
    """What an explanation is worth before steps and jumps are paid for."""
    return sum(
        row[step] if step >= 0 else -price
        for (row, price), step in zip(rows[1], assigned, strict=True)
    )


def best_monotonic_score(rows: Rows, price: int, assigned: tuple[int, ...]) -> int | None:
    used = [step for step in assigned if step >= 0]
    if used != sorted(used):
        return None
    return score_assignment(rows, assigned) - price * (rows[0] - len(set(used)))


def best_any_order_score(rows: Rows, price: int, assigned: tuple[int, ...]) -> int:
    stops = [-1, *(step for step in assigned if step >= 0)]
    jumps = sum(there not in (here, here + 1) for here, there in pairwise(stops))
    return score_assignment(rows, assigned) - price * (jumps + (stops[-1] != rows[0] - 1))


Align = Callable[[list[list[int]], list[int], int, int], Segmentation]


@pytest.mark.parametrize(
    ("align", "worth_of"),
    [(align_monotonic, best_monotonic_score), (align_any_order, best_any_order_score)],
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
    assert found.score == max(value for value in tried if value is not None)
    assert found.score == worth_of(rows, price, tuple(found.step_by_event))


WORDS = "read delete erase invoice file report a-1 b2c 4 call off".split()
TEXT = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
NAMES = st.sampled_from(["read_file", "erase", "zebra"])
SAID = TEXT.map(lambda text: says(f"I {text}"))
EVENTS = st.lists(SAID | st.builds(call, NAMES, text=TEXT, output=TEXT), max_size=5)
STEPS = st.lists(TEXT.map(lambda text: f"Check {text}"), min_size=1, max_size=3)


class Oracle:
    """The features that rest on words, as they are defined, for events of one sort."""

    def __init__(self, of: list[Candidate], steps: Sequence[Requirement]) -> None:
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

    def total(self, step: Requirement) -> float:
        return sum(self.worth(word.stems) for word in step.words)

    def worth(self, stems: tuple[str, ...]) -> float:
        if len(stems) == 1:
            return self.rarity(stems[0])
        return sum(map(self.rarity, stems)) / 2 + 0.3125

    def common(self, terms: frozenset[str], step: Requirement) -> float:
        found = 0.0
        for word in step.words:
            whole = self.worth(word.stems)
            near = [min(self.rarity(c) / 2, 0.8 * whole) for c in word.concepts if c in terms]
            found += whole if terms.issuperset(word.stems) else max(near, default=0.0)
        return found

    def features(self, unit: Candidate, step: Requirement) -> dict[str, float]:
        def in_call(unit: Candidate, step: Requirement) -> float:
            return self.common(unit.terms, step)

        def by_length(unit: Candidate, step: Requirement) -> float:
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
    found, steps = make_candidates(*events), make_requirements(*texts)
    table = compute_features(found, steps)
    for unit, row in zip(found, table, strict=True):
        oracle = Oracle(
            [other for other in found if other.is_text_only is unit.is_text_only], steps
        )
        for step, pair in zip(steps, row, strict=True):
            named = dict(zip(FEATURE_SIGNS, pair, strict=True))
            for name, value in oracle.features(unit, step).items():
                assert named[name] == pytest.approx(value, abs=1e-5), name


@given(EVENTS, STEPS, st.lists(SAID, max_size=3))
def test_words_do_not_change_which_action_types_match(
    events: list[Event], texts: list[str], more: list[Event]
) -> None:
    steps, weights = make_requirements(*texts), load_shipped_weights()
    before = compute_similarity(make_candidates(*events), steps, weights).scores
    after = compute_similarity(make_candidates(*events, *more), steps, weights).scores
    for event, row, same in zip(events, before, after, strict=False):
        assert event.name is None or row == same


NUMBERS = st.text("14a. ", max_size=8)


@given(
    st.sampled_from([LiteralKind.NUMBER, LiteralKind.QUOTED]),
    st.sampled_from(["4", "14", "4.1", "a4"]),
    st.lists(NUMBERS.map(str.strip), max_size=5),
)
def test_a_text_index_finds_the_texts_with_a_value(
    kind: LiteralKind, form: str, texts: list[str]
) -> None:
    literal = Literal(kind, form, (form,))
    apart = [index for index, text in enumerate(texts) if literal.occurs_in(text)]
    assert TextIndex(texts).find_indices(literal) == apart


@given(st.text())
def test_tokens_are_what_the_pattern_finds(text: str) -> None:
    assert sorted(split_tokens(text)) == sorted(re.findall(r"[^\W_]+", text))
