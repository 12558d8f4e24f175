"""Which events hold the values that steps name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from planproof.checking.candidates import Candidate
from planproof.checking.requirements import Requirement
from planproof.contracts.values import Literal, TextIndex


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
