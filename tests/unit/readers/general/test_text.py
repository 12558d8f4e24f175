from __future__ import annotations

from typing import Any

import pytest

from planproof.errors import InvalidInput
from planproof.pointer import resolve
from planproof.trace import EventStatus
from tests.unit.readers.samples import LOG, NOTEBOOK, REACT, actions, brief, read


def test_turns_under_ruled_headers() -> None:
    trace = read(NOTEBOOK)
    assert brief(trace) == [
        ("reasoning", None, "Let me look at the genes."),
        ("action", "python", "print('genes')"),
        ("bookkeeping", None, "1. [✓] look\n2. [ ] choose"),
        ("message", None, "Go on."),
        ("message", None, "I am done."),
    ]
    [run] = actions(trace)
    assert run.output == "genes\n---------- not_a_header ----------"
    assert (run.pointer, run.output_pointer) == ("L3-5", "L8-9")
    assert resolve(NOTEBOOK, trace.events[3].pointer) == "Go on."
    assert [event.actor for event in trace.events] == ["assistant"] * 3 + ["user", "assistant"]


def test_thought_action_observation() -> None:
    trace = read(REACT)
    assert brief(trace) == [
        ("reasoning", None, "I need the weather."),
        ("action", "weather", ""),
        ("reasoning", None, "I know it now."),
        ("action", "look_up", "Oslo"),
        ("message", None, "It is cold in Oslo."),
    ]
    assert [(a.arguments, a.output) for a in actions(trace)] == [
        ({"city": "Oslo"}, "4 degrees"),
        (None, "a town"),
    ]


def test_a_log() -> None:
    trace = read(LOG)
    assert brief(trace) == [
        ("reasoning", None, "I search."),
        ("action", "search", ""),
        ("bookkeeping", None, "Progress: 1/2\n0. [✓] search\n1. [ ] tell"),
    ]
    [call] = actions(trace)
    assert (call.arguments, call.output) == ({"query": "news"}, "three\nlines\nhere")
    assert (call.pointer, call.output_pointer) == ("L3", "L4-6")
    assert call.time == "2025-04-01 02:57:53.500"


def test_a_log_without_calls_is_notices() -> None:
    trace = read("2025-04-01 02:57:55 INFO: start\n2025-04-01 02:57:56 INFO: stop\n")
    assert brief(trace) == [("system", None, "start"), ("system", None, "stop")]


HEADERS: list[Any] = [
    (
        "---------- user ----------\nGo.\n---------- Web ----------\nI clicked 'A'.\nscreenshot",
        [("message", None, "Go."), ("action", "click", "I clicked 'A'.")],
    ),
    (
        "User: Go.\nAssistant: I go.\nOn and on.\nTool: gone\nSystem: well",
        [
            ("message", None, "Go."),
            ("message", None, "I go.\nOn and on."),
            ("observation", None, "gone"),
            ("system", None, "well"),
        ],
    ),
    ("**user**: Go.\n[assistant]: Yes.", [("message", None, "Go."), ("message", None, "Yes.")]),
    ("just some words", [("message", None, "just some words")]),
    (
        "Run_1 - INFO - Planner's Response: I plan.\nNavigator->Planner: I looked.",
        [("message", None, "I plan."), ("message", None, "I looked.")],
    ),
    (
        "==== FAILURES ====\n---------------------- x ----------------------",
        [
            (
                "message",
                None,
                "==== FAILURES ====\n---------------------- x ----------------------",
            )
        ],
    ),
    ("\n\n---------- A ----------\n\n", []),
]


@pytest.mark.parametrize(("text", "events"), HEADERS)
def test_other_headers(text: str, events: list[Any]) -> None:
    assert brief(read(text)) == events


def test_a_deed_under_a_header_has_its_outcome() -> None:
    trace = read(
        "---------- Surfer ----------\nI clicked 'A'.\n\nHere is a screenshot.\nError: 404"
    )
    [deed] = trace.events
    assert (deed.actor, deed.pointer, deed.status) == ("Surfer", "L2-5", EventStatus.ERROR)


def test_a_log_as_a_list_of_its_lines() -> None:
    trace = read(REACT.splitlines())
    assert [event.name for event in actions(trace)] == ["weather", "look_up"]
    assert trace.events[0].pointer == "/0"
    assert actions(trace)[0].pointer == ""


def test_a_list_of_strings_without_events_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="holds a list of strings"):
        read(["apples", "pears"])
