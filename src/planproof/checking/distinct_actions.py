"""Deeds that do not stand for one another: another action on the same thing is no execution."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from planproof.contracts.terms import knowledge, stem


@cache
def _lines() -> tuple[dict[str, frozenset[str]], dict[tuple[str, str], frozenset[str]]]:
    """Stem, and pair of stems ("call off") -> the deeds in whose lines it stands."""
    single: dict[str, set[str]] = {}
    pairs: dict[tuple[str, str], set[str]] = {}
    for deed, words in knowledge("distinct.txt"):
        for word in words:
            first, *rest = map(stem, word.split("_"))
            if rest:
                pairs.setdefault((first, rest[0]), set()).add(deed)
            else:
                single.setdefault(first, set()).add(deed)
    return (
        {word: frozenset(found) for word, found in single.items()},
        {pair: frozenset(found) for pair, found in pairs.items()},
    )


def distinct_deeds(stems: Sequence[str]) -> frozenset[str]:
    """The deeds that words name, of those that do not stand for one another."""
    single, pairs = _lines()
    found = [single[word] for word in stems if word in single]
    found += [pairs[pair] for pair in pairwise(stems) if pair in pairs]
    return frozenset[str]().union(*found)
