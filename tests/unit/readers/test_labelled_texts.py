"""Texts of formats that nobody described: labels name calls, arguments and results."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.core.pointer import resolve
from planproof.core.trace import UNVERIFIED, Kind
from planproof.readers.record_counts import explain_not_understood
from tests.unit.readers.samples import actions, brief, read

PARIS, ROME = {"city": "Paris"}, {"city": "Rome"}
# Written in the shape of what frameworks and small scripts print.
TEXTS: dict[str, tuple[str, list[tuple[str, Any, str]]]] = {
    "labels on lines of their own": (
        (
            '[Step 1]\nTool: weather\nArgs: {"city": "Paris"}\nResult: 18C\n\n'
            '[Step 2]\nTool: weather\nArgs: {"city": "Rome"}\nResult: 22C\n\nAnswer: Rome.\n'
        ),
        [("weather", PARIS, "18C"), ("weather", ROME, "22C")],
    ),
    "marks before labels": (
        (
            'User: Where?\n🔧 Calling tool: weather({"city": "Paris"})\n✅ Result: 18C\n'
            '🔧 Calling tool: weather({"city": "Rome"})\n✅ Result: 22C\n🤖 Final answer: Rome.\n'
        ),
        [("weather", PARIS, "18C"), ("weather", ROME, "22C")],
    ),
    "a sentence as a label, dictionaries": (
        (
            "--- Iteration 1 ---\nAssistant wants to call function: weather\n"
            "Arguments: {'city': 'Paris'}\nFunction result: 18C\n"
            "--- Iteration 2 ---\nAssistant wants to call function: weather\n"
            "Arguments: {'city': 'Rome'}\nFunction result: 22C\nAssistant: Rome.\n"
        ),
        [("weather", PARIS, "18C"), ("weather", ROME, "22C")],
    ),
    "tool and tool input": (
        (
            "I look it up.\nTool: search\nTool Input: Paris weather\nObservation: 18C\n"
            "Thought: And Rome.\nTool: search\nTool Input: Rome weather\nObservation: 22C\n"
            "Thought: I know it.\n"
        ),
        [("search", None, "18C"), ("search", None, "22C")],
    ),
    "arrows": (
        (
            '>>> agent: calling `weather` with {"city": "Paris"}\n<<< tool: 18C\nand sunny\n'
            '>>> agent: calling `weather` with {"city": "Rome"}\n<<< tool: 22C\n>>> agent: Rome.\n'
        ),
        [("weather", PARIS, "18C\nand sunny"), ("weather", ROME, "22C")],
    ),
    "levels of a logger and ruled headings": (
        (
            "DEBUG ============== user ==============\nDEBUG Where is it warmer?\n"
            "DEBUG ============== assistant ==============\nDEBUG Running: weather(city=Paris)\n"
            "DEBUG ============== tool ==============\n18C\n"
            "DEBUG ============== assistant ==============\nDEBUG It is 18C.\n"
        ),
        [("weather", PARIS, "18C")],
    ),
    "boxes": (
        (
            "┏━ Message ━━━━━━━━━━━━━┓\n┃ Where?                ┃\n┗━━━━━━━━━━━━━━━━━━━━━━━┛\n"
            "┏━ Tool Calls ━━━━━━━━━━┓\n┃ • weather(city=Paris) ┃\n┃ • weather(city=Rome)  ┃\n"
            "┗━━━━━━━━━━━━━━━━━━━━━━━┛\n"
            "┏━ Response (4.2s) ━━━━━┓\n┃ Rome.                 ┃\n┗━━━━━━━━━━━━━━━━━━━━━━━┛\n"
        ),
        [("weather", PARIS, ""), ("weather", ROME, "")],
    ),
    "named agents and functions in colours": (
        (
            "\x1b[90mUser\x1b[0m: Where is it warmer?\n"
            "\x1b[94mFirst Agent\x1b[0m: \x1b[95mtransfer_to_second\x1b[0m()\n"
            "\x1b[94mSecond Agent\x1b[0m: \x1b[95mget_weather\x1b[0m(city='Rome')\n"
            "\x1b[94mSecond Agent\x1b[0m: Rome.\n"
        ),
        [("transfer_to_second", None, ""), ("get_weather", ROME, "")],
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_calls_with_arguments_and_results(name: str) -> None:
    text, expected = TEXTS[name]
    trace = read(text)
    assert trace.reader == "general"
    assert explain_not_understood(trace) is None
    calls = actions(trace)
    assert [(call.name, call.arguments, call.output) for call in calls] == expected
    # Nobody has checked the profile.
    assert {call.recognition for call in calls} == {UNVERIFIED}
    assert all(resolve(text, call.pointer) for call in calls)


@pytest.mark.parametrize("name", TEXTS)
def test_the_reader_that_a_verdict_names_reads_the_same(name: str) -> None:
    text, _ = TEXTS[name]
    assert read(text, "general").events == read(text).events


NOT_READ = {
    "a list of tools": "Tool: hammer\nTool: saw\nTool: pliers\n",
    "prose after the label": "Tool: I would take a hammer\nResult: a nail in the wall\n",
    "labels that name no tool": "Action: go home\nResult: tired\nAction: sleep\nResult: fine\n",
    "a document": "Title: Tools\nAuthor: A. B.\n\nTools: many are known.\nResult: none.\n",
}


@pytest.mark.parametrize("name", NOT_READ)
def test_labels_alone_are_no_calls(name: str) -> None:
    trace = read(NOT_READ[name])
    assert not [event for event in trace.events if event.kind is Kind.ACTION]
    assert explain_not_understood(trace) is not None


def test_examples_in_a_prompt_are_not_the_run() -> None:
    text, _ = TEXTS["labels on lines of their own"]
    example = text.replace("weather", "forecast")
    prompt = f"Answer with tools. Here are some examples:\n{example}(END OF EXAMPLES)\n"
    trace = read(f"{prompt}{text}")
    assert [call.name for call in actions(trace)] == ["weather", "weather"]
    assert trace.skipped[0].why == "a prompt with examples"


def test_a_text_with_turns_and_no_calls_stays_a_chat() -> None:
    trace = read("User: Book it.\nAssistant: I booked it.\nUser: Thanks.\n")
    assert trace.reader == "text-log"
    assert brief(trace) == [
        ("message", None, "Book it."),
        ("message", None, "I booked it."),
        ("message", None, "Thanks."),
    ]
