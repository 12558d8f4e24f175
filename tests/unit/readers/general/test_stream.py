from __future__ import annotations

import json
from typing import Any

from planproof.pointer import resolve
from planproof.readers.source import Source
from tests.unit.readers.samples import STREAM, actions, brief, read


def stream(*chunks: Any) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)


def test_messages_and_calls_are_joined() -> None:
    trace = read(STREAM)
    assert brief(trace) == [
        ("message", None, "Count."),
        ("reasoning", None, "I count."),
        ("action", "count", ""),
    ]
    [call] = actions(trace)
    assert (call.arguments, call.output, call.actor) == ({"to": 3}, "1 2 3", "counter")
    assert call.turn == trace.events[1].turn
    source = Source.of_value(STREAM)
    assert resolve(source.document, trace.events[1].pointer) == "I count."
    assert resolve(source.document, call.pointer) == '{"to": 3}'
    assert trace.events[0].actor == "user"


def test_a_result_without_an_id_belongs_to_the_last_call() -> None:
    base = {"id": "r", "role": "assistant", "thread_id": "t"}
    trace = read(
        stream(
            {**base, "reasoning_content": "hm"},
            {**base, "tool_calls": [{"name": "a", "args": {"x": 1}, "id": ""}, {}, 3]},
            {**base, "event": "tool_call_result", "content": "out"},
            {**base, "id": "s", "event": "tool_call_result"},
            7,
        )
    )
    assert brief(trace) == [
        ("reasoning", None, "hm"),
        ("action", "a", ""),
        ("observation", None, ""),
    ]
    assert actions(trace)[0].output == "out"
    assert [part.pointer for part in trace.skipped] == ["L9"]


def test_chunks_without_a_beginning_are_left_out() -> None:
    base = {"id": "r", "role": "assistant", "finish_reason": None}
    trace = read(
        stream(
            {**base, "tool_call_chunks": [{"args": "lost", "index": [0]}, 5]},
            {**base, "tool_call_chunks": [{"name": "a", "args": "", "index": 1}]},
            {**base, "content": "x"},
        )
    )
    assert brief(trace) == [("action", "a", ""), ("reasoning", None, "x")]


def test_a_list_of_messages_is_no_stream() -> None:
    turns = [{"id": "r", "role": "assistant", "finish_reason": "stop", "content": "a"}] * 2
    assert len(read(turns, reader="general").events) == 2
