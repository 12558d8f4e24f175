"""How a run went: counts by score and by outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planproof.usage import Usage

if TYPE_CHECKING:
    from planproof.runs.nouns import Result

_WIDEST_BAR = 40


@dataclass(slots=True)
class Tally:
    """Counts results; `below` are those under the minimum, `known` those judged before."""

    least: float | None
    below: int = 0
    known: int = 0
    levels: Counter[float] = field(default_factory=Counter[float])
    unjudged: Counter[str] = field(default_factory=Counter[str])
    cost: Usage = field(default_factory=Usage)
    total: float = 0.0

    def add(self, result: Result) -> None:
        """Count one result."""
        verdict = result.verdict
        self.known += bool(result.case) and not result.seconds
        if verdict.cost is not None:
            self.cost += verdict.cost
        if verdict.score is None or verdict.level is None:
            cause = "" if verdict.cause is None else f" ({verdict.cause})"
            self.unjudged[f"{verdict.outcome.value}{cause}"] += 1
            return
        self.levels[verdict.level] += 1
        self.total += verdict.score
        if self.least is not None and verdict.score < self.least:
            self.below += 1

    @property
    def cases(self) -> int:
        """How many were counted."""
        return self.levels.total() + self.unjudged.total()

    @property
    def mean(self) -> float | None:
        """The mean of the scores; None where there is none."""
        scored = self.levels.total()
        return self.total / scored if scored else None

    def lines(self, seconds: float) -> Iterator[str]:
        """The counts, for people."""
        yield f"planproof: {self.cases:,} case{'' if self.cases == 1 else 's'} in {seconds:.1f} s"
        from planproof.reports.wording import cost_line
        from planproof.scoring import LEVELS

        most = max(self.levels.values(), default=0)
        for level in LEVELS:
            if count := self.levels[level]:
                bar = "█" * max(1, round(_WIDEST_BAR * count / most))
                yield f"  {level:<5}{count:>8,}  {bar}"
        for outcome, count in sorted(self.unjudged.items()):
            yield f"  {count:,} not judged: {outcome}"
        if self.known:
            yield f"  {self.known:,} judged before"
        if self.cost != Usage():
            yield f"  asked: {cost_line(self.cost)}"
        if self.below:
            yield f"  {self.below:,} below {self.least}"
