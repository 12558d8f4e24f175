from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.trace import EventStatus
from planproof.planning.find_plan import find_declared_plan
from planproof.readers.decoding.source import Source
from planproof.readers.spans import OpenTelemetryReader
from tests.unit.readers.samples import ALL, actions, brief, lines, read
from tests.unit.readers.span_samples import (
    FLAT_SPANS,
    HANDED_OVER,
    agent_span,
    asks,
    flat_span,
    make_export,
    messages,
    model_span,
    otel_message,
    pairs,
    tool_span,
)


def test_what_the_model_asks_for_and_what_then_runs_is_one_action() -> None:
    trace = read(FLAT_SPANS)
    assert brief(trace) == [("action", "get_time", "")]
    [call] = trace.events
    assert (call.pointer, call.output_pointer) == ("/1/attributes", "/1/attributes/gen_ai.output")
    assert (call.arguments, call.output, call.status) == ({"zone": "UTC"}, "12:00", EventStatus.OK)
    assert call.time == "2025-09-16T12:43:19.903043+00:00"


def test_an_agent_that_hands_over_to_another() -> None:
    trace = read(HANDED_OVER)
    assert [(e.kind.value, e.name, e.actor, e.text, e.parent) for e in trace.events] == [
        ("system", None, "system", "You run a desk.", None),
        ("message", None, "user", "What does Blue cost?", None),
        ("reasoning", None, "boss", "I ask.", None),
        ("action", "research", "boss", "", None),
        ("action", "look_up", "finder", "", "e4"),
        ("message", None, "finder", "It costs 21.", "e4"),
        ("message", None, "boss", "Blue costs 21.", None),
    ]
    research, look_up = actions(trace)
    # The span of the tool says nothing: the next prompt says what came back.
    assert (research.arguments, look_up.arguments) == ({"q": "Blue"}, {"offer": "Blue"})
    assert research.output == "It costs 21."


def test_lines_of_export_requests_and_a_span_that_was_sent_twice() -> None:
    first = make_export(tool_span(1, "a"))
    trace = read(lines(first, make_export(tool_span(2, "b")), first))
    assert [e.name for e in trace.events] == ["a", "b"]
    place = "/resourceSpans/0/scopeSpans/0/spans/0"
    assert trace.events[1].pointer == f"L2{place}/attributes"
    assert [(s.pointer, s.why) for s in trace.skipped] == [(f"L3{place}", "duplicate span")]


def test_attributes_as_typed_values() -> None:
    asked = [otel_message("assistant", "I go.", asks("a", {"n": 7}))]
    trace = read(make_export(model_span(1, gen_ai__output__messages=asked), tool_span(2, "a")))
    assert brief(trace) == [("reasoning", None, "I go."), ("action", "a", "")]
    assert trace.events[1].arguments == {"n": "7"}
    assert trace.events[0].pointer == "/resourceSpans/0/scopeSpans/0/spans/0/attributes/1/value"
    odd: dict[str, Any] = make_export(tool_span(1, "a"))
    span = odd["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    span["attributes"] += [{"key": 3}, "odd", {"key": "x", "value": {"arrayValue": {}}}]
    assert [event.name for event in read(odd).events] == ["a"]


def test_words_of_the_user_and_of_the_system_are_heard_once() -> None:
    said = [
        otel_message("system", "Be brief."),
        otel_message("user", "Go."),
        otel_message("assistant", "Where?"),
    ]
    said += [
        otel_message("user", "On."),
        otel_message("assistant", "And then?"),
        otel_message("user", "On."),
    ]
    trace = read(
        [
            model_span(
                n,
                "s0",
                gen_ai__input__messages=messages(*said[:count]),
                gen_ai__output__messages=messages(
                    said[count] if count < 6 else otel_message("x", "Ok.")
                ),
            )
            for n, count in ((1, 2), (2, 4), (3, 6))
        ]
    )
    assert [(e.actor, e.kind.value, e.text) for e in trace.events] == [
        ("system", "system", "Be brief."),
        ("user", "message", "Go."),
        ("assistant", "message", "Where?"),
        ("user", "message", "On."),
        ("assistant", "message", "And then?"),
        ("user", "message", "On."),
        ("assistant", "message", "Ok."),
    ]


def test_what_more_work_follows_was_no_answer_unless_the_user_replies() -> None:
    def turn(n: int, text: str, *prompt: dict[str, Any]) -> dict[str, Any]:
        told = messages(otel_message("assistant", text))
        given = messages(*prompt)
        return model_span(n, "s1", gen_ai__input__messages=given, gen_ai__output__messages=told)

    spans = [
        agent_span(1),
        turn(2, "I plan."),
        turn(3, "Which?"),
        turn(4, "Ok.", otel_message("user", "x")),
    ]
    assert [e.kind.value for e in read(spans).events] == [
        "reasoning",
        "message",
        "message",
        "message",
    ]


def test_calls_that_one_answer_asks_for_share_a_turn() -> None:
    asked = messages(
        otel_message("assistant", asks("a", {}, "1"), asks("b", {}, "2"), asks("a", {}, "3"))
    )
    trace = read(
        [
            model_span(1, gen_ai__output__messages=asked),
            tool_span(2, "a", gen_ai__tool__call__id="3", output__value="third"),
            tool_span(3, "b", output__value="second"),
            tool_span(4, "a", output__value="first"),
            tool_span(5, "c"),
        ]
    )
    assert [(e.name, e.output, e.turn) for e in trace.events] == [
        ("a", "first", 1),
        ("b", "second", 1),
        ("a", "third", 1),
        ("c", "", 2),
    ]


def event(name: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "attributes": attributes}


CALLED = {"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}
IN_EVENTS = [
    {"content": "Go.", "role": "user", "event.name": "gen_ai.user.message"},
    {"index": 0, "message": {"role": "assistant", **CALLED}, "event.name": "gen_ai.choice"},
]
FORMS: list[Any] = [
    ({"events": json.dumps(IN_EVENTS)}, ["Go.", "a"]),
    ({"gen_ai__completion__0__content": "hi", "gen_ai__prompt__0__role": "user"}, ["hi"]),
    (
        {
            "gen_ai__prompt__0__role": "user",
            "gen_ai__prompt__0__content": "Go.",
            "gen_ai__completion__0__role": "assistant",
            "gen_ai__completion__0__tool_calls__0__name": "a",
            "gen_ai__completion__0__tool_calls__0__arguments": '{"x": 1}',
            "gen_ai__completion__0__tool_calls__1__name": "b",
        },
        ["Go.", "a", "b"],
    ),
    (
        {
            "request_data": {"messages": [{"role": "user", "content": "Go."}]},
            "response_data": {"message": {"role": "assistant", "content": "Gone."}},
        },
        ["Go.", "Gone."],
    ),
    (
        {"ai__response__text": "I go.", "ai__response__toolCalls": '[{"toolName": "a"}]'},
        ["I go.", "a"],
    ),
    ({"output__value": "plain"}, ["plain"]),
    ({"output__value": '{"choices": [{"message": {"content": "in"}}]}'}, ["in"]),
    ({"output__value": '{"output": [{"type": "function_call", "name": "a"}]}'}, ["a"]),
    ({"gen_ai__output": "[1, 2]"}, []),
    ({"gen_ai__output": " "}, []),
    ({"gen_ai__system_instructions": "Be brief.", "gen_ai__output": "Ok."}, ["Be brief.", "Ok."]),
    ({}, []),
]


@pytest.mark.parametrize(("attributes", "told"), FORMS)
def test_the_forms_of_prompts_and_answers(attributes: dict[str, Any], told: list[str]) -> None:
    assert [e.name or e.text for e in read([model_span(1, **attributes)]).events] == told


EVENTS: list[Any] = [
    [
        event("gen_ai.user.message", content='[{"text": "Go."}]'),
        event("gen_ai.choice", message='[{"text": "Gone."}]', finish_reason="end_turn"),
    ],
    [
        event("gen_ai.user.message", **{"gen_ai.event.content": '{"content": "Go."}'}),
        event("gen_ai.choice", **{"gen_ai.event.content": '{"message": {"content": "Gone."}}'}),
    ],
    [
        event("gen_ai.content.prompt", **{"gen_ai.prompt": '[{"role": "user", "content": "Go."}]'}),
        event("gen_ai.content.completion", **{"gen_ai.completion": "Gone."}),
    ],
    [
        event(
            "gen_ai.client.inference.operation.details",
            **{
                "gen_ai.input.messages": messages(otel_message("user", "Go.")),
                "gen_ai.output.messages": messages(otel_message("assistant", "Gone.")),
            },
        ),
        7,
    ],
]


@pytest.mark.parametrize("events", EVENTS)
def test_the_forms_of_events(events: list[Any]) -> None:
    trace = read([{**model_span(1), "events": events}])
    assert brief(trace) == [("message", None, "Go."), ("message", None, "Gone.")]
    assert trace.events[0].pointer == "/0/events/0"


def test_log_records_belong_to_the_span_that_they_name() -> None:
    body = {"message": {"role": "assistant", "content": "Gone."}}
    record = {
        "eventName": "gen_ai.choice",
        "spanId": "s1",
        "body": {"kvlistValue": {"values": pairs(body)}},
    }
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record, {**record, "spanId": "no"}]}]}]}
    trace = read(lines(logs, make_export(model_span(1))))
    assert brief(trace) == [("message", None, "Gone.")]
    assert [s.pointer for s in trace.skipped] == [
        "L1/resourceLogs/0/scopeLogs/0/logRecords/1",
        "L2/resourceSpans/0/scopeSpans/0/spans/0",
    ]


@pytest.mark.parametrize(
    ("more", "status", "output"),
    [
        ({"status": {"code": "STATUS_CODE_ERROR"}}, "error", ""),
        ({"status": {"status_code": "ERROR", "description": "gone"}}, "error", "gone"),
        ({"status": "ok", "output__value": "Error: no"}, "error", "Error: no"),
        ({"output__value": "fine"}, "ok", "fine"),
        ({"output__value": {"a": 1}}, "ok", '{"a": 1}'),
        ({}, "unknown", ""),
    ],
)
def test_how_a_tool_ended(more: dict[str, Any], status: str, output: str) -> None:
    [found] = read([tool_span(1, **more)]).events
    assert (found.status.value, found.output) == (status, output)


def test_a_tool_error_may_be_in_a_span_event() -> None:
    failed = {**tool_span(1), "events": [event("exception", **{"exception.message": "it broke"})]}
    [found] = read([failed]).events
    assert (found.output, found.output_pointer) == ("it broke", "/0/events/0")
    assert found.status is EventStatus.ERROR


def test_a_tool_seen_by_two_layers_is_one_action() -> None:
    spans = [
        tool_span(1, "a", gen_ai__tool__args='{"x": 1}'),
        tool_span(2, "a", parent="s1", output__value="done"),
        tool_span(3, "b", parent="s1"),
        model_span(4, gen_ai__output="Ok."),
        model_span(5, "s4", gen_ai__output="Ok."),
    ]
    trace = read(spans)
    assert [(e.name or e.text, e.output, e.parent) for e in trace.events] == [
        ("a", "done", None),
        ("b", "", "e1"),
        ("Ok.", "", None),
    ]


def test_a_plan_span_and_a_plan_in_a_plan_span() -> None:
    spans = [
        flat_span(1, gen_ai__operation__name="plan", gen_ai__output="1. Go.\n2. Come."),
        flat_span(2, gen_ai__operation__name="plan"),
        model_span(3, "s2", gen_ai__output="1. Stay."),
        flat_span(4, gen_ai__operation__name="create_agent", gen_ai__agent__name="x"),
    ]
    assert brief(read(spans)) == [
        ("bookkeeping", "plan", "1. Go.\n2. Come."),
        ("bookkeeping", "plan", "1. Stay."),
    ]


def test_sub_agents_without_a_span_of_the_call() -> None:
    asked = messages(otel_message("assistant", asks("transfer_to_mate", {})))
    spans = [
        agent_span(1),
        model_span(2, "s1", gen_ai__output__messages=asked),
        agent_span(3, "mate", parent="s1", final_result="sailed"),
        tool_span(4, "sail", parent="s3"),
        agent_span(5, "cook", parent="s1"),
        tool_span(6, "boil", parent="s5"),
    ]
    trace = read(spans)
    assert [(e.name, e.actor, e.parent, e.output) for e in trace.events] == [
        ("transfer_to_mate", "boss", None, "sailed"),
        ("sail", "mate", "e1", ""),
        ("cook", "boss", None, ""),
        ("boil", "cook", "e3", ""),
    ]


def test_an_agent_of_which_no_more_is_known_says_what_it_answered() -> None:
    given, told = (
        messages(otel_message("user", "Go.")),
        messages(otel_message("assistant", "Gone.")),
    )
    span = agent_span(1, gen_ai__input__messages=given, gen_ai__output__messages=told)
    assert [e.text for e in read([span]).events] == ["Go.", "Gone."]


def test_spans_of_other_words() -> None:
    spans = [
        flat_span(1, all_messages_events="[]", agent_name="desk", logfire__msg="x"),
        flat_span(2, "s1", gen_ai__tool__name="a", tool_arguments="{}", tool_response="b"),
        flat_span(3, traceloop__span__kind="tool", traceloop__entity__name="c"),
        flat_span(4, traceloop__span__kind="workflow"),
        flat_span(5, http__method="GET"),
    ]
    assert [(e.name, e.actor, e.output) for e in read(spans).events] == [
        ("a", "desk", "b"),
        ("c", "assistant", ""),
    ]


@pytest.mark.parametrize(
    "wrapped",
    [
        {"spans": FLAT_SPANS, "final_output": "12:00"},
        {"traces": [{"spans": FLAT_SPANS}]},
        {"trace": {"data": FLAT_SPANS}},
        {"batches": [{"scopeSpans": [{"spans": FLAT_SPANS}]}]},
    ],
)
def test_wrappers_of_spans(wrapped: dict[str, Any]) -> None:
    assert read(wrapped).reader == "opentelemetry"
    assert brief(read(wrapped)) == [("action", "get_time", "")]


def test_invalid_spans_are_skipped() -> None:
    broken = make_export(tool_span(1))
    broken["resourceSpans"] += [7, {"scopeSpans": [7]}]
    places = [part.pointer for part in read(broken).skipped]
    assert places == ["/resourceSpans/1", "/resourceSpans/2/scopeSpans/0"]


def test_others_are_not_claimed() -> None:
    reader = OpenTelemetryReader()
    others: list[Any] = [[], {}, [1], [{"attributes": {}}], "text", {"data": [[[]]]}]
    others.append([{"data": {}}])
    for value in others:
        assert not reader.sniff(Source.from_value(value))
    assert [name for name in ALL if reader.sniff(Source.from_value(ALL[name]))] == [
        "flat spans",
        "exported spans",
    ]
    assert reader.sniff(Source.from_value([{"context": {"span_id": "1"}, "attributes": {}}]))


def test_a_span_without_attributes_is_a_span() -> None:
    bare: dict[str, Any] = make_export(tool_span(1, "a"))
    spans = bare["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.append({"spanId": "00000000000000ff", "name": "wrapper", "startTimeUnixNano": "1"})
    trace = read(bare)
    assert [event.name for event in trace.events] == ["a"]
    assert [part.why for part in trace.skipped] == ["span without an event of its own"]


@pytest.mark.parametrize("plan", ["1. Call a.\n2. Call b.", ["Call a.", "Call b."]])
def test_any_span_may_have_the_task_and_the_plan(plan: str | list[str]) -> None:
    told = flat_span(1, planproof__task="Do it.", planproof__plan=plan)
    trace = read([told, tool_span(2, "a")])
    assert [(e.kind.value, e.name, e.actor, e.text) for e in trace.events] == [
        ("message", None, "user", "Do it."),
        ("bookkeeping", "plan", "assistant", "1. Call a.\n2. Call b."),
        ("action", "a", "assistant", ""),
    ]
    located = find_declared_plan(trace)
    assert located.plan is not None
    assert [step.text for step in located.plan.steps] == ["Call a.", "Call b."]


@pytest.mark.parametrize("told", [7, "", None, [], {}])
def test_a_plan_that_is_none_is_left_alone(told: Any) -> None:
    span = flat_span(1, planproof__task=told, planproof__plan=told)
    assert brief(read([span, tool_span(2, "a")])) == [("action", "a", "")]
