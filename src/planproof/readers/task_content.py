"""Read the user task: text, or content parts with images."""

from __future__ import annotations

from typing import cast

from planproof.core.content import Content, Json
from planproof.core.trace import Kind, Trace
from planproof.errors import InvalidInput
from planproof.readers.toolkit.content_parts import parse_parts

_ADVICE = 'Pass text, or parts such as {"type": "text", "text": "..."} and image parts.'


def read_task(value: Json, *, where: str = "/user_task") -> Content:
    """Return the text and the images of a task; anything else in it is an error."""
    if isinstance(value, str):
        return Content(value)
    if not isinstance(value, list):
        raise InvalidInput(
            f"must be text or a list of content parts, not {type(value).__name__}.",
            where=where,
            advice=_ADVICE,
        )
    for index, item in enumerate(cast("list[Json]", value)):
        if not isinstance(item, str | dict):
            raise InvalidInput(
                f"must be a content part, not {type(item).__name__}.",
                where=f"{where}/{index}",
                advice=_ADVICE,
            )
    parts, images = parse_parts(value, where)
    for part in parts:
        if part.kind != "text":
            raise InvalidInput(
                "is neither a text part nor an image part.", where=part.pointer, advice=_ADVICE
            )
    return Content("\n".join(part.value for part in parts), images)


def find_task(trace: Trace) -> Content:
    """Return the first user message of a trace; empty content if there is none."""
    for event in trace.events:
        if event.actor == "user" and event.kind is Kind.MESSAGE and event.parent is None:
            return Content(event.text, event.images)
    return Content()
