"""What is kept of many cases: the run, its results, and the cases themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from secrets import token_hex

from planproof.core.verdict import JudgeSummary, Outcome, Verdict

_FAILURES = frozenset({Outcome.INVALID_INPUT, Outcome.JUDGE_FAILED})


class RunState(StrEnum):
    """How far a run has come; one that was killed is still called running."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of `planproof run` over a data set.

    `source` is what the data set was called, with the options that chose cases from it.
    `fingerprint` changes with everything that a verdict rests on besides its case: the judge, the
    program, and how cases are read. `cases` is how many results are kept so far.
    """

    id: str
    created: datetime
    source: str
    judge: JudgeSummary
    fingerprint: str
    finished: datetime | None = None
    state: RunState = RunState.RUNNING
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    cases: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one case of a run.

    `position` counts from 0 in the order of the data set. `case` is the content hash of the case,
    empty where none could be read. `seconds` is how long it took to judge it; 0 where the verdict
    was known already.
    """

    position: int
    case: str
    id: str | None
    verdict: Verdict
    seconds: float

    @property
    def name(self) -> str:
        """What people are told of it: its id, or its position."""
        return format_case_name(self.id, self.position)


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case as the store keeps it: JSON text of task, plan and trace as they were given.

    `hash` is that of the text: the same content is the same case, whatever its id and metadata.
    """

    hash: str
    text: str


def format_case_name(id: str | None, position: int) -> str:  # noqa: A002 - the name of the field
    """What a case of a run is called where people read of it."""
    return f"case {position}" if id is None else id


def create_run(
    *, source: str, judge: JudgeSummary, fingerprint: str, tags: Mapping[str, str] | None = None
) -> Run:
    """A run that begins now. Its id sorts by time and can be typed."""
    now = datetime.now(UTC)
    return Run(
        id=f"{now:%Y%m%d-%H%M%S}-{token_hex(3)}",
        created=now,
        source=source,
        judge=judge,
        fingerprint=fingerprint,
        tags=tags or {},
    )


def is_final(verdict: Verdict) -> bool:
    """Whether a case need not be judged again: a failure may be over next time."""
    return verdict.outcome not in _FAILURES
