"""Which result of one run belongs to which of another.

Cases are paired by id, and by content where they have no id: the agent is run again every night,
so the trace of a case is another one each time and only its id stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TypeAlias

from planproof.core.finding import Status, StepFinding
from planproof.runs.run_records import Result
from planproof.runs.step_counts import folded

_LONGEST_NAME = 200
_MARK_BYTES = 8

_StepMark: TypeAlias = bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a base result: the least that a comparison needs.

    `executed` are the marks of its executed steps, one after another.
    """

    name: str
    case: str
    score: float | None
    executed: bytes

    @staticmethod
    def of(result: Result) -> Kept:
        """What to keep of a result."""
        marks = (mark for mark, step in _marked(result) if step.status is Status.EXECUTED)
        return Kept(result.name[:_LONGEST_NAME], result.case, result.verdict.score, b"".join(marks))

    def executed_then(self, now: Result) -> Iterator[StepFinding]:
        """The steps of the other result that were executed in this one."""
        executed = {
            self.executed[start : start + _MARK_BYTES]
            for start in range(0, len(self.executed), _MARK_BYTES)
        }
        return (step for mark, step in _marked(now) if mark in executed)


class Pairing:
    """Finds the base result of each new one; every base result is given away once."""

    def __init__(self, base: Iterable[Result]) -> None:
        self._free: dict[bytes, list[Kept]] = {}
        for result in base:
            self._free.setdefault(_key(result), []).append(Kept.of(result))
        for several in self._free.values():
            several.reverse()

    def partner(self, result: Result) -> Kept | None:
        """The base result on the same case, if there is one left; of several, the earliest."""
        several = self._free.get(_key(result))
        return several.pop() if several else None

    @property
    def unpaired(self) -> int:
        """How many base results found no partner."""
        return sum(map(len, self._free.values()))

    def unpaired_names(self, most: int) -> tuple[str, ...]:
        """The names of the first of them."""
        names = (kept.name for several in self._free.values() for kept in reversed(several))
        return tuple(islice(names, most))


def _key(result: Result) -> bytes:
    key = f"content {result.case}" if result.id is None else f"id {result.id}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _marked(result: Result) -> Iterator[tuple[_StepMark, StepFinding]]:
    """The counted steps, each with a mark that is the same for the same text in another result.

    Where a plan says the same twice, the first is the first and the second the second.
    """
    seen: dict[str, int] = {}
    for step in result.verdict.findings.counted:
        text = folded(step.text)
        seen[text] = occurrence = seen.get(text, 0) + 1
        marked = f"{occurrence} {text}".encode("utf-8", "surrogatepass")
        yield blake2b(marked, digest_size=_MARK_BYTES).digest(), step
