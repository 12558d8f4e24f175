"""Which actions do what another did, or nearly so: of these nobody can say which was meant."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from planproof.checking.candidates import Candidate
from planproof.core.trace import Kind

_LOOKBACK = 20
_MIN_JACCARD = 0.7


class Repeats(NamedTuple):
    """The indices of the actions that repeat an earlier one, and of those that were repeated."""

    repeat_indices: frozenset[int]
    original_indices: frozenset[int]


class RecentCalls:
    """The last calls of each tool, to hold the next one against."""

    def __init__(self) -> None:
        self._calls: dict[str | None, deque[tuple[int, frozenset[str]]]] = {}

    def match_and_add(self, index: int, candidate: Candidate) -> list[int]:
        """The indices of the last calls that this one repeats; from now on it is one of them."""
        recent = self._calls.setdefault(candidate.event.name, deque(maxlen=_LOOKBACK))
        originals = [other for other, terms in recent if _is_similar(candidate.terms, terms)]
        recent.append((index, candidate.terms))
        return originals


def find_repeats(candidates: Sequence[Candidate]) -> Repeats:
    """Compare each action with the last ones of the same tool."""
    repeats: set[int] = set()
    originals: set[int] = set()
    calls = RecentCalls()
    for index, candidate in enumerate(candidates):
        if candidate.event.kind is not Kind.ACTION or candidate.is_print_only:
            continue
        if matches := calls.match_and_add(index, candidate):
            repeats.add(index)
            originals.update(matches)
    return Repeats(frozenset(repeats), frozenset(originals))


def _is_similar(terms: frozenset[str], others: frozenset[str]) -> bool:
    common = len(terms & others)
    return common >= _MIN_JACCARD * (len(terms) + len(others) - common)
