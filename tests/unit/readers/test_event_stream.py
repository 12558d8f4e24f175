from __future__ import annotations

import json
from typing import Any

from planproof.core.pointer import resolve
from planproof.readers.decoding.source import Source
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
    source = Source.from_value(STREAM)
    assert resolve(source.document, trace.events[1].pointer) == "I count."
    streamed = resolve(source.document, call.pointer)
    assert (streamed["name"], streamed["args"]) == ("count", '{"to": 3}')
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


def test_a_list_of_messages_is_not_a_stream() -> None:
    turns = [{"id": "r", "role": "assistant", "finish_reason": "stop", "content": "a"}] * 2
    assert len(read(turns, reader="general").events) == 2


PLAN = '{"title": "Weather", "thought": "hm", "steps": [{"title": "look", "description": "up"}]}'


def test_the_json_of_a_planner_is_the_plan() -> None:
    base = {"id": "p", "role": "assistant", "agent": "planner", "thread_id": "t"}
    for text in (PLAN, f"```json\n{PLAN}\n```"):
        trace = read(stream({**base, "content": text[:30]}, {**base, "content": text[30:]}))
        assert brief(trace) == [("bookkeeping", "plan", text)]
    half = read(stream({**base, "content": PLAN[:30]}, {**base, "content": PLAN[30:50]}))
    assert [event.kind.value for event in half.events] == ["message"]


def test_results_of_calls_with_empty_ids_come_in_the_order_of_the_calls() -> None:
    base = {"role": "assistant", "thread_id": "t"}
    trace = read(
        stream(
            {**base, "id": "a", "tool_call_chunks": [{"name": "x", "args": "{}", "id": ""}]},
            {**base, "id": "a", "tool_call_chunks": [{"name": "y", "args": "{}", "id": ""}]},
            {**base, "id": "b", "tool_call_id": "", "event": "tool_call_result", "content": "1"},
            {**base, "id": "c", "tool_call_id": "", "event": "tool_call_result", "content": "2"},
        )
    )
    assert [(event.name, event.output) for event in trace.events] == [("x", "1"), ("y", "2")]
    assert trace.events[0].turn == trace.events[1].turn


def completion(**delta: Any) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "choices": [{"delta": delta}, 3]}


def test_chunks_of_chat_completions() -> None:
    text = stream(
        completion(role="assistant", content=""),
        completion(reasoning_content="Hm."),
        completion(content="I lo"),
        completion(content="ok."),
        completion(
            tool_calls=[{"index": 0, "id": "k", "function": {"name": "see", "arguments": ""}}]
        ),
        completion(tool_calls=[{"index": 0, "function": {"arguments": '{"at"'}}, 5]),
        completion(tool_calls=[{"index": 0, "function": {"arguments": ": 1}"}}]),
    )
    trace = read(text)
    assert trace.reader == "event-stream"
    assert brief(trace) == [
        ("reasoning", None, "Hm."),
        ("reasoning", None, "I look."),
        ("action", "see", ""),
    ]
    [call] = actions(trace)
    assert call.arguments == {"at": 1}
    streamed = resolve(Source.from_value(text).document, call.pointer)
    assert streamed == {"name": "see", "arguments": '{"at": 1}'}


def test_events_of_messages() -> None:
    text = stream(
        {"type": "message_start", "message": {"id": "m", "role": "assistant"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"text": "I lo"}},
        {"type": "content_block_delta", "index": 0, "delta": {"text": "ok."}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "k", "name": "see", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": '{"at"'}},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": ": 1}"}},
        {"type": "message_stop"},
    )
    trace = read(text)
    assert brief(trace) == [("reasoning", None, "I look."), ("action", "see", "")]
    [call] = actions(trace)
    assert (call.arguments, call.turn) == ({"at": 1}, trace.events[0].turn)
    document = Source.from_value(text).document
    assert resolve(document, trace.events[0].pointer) == "I look."
    streamed = resolve(document, call.pointer)
    assert streamed["content_block"]["name"] == "see"
    assert streamed["delta"]["partial_json"] == '{"at": 1}'


def test_results_of_hosted_tools_in_a_stream_of_anthropic() -> None:
    def block(index: int, **content: Any) -> dict[str, Any]:
        return {"type": "content_block_start", "index": index, "content_block": content}

    def delta(index: int, **change: Any) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": index, "delta": change}

    trace = read(
        stream(
            {"type": "message_start", "message": {"id": "m"}},
            block(0, type="server_tool_use", id="s1", name="bash_code_execution", input={}),
            delta(0, type="input_json_delta", partial_json='{"command": "ls"}'),
            block(
                1,
                type="bash_code_execution_tool_result",
                tool_use_id="s1",
                content={"type": "bash_code_execution_result", "stdout": "a.txt"},
            ),
            block(2, type="text", text=""),
            delta(2, type="text_delta", text="One "),
            delta(2, type="text_delta", text="file."),
        )
    )
    assert brief(trace) == [("action", "bash_code_execution", ""), ("message", None, "One file.")]
    [call] = actions(trace)
    assert '"stdout": "a.txt"' in call.output
    assert (call.output_pointer or "").endswith("/content_block/content")
    assert call.turn < trace.events[1].turn
