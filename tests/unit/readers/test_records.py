from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.pointer import resolve
from planproof.core.trace import Kind, RecordKind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.recognition import load_reader
from planproof.readers.record_counts import explain_not_understood
from planproof.readers.records import ClassifiedRecords, classify_records

LOG = """robot 7 ready

move_to dock 3
  speed 0.4
arrived after 12 s
lift pallet 9
ok
I have lifted pallet 9.
"""


def _read(value: Any) -> Trace:
    return read_trace(Source.from_value(value), reader="records")


def _pointers(value: Any) -> list[str]:
    return [event.pointer for event in _read(value).events]


def _kinds(*said: tuple[str, ...]) -> list[RecordKind]:
    names = ("events", "kind", "name", "of")
    return [RecordKind(**dict(zip(names, one, strict=False))) for one in said]  # pyright: ignore[reportArgumentType]


def _classify(value: Any, *said: tuple[str, ...]) -> ClassifiedRecords:
    classified = classify_records(_read(value), _kinds(*said))
    again = classify_records(_read(value), classified.kinds)
    assert (again.trace, again.kinds, again.objections) == (classified.trace, classified.kinds, ())
    return classified


def test_every_line_of_a_text_with_words_is_a_record() -> None:
    assert _pointers(LOG) == ["L1", "L3", "L4", "L5", "L6", "L7", "L8"]


@pytest.mark.parametrize(
    ("value", "pointers"),
    [
        ([{"a": "one two"}, {"b": "three four"}], ["/0", "/1"]),
        ({"meta": {"v": 1}, "steps": [{"a": 1}, {"b": 2}]}, ["/meta", "/steps/0", "/steps/1"]),
        ({"run": {"steps": [{"a": 1}, {"b": 2}]}}, ["/run/steps/0", "/run/steps/1"]),
        ({"s1": {"do": "x"}, "s2": {"do": "y"}}, ["/s1", "/s2"]),
        ('{"a": 1}\n{"b": 2}\n', ["L1", "L2"]),
        ({"log": "go north\n" * 600}, [f"/log/L{number}" for number in range(1, 601)]),
        (
            [{"role": "a", "parts": [{"type": "x", "t": 1}, {"type": "y"}]}, {"b": 2}],
            ["/0/parts/0", "/0/parts/1", "/1"],
        ),
        # A list of values in an argument is no list of records.
        ([{"tool": "add", "items": [{"n": 1}, {"n": 2}]}, {"b": 2}], ["/0", "/1"]),
    ],
)
def test_records_of_json(value: Any, pointers: list[str]) -> None:
    source = Source.from_value(value)
    assert _pointers(value) == pointers
    assert all(resolve(source.document, pointer) for pointer in pointers)


def test_fields_beside_the_records_are_counted_as_skipped() -> None:
    trace = _read({"id": "x", "steps": [{"a": 1}, {"b": 2}]})
    assert [part.pointer for part in trace.skipped] == ["/id"]


def test_no_source_is_claimed_and_none_is_understood_without_a_model() -> None:
    source = Source.from_value(LOG)
    assert not load_reader("records").sniff(source)
    assert "a model has to say" in (explain_not_understood(_read(LOG)) or "")


def test_lines_results_and_names() -> None:
    classified = _classify(
        LOG,
        ("e1", "other"),
        ("e2", "action", "move_to"),
        ("e3", "continuation"),
        ("e4", "result", None, "e2"),  # pyright: ignore[reportArgumentType]
        ("e5", "action", "lift"),
        ("e6", "result", None, "e5"),  # pyright: ignore[reportArgumentType]
        ("e7", "message"),
    )
    other, move, lift, said = classified.trace.events
    assert (other.kind, other.actor) == (Kind.SYSTEM, None)
    assert (move.id, move.kind, move.name, move.pointer) == ("e2", Kind.ACTION, "move_to", "L3-4")
    assert move.text == "move_to dock 3\n  speed 0.4"
    assert (move.output, move.output_pointer) == ("arrived after 12 s", "L5")
    assert (lift.name, lift.output) == ("lift", "ok")
    assert (said.kind, said.actor) == (Kind.MESSAGE, "assistant")
    assert explain_not_understood(classified.trace) is None


def test_lines_of_one_result_are_one_output() -> None:
    said = (("e1", "action", "ls"), ("e2-e4", "result", None, "e1"))
    classified = _classify("ls /tmp\na b\nc d\ne f\n", *said)  # pyright: ignore[reportArgumentType]
    (event,) = classified.trace.events
    assert (event.output, event.output_pointer) == ("a b\nc d\ne f", "L2-4")


def test_two_results_of_json_records_stay_apart() -> None:
    records = [{"run": "ls"}, {"out": "a"}, {"out": "b"}]
    classified = _classify(records, ("e1", "action", "ls"), ("e2-e3", "result", None, "e1"))  # pyright: ignore[reportArgumentType]
    call, rest = classified.trace.events
    assert (call.output_pointer, json.loads(call.output)) == ("/1", {"out": "a"})
    assert (rest.kind, rest.pointer) == (Kind.OBSERVATION, "/2")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (None, "without a name"),
        ("", "without a name"),
        ("drop", "does not contain the name 'drop'"),
        ("have lifted", "name of one word"),
    ],
)
def test_an_action_needs_a_name_from_its_record(name: str | None, why: str) -> None:
    classified = _classify("lift pallet 9, I have lifted", ("e1", "action", name))  # pyright: ignore[reportArgumentType]
    (event,) = classified.trace.events
    assert (event.kind, event.name) == (Kind.MESSAGE, None)
    assert why in classified.objections[0]


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        ("user", Kind.MESSAGE),
        ("System", Kind.SYSTEM),
        ("tool", Kind.OBSERVATION),
        ("assistant", Kind.ACTION),
    ],
)
def test_records_of_others_are_no_actions(role: str, kind: Kind) -> None:
    records = [{"role": role, "content": "send_mail to Ann"}, {"b": "c"}]
    classified = _classify(records, ("e1", "action", "send_mail"))
    event = classified.trace.events[0]
    assert (event.kind, event.actor == "user") == (kind, role == "user")


def test_a_result_needs_its_action_before_it() -> None:
    said = (("e1", "result", None, "e2"), ("e2", "action", "lift"))
    classified = _classify("done it\nlift it", *said)  # pyright: ignore[reportArgumentType]
    assert [event.kind for event in classified.trace.events] == [Kind.OBSERVATION, Kind.ACTION]
    assert "no action 'e2' before it" in classified.objections[0]


def test_the_first_kind_of_a_record_counts_and_unknown_ids_do_not() -> None:
    said = (("e2", "message"), ("e1-e3", "user"), ("e9", "user"), ("e3-e1", "other"))
    classified = _classify("a b\nc d\ne f", *said)
    assert [event.actor for event in classified.trace.events] == ["user", "assistant", "user"]
    assert len(classified.objections) == 2


def test_less_than_half_classified_is_not_understood() -> None:
    classified = classify_records(_read(LOG), _kinds(("e1-e3", "other")))
    assert "3 of 7" in (explain_not_understood(classified.trace) or "")


def test_overlapping_ranges_take_linear_time() -> None:
    count = 20_000
    trace = _read("go on\n" * count)
    classified = classify_records(trace, _kinds(*[(f"e1-e{count}", "message")] * count))
    assert len(classified.trace.events) == count
    assert classified.kinds == (RecordKind(events=f"e1-e{count}", kind="message"),)
