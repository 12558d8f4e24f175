from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.errors import InvalidInput, UnknownName
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import make_ids_unique, select_trace, split_traces
from planproof.readers.detect import read_trace
from tests.unit.readers.inspect_logs import log, pack_log
from tests.unit.readers.samples import ALL, ARRAYS

CHAT = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]


def lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


def ids(source: Source) -> list[str]:
    return [member.id for member in split_traces(source)]


def span(trace: str, number: int) -> dict[str, Any]:
    return {"traceId": trace, "spanId": f"{number:016x}", "name": "chat", "attributes": []}


def make_export(*spans: dict[str, Any]) -> dict[str, Any]:
    scope = {"scope": {"name": "agent"}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


@pytest.mark.parametrize("name", ALL)
def test_a_single_trace_has_no_members(name: str) -> None:
    source = Source.from_value(ALL[name])
    assert split_traces(source) == ()
    assert select_trace(source) is source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            Source.from_bytes(pack_log(), name="x"),
            ["task-1_epoch_1", "task-2_epoch_1", "task-3_epoch_1"],
        ),
        (
            Source.from_value(log(), name="x"),
            ["task-1_epoch_1", "task-2_epoch_1", "task-3_epoch_1"],
        ),
        (Source.from_text(lines({"messages": CHAT}, {"messages": CHAT})), ["1", "2"]),
        (Source.from_text(lines(CHAT, CHAT)), ["1", "2"]),
        (Source.from_value([CHAT, CHAT]), ["1", "2"]),
        (Source.from_value({"0": ARRAYS, "1": ARRAYS}), ["0", "1"]),
        (Source.from_value({"0": ARRAYS}), ["0"]),
        (Source.from_value({"logs": {"4": ARRAYS, "7": ARRAYS}}), ["4", "7"]),
        (
            Source.from_value({"fs_1": {"messages": CHAT}, "fs_2": {"messages": CHAT}}),
            ["fs_1", "fs_2"],
        ),
        (
            Source.from_value([{"task_id": n, "trial": 0, "traj": CHAT} for n in (4, 4, 7)]),
            ["4", "4-2", "7"],
        ),
        (
            Source.from_text(
                lines({"instance_id": "a__b-1", "messages": CHAT}, {"id": "z", "messages": CHAT})
            ),
            ["a__b-1", "z"],
        ),
        (Source.from_value([{"id": "x" * 200, "messages": CHAT}] * 2), ["1", "2"]),
        (Source.from_value(make_export(span("a1", 1), span("b2", 2), span("a1", 3))), ["a1", "b2"]),
        (
            Source.from_text(lines(make_export(span("a1", 1)), make_export(span("b2", 2)))),
            ["a1", "b2"],
        ),
        (Source.from_value([span("a1", 1), span("b2", 2)]), ["a1", "b2"]),
        (
            Source.from_value(
                {"spans": [{"context": {"trace_id": t, "span_id": "1"}} for t in "ab"]}
            ),
            ["a", "b"],
        ),
    ],
)
def test_members_are_found_and_named(source: Source, expected: list[str]) -> None:
    assert ids(source) == expected


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        [[], []],
        [{"a": []}, {"a": []}],
        {"samples": "none"},
        {"samples": [1, 2]},
        {"run": {"messages": CHAT}, "settings": {"stop": []}},
        {"run": ARRAYS},
        # Events that could stand alone are still those of one session, whatever else is there.
        [{"kind": "message", "images": [1]}] * 3 + [{"kind": "?"}] * 4,
        [{"author": "a", "invocationId": "i", "actions": {"a": []}, "content": {}}, {"b": []}],
        [span("a1", 1), span("a1", 2)],
        make_export(span("a1", 1), span("a1", 2)),
        make_export(),
        {"resourceSpans": [None, {"scopeSpans": [None, {"spans": [None]}]}, {"scopeSpans": 1}]},
    ],
)
def test_a_source_without_traces_is_not_split(value: Any) -> None:
    assert split_traces(Source.from_value(value)) == ()


def test_a_member_is_a_source_of_its_own() -> None:
    source = Source.from_text(
        lines({"id": "one", "messages": CHAT}, {"id": "two", "messages": CHAT})
    )
    one = split_traces(source)[0].source
    assert (one.name, one.form) == ("trace#one", "json")
    assert one.document is source.document[0][1]
    assert one.digest == Source.from_value({"id": "one", "messages": CHAT}).digest
    assert [event.pointer for event in read_trace(one).events] == [
        "/messages/0/content",
        "/messages/1/content",
    ]


def test_each_trace_of_an_export_has_its_own_spans() -> None:
    whole = make_export(span("a1", 1), span("b2", 2), span("a1", 3))
    first = split_traces(Source.from_value(whole))[0].source.document
    assert first == [span("a1", 1), span("a1", 3)]


def test_a_line_keeps_its_notes() -> None:
    odd = (
        lines({"messages": CHAT})
        + '\n{"messages": [{"role": "user", "content": "x"}], "n": NaN}\n{"cut'
    )
    first, second = split_traces(Source.from_text(odd))
    assert first.source.skipped == ()
    assert [(part.pointer, part.why) for part in second.source.skipped] == [
        ("", "NaN is an invalid or too large number; read as text")
    ]


def test_one_sample_is_taken_without_being_picked() -> None:
    assert select_trace(Source.from_bytes(pack_log(count=1))).document["id"] == "task-1"


@pytest.mark.parametrize("wanted", ["2", "task-2_epoch_1"])
def test_a_trace_is_picked_by_number_or_id(wanted: str) -> None:
    assert select_trace(Source.from_bytes(pack_log()), wanted).document["id"] == "task-2"


def test_an_id_goes_before_a_number() -> None:
    source = Source.from_value([{"id": n, "messages": CHAT} for n in (0, 1, 2)])
    assert select_trace(source, "1").document["id"] == 1
    assert select_trace(source, "3").document["id"] == 2


def test_several_traces_are_not_read_as_one() -> None:
    message = r"log.eval: contains 3 traces: task-1_epoch_1, .*Select one with --pick"
    for source in (
        Source.from_bytes(pack_log(), name="log.eval"),
        Source.from_value(log(), name="log.eval"),
    ):
        with pytest.raises(InvalidInput, match=message):
            select_trace(source)
        with pytest.raises(InvalidInput, match=message):
            read_trace(source)


@pytest.mark.parametrize("wanted", ["task-9_epoch_1", "0", "4", "99999999999999999999", "²", ""])
def test_an_unknown_pick_is_an_error_that_helps(wanted: str) -> None:
    with pytest.raises(UnknownName, match=r"none of the 3 traces .*task-1_epoch_1, task-2_epoch_1"):
        select_trace(Source.from_bytes(pack_log()), wanted)


def test_a_pick_among_many_names_some() -> None:
    with pytest.raises(UnknownName, match=r"Available: task-1_epoch_1, .*, …; `planproof inspect`"):
        select_trace(Source.from_bytes(pack_log(count=30)), "x")


def test_a_single_trace_is_its_number_one_and_no_other() -> None:
    source = Source.from_value(CHAT)
    assert select_trace(source, "1") is source
    with pytest.raises(InvalidInput, match="contains a single trace"):
        select_trace(source, "2")


def test_an_id_that_all_traces_share_is_counted_on() -> None:
    # From 2 each time, this would be half a billion steps.
    found = list(make_ids_unique(["a"] * 30_000 + ["a-7", None]))
    assert (found[0], found[1], found[29_999]) == ("a", "a-2", "a-30000")
    assert (found[30_000], found[30_001]) == ("a-7-2", "30002")
