"""Read and write traces in planproof's own JSON format."""

from __future__ import annotations

from dataclasses import asdict

from msgspec import ValidationError, convert

from planproof.core.content import Json
from planproof.core.json_values import is_object, text_at
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.yaml_files import split_validation_message
from planproof.readers.toolkit.entries import iter_entries, take_first_entries

_LIST_KEYS = ("events",)
_KINDS = frozenset(Kind)
_ADVICE = f"Kinds are {', '.join(Kind)}; statuses {', '.join(EventStatus)}; most fields are text."
_TO_POINTER = str.maketrans({".": "/", "[": "/", "]": None, "$": None})
_FIELDS = frozenset(Event.__struct_fields__) - {"pointer", "output_pointer"}


class NativeReader:
    """Reads planproof's own format: `{"events": [{"id", "kind", "name", ...}]}`, or JSON Lines."""

    name = "native"

    def sniff(self, source: Source) -> bool:
        """Return whether most records are of one of planproof's own kinds."""
        head = take_first_entries(source, _LIST_KEYS, _is_event)
        own = sum(is_object(value) and _is_event(value) for value in head)
        return own > 0 and len(head) <= own * 2

    def read(self, source: Source) -> Trace:
        """Return the events as written; raise `InvalidInput` with the pointer of a wrong field."""
        events: list[Event] = []
        seen: set[str] = set()
        for number, (pointer, value) in enumerate(iter_entries(source, _LIST_KEYS, _is_event), 1):
            event = parse_event(value, pointer, f"e{number}", source.name)
            if event.id in seen:
                raise _field_error(
                    source.name, f"{pointer}/id", f"the id {event.id!r} is used twice"
                )
            seen.add(event.id)
            events.append(event)
        _check_parents(events, source.name)
        return Trace(tuple(events), self.name, source.skipped)


def _is_event(value: dict[str, Json]) -> bool:
    return "kind" in value and text_at(value, "kind") in _KINDS


def parse_event(value: Json, pointer: str, default_id: str, source: str) -> Event:
    """Parse an event from a JSON object. Whether its parent exists is not checked here."""
    if not is_object(value):
        raise _field_error(source, pointer, "an event must be an object")
    for key in value:
        if key not in _FIELDS:
            raise _field_error(source, f"{pointer}/{key}", "is not a field of an event")
    given = {key: item for key, item in value.items() if item is not None and item != ""}
    places = {"pointer": pointer} | (
        {"output_pointer": f"{pointer}/output"} if "output" in given else {}
    )
    try:
        return convert({"id": default_id, **given, **places}, Event)
    except ValidationError as error:
        what, path = split_validation_message(str(error))
        raise _field_error(source, f"{pointer}{path.translate(_TO_POINTER)}", what) from error


def _check_parents(events: list[Event], source: str) -> None:
    parents = {event.id: event.parent for event in events}
    for event in events:
        if event.parent is not None and event.parent not in parents:
            raise _field_error(
                source, f"{event.pointer}/parent", f"no event has the id {event.parent!r}"
            )
    cleared: set[str] = set()
    for event in events:
        way: set[str] = set()
        current: str | None = event.id
        while current is not None and current not in cleared:
            if current in way:
                raise _field_error(
                    source, f"{event.pointer}/parent", "the parents of this event form a cycle"
                )
            way.add(current)
            current = parents[current]
        cleared |= way


def _field_error(source: str, pointer: str, what: str) -> InvalidInput:
    return InvalidInput(f"{what}.", where=f"{source}#{pointer}", advice=_ADVICE)


_PLAIN_FIELDS = ("name", "actor", "text", "output", "time", "parent", "turn", "recognition")


def serialize_trace(trace: Trace) -> Json:
    """Return a trace as JSON, without pointers: those into the new document differ."""
    return {"events": [serialize_event(event) for event in trace.events]}


def serialize_event(event: Event) -> Json:
    """Return one event as a JSON object."""
    fields: dict[str, Json] = {"id": event.id, "kind": event.kind.value}
    fields |= {key: value for key in _PLAIN_FIELDS if (value := getattr(event, key))}
    if event.arguments is not None:
        fields["arguments"] = event.arguments
    fields["status"] = event.status.value
    if event.images:
        fields["images"] = [asdict(image) for image in event.images]
    return fields
