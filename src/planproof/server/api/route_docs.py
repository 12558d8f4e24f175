"""How routes are described: their answers, with examples that were really given."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter

from planproof.core.json_values import is_list, is_object
from planproof.server.api.schemas import Problem
from planproof.server.http_problems import PROBLEM_MEDIA_TYPE

_ERROR_DESCRIPTIONS = {
    400: "The body can't be read.",
    404: "There is no such thing.",
    408: "The body came too slowly.",
    413: "The body is too large, or nested too deeply.",
    415: "The body is packed in a way that is not known.",
    422: "The body, or a parameter, is not what it should be.",
    503: "There is too much to do, or the store can't be reached; see Retry-After.",
}
# What stands before every route may give these.
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
    """The answers of a route: the good one, with its example, and what may go wrong.

    Without a model it is a stream of events.
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
    """What may go wrong, besides what may always."""
    return {
        number: {
            "description": {**_ERROR_DESCRIPTIONS, **_COMMON_ERROR_DESCRIPTIONS}[number],
            "content": {PROBLEM_MEDIA_TYPE: {"schema": build_openapi_schema(Problem)}},
        }
        for number in (*_COMMON_ERROR_DESCRIPTIONS, *error_statuses)
    }


def describe_body(description: str, schema: dict[str, Any], example: Any) -> dict[str, Any]:
    """The body that a route takes."""
    content = {"application/json": {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "description": description, "content": content}}


def build_openapi_schema(type_: Any) -> dict[str, Any]:
    """The schema of a form, with everything that it refers to in it."""
    schema = TypeAdapter(type_).json_schema(ref_template="#/$defs/{model}")
    return _inline_references(schema, schema.pop("$defs", {}))


def _inline_references(schema: Any, definitions: dict[str, Any]) -> Any:
    """A schema without references: in the description of an API they would lead elsewhere."""
    if is_list(schema):
        return [_inline_references(item, definitions) for item in schema]
    if not is_object(schema):
        return schema
    if "$ref" in schema:
        return _inline_references(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inline_references(value, definitions) for key, value in schema.items()}


def load_demo_case(name: str) -> Any:
    """One of the cases that come with planproof."""
    return json.loads(files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_bytes())


@cache
def _load_examples() -> dict[str, Any]:
    return json.loads(files("planproof.server.api").joinpath("examples.json").read_bytes())
