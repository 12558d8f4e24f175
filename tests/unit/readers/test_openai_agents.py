from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from tests.unit.readers.api_samples import SDK, SDK_SPANS, call_message, sdk_span
from tests.unit.readers.samples import actions, brief, read


@pytest.mark.parametrize("name", SDK)
def test_spans_in_the_order_in_which_they_began(name: str) -> None:
    trace = read(SDK[name])
    assert trace.reader == "openai-agents"
    assert brief(trace) == [
        ("system", None, "business only"),
        ("message", None, "Reserve 12 and deliver them."),
        ("reasoning", None, "I check."),
        ("action", "check", ""),
        ("action", "check", ""),
        ("action", "transfer_to_delivery_desk", ""),
        ("action", "ask_address_book", "Where to?"),
        ("action", "look_up", ""),
        ("bookkeeping", "plan", '{"steps": ["pack", "ship"]}'),
    ]
    assert [part.why for part in trace.skipped] == [
        "metadata of the trace",
        "model output not in the export",
        *["span without an event of its own"] * 7,
    ]


def test_what_was_asked_for_and_what_ran_is_one_action() -> None:
    trace = read(SDK_SPANS)
    first, second, transfer, ask, look = actions(trace)
    assert (first.arguments, first.output) == ({"item": "K"}, "40")
    assert (second.arguments, second.output) == ({"item": "L"}, "none")
    assert first.turn == second.turn
    assert (first.pointer, first.output_pointer) == ("/4/span_data", "/4/span_data/output")
    assert (look.status, look.output) == (EventStatus.ERROR, "Error running tool")
    assert (first.actor, ask.actor, look.actor) == ("Stock desk", "Delivery desk", "Address book")
    assert (first.parent, ask.parent, look.parent) == (None, transfer.id, ask.id)


def test_results_in_a_prompt_count_where_no_span_has_them() -> None:
    asked = call_message(None, ("c1", "look", {}))
    result = {"role": "tool", "tool_call_id": "c1", "content": "seen"}
    trace = read(
        [
            sdk_span("m1", None, 1, "generation", input=[], output=[asked]),
            sdk_span(
                "m2", None, 2, "generation", input=[asked, result], output=[call_message("Done.")]
            ),
        ]
    )
    assert brief(trace) == [("action", "look", ""), ("message", None, "Done.")]
    assert trace.events[0].output == "seen"


def test_a_streamed_answer_is_a_whole_response() -> None:
    answer = {"output": [{"type": "message", "role": "assistant", "content": "Done."}]}
    trace = read([sdk_span("m1", None, 1, "generation", input=[], output=[answer])])
    assert brief(trace) == [("message", None, "Done.")]


def test_a_model_that_failed_and_a_hand_over_of_its_own() -> None:
    error = {"message": "Error getting response", "data": None}
    trace = read(
        [
            sdk_span("m1", None, 1, "response", response_id=None, error=error),
            sdk_span("h1", None, 2, "handoff", from_agent="A", to_agent="The Desk"),
            sdk_span("h2", None, 3, "handoff", from_agent="A", to_agent=None),
            sdk_span("s1", None, 4, "speech", input="Hello"),
        ]
    )
    assert brief(trace) == [
        ("system", None, "Error getting response"),
        ("action", "handoff", ""),
        ("action", "handoff", ""),
    ]
    assert [part.why for part in trace.skipped] == ["unknown span type 'speech'"]


def test_spans_in_a_ring_and_without_times_are_read() -> None:
    spans: list[Any] = [
        sdk_span("f1", "f2", 1, "function", name="a", input=None, output=None),
        sdk_span("f2", "f1", 1, "function", name="b", input="{}", output="x"),
        sdk_span("f3", "f3", 1, "function", name="c", input="{}", output="x"),
    ]
    for span in spans:
        span["started_at"] = None
    assert sorted(str(event.name) for event in read(spans).events) == ["a", "b", "c"]
    assert read([*spans, {"object": "trace.span"}]).skipped[0].why == "not a span"
