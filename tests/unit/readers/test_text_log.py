from __future__ import annotations

from typing import Any

import pytest

from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.text_log import TextLogReader
from tests.unit.readers.samples import INFO, LOG, REACT, actions, brief, read


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
        ("bookkeeping", "plan", "0. [✓] search\n1. [ ] tell"),
    ]
    [call] = actions(trace)
    assert (call.arguments, call.output) == ({"query": "news"}, "three\nlines\nhere")
    assert (call.pointer, call.output_pointer) == ("L2-3", "L4-6")
    assert call.time == "2025-04-01 02:57:53.500"


def test_a_log_without_calls_is_notices() -> None:
    trace = read("2025-04-01 02:57:55 INFO: start\n2025-04-01 02:57:56 INFO: stop\n")
    assert brief(trace) == [("system", None, "start"), ("system", None, "stop")]


HEADERS: list[Any] = [
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
]


@pytest.mark.parametrize(("text", "events"), HEADERS)
def test_other_headers(text: str, events: list[Any]) -> None:
    assert brief(read(text)) == events


def test_a_log_as_a_list_of_its_lines() -> None:
    trace = read(REACT.splitlines())
    assert [event.name for event in actions(trace)] == ["weather", "look_up"]
    assert trace.events[0].pointer == "/0"
    assert actions(trace)[0].pointer == ""


def test_a_list_of_strings_without_events_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="contains a list of strings"):
        read(["apples", "pears"])


def test_a_checklist_in_an_answer_is_the_plan() -> None:
    trace = read("User: Go.\nAssistant: Now:\n1. [x] look\n   twice\n2. [ ] tell\n\n- [1] a note")
    assert brief(trace)[1:] == [
        ("message", None, "Now:"),
        ("bookkeeping", "plan", "1. [x] look\n   twice\n2. [ ] tell"),
        ("message", None, "- [1] a note"),
    ]


def test_calls_of_a_log_without_arguments() -> None:
    trace = read(
        "INFO [root] hello\nEnter your prompt: Find news.\n"
        f"{INFO.format(1)}🧰 Tools being prepared: ['search', 'save']\n"
        f"{INFO.format(2)}🔧 Tool arguments: " + '{"query": "news"}\n'
        f"{INFO.format(3)}🔧 Activating tool: 'search'...\n"
        f"{INFO.format(4)}🎯 Tool 'search' completed its mission! Result: three\n"
        f"{INFO.format(5)}🔧 Activating tool: 'save'...\n"
        f"{INFO.format(6)}🎯 Tool 'save' completed its mission! Result: Error: full\n"
    )
    assert brief(trace) == [
        ("message", None, "Find news."),
        ("action", "search", ""),
        ("action", "save", ""),
    ]
    search, save = actions(trace)
    assert (search.arguments, search.output, save.output) == (
        {"query": "news"},
        "three",
        "Error: full",
    )
    assert search.turn == save.turn
    assert trace.events[0].actor == "user"


def test_noise_above_a_log_is_counted() -> None:
    trace = read(f"noise\n{LOG}")
    assert [part.pointer for part in trace.skipped] == ["L1"]


HYPER = [
    "HyperAgent_x - INFO - Initialized",
    "HyperAgent_x - INFO - Planner's Response: Thought: Find it.",
    "Intern Name: Codebase Navigator",
    "Subgoal: find the bug",
    "HyperAgent_x - INFO - Inner-Navigator-Assistant's Response: Thought: I search.",
    "Action:",
    "```python",
    "search('bug')",
    "```",
    "HyperAgent_x - INFO - Inner-Navigator-Assistant's Response: Thought: I search.",
    "Action:",
    "```python",
    "search('bug')",
    "```",
    "HyperAgent_x - INFO - Navigator->Planner: Thought: It is in a.py.",
    "Action: none",
]


@pytest.mark.parametrize("document", [HYPER * 2, {"trajectory": HYPER * 2, "instance_id": "x"}])
def test_the_lines_of_a_planner_and_its_interns(document: Any) -> None:
    trace = read(document)
    assert trace.reader == "text-log"
    assert brief(trace) == [
        ("system", None, "Initialized"),
        ("reasoning", None, "Thought: Find it."),
        ("action", "Codebase Navigator", "find the bug"),
        ("reasoning", None, "I search."),
        ("action", "python", "search('bug')"),
        ("message", None, "Thought: It is in a.py.\nAction: none"),
    ]
    assert [part.why for part in trace.skipped if part.pointer != "/instance_id"] == [
        "the log repeats from here on",
        "repeats the preceding turn",
    ]


@pytest.mark.parametrize("document", ["just some words", ["apples"], [["a"]], {"log": [{"a": 1}]}])
def test_not_a_text_log(document: Any) -> None:
    assert not TextLogReader().sniff(Source.from_value(document))


def test_the_question_above_thoughts_is_the_users() -> None:
    trace = read(f"\nQuestion: What is the weather\nin Oslo?\n{REACT}")
    assert brief(trace)[1:] == brief(read(REACT))
    asked = trace.events[0]
    assert (asked.actor, asked.text) == ("user", "What is the weather\nin Oslo?")
    assert asked.pointer == "L2-3"
    # Further down it is anybody's word.
    assert read(f"{REACT}Question: more?\n").events[0] == read(REACT).events[0]


def test_a_list_that_is_printed_again_makes_a_log() -> None:
    trace = read("I begin.\n1. [ ] Look\n2. [ ] Tell\n\nI look.\n1. [✓] Look\n2. [ ] Tell\n")
    assert trace.reader == "text-log"
    assert brief(trace) == [
        ("message", None, "I begin."),
        ("bookkeeping", "plan", "1. [ ] Look\n2. [ ] Tell"),
        ("message", None, "I look."),
        ("bookkeeping", "plan", "1. [✓] Look\n2. [ ] Tell"),
    ]
    assert read("My plan:\n1. [ ] Look\n2. [ ] Tell\n").reader == "general"


STEPS = """Thought: I look it up.
Action: get_order
Action Input: {"id": "A-7"}
Observation: toys
Thought: I refund it.
Action: refund_order
Action Input: {"id": "A-7"}
Observation: refunded
Final Answer: It is refunded.
"""


@pytest.mark.parametrize("above", ["Question: Refund A-7.\n", "", "Human: Refund A-7.\n\n"])
def test_an_observation_ends_a_turn(above: str) -> None:
    looked_up, refunded = actions(read(above + STEPS))
    assert (looked_up.name, refunded.name) == ("get_order", "refund_order")
    assert looked_up.turn < refunded.turn
    assert (looked_up.output, refunded.output) == ("toys", "refunded")


def test_calls_without_an_observation_between_them_are_one_turn() -> None:
    text = "Thought: both.\nAction: a\nAction Input: {}\nAction: b\nAction Input: {}\n"
    first, second = actions(read(text))
    assert first.turn == second.turn


@pytest.mark.parametrize("user", ["Human", "User", "### Human", "**User**"])
def test_what_follows_a_question_is_the_agents(user: str) -> None:
    trace = read(f"{user}: Refund A-7.\n{STEPS}\n{user}: And A-8?\n{STEPS}")
    assert [event.actor for event in trace.events if event.kind == "message"] == [
        "user",
        "assistant",
    ] * 2
    assert [action.name for action in actions(trace)] == ["get_order", "refund_order"] * 2


def test_the_format_that_a_prompt_explains_is_not_an_action() -> None:
    prompt = (
        "Human: Answer. Use this format:\n\nQuestion: the input question\nThought: what to do\n"
        "Action: the action to take\nAction Input: the input\nObservation: the result\n\nBegin!\n\n"
        "Question: Refund A-7.\n"
    )
    trace = read(prompt + STEPS)
    assert [action.name for action in actions(trace)] == ["get_order", "refund_order"]


def test_a_user_who_writes_like_an_agent_beside_one_with_headers() -> None:
    trace = read(f"Human: Do as follows.\n{STEPS}\nAI: {STEPS}")
    assert [action.name for action in actions(trace)] == ["get_order", "refund_order"]


def test_a_closing_header_gives_the_user_no_actions() -> None:
    trace = read(f"Human: Refund A-7.\n{STEPS}\nAssistant: All done.\n")
    assert [action.name for action in actions(trace)] == ["get_order", "refund_order"]


def test_a_thought_after_a_call_begins_a_turn() -> None:
    text = "Thought: x\nAction: a\nAction Input: {}\nThought: y\nAction: b\nAction Input: {}\n"
    first, second = actions(read(text))
    assert first.turn < second.turn


def test_a_log_without_turns_has_one_after_each_result() -> None:
    records = [
        "Calling tool: get_order",
        "Tool 'get_order' completed in 1 s. Result: toys",
        "Calling tool: refund_order",
        "Tool 'refund_order' completed in 1 s. Result: ok",
    ]
    lines = [INFO.format(second) + record for second, record in enumerate(records)]
    first, second = actions(read("\n".join(lines)))
    assert first.turn < second.turn
