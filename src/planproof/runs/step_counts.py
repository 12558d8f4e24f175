"""What became of the same step in many cases, counted in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planproof.core.finding import Status

LONGEST_TEXT = 240
_MOST_TEXTS = 20_000
_STATUS_INDEX = {status: place for place, status in enumerate(Status)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCount:
    """How often the steps with this text ended in each status."""

    text: str
    executed: int
    partial: int
    missing: int
    ambiguous: int
    out_of_order: int

    @property
    def deviations(self) -> int:
        """How often it was not executed as planned."""
        return self.partial + self.missing + self.ambiguous + self.out_of_order

    @property
    def total(self) -> int:
        """How often there was such a step."""
        return self.executed + self.deviations


class StepCounts:
    """Counts statuses by the text of the step: the same words are the same step in every case.

    There may be more texts than fit in memory. Beyond a limit the half with the fewest lapses is
    forgotten, so that a count can only be too low, and the counts of what is frequent stay right.
    """

    def __init__(self, max_texts: int = _MOST_TEXTS) -> None:
        self._max_texts = max_texts
        self._counts: dict[str, list[int]] = {}

    def add(self, text: str, status: Status) -> None:
        """Count one step."""
        key = normalize_whitespace(text)[:LONGEST_TEXT]
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = [0] * len(_STATUS_INDEX)
            if len(self._counts) > self._max_texts:
                retained = sorted(self._counts.items(), key=_rank)[: self._max_texts // 2]
                # The newest has no count yet, and must not be lost for that.
                self._counts = {**dict(retained), key: counts}
        counts[_STATUS_INDEX[status]] += 1

    def find_most_missed(self, limit: int) -> tuple[StepCount, ...]:
        """Those with the most lapses; of equals, those that lapse in the larger share of cases."""
        return tuple(list(self._iter_deviating())[:limit])

    def _iter_deviating(self) -> Iterator[StepCount]:
        for text, counts in sorted(self._counts.items(), key=_rank):
            executed, partial, missing, ambiguous, out_of_order = counts
            step = StepCount(
                text=text,
                executed=executed,
                partial=partial,
                missing=missing,
                ambiguous=ambiguous,
                out_of_order=out_of_order,
            )
            if step.deviations:
                yield step


def normalize_whitespace(text: str) -> str:
    """The text of a step without what does not matter for telling it from others."""
    return " ".join(text.split())


def _rank(item: tuple[str, list[int]]) -> tuple[int, int, str]:
    text, (executed, *deviations) = item
    return -sum(deviations), executed, text
