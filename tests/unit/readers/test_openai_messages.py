from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from planproof.readers.chat_messages import OpenAIMessagesReader
from planproof.readers.decoding.source import Source
from tests.unit.readers.samples import ALL, OPENAI, actions, brief, lines, read, tool_call


def test_messages_calls_and_results() -> None:
    trace = read(OPENAI)
    assert brief(trace) == [
        ("system", None, "You look after orders."),
        ("message", None, "Cancel order 7, please."),
        ("reasoning", None, "I look the order up first."),
        ("action", "get_order", ""),
        ("action", "get_user", ""),
        ("message", None, "Shall I cancel it?"),
        ("message", None, "Yes."),
        ("action", "cancel_order", ""),
        ("message", None, "It is cancelled."),
    ]
    order, user, cancel = actions(trace)
    assert (order.arguments, order.output_pointer) == ({"id": 7}, "/4/content")
    assert (order.status, user.status) == (EventStatus.OK, EventStatus.ERROR)
    assert (order.pointer, cancel.pointer) == ("/2/tool_calls/0", "/7/function_call")
    assert (cancel.output, cancel.actor) == ("done", "assistant")
    assert order.turn == user.turn == trace.events[2].turn
    assert trace.events[1].actor == trace.events[6].actor == "user"
    assert len({event.turn for event in trace.events}) == 7


def test_prose_that_the_user_answers_was_said_to_the_user() -> None:
    messages: list[Any] = [
        {"role": "assistant", "content": "I ask a colleague.", "tool_calls": [tool_call("a", {})]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        {"role": "user", "content": "Thanks."},
    ]
    assert brief(read(messages))[0][0] == "message"
    assert brief(read(messages[:2]))[0][0] == "reasoning"


def test_reasoning_has_its_own_field() -> None:
    messages: list[Any] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "reasoning_content": "I think.", "content": "I go."},
        {"role": "assistant", "content": None, "reasoning": "Again.", "tool_calls": []},
    ]
    assert brief(read(messages))[1:] == [
        ("reasoning", None, "I think."),
        ("message", None, "I go."),
        ("reasoning", None, "Again."),
    ]


def test_a_call_in_the_content_and_its_result_as_a_user_turn() -> None:
    messages: list[Any] = [
        {"role": "system", "content": "You code."},
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": "I look.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>",
        },
        {"role": "user", "content": "a.py"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "OBSERVATION:\nnothing called this"},
    ]
    trace = read(messages)
    assert brief(trace)[2:] == [
        ("reasoning", None, "I look."),
        ("action", "bash", ""),
        ("message", None, "Done."),
        ("observation", None, "OBSERVATION:\nnothing called this"),
    ]
    [call] = actions(trace)
    assert (call.arguments, call.output, call.output_pointer) == (
        {"command": "ls"},
        "a.py",
        "/3/content",
    )


def test_a_call_and_its_result_in_one_content() -> None:
    text = "<execute_bash>ls</execute_bash><observation>a.py</observation>So."
    trace = read([{"role": "assistant", "content": text}])
    assert brief(trace) == [
        ("action", "bash", "ls"),
        ("observation", None, "a.py"),
        ("reasoning", None, "So."),
    ]
    # The agent wrote the result itself: it is nobody's answer to the call.
    assert trace.events[0].output == ""
    assert trace.events[1].actor == "assistant"


def test_the_variant_with_a_name_and_an_object() -> None:
    messages: list[Any] = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "function": "bash", "arguments": {"cmd": "ls"}}],
        },
        {"role": "tool", "tool_call_id": "1", "function": "bash", "content": "x"},
    ]
    [call] = actions(read(messages))
    assert (call.name, call.arguments, call.output) == ("bash", {"cmd": "ls"}, "x")


def test_parts_and_images() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    messages: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]},
        {"role": "user", "content": [image]},
        {"role": "assistant", "content": [{"type": "text", "text": "A dot."}, image]},
        {"role": "assistant", "content": [image]},
        {"role": "assistant", "content": None, "tool_calls": [tool_call("look", {})]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x"}, image]},
    ]
    trace = read(messages)
    assert [len(event.images) for event in trace.events] == [1, 1, 1, 1, 1]
    assert trace.events[0].images[0].data == "AA"
    assert trace.events[4].output == "x"


def test_blocks_of_calls_and_results() -> None:
    messages: list[Any] = [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "1", "name": "ls", "input": {}},
                {"type": "tool_use", "id": "2"},
                {"type": "odd"},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": True},
                {"type": "text", "text": "And now?"},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_result", "tool_use_id": "9", "content": {"a": 1}}],
        },
    ]
    trace = read(messages)
    assert brief(trace) == [
        ("reasoning", None, "hm"),
        ("message", None, "I look."),
        ("action", "ls", ""),
        ("action", "tool_use", ""),
        ("message", None, "And now?"),
        ("observation", None, '{"a": 1}'),
    ]
    assert actions(trace)[0].status is EventStatus.ERROR
    assert [skipped.pointer for skipped in trace.skipped] == ["/0/content/4"]


def test_invalid_messages_and_calls_are_skipped() -> None:
    messages: list[Any] = [
        *({"role": "user", "content": f"{i}"} for i in range(60)),
        {"role": "juggler"},
        7,
        {"role": "assistant", "tool_calls": [{"id": "1"}, 3]},
        {"role": "tool", "tool_call_id": "zz"},
        {"role": "system", "content": ""},
    ]
    trace = read(messages)
    assert trace.reader == "openai-messages"
    assert [skipped.pointer for skipped in trace.skipped] == [
        "/60",
        "/61",
        "/62/tool_calls/0",
        "/62/tool_calls/1",
        "/64",
    ]
    assert trace.events[-1].pointer == "/63"


def test_the_answer_beside_the_messages_of_a_request_is_read() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "finish", "arguments": "{}"}}
    log = {
        "messages": [{"role": "user", "content": "Go."}],
        "response": {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}, 3]},
    }
    trace = read(log)
    assert trace.reader == "openai-messages"
    assert brief(trace) == [("message", None, "Go."), ("action", "finish", "")]
    assert trace.events[1].pointer == "/response/choices/0/message/tool_calls/0"


def test_a_failed_result_says_so() -> None:
    messages: list[Any] = [
        {"role": "assistant", "content": None, "tool_calls": [tool_call("a", {})]},
        {"role": "tool", "tool_call_id": "c1", "content": "well", "status": "error"},
    ]
    assert actions(read(messages))[0].status is EventStatus.ERROR


def test_a_failed_result_among_the_parts_says_so() -> None:
    used = {"toolUse": {"toolUseId": "t", "name": "a", "input": {"x": 1}}}
    result = {"toolUseId": "t", "status": "error", "content": [{"text": "well"}]}
    messages: list[Any] = [
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]
    assert actions(read(messages))[0].status is EventStatus.ERROR


@pytest.mark.parametrize(
    ("trace", "answer"),
    [
        (OPENAI, True),
        ({"traj": OPENAI}, True),
        (lines(*OPENAI), True),
        (lines(*OPENAI) + "\n{broken", True),
        ([], False),
        ({"a": OPENAI}, False),
        ([*OPENAI, {"kind": "odd"}], False),
        ("text", False),
        (ALL["group chat"], False),
        (ALL["stream"], False),
        (ALL["staged chat"], False),
        (lines(*[{"role": "assistant", "id": "r", "content": "x"}] * 4), False),
        ({"messages": {}}, False),
        ([{"role": ["user"]}], False),
    ],
)
def test_what_it_recognises(trace: Any, answer: bool) -> None:
    assert OpenAIMessagesReader().sniff(Source.from_value(trace)) is answer


def test_times_are_kept() -> None:
    trace = read([{"role": "user", "content": "x", "timestamp": 1758026599}])
    assert trace.events[0].time == "2025-09-16T12:43:19+00:00"


def test_results_as_parts_of_a_tool_message() -> None:
    messages: list[Any] = [
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "1", "toolName": "a", "input": {"x": 1}},
                {"type": "tool-call", "toolCallId": "2", "toolName": "b", "args": {}},
            ],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "2", "result": "for b"},
                {"type": "tool-result", "toolCallId": "1", "output": {"value": "for a"}},
            ],
        },
    ]
    assert [(a.name, a.output) for a in actions(read(messages))] == [
        ("a", '{"value": "for a"}'),
        ("b", "for b"),
    ]
