from __future__ import annotations

from typing import Any

import pytest

from tests.unit.readers.inspect_logs import sample
from tests.unit.readers.samples import actions, brief, read


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def call(name: str, call_id: str, **given: Any) -> dict[str, Any]:
    return {"id": call_id, "function": name, "arguments": given, "type": "function"}


def answer(content: Any, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **more}


def model(prompt: list[Any], message: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    choices = [{"message": message, "stop_reason": "stop"}] if message else []
    return {"event": "model", "input": prompt, "output": {"choices": choices}, **more}


def tool(name: str, call_id: str, result: Any, **more: Any) -> dict[str, Any]:
    event: dict[str, Any] = {
        "event": "tool",
        "id": call_id,
        "function": name,
        "arguments": {},
        "result": result,
    }
    return {**event, "events": [], **more}


def span(id_: str, above: str | None, kind: str, name: str) -> dict[str, Any]:
    return {"event": "span_begin", "id": id_, "parent_id": above, "type": kind, "name": name}


def end(id_: str) -> dict[str, Any]:
    return {"event": "span_end", "id": id_}


def log(events: list[Any], **more: Any) -> dict[str, Any]:
    return {"id": 1, "epoch": 1, "input": "Go.", "messages": [], "events": events, **more}


def test_a_sample_without_events_is_read_by_its_messages() -> None:
    trace = read(sample(1))
    assert trace.reader == "inspect-ai"
    assert brief(trace) == [
        ("message", None, "Find flag 1."),
        ("reasoning", None, "I look."),
        ("action", "bash", ""),
        ("message", None, "Done."),
    ]
    [ran] = actions(trace)
    assert (ran.arguments, ran.output) == ({"cmd": "ls"}, "flag.txt")
    assert (ran.pointer, ran.output_pointer) == ("/messages/1/tool_calls/0", "/messages/2/content")


def test_a_bare_list_of_messages() -> None:
    failed = {"type": "timeout", "message": "too slow"}
    used = {"type": "tool_use", "name": "search", "id": "c9", "arguments": "rain", "result": "wet"}
    trace = read(
        [
            {"role": "system", "content": "Be good."},
            user("Go.", source="input"),
            answer(
                [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "I look."}],
                call("bash", "c1"),
                {"id": "c2"},
            ),
            {"role": "tool", "content": "", "tool_call_id": "c1", "error": failed},
            answer([used, {"type": "odd"}]),
            3,
        ],
        reader="inspect-ai",
    )
    assert brief(trace) == [
        ("system", None, "Be good."),
        ("message", None, "Go."),
        ("reasoning", None, "Hm."),
        ("reasoning", None, "I look."),
        ("action", "bash", ""),
        ("action", "search", "rain"),
    ]
    ran, searched = actions(trace)
    assert (ran.output, ran.output_pointer) == ("too slow", "/3/error/message")
    assert (ran.status, searched.output) == ("error", "wet")
    assert [part.pointer for part in trace.skipped] == ["/2/tool_calls/1", "/4/content/1", "/5"]


def test_prompts_are_read_once() -> None:
    asked, looked = user("Go."), answer("I look.", call("bash", "c1", cmd="ls"))
    got = {"role": "tool", "content": "a", "tool_call_id": "c1", "function": "bash"}
    again = [asked, looked, got, user("Go."), user("Go.")]
    trace = read(
        log(
            [
                {"event": "sample_init", "sample": {"input": "Go."}},
                model([asked], looked, timestamp="2026-01-01T09:00:00+00:00"),
                tool("bash", "c1", "a"),
                model(again, None, error="overloaded"),
                model(again, answer("Done.")),
                {"event": "score", "score": {"value": "C"}},
            ]
        )
    )
    assert brief(trace) == [
        ("message", None, "Go."),
        ("message", None, "I look."),
        ("action", "bash", ""),
        ("message", None, "Go."),
        ("message", None, "Go."),
        ("message", None, "Done."),
    ]
    [ran] = actions(trace)
    assert (ran.output, ran.output_pointer) == ("a", "/events/2/result")
    assert ran.time == "2026-01-01T09:00:00+00:00"
    assert [part.pointer for part in trace.skipped] == ["/events/3", "/events/0", "/events/5"]


def test_long_texts_are_in_attachments() -> None:
    trace = read(
        log(
            [
                model(
                    [user("attachment://aa")],
                    answer("attachment://bb", call("write", "c1", text="attachment://cc", n=[1])),
                ),
                tool("write", "c1", "attachment://dd"),
                tool("read", "c2", "attachment://lost"),
            ],
            attachments={"aa": "A long task", "bb": "Long", "cc": "A page", "dd": "Written"},
        )
    )
    assert [(e.text or e.name, e.pointer) for e in trace.events] == [
        ("A long task", "/attachments/aa"),
        ("Long", "/attachments/bb"),
        ("write", ""),
        ("read", "/events/2"),
    ]
    wrote, got = actions(trace)
    assert wrote.arguments == {"text": "A page", "n": [1]}
    assert (wrote.output, wrote.output_pointer) == ("Written", "/attachments/dd")
    assert got.output == "attachment://lost"


def test_prompts_in_a_pool() -> None:
    pool = [user("Go.", id="m1"), answer("I look.", call("a", "c1"), id="m2"), user("On.", id="m3")]
    trace = read(
        log(
            [
                model([], pool[1], input_refs=[[0, 1]]),
                tool("a", "c1", "x"),
                model([], answer("Done."), input_refs=[[0, 3], "odd", [None, 2]]),
                model([], answer("Still."), input_refs=[[0, 99]]),
            ],
            events_data={"messages": pool},
        )
    )
    assert [e.text or e.name for e in trace.events] == [
        "Go.",
        "I look.",
        "a",
        "On.",
        "Done.",
        "Still.",
    ]
    assert trace.events[3].pointer == "/events_data/messages/2/content"


def test_sub_agents_belong_to_the_call_that_started_them() -> None:
    trace = read(
        log(
            [
                span("main", None, "agent", "react"),
                model([user("Go.")], answer("", call("clerk", "c1")), span_id="main"),
                span("t1", "main", "tool", "clerk"),
                tool("clerk", "c1", "yes", span_id="main"),
                span("clerk", "t1", "agent", "clerk"),
                model([user("Ask.")], answer("", call("look", "c2")), span_id="clerk"),
                span("t2", "clerk", "tool", "look"),
                tool("look", "c2", "x", span_id="clerk"),
                end("t2"),
                end("clerk"),
                end("t1"),
                model([answer("")], answer("", call("transfer", "c3")), span_id="main"),
                span("h", "main", "handoff", "auditor"),
                span("t3", "h", "tool", "transfer"),
                tool("transfer", "c3", "ok", span_id="main"),
                span("auditor", "t3", "agent", "auditor"),
                model([answer("")], answer("", call("look", "c4")), span_id="auditor"),
                end("h"),
                model([answer("")], answer("Done."), span_id="main"),
                span("scorers", None, "scorers", "scorers"),
                model([user("Grade it.")], answer("C"), span_id="scorers"),
                end("scorers"),
            ]
        )
    )
    assert [(e.text or e.name, e.parent) for e in trace.events] == [
        ("Go.", None),
        ("clerk", None),
        ("Ask.", "e2"),
        ("look", "e2"),
        ("transfer", None),
        ("look", "e5"),
        ("Done.", None),
    ]
    assert trace.events[2].kind == "system"


def test_events_inside_tools_and_subtasks_of_older_logs() -> None:
    inner = [model([user("Ask.")], answer("", call("look", "c2"))), tool("look", "c2", "x")]
    trace = read(
        log(
            [
                {"event": "step", "action": "begin", "type": "solver"},
                {"event": "subtask", "events": [model([user("Go.")], answer("", call("a", "c1")))]},
                tool("a", "c1", ["x"], agent_span_id="s", events=inner),
                {"event": "step", "action": "begin", "type": "scorer"},
                model([user("Grade it.")], answer("C")),
                {"event": "step", "action": "end", "type": "scorer"},
                {"event": "input", "input": "And now?"},
                {"event": "sample_limit", "message": "too long"},
                {"event": "error", "error": {"message": "broke"}},
                3,
            ]
        )
    )
    assert [(e.text or e.name, e.parent, e.actor) for e in trace.events] == [
        ("Go.", None, "user"),
        ("a", None, "assistant"),
        ("Ask.", "e2", "system"),
        ("look", "e2", "assistant"),
        ("And now?", None, "user"),
        ("too long", None, "system"),
        ("broke", None, "system"),
    ]
    scored = ["/events/3", "/events/4", "/events/5"]
    assert [part.pointer for part in trace.skipped] == ["/events/9", "/events/0", *scored]


@pytest.mark.parametrize(
    "value",
    [
        [user("Go.")],
        [user("Go.", source="elsewhere")],
        [{"role": "user"}, 3],
        {"id": 1, "epoch": 1, "input": "Go."},
        {"messages": [user("Go.")]},
    ],
)
def test_other_formats(value: Any) -> None:
    assert read(value).reader != "inspect-ai"
