"""Writing the native form: what the native reader reads."""

from __future__ import annotations

from dataclasses import asdict

from planproof.core.content import Json
from planproof.core.trace import Event, Trace

_PLAIN_FIELDS = ("name", "actor", "text", "output", "time", "parent", "turn")


def serialize_trace(trace: Trace) -> Json:
    """A trace as JSON values. Pointers are left out: in the new document they are others."""
    return {"events": [serialize_event(event) for event in trace.events]}


def serialize_event(event: Event) -> Json:
    """One event as a JSON object."""
    fields: dict[str, Json] = {"id": event.id, "kind": event.kind.value}
    fields |= {key: value for key in _PLAIN_FIELDS if (value := getattr(event, key))}
    if event.arguments is not None:
        fields["arguments"] = event.arguments
    fields["status"] = event.status.value
    if event.images:
        fields["images"] = [asdict(image) for image in event.images]
    return fields
