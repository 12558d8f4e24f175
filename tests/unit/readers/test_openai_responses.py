from __future__ import annotations

from typing import Any

from planproof.core.trace import EventStatus
from planproof.readers.chat_messages import OpenAIResponsesReader
from planproof.readers.decoding.source import Source
from tests.unit.readers.api_samples import (
    HOSTED_TOOLS,
    RESPONSE_ITEMS,
    RESPONSES_LOG,
    function_call,
    message_item,
)
from tests.unit.readers.samples import actions, brief, lines, read


def test_items_of_a_turn_and_their_results() -> None:
    trace = read(RESPONSE_ITEMS)
    assert trace.reader == "openai-responses"
    assert brief(trace) == [
        ("system", None, "You book flights."),
        ("message", None, "Book me to Oslo."),
        ("reasoning", None, "I look first."),
        ("reasoning", None, "I look up flights and the weather."),
        ("action", "find_flights", ""),
        ("action", "get_weather", ""),
        ("message", None, "I book SK 4411 now, shall I?"),
        ("message", None, "Yes."),
        ("action", "book", ""),
        ("message", None, "Booked: SK 4411."),
    ]
    flights, weather, book = actions(trace)
    assert (flights.arguments, flights.output) == ({"to": "OSL"}, "SK 4411")
    assert (flights.output_pointer, flights.pointer) == ("/7/output/0/text", "/4")
    assert (weather.status, book.status) == (EventStatus.ERROR, EventStatus.OK)
    assert flights.turn == weather.turn == trace.events[2].turn != book.turn
    assert [part.why for part in trace.skipped] == ["encrypted or empty reasoning"]


def test_hosted_tools_are_actions_under_the_name_of_the_move() -> None:
    trace = read(HOSTED_TOOLS)
    told = [(a.name, a.arguments, a.text, a.status.value) for a in actions(trace)]
    assert told == [
        ("web_search", {"query": "tallest tower"}, "", "unknown"),
        ("open_page", {"url": "https://example.org/towers"}, "", "error"),
        ("file_search", {"queries": ["tower height"]}, "", "ok"),
        ("code_interpreter", None, "print(828 * 2)", "ok"),
        ("click", {"button": "left", "x": 10, "y": 20}, "", "ok"),
        ("move", {"x": 1, "y": 2}, "", "unknown"),
        ("type", {"text": "towers"}, "", "unknown"),
        ("route", {"to": "Oslo"}, "", "error"),
        ("shell", {"commands": ["ls"], "timeout_ms": 1000}, "", "error"),
        ("image_generation", None, "a tower", "unknown"),
    ]
    found = {a.name: a for a in actions(trace)}
    assert (found["file_search"].output, found["code_interpreter"].output) == ("828 m", "1656\n")
    assert (found["route"].output, found["shell"].output) == ("quota exceeded", "a.txt")
    assert found["click"].images[0].data == found["image_generation"].images[0].data == "aGk="
    assert [part.pointer for part in trace.skipped] == ["/7"]


def test_a_repeated_prompt_is_read_once() -> None:
    trace = read(RESPONSES_LOG)
    assert brief(trace) == [
        ("system", None, "Be brief."),
        ("message", None, "How tall is it?"),
        ("action", "measure", ""),
        ("message", None, "828 m."),
    ]
    [measure] = actions(trace)
    assert (measure.output, measure.output_pointer) == ("828 m", "L2/request/input/2/output")
    assert measure.time == "2025-03-08T23:29:02+00:00"


def test_the_same_message_sent_twice_is_read_twice() -> None:
    again = {"role": "user", "content": "Again."}
    document = {"input": [again, message_item("One."), again], "output": [message_item("Two.")]}
    assert [text for _, _, text in brief(read(document))] == ["Again.", "One.", "Again.", "Two."]


def test_commentary_is_not_a_message() -> None:
    items = [message_item("I look.", phase="commentary"), function_call("look", {}, "c1")]
    assert brief(read(items))[0][0] == "reasoning"
    assert brief(read(items[:1]))[0][0] == "reasoning"


def test_shells_and_refusals() -> None:
    items: list[Any] = [
        {
            "type": "local_shell_call",
            "id": "ls_1",
            "call_id": "k1",
            "action": {"type": "exec", "command": ["ls"]},
        },
        {"type": "local_shell_call_output", "id": "k1", "output": "a.txt"},
        {
            "type": "shell_call_output",
            "call_id": "k9",
            "output": [{"stdout": "b", "stderr": "c", "outcome": {"type": "timeout"}}],
        },
        message_item("", content=[{"type": "refusal", "refusal": "I can't."}]),
        {"type": "function_call", "call_id": "c1", "arguments": "{}"},
        {"type": "no_such_item"},
        "text",
    ]
    trace = OpenAIResponsesReader().read(Source.from_value(items))
    assert brief(trace)[0] == ("action", "shell", "")
    assert trace.events[0].output == "a.txt"
    assert (trace.events[1].kind, trace.events[1].status) == ("observation", EventStatus.ERROR)
    assert brief(trace)[2] == ("message", None, "I can't.")
    assert [part.why for part in trace.skipped] == [
        "tool call without a name",
        "not a response item",
        "not a chat message",
    ]


def test_a_stream_of_events_has_each_item_once() -> None:
    call = {**function_call("find", {"q": "x"}, "c1"), "status": "completed"}
    answer = message_item("Found.")

    def event(kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": f"response.{kind}", "sequence_number": 1, **fields}

    def response(*output: Any) -> dict[str, Any]:
        return {"id": "r1", "object": "response", "output": list(output)}

    records = [
        event("created", response=response()),
        event("output_item.added", item=call),
        event("output_item.done", item=call),
        event("completed", response=response(call)),
        event("created", response={**response(), "id": "r2"}),
        event("output_text.delta", delta="Fou"),
        event("completed", response={**response(answer), "id": "r2"}),
    ]
    trace = read(lines(*records))
    assert trace.reader == "openai-responses"
    assert [event.pointer for event in trace.events] == [
        "L3/item",
        "L7/response/output/0/content/0/text",
    ]
    assert actions(trace)[0].arguments == {"q": "x"}
