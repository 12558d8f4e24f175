"""How routes are described: their answers, with examples that were really given."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter

from planproof.core.json_values import is_list, is_object
from planproof.server.api.schemas import Problem
from planproof.server.http_problems import PROBLEM

_WHY = {
    400: "The body can't be read.",
    404: "There is no such thing.",
    408: "The body came too slowly.",
    413: "The body is too large, or nested too deeply.",
    415: "The body is packed in a way that is not known.",
    422: "The body, or a parameter, is not what it should be.",
    503: "There is too much to do, or the store can't be reached; see Retry-After.",
}
# What stands before every route may give these.
_ALWAYS = {
    401: "A key is needed.",
    403: "The key may not do this, or the request was sent on behalf of another site.",
    429: "Too many requests; see Retry-After.",
}
STREAM = "text/event-stream"
_EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
}
READS = (404, 422, 503)
WRITES = (400, 404, 408, 413, 415, 422, 503)


def answers(
    name: str, model: type[Any] | None, about: str, numbers: tuple[int, ...], status: int = 200
) -> dict[int | str, dict[str, Any]]:
    """The answers of a route: the good one, with its example, and what may go wrong.

    Without a model it is a stream of events.
    """
    shown: dict[str, Any] = {"description": about}
    content: dict[str, Any] = {}
    if (example := _examples().get(name)) is not None:
        content["example"] = example
    if model is None:
        shown["content"] = {STREAM: {"schema": _EVENT, **content}}
    else:
        shown |= {"model": model, "content": {"application/json": content}}
    return {status: shown, **problems(numbers)}


def problems(numbers: tuple[int, ...]) -> dict[int | str, dict[str, Any]]:
    """What may go wrong, besides what may always."""
    return {
        number: {
            "description": {**_WHY, **_ALWAYS}[number],
            "content": {PROBLEM: {"schema": schema_of(Problem)}},
        }
        for number in (*_ALWAYS, *numbers)
    }


def body(about: str, schema: dict[str, Any], example: Any) -> dict[str, Any]:
    """The body that a route takes."""
    content = {"application/json": {"schema": schema, "example": example}}
    return {"requestBody": {"required": True, "description": about, "content": content}}


def schema_of(form: Any) -> dict[str, Any]:
    """The schema of a form, with everything that it refers to in it."""
    made = TypeAdapter(form).json_schema(ref_template="#/$defs/{model}")
    return _inlined(made, made.pop("$defs", {}))


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """A schema without references: in the description of an API they would lead elsewhere."""
    if is_list(schema):
        return [_inlined(each, definitions) for each in schema]
    if not is_object(schema):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inlined(value, definitions) for key, value in schema.items()}


def demo_case(name: str) -> Any:
    """One of the cases that come with planproof."""
    return json.loads(files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_bytes())


@cache
def _examples() -> dict[str, Any]:
    return json.loads(files("planproof.server.api").joinpath("examples.json").read_bytes())
