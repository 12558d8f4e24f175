from __future__ import annotations

from typing import Any

import pytest

from planproof.core.content import Image
from planproof.core.trace import EventStatus, Kind
from planproof.errors import InvalidInput
from tests.unit.readers.samples import NATIVE, lines, read


def test_every_field_is_read() -> None:
    event = {
        "id": "x",
        "kind": "action",
        "name": "ls",
        "actor": "agent",
        "text": "ls -la",
        "arguments": {"a": [1]},
        "output": "a.txt",
        "status": "ok",
        "time": "2025-01-01T00:00:00Z",
        "turn": 3,
        "images": [{"media_type": "image/png", "url": "https://x/y.png"}],
    }
    [read_event] = read([event]).events
    assert (read_event.id, read_event.kind, read_event.name) == ("x", Kind.ACTION, "ls")
    assert (read_event.text, read_event.arguments) == ("ls -la", {"a": [1]})
    assert (read_event.output, read_event.output_pointer) == ("a.txt", "/0/output")
    assert (read_event.status, read_event.turn) == (EventStatus.OK, 3)
    assert read_event.images == (Image("image/png", url="https://x/y.png"),)
    assert (read_event.pointer, read_event.actor) == ("/0", "agent")
    assert read_event.time == "2025-01-01T00:00:00Z"


def test_lists_objects_and_lines_are_the_same_trace() -> None:
    as_object = read(NATIVE)
    as_list = read(NATIVE["events"])
    as_lines = read(lines(*NATIVE["events"]))
    assert [event.text for event in as_object.events] == [event.text for event in as_list.events]
    assert [event.pointer for event in as_object.events] == ["/events/0", "/events/1"]
    assert [event.pointer for event in as_lines.events] == ["L1", "L2"]
    assert as_lines.events[1].parent == "a"


def test_ids_are_given_where_there_are_none() -> None:
    assert [e.id for e in read([{"kind": "message"}, {"kind": "message"}]).events] == ["e1", "e2"]


WRONG: list[Any] = [
    *((name, 7, name) for name in ("id", "name", "actor", "text", "output", "time", "parent")),
    ("kind", "acting", "kind"),
    ("kind", ["action"], "kind"),
    ("kind", None, "kind"),
    ("status", "fine", "status"),
    ("turn", "1", "turn"),
    ("turn", True, "turn"),
    ("turn", 1.5, "turn"),
    ("images", {}, "images"),
    ("images", [3], "images/0"),
    ("images", [{"media_type": 3}], "images/0/media_type"),
    ("images", [{"media_type": "image/png", "url": 3}], "images/0/url"),
    ("images", [{"media_type": "image/png", "data": []}], "images/0/data"),
    ("colour", "red", "colour"),
    ("parent", "nobody", "parent"),
]


@pytest.mark.parametrize(("field", "value", "where"), WRONG)
def test_a_wrong_field_is_named_by_its_pointer(field: str, value: Any, where: str) -> None:
    events = [*NATIVE["events"], {"kind": "message", field: value}]
    with pytest.raises(InvalidInput) as caught:
        read({"events": events})
    assert caught.value.where == f"trace#/events/2/{where}"


def test_an_event_that_is_not_an_object_is_named() -> None:
    with pytest.raises(InvalidInput, match="must be an object"):
        read({"events": [*NATIVE["events"], "x"]})


def test_an_id_that_is_used_twice_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="'a' is used twice"):
        read({"events": [*NATIVE["events"], {"id": "a", "kind": "message"}]})


def test_parents_that_form_a_circle_are_an_error() -> None:
    events = [
        {"id": "a", "kind": "message", "parent": "b"},
        {"id": "b", "kind": "message", "parent": "a"},
    ]
    with pytest.raises(InvalidInput, match="form a cycle"):
        read(events)
    with pytest.raises(InvalidInput, match="form a cycle"):
        read([{"id": "a", "kind": "message", "parent": "a"}])


def test_a_parent_may_come_later_and_times_need_no_order() -> None:
    events = [
        {"id": "a", "kind": "message", "parent": "c", "time": "2025-01-02"},
        {"id": "b", "kind": "message", "parent": "c", "time": "2025-01-01"},
        {"id": "c", "kind": "action"},
    ]
    assert [event.id for event in read(events).events] == ["a", "b", "c"]


def test_an_empty_trace_is_not_an_error() -> None:
    assert read({"events": []}, reader="native").events == ()
    assert read("plain text", reader="native").events == ()
