from __future__ import annotations

import pytest

from planproof.core.trace import EventStatus
from tests.unit.readers.framework_samples import ADK, ADK_EVENTS, adk_call, adk_event, adk_response
from tests.unit.readers.samples import actions, brief, read


@pytest.mark.parametrize("name", ADK)
def test_events_of_a_session(name: str) -> None:
    trace = read(ADK[name])
    assert trace.reader == "google-adk"
    assert brief(trace) == [
        ("message", None, "Is it raining in Oslo?"),
        ("reasoning", None, "A colleague knows."),
        ("reasoning", None, "I ask the weather agent."),
        ("action", "transfer_to_agent", ""),
        ("action", "get_rain", ""),
        ("action", "get_wind", ""),
        ("message", None, "It is dry."),
        ("action", "python", "print(0)"),
        ("system", None, "The model was stopped."),
    ]
    transfer, rain, wind, code = actions(trace)
    assert (rain.output, wind.status, code.output) == ("0 mm", EventStatus.ERROR, "boom")
    assert (transfer.parent, rain.parent, code.parent) == (None, transfer.id, transfer.id)
    assert (rain.turn, rain.actor, code.status) == (wind.turn, "weather", EventStatus.ERROR)
    assert rain.time == "1970-01-01T00:00:04+00:00"
    assert [part.why for part in trace.skipped] == [
        "partial event; a later event has the complete text"
    ]


def test_a_hand_over_without_a_tool() -> None:
    trace = read(
        [
            adk_event("user", {"text": "Go."}, at=1.0),
            adk_event("root", at=2.0, actions={"transfer_to_agent": "helper"}),
            adk_event("helper", adk_call("look", {}, "f1"), at=3.0),
            adk_event("root", {"text": "Done."}, at=4.0),
        ]
    )
    transfer, look = actions(trace)
    assert (transfer.name, transfer.arguments) == (
        "transfer_to_agent",
        {"agent_name": "helper"},
    )
    assert (look.parent, trace.events[-1].parent) == (transfer.id, None)


def test_a_hand_back_is_not_a_second_call() -> None:
    back = adk_call("transfer_to_agent", {"agent_name": "root"}, "f9")
    returned = adk_response("transfer_to_agent", {"result": None}, "f9")
    trace = read(
        [
            *ADK_EVENTS[:7],
            adk_event("weather", back, at=7.0),
            adk_event("weather", returned, at=8.0, actions={"transfer_to_agent": "root"}),
            adk_event("root", adk_call("look", {}, "f8"), at=9.0),
        ]
    )
    assert [action.name for action in actions(trace)][-2:] == ["transfer_to_agent", "look"]
    assert actions(trace)[-1].parent is None


def test_calls_without_ids_are_tied_by_name() -> None:
    call = {"function_call": {"name": "look", "args": {"at": "sky"}}}
    response = {"function_response": {"name": "look", "response": {"seen": 3}}}
    trace = read([adk_event("a", call, at=1.0), adk_event("a", response, at=2.0)])
    [look] = actions(trace)
    assert (look.output, look.output_pointer) == (
        '{"seen": 3}',
        "/1/content/parts/0/function_response/response",
    )


def test_images_and_what_is_unknown() -> None:
    trace = read(
        [
            *ADK_EVENTS[:1],
            adk_event("user", {"inline_data": {"mime_type": "image/png", "data": "aGk="}}, at=2.0),
            adk_event("a", {"video_metadata": {"fps": 1}}, adk_response("x", None, "f9"), at=3.0),
            adk_event("a", {"function_call": {"args": {}}}, at=4.0),
        ]
    )
    assert trace.events[1].images[0].data == "aGk="
    assert trace.events[2].kind == "observation"
    unknown, unnamed = [part.why for part in trace.skipped]
    assert unknown.endswith("text, function_call, function_response, video_metadata")
    assert unnamed == "a call without a name"
