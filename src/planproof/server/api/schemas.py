"""Request and response schemas of the HTTP API, for its OpenAPI document."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter

from planproof.core.json_values import is_list, is_object
from planproof.core.verdict import JudgeSummary, Verdict
from planproof.runs.compare import Comparison
from planproof.runs.run_records import RunState
from planproof.runs.summary import CaseSummary, Summary
from planproof.server.http_problems import PROBLEM_MEDIA_TYPE

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


_ERROR_DESCRIPTIONS = {
    400: "The body can't be read.",
    404: "There is no such thing.",
    408: "The body came too slowly.",
    413: "The body is too large, or nested too deeply.",
    415: "The body is packed in a way that is not known.",
    422: "The body, or a parameter, is not what it should be.",
    503: "There is too much to do, or the store can't be reached; see Retry-After.",
}
# The middleware may return these for any route.
_COMMON_ERROR_DESCRIPTIONS = {
    401: "A key is needed.",
    403: "The key may not do this, or the request was sent on behalf of another site.",
    429: "Too many requests; see Retry-After.",
}
EVENT_STREAM = "text/event-stream"
_EVENT_SCHEMA = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
}
READ_ERRORS = (404, 422, 503)
WRITE_ERRORS = (400, 404, 408, 413, 415, 422, 503)


def describe_responses(
    name: str,
    model: type[Any] | None,
    description: str,
    error_statuses: tuple[int, ...],
    status: int = 200,
) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of a route: success with its example, and errors.

    Without a model, the response is a stream of events.
    """
    shown: dict[str, Any] = {"description": description}
    content: dict[str, Any] = {}
    if (example := _load_examples().get(name)) is not None:
        content["example"] = example
    if model is None:
        shown["content"] = {EVENT_STREAM: {"schema": _EVENT_SCHEMA, **content}}
    else:
        shown |= {"model": model, "content": {"application/json": content}}
    return {status: shown, **describe_errors(error_statuses)}


def describe_errors(error_statuses: tuple[int, ...]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI error responses of a route, including those common to all routes."""
    return {
        number: {
            "description": {**_ERROR_DESCRIPTIONS, **_COMMON_ERROR_DESCRIPTIONS}[number],
            "content": {PROBLEM_MEDIA_TYPE: {"schema": build_openapi_schema(Problem)}},
        }
        for number in (*_COMMON_ERROR_DESCRIPTIONS, *error_statuses)
    }


def describe_body(description: str, schema: dict[str, Any], example: Any) -> dict[str, Any]:
    """Return the OpenAPI request body of a route."""
    content = {"application/json": {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "description": description, "content": content}}


def build_openapi_schema(type_: Any) -> dict[str, Any]:
    """Return the JSON schema of a type with all references inlined."""
    schema = TypeAdapter(type_).json_schema(ref_template="#/$defs/{model}")
    return _inline_references(schema, schema.pop("$defs", {}))


def _inline_references(schema: Any, definitions: dict[str, Any]) -> Any:
    """Inline references, because `$defs` would not resolve inside an OpenAPI document."""
    if is_list(schema):
        return [_inline_references(item, definitions) for item in schema]
    if not is_object(schema):
        return schema
    if "$ref" in schema:
        return _inline_references(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inline_references(value, definitions) for key, value in schema.items()}


def load_demo_case(name: str) -> Any:
    """Return one of the demo cases that are shipped with planproof."""
    return json.loads(files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_bytes())


@cache
def _load_examples() -> dict[str, Any]:
    return json.loads(files("planproof.server.api").joinpath("examples.json").read_bytes())
