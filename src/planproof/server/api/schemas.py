"""The forms of what goes in and comes out, for the description of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field

from planproof.core.verdict import JudgeSummary, Verdict
from planproof.runs.compare import Comparison
from planproof.runs.run_records import RunState
from planproof.runs.summary import CaseSummary, Summary

_Task = TypeVar("_Task")


class _CaseForm(BaseModel, Generic[_Task]):
    user_task: _Task | None = Field(
        description="Text, or content parts, among which may be images. "
        "If it is null, what the user says first in the trace is meant."
    )
    agent_plan: str | list[Any] | dict[str, Any] | None = Field(
        None, description="Text, a list of steps, or JSON of a common shape."
    )
    execution_trace: str | list[Any] | dict[str, Any] = Field(
        description="A raw trace as its tool wrote it, as JSON or as text."
    )
    id: str | int | None = Field(None, description="Handed on to the verdict.")
    metadata: dict[str, Any] | None = Field(
        None, description="Handed on to the verdict, never judged."
    )


class CaseFile(_CaseForm[str | list[str | dict[str, Any]]]):
    """One case. Fields beside these are left alone."""


class TextPart(BaseModel):
    """A part of a task that is text."""

    type: Literal["text"] = "text"
    text: str


class ImageAddress(BaseModel):
    """Where an image is: an address, or data in it."""

    url: str = Field(min_length=1)


class ImagePart(BaseModel):
    """A part of a task that is an image; it is never fetched."""

    type: Literal["image_url"] = "image_url"
    image_url: ImageAddress | str


class PostedCase(_CaseForm[str | list[str | TextPart | ImagePart]]):
    """One case. Fields beside these are left alone, and other forms of parts are read as well."""


class Problem(BaseModel):
    """What went wrong, where, and what to do."""

    status: int
    what: str
    where: str | None
    advice: str | None


class RunForm(BaseModel):
    """One run over a data set; `cases` is how many results are kept so far."""

    id: str
    state: RunState
    created: datetime
    finished: datetime | None
    source: str
    judge: JudgeSummary
    fingerprint: str
    tags: dict[str, str]
    cases: int


class Health(BaseModel):
    """It is well."""

    status: str


class StartedRun(BaseModel):
    """A run that was begun, and where its progress is told."""

    run: RunForm
    events: str


class RunsPage(BaseModel):
    """Some runs, the newest first; `more` says whether there are older ones."""

    runs: list[RunForm]
    more: bool


class RunWithSummary(BaseModel):
    """A run and what it comes to."""

    run: RunForm
    summary: Summary


class CasesPage(BaseModel):
    """Some cases of a run; `total` is how many there are of that kind."""

    cases: list[CaseSummary]
    total: int


class VerdictsPage(BaseModel):
    """Some verdicts of a run; `total` is how many there are of that kind."""

    verdicts: list[Verdict]
    total: int


class RunCase(BaseModel):
    """A case as it was given, which can be handed in again."""

    position: int
    id: str | None
    user_task: Any
    agent_plan: Any
    execution_trace: Any
    metadata: dict[str, Any]


class RunComparison(BaseModel):
    """Two runs, and what changed from one to the other."""

    base: RunForm
    new: RunForm
    comparison: Comparison
