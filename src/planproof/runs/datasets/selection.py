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
from planproof.runs.datasets.where_conditions import Condition

_T = TypeVar("_T")
_SHARD = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is chosen, in this order: `where`, `sample`, `limit`, `shard`.

    The shards of a selection hold together what it holds without a shard, each case once.
    """

    where: tuple[Condition, ...] = ()
    sample: int | None = None
    seed: int = 0
    limit: int | None = None
    shard: tuple[int, int] | None = None

    def chosen(
        self, read: Callable[[], Iterator[CaseLine]], *, can_repeat: bool
    ) -> Iterator[tuple[int, CaseLine]]:
        """The cases that are chosen, each with its place among all of them.

        A sample is drawn in a first reading, so that it need not be held; what can be read only
        once is held.
        """
        found = self._matching(read())
        if self.sample is not None:
            if can_repeat:
                drawn = set(_drawn((place for place, _ in found), self.sample, self.seed))
                found = ((place, line) for place, line in enumerate(read()) if place in drawn)
            else:
                found = iter(_drawn(found, self.sample, self.seed))
        found = islice(found, self.limit)
        if self.shard is not None:
            number, of = self.shard
            found = islice(found, number - 1, None, of)
        return found

    def _matching(self, lines: Iterator[CaseLine]) -> Iterator[tuple[int, CaseLine]]:
        for place, line in enumerate(lines):
            # Of a line that is no JSON nobody knows what it should have been: it is told.
            unknown = line.record is None and line.error is not None
            if unknown or all(condition.holds(line.record) for condition in self.where):
                yield place, line


def parse_shard(text: str) -> tuple[int, int]:
    """The share that `I/N` means: the I-th of N, counted from 1."""
    found = _SHARD.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise InvalidInput(
            f"`{text}` is no shard.", where="--shard", advice="Write I/N, from 1/N to N/N."
        )
    return int(found[1]), int(found[2])


def _drawn(items: Iterable[_T], count: int, seed: int) -> list[_T]:
    """So many of the items, each as likely as any other, in their order."""
    chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be kept secret
    held: list[tuple[int, _T]] = []
    for seen, item in enumerate(items):
        if seen < count:
            held.append((seen, item))
        elif (place := chance.randrange(seen + 1)) < count:
            held[place] = (seen, item)
    return [item for _, item in sorted(held, key=lambda pair: pair[0])]
