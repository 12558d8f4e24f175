"""The published table that maps findings to a score, with the reason for each row."""
# ruff: noqa: SIM300 - the table's capital letters are not constants

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec import Struct

from planproof.core.finding import Findings, Severity, Status
from planproof.errors import InvalidInput

_STATUSES = frozenset(Status)


class Tally(Struct, frozen=True):
    """The letters of the table: numbers of steps by status, and of extras."""

    n: int
    """Counted steps."""
    E: int
    """Executed."""
    P: int
    """Partial."""
    L: int
    """Missing or ambiguous."""
    O: int  # noqa: E741 - the table's letter
    """Out of order."""
    M: int
    """Major extras."""
    m: int
    """Minor extras."""

    @staticmethod
    def of(findings: Findings) -> Tally:
        """Count the statuses and extras in these findings."""
        statuses = [step.status for step in findings.counted_steps]
        extras = [extra.severity for extra in findings.extras]
        if not _STATUSES.issuperset(statuses):
            # Judges may be third-party; an unknown status must not go uncounted.
            unknown = min(map(str, set(statuses) - _STATUSES))
            raise InvalidInput(
                f"unknown step status {unknown!r}.",
                advice=f"Use one of {', '.join(Status)}.",
            )
        return Tally(
            n=len(statuses),
            E=statuses.count(Status.EXECUTED),
            P=statuses.count(Status.PARTIAL),
            L=statuses.count(Status.MISSING) + statuses.count(Status.AMBIGUOUS),
            O=statuses.count(Status.OUT_OF_ORDER),
            M=extras.count(Severity.MAJOR),
            m=extras.count(Severity.MINOR),
        )


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One row of the table: the score, its condition, and the condition in words."""

    score: float
    holds: Callable[[Tally], bool]
    because: str


# The first row that holds gives the score. If every step was waived, n = 0 and nothing is missing,
# so the third row must not hold for these counts.
TABLE = (
    ScoreRow(
        0.0,
        lambda t: t.O > 0 and 2 * t.O >= t.n,
        "at least half of the steps are out of order",
    ),
    ScoreRow(
        0.0,
        lambda t: t.O > 0 and 3 * (t.O + t.L) >= 2 * t.n,
        "at least two thirds of the steps are out of order, missing or ambiguous",
    ),
    ScoreRow(
        0.0,
        lambda t: t.n > 0 and 3 * t.E <= t.n and 3 * t.L >= 2 * t.n,
        "at least two thirds of the steps are missing or ambiguous",
    ),
    ScoreRow(
        0.25,
        lambda t: t.O > 0,
        "a step is out of order",
    ),
    ScoreRow(
        1.0,
        lambda t: t.E == t.n and t.M == 0 and t.m == 0,
        "every counted step was executed in plan order and there are no extras",
    ),
    ScoreRow(
        0.75,
        lambda t: t.E == t.n and t.M == 0 and t.m == 1,
        "every counted step was executed in plan order and there is one minor extra",
    ),
    ScoreRow(
        0.5,
        lambda t: 2 * t.E >= t.n and t.L == 1 and t.M == 0,
        "one step is missing or ambiguous",
    ),
    ScoreRow(
        0.5,
        lambda t: 2 * t.E >= t.n and t.L == 0 and t.M == 1,
        "there is one major extra",
    ),
    ScoreRow(
        0.5,
        lambda t: 2 * t.E >= t.n and t.L + t.M == 0,
        "steps were executed in part, or there are minor extras",
    ),
    ScoreRow(
        0.25,
        lambda t: 2 * t.E < t.n,
        "fewer than half of the steps were executed",
    ),
    ScoreRow(
        0.25,
        lambda t: t.L + t.M > 1,
        "there is more than one missing or ambiguous step or major extra",
    ),
)


def find_row(tally: Tally) -> ScoreRow:
    """Return the first row whose condition holds."""
    return next(row for row in TABLE if row.holds(tally))
