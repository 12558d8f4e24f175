"""Records of a run: the run, its results, and the stored cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from secrets import token_hex

from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.verdict import JudgeSummary, Outcome, Verdict
from planproof.readers.decoding.source import Source
from planproof.readers.task_content import read_task

_FAILURES = frozenset({Outcome.INVALID_INPUT, Outcome.JUDGE_FAILED})


class RunState(StrEnum):
    """State of a run; a killed run stays `running`."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of `planproof run` over a data set.

    `source` is the name of the data set with the options that selected cases from it. `fingerprint`
    changes with everything other than the case that a verdict depends on: the judge, the program,
    and the read options. `cases` is the number of results stored so far.
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
    empty if it could not be read. `seconds` is the time it took to judge; 0 for a reused verdict.
    """

    position: int
    case: str
    id: str | None
    verdict: Verdict
    seconds: float

    @property
    def name(self) -> str:
        """The name shown to users: the id or the position."""
        return format_case_name(self.id, self.position)


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A case as stored: JSON text of task, plan and trace as given.

    `hash` is that of the text: the same content is the same case, regardless of id and metadata.
    """

    hash: str
    text: str


def format_case_name(id: str | None, position: int) -> str:  # noqa: A002 - the name of the field
    """Return the name of a case as shown to users."""
    return f"case {position}" if id is None else id


def create_run(
    *, source: str, judge: JudgeSummary, fingerprint: str, tags: Mapping[str, str] | None = None
) -> Run:
    """Create a run that starts now. Its id sorts by time and is easy to type."""
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
    """Return True if the verdict is final; a failed case may succeed next time."""
    return verdict.outcome not in _FAILURES


def serialize_case(case: Case) -> StoredCase:
    """Return the case as JSON text with its content hash."""
    trace: Json = case.trace
    # ASCII only: lone surrogates can be written, and every database can store it.
    text = json.dumps(
        {
            "user_task": None if case.task is None else _task_to_json(case.task),
            "agent_plan": case.plan,
            "execution_trace": trace.raw_value if isinstance(trace, Source) else trace,
        },
        separators=(",", ":"),
    )
    return StoredCase(sha256(text.encode("ascii")).hexdigest(), text)


def deserialize_case(
    stored: StoredCase,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Case:
    """Return the stored case, ready to be read again."""
    fields: dict[str, Json] = json.loads(stored.text)
    task = fields["user_task"]
    return Case(
        task=None if task is None else read_task(task),
        plan=fields["agent_plan"],
        trace=fields["execution_trace"],
        id=id,
        metadata=metadata or {},
    )


def _task_to_json(task: Content) -> Json:
    if not task.images:
        return task.text
    images: list[Json] = [
        {"type": "image_url", "image_url": image.url}
        if image.data is None
        else {"type": "image", "source": {"media_type": image.media_type, "data": image.data}}
        for image in task.images
    ]
    return [{"type": "text", "text": task.text}, *images]
