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
        description="Text, or content parts, which may include images. "
        "If it is null, the task is the first user message in the trace."
    )
    agent_plan: str | list[Any] | dict[str, Any] | None = Field(
        None, description="Text, a list of steps, or JSON in a common form."
    )
    execution_trace: str | list[Any] | dict[str, Any] = Field(
        description="The raw trace, as JSON or text, in the format that its framework wrote."
    )
    id: str | int | None = Field(None, description="Copied to the verdict.")
    metadata: dict[str, Any] | None = Field(
        None, description="Copied to the verdict, never judged."
    )


class CaseFile(_CaseForm[str | list[str | dict[str, Any]]]):
    """One case. Other fields are ignored."""


class TextPart(BaseModel):
    """A text part of a task."""

    type: Literal["text"] = "text"
    text: str


class ImageAddress(BaseModel):
    """The URL of an image, which may be a data URL."""

    url: str = Field(min_length=1)


class ImagePart(BaseModel):
    """An image part of a task; its URL is never fetched."""

    type: Literal["image_url"] = "image_url"
    image_url: ImageAddress | str


class PostedCase(_CaseForm[str | list[str | TextPart | ImagePart]]):
    """One case. Other fields are ignored, and other forms of content parts are accepted."""


class Problem(BaseModel):
    """What went wrong, where, and what to do."""

    status: int
    what: str
    where: str | None
    advice: str | None


class RunForm(BaseModel):
    """One run over a data set; `cases` is the number of results so far."""

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
    """The health of the server."""

    status: str


class StartedRun(BaseModel):
    """A started run, and the path of its progress events."""

    run: RunForm
    events: str


class RunsPage(BaseModel):
    """A page of runs, newest first; `more` is true if there are older ones."""

    runs: list[RunForm]
    more: bool


class RunWithSummary(BaseModel):
    """A run and its summary."""

    run: RunForm
    summary: Summary


class CasesPage(BaseModel):
    """A page of the cases of a run; `total` is the number of all matching cases."""

    cases: list[CaseSummary]
    total: int


class VerdictsPage(BaseModel):
    """A page of the verdicts of a run; `total` is the number of all matching verdicts."""

    verdicts: list[Verdict]
    total: int


class RunCase(BaseModel):
    """A case as it was submitted; it can be submitted again."""

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
    400: "The body is malformed.",
    404: "Not found.",
    408: "The body was sent too slowly.",
    413: "The body is too large, or nested too deeply.",
    415: "Unsupported content encoding.",
    422: "The body or a parameter is not valid.",
    503: "The server is overloaded, or the store can't be reached; see Retry-After.",
}
# The middleware may return these for any route.
_COMMON_ERROR_DESCRIPTIONS = {
    401: "An API key is required.",
    403: "The key is read-only, or the request was sent on behalf of another site.",
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
