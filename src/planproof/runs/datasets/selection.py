"""Which cases of a data set are judged: by their fields, by chance, so many, one share of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.datasets.where_conditions import FieldCondition

_T = TypeVar("_T")
_SHARD = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is chosen, in this order: `where`, `sample`, `limit`, `shard`.

    The shards of a selection hold together what it holds without a shard, each case once.
    """

    where: tuple[FieldCondition, ...] = ()
    sample: int | None = None
    seed: int = 0
    limit: int | None = None
    shard: tuple[int, int] | None = None

    def select(
        self, read: Callable[[], Iterator[CaseLine]], *, can_repeat: bool
    ) -> Iterator[tuple[int, CaseLine]]:
        """The cases that are chosen, each with its place among all of them.

        A sample is drawn in a first reading, so that it need not be held; what can be read only
        once is held.
        """
        selected = self._filter_lines(read())
        if self.sample is not None:
            if can_repeat:
                sampled = set(
                    _draw_sample((position for position, _ in selected), self.sample, self.seed)
                )
                selected = (
                    (position, line) for position, line in enumerate(read()) if position in sampled
                )
            else:
                selected = iter(_draw_sample(selected, self.sample, self.seed))
        selected = islice(selected, self.limit)
        if self.shard is not None:
            number, count = self.shard
            selected = islice(selected, number - 1, None, count)
        return selected

    def _filter_lines(self, lines: Iterator[CaseLine]) -> Iterator[tuple[int, CaseLine]]:
        for position, line in enumerate(lines):
            # Of a line that is no JSON nobody knows what it should have been: it is told.
            unknown = line.record is None and line.error is not None
            if unknown or all(condition.matches(line.record) for condition in self.where):
                yield position, line


def parse_shard(text: str) -> tuple[int, int]:
    """The share that `I/N` means: the I-th of N, counted from 1."""
    match = _SHARD.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise InvalidInput(
            f"`{text}` is no shard.", where="--shard", advice="Write I/N, from 1/N to N/N."
        )
    return int(match[1]), int(match[2])


def _draw_sample(items: Iterable[_T], count: int, seed: int) -> list[_T]:
    """So many of the items, each as likely as any other, in their order."""
    rng = random.Random(seed)  # noqa: S311 - to be repeated, not to be kept secret
    sample: list[tuple[int, _T]] = []
    for seen, item in enumerate(items):
        if seen < count:
            sample.append((seen, item))
        elif (slot := rng.randrange(seen + 1)) < count:
            sample[slot] = (seen, item)
    return [item for _, item in sorted(sample, key=lambda pair: pair[0])]
