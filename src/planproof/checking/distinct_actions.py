"""Deeds that do not stand for one another: another action on the same thing is no execution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from planproof.contracts.terms import read_knowledge, stem


@cache
def _load_exclusive_types() -> tuple[
    dict[str, frozenset[str]], dict[tuple[str, str], frozenset[str]]
]:
    """Stem, and pair of stems ("call off") -> the deeds in whose lines it stands."""
    single: dict[str, set[str]] = {}
    pairs: dict[tuple[str, str], set[str]] = {}
    for action_type, words in read_knowledge("distinct.txt"):
        for word in words:
            first, *rest = map(stem, word.split("_"))
            if rest:
                pairs.setdefault((first, rest[0]), set()).add(action_type)
            else:
                single.setdefault(first, set()).add(action_type)
    return (
        {word: frozenset(action_types) for word, action_types in single.items()},
        {pair: frozenset(action_types) for pair, action_types in pairs.items()},
    )


def find_exclusive_types(stems: Sequence[str]) -> frozenset[str]:
    """The deeds that words name, of those that do not stand for one another."""
    single, pairs = _load_exclusive_types()
    matches = [single[word] for word in stems if word in single]
    matches += [pairs[pair] for pair in pairwise(stems) if pair in pairs]
    return frozenset[str]().union(*matches)
