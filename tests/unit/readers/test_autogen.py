from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from tests.unit.readers.samples import GROUP_CHAT, actions, brief, lines, read, tool_call


def chat(*turns: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"role": "user", "name": name, "content": text} for name, text in turns]


def test_code_that_the_next_turn_runs_is_an_action() -> None:
    trace = read(GROUP_CHAT)
    assert brief(trace) == [
        ("message", None, "Let us count the rows."),
        ("message", None, "I count them."),
        ("action", "python", "print(len(rows))"),
        ("message", None, "Please run it."),
        ("message", None, "TERMINATE"),
    ]
    [run] = actions(trace)
    assert (run.actor, run.status, run.output_pointer) == ("Coder", EventStatus.ERROR, "/2/content")
    assert run.turn == trace.events[1].turn == trace.events[3].turn
    assert trace.events[0].actor == "Planner"


def test_what_is_said_may_be_a_list_of_lines() -> None:
    whole = chat(
        ("Planner", "Let us count."),
        ("Coder", "I count them.\n```python\nprint(len(rows))\nprint(rows)\n```"),
        ("Computer_terminal", "exitcode: 0 (execution succeeded)\nCode output: 3"),
    )
    cut = [{**turn, "content": turn["content"].split("\n")} for turn in whole]
    trace = read({"instance_id": "m1", "trajectory": cut})
    assert brief(trace) == brief(read(whole))
    [run] = actions(trace)
    assert run.text == "print(len(rows))\nprint(rows)"
    assert (run.pointer, trace.events[1].pointer) == (
        "/trajectory/1/content",
        "/trajectory/1/content/0",
    )


def test_code_that_nobody_runs_is_just_said() -> None:
    text = "Run this:\n```python\nx = 1\n```"
    for turns in (
        chat(("A", text), ("B", "No.")),
        chat(("B", "Well."), ("A", text)),
    ):
        assert ("message", None, text) in brief(read(turns))
        assert not actions(read(turns))


def test_of_several_blocks_the_last_has_the_output() -> None:
    text = "```python\nx = 1\n```\nand\n```sh\nls\n```\nand\n```json\n{}\n```"
    failed = read(chat(("A", text), ("Executor", "exitcode: 1\nno")))
    assert [(a.name, a.output, a.status.value) for a in actions(failed)] == [
        ("python", "", "unknown"),
        ("sh", "exitcode: 1\nno", "error"),
    ]
    ran = read(chat(("A", text), ("Executor", "exitcode: 0\nyes")))
    assert [a.status.value for a in actions(ran)] == ["ok", "ok"]
    assert brief(ran)[-1] == ("message", None, "and\n```json\n{}\n```")


def test_a_run_whose_code_is_not_in_the_trace_is_an_observation() -> None:
    trace = read(chat(("Computer_terminal", "exitcode: 0\nok"), ("B", "Good.")))
    assert (trace.events[0].kind.value, trace.events[0].status) == ("observation", EventStatus.OK)


def test_what_an_executor_says_without_code_is_a_notice() -> None:
    trace = read(chat(("A", "Hello."), ("Computer_terminal", "There is no code to execute.")))
    assert brief(trace)[1] == ("system", None, "There is no code to execute.")


def test_times_of_turns_also_where_code_waits() -> None:
    turns = chat(("A", "```sh\nls\n```"), ("Executor", "exitcode: 0"))
    turns[0]["timestamp"], turns[1]["timestamp"] = "2025-01-01", "2025-01-02"
    assert [event.time for event in read(turns).events] == ["2025-01-01"]


def test_a_call_in_what_a_named_speaker_says() -> None:
    trace = read(chat(("A", "Hm.\n<execute_bash>ls</execute_bash>"), ("B", "Well.")))
    assert brief(trace)[:2] == [("message", None, "Hm."), ("action", "bash", "ls")]


def test_a_program_that_found_no_code_ran_none() -> None:
    text = "```python\nx = 1\n```"
    trace = read(chat(("A", text), ("Computer_terminal", "There is no code for me to execute.")))
    assert [event.kind.value for event in trace.events] == ["message", "system"]


def test_the_task_of_the_manager_contains_the_plan() -> None:
    task = (
        "You are given: (1) a task and (2) a general task.\n\n## Plan for solving the task\n"
        "1. Look.\n2. Tell.\n\n## Output format\n- a number"
    )
    trace = read({"history": chat(("Expert", task), ("Checker", "Well."))})
    assert brief(trace)[1] == ("bookkeeping", "plan", "1. Look.\n2. Tell.")
    assert [event.actor for event in trace.events] == ["user", "manager", "Checker"]
    bare = read(chat(("Expert", "You are given: (1) a task"), ("Checker", "Well.")))
    assert [event.kind.value for event in bare.events] == ["message", "message"]


def test_the_proxy_that_opens_a_chat_speaks_for_the_user() -> None:
    task = "Count the primes.\n\n## Plan for solving the task\n1. Count.\n"
    trace = read(chat(("Computer_terminal", task), ("Expert", "I count.")))
    assert [(event.name, event.actor) for event in trace.events] == [
        (None, "user"),
        ("plan", "manager"),
        (None, "Expert"),
    ]
    later = read(chat(("Expert", "I count."), ("Computer_terminal", "Hello.")))
    assert later.events[1].kind == "system"


def test_calls_and_their_responses_in_a_group_chat() -> None:
    trace = read(
        [
            {"role": "user", "name": "boss", "content": "Look up 7."},
            {
                "role": "assistant",
                "name": "clerk",
                "content": "",
                "tool_calls": [tool_call("get", {"id": 7}, "c1")],
            },
            {
                "role": "tool",
                "name": "boss",
                "content": "found",
                "tool_responses": [{"tool_call_id": "c1", "role": "tool", "content": "found"}],
            },
            {"role": "user", "name": "boss", "content": " "},
        ]
    )
    assert brief(trace) == [("message", None, "Look up 7."), ("action", "get", "")]
    assert trace.events[0].actor == "user"
    assert (actions(trace)[0].output, actions(trace)[0].actor) == ("found", "clerk")
    assert actions(trace)[0].output_pointer == "/2/tool_responses/0/content"


def chat_message(kind: str, source: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "source": source, "content": content, "models_usage": None, **more}


TEAM: list[dict[str, Any]] = [
    chat_message(
        "TextMessage", "user", "What time is it in Oslo?", created_at="2025-06-01T10:00:00Z"
    ),
    chat_message("ModelClientStreamingChunkEvent", "clerk", "I"),
    chat_message("ThoughtEvent", "clerk", "I ask the clock."),
    chat_message(
        "ToolCallRequestEvent",
        "clerk",
        [
            {"id": "c1", "name": "clock", "arguments": '{"city": "Oslo"}'},
            {"id": "c2", "name": "clock", "arguments": '{"city": "Rome"}'},
            {"id": "c3"},
        ],
    ),
    chat_message(
        "ToolCallExecutionEvent",
        "clerk",
        [
            {"call_id": "c2", "name": "clock", "content": "no such city", "is_error": True},
            {"call_id": "c1", "name": "clock", "content": "12:00", "is_error": False},
            7,
        ],
    ),
    chat_message("ToolCallSummaryMessage", "clerk", "12:00\nno such city"),
    chat_message("SelectSpeakerEvent", "team", ["writer"]),
    chat_message("StructuredMessage[Report]", "writer", {"time": "12:00"}),
    chat_message("StopMessage", "writer", "TERMINATE"),
]


@pytest.mark.parametrize("document", [TEAM, {"messages": TEAM, "stop_reason": "x"}, lines(*TEAM)])
def test_messages_of_a_team(document: Any) -> None:
    trace = read(document)
    assert trace.reader == "autogen-agentchat"
    assert brief(trace) == [
        ("message", None, "What time is it in Oslo?"),
        ("reasoning", None, "I ask the clock."),
        ("action", "clock", ""),
        ("action", "clock", ""),
        ("system", None, "writer"),
        ("message", None, '{"time": "12:00"}'),
        ("message", None, "TERMINATE"),
    ]
    oslo, rome = actions(trace)
    assert (oslo.arguments, oslo.output, oslo.status) == ({"city": "Oslo"}, "12:00", EventStatus.OK)
    assert (rome.output, rome.status) == ("no such city", EventStatus.ERROR)
    assert oslo.turn == rome.turn
    assert trace.events[0].time == "2025-06-01T10:00:00Z"
    assert [part.why for part in trace.skipped] == [
        "a part of a message that follows in full",
        "a call without a name",
        "no rule of the profile fits a value that is not an object",
        "repeats an earlier text",
    ]


def test_a_summary_of_calls_that_were_not_kept_is_said() -> None:
    alone = [TEAM[0], chat_message("ToolCallSummaryMessage", "clerk", "12:00")]
    assert brief(read(alone))[1:] == [("message", None, "12:00")]


def test_a_hand_off_is_one_action_whether_a_tool_was_called_for_it_or_not() -> None:
    moved = "Transferred to writer."
    called = read(
        [
            chat_message(
                "ToolCallRequestEvent",
                "clerk",
                [{"id": "c1", "name": "transfer_to_writer", "arguments": "{}"}],
            ),
            chat_message(
                "ToolCallExecutionEvent",
                "clerk",
                [{"call_id": "c1", "name": "transfer_to_writer", "content": moved}],
            ),
            chat_message("HandoffMessage", "clerk", moved, target="writer"),
            chat_message("TextMessage", "writer", "Here I am."),
        ]
    )
    assert brief(called) == [("action", "transfer_to_writer", ""), ("message", None, "Here I am.")]
    plain = read(
        [
            chat_message("TextMessage", "clerk", "Well."),
            chat_message("HandoffMessage", "clerk", moved, target="writer"),
            chat_message("HandoffMessage", "user", "Back to you.", target="clerk"),
        ]
    )
    assert brief(plain)[1:] == [("action", "writer", moved), ("message", None, "Back to you.")]
    assert plain.events[2].actor == "user"


def test_code_that_a_team_wrote_and_ran() -> None:
    trace = read(
        [
            chat_message("CodeGenerationEvent", "coder", "```python\nprint(1)\n```"),
            {
                "type": "CodeExecutionEvent",
                "source": "coder",
                "result": {"exit_code": 1, "output": "boom"},
            },
            {"type": "CodeExecutionEvent", "source": "coder", "result": None},
            {
                "type": "CodeExecutionEvent",
                "source": "coder",
                "result": {"exit_code": 0, "output": "fine"},
            },
        ]
    )
    assert brief(trace) == [("action", "python", "print(1)"), ("observation", None, "fine")]
    [run] = actions(trace)
    assert (run.output, run.status) == ("boom", EventStatus.ERROR)
    assert run.output_pointer == "/1/result/output"
    assert [part.pointer for part in trace.skipped] == ["/2"]


def test_what_a_browsing_agent_of_a_team_did_and_saw() -> None:
    done = "I clicked 'More'.\n\nThe viewport shows 10% of the page."
    trace = read(
        [
            chat_message("TextMessage", "user", "Look."),
            chat_message("MultiModalMessage", "WebSurfer", [done, {"data": "aGk="}, 5]),
        ]
    )
    assert brief(trace)[1] == ("action", "click", "I clicked 'More'.")
    assert (trace.events[1].pointer, len(trace.events[2].images)) == ("/1/content/0", 1)


def test_the_plan_of_an_orchestrator() -> None:
    ledger = (
        "\nWe are working to address the following user request:\n\nCount.\n\n"
        "Here is the plan to follow as best as possible:\n\n- Look.\n- Tell."
    )
    trace = read(
        [
            chat_message("TextMessage", "user", "Count."),
            chat_message("TextMessage", "MagenticOneOrchestrator", ledger),
            chat_message("TextMessage", "writer", "New plan: none."),
        ]
    )
    assert [(event.kind.value, event.name) for event in trace.events] == [
        ("message", None),
        ("bookkeeping", None),
        ("bookkeeping", "plan"),
        ("message", None),
    ]
    assert trace.events[2].text == "- Look.\n- Tell."


@pytest.mark.parametrize(
    "document",
    [
        chat(("A", "x"), ("A", "y")),
        [{"type": "TextMessage", "content": "no source"}],
        [*TEAM[:2], {"role": "user", "content": "x"}],
        [{"role": "user", "name": "A", "content": "x"}, {"role": "B", "content": "y"}],
        [{"role": "user", "name": "A", "content": "x"}, 7],
        {"messages": []},
    ],
)
def test_what_is_not_autogen(document: Any) -> None:
    assert read(document).reader != "autogen"


def test_invalid_messages_are_skipped() -> None:
    assert [p.pointer for p in read([*GROUP_CHAT, 7], reader="autogen").skipped] == ["/4"]
