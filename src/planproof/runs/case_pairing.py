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
from planproof.runs.step_counts import normalize_whitespace

_LONGEST_NAME = 200
_MARK_BYTES = 8

_StepMark: TypeAlias = bytes


@dataclass(frozen=True, slots=True)
class BaseResult:
    """What is kept of a base result: the least that a comparison needs.

    `executed` are the marks of its executed steps, one after another.
    """

    name: str
    case: str
    score: float | None
    executed_marks: bytes

    @staticmethod
    def from_result(result: Result) -> BaseResult:
        """What to keep of a result."""
        marks = (mark for mark, step in _iter_step_marks(result) if step.status is Status.EXECUTED)
        return BaseResult(
            result.name[:_LONGEST_NAME], result.case, result.verdict.score, b"".join(marks)
        )

    def find_executed_steps(self, new_result: Result) -> Iterator[StepFinding]:
        """The steps of the other result that were executed in this one."""
        executed = {
            self.executed_marks[start : start + _MARK_BYTES]
            for start in range(0, len(self.executed_marks), _MARK_BYTES)
        }
        return (step for mark, step in _iter_step_marks(new_result) if mark in executed)


class Pairing:
    """Finds the base result of each new one; every base result is given away once."""

    def __init__(self, base: Iterable[Result]) -> None:
        self._unpaired: dict[bytes, list[BaseResult]] = {}
        for result in base:
            self._unpaired.setdefault(_key(result), []).append(BaseResult.from_result(result))
        for base_results in self._unpaired.values():
            base_results.reverse()

    def pop_partner(self, result: Result) -> BaseResult | None:
        """The base result on the same case, if there is one left; of several, the earliest."""
        base_results = self._unpaired.get(_key(result))
        return base_results.pop() if base_results else None

    @property
    def unpaired_count(self) -> int:
        """How many base results found no partner."""
        return sum(map(len, self._unpaired.values()))

    def unpaired_names(self, limit: int) -> tuple[str, ...]:
        """The names of the first of them."""
        names = (
            base_result.name
            for base_results in self._unpaired.values()
            for base_result in reversed(base_results)
        )
        return tuple(islice(names, limit))


def _key(result: Result) -> bytes:
    key = f"content {result.case}" if result.id is None else f"id {result.id}"
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _iter_step_marks(result: Result) -> Iterator[tuple[_StepMark, StepFinding]]:
    """The counted steps, each with a mark that is the same for the same text in another result.

    Where a plan says the same twice, the first is the first and the second the second.
    """
    seen: dict[str, int] = {}
    for step in result.verdict.findings.counted_steps:
        text = normalize_whitespace(step.text)
        seen[text] = occurrence = seen.get(text, 0) + 1
        key = f"{occurrence} {text}".encode("utf-8", "surrogatepass")
        yield blake2b(key, digest_size=_MARK_BYTES).digest(), step
