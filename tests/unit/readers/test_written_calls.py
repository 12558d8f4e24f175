"""Calls that agents write as text, in chats and in logs."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from planproof.core.pointer import resolve
from planproof.core.trace import UNVERIFIED, EventStatus
from planproof.planning.find_plan import find_declared_plan
from planproof.readers.native import serialize_trace
from planproof.reports.terminal.trace_lines import render_trace
from tests.third_party import V2_TRACES, with_v2_traces
from tests.unit.readers.samples import actions, brief, read


def said(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


PROMPT = "Answer so:\n\nTHOUGHT: why\n\n```mswea_bash_command\nls -la\n```"
MINI_SWE_AGENT = {
    "info": {"exit_status": "Submitted"},
    "trajectory_format": "mini-swe-agent-1",
    "messages": [
        said("system", PROMPT),
        said("user", f"Fix it.\n\n{PROMPT}"),
        said("assistant", "THOUGHT: I look.\n\n```mswea_bash_command\nls\n```"),
        said("user", "<returncode>0</returncode>\n<output>\na.py\n</output>"),
        said("assistant", "I am done.\n\n```mswea_bash_command\necho DONE\n```"),
        said("user", "diff --git a/a.py b/a.py"),
        said("exit", "submitted"),
    ],
}


def test_commands_of_mini_swe_agent() -> None:
    trace = read(MINI_SWE_AGENT)
    assert trace.reader == "openai-messages"
    assert brief(trace)[2:] == [
        ("reasoning", None, "THOUGHT: I look."),
        ("action", "bash", "ls"),
        ("reasoning", None, "I am done."),
        ("action", "bash", "echo DONE"),
    ]
    first, last = actions(trace)
    assert (first.status, first.pointer) == (EventStatus.OK, "/messages/2/content")
    assert first.output_pointer == "/messages/3/content"
    assert last.output.startswith("diff --git")
    assert {call.recognition for call in actions(trace)} == {"fence"}
    assert [part.why for part in trace.skipped] == ["says how the run ended"]


def test_plain_fences_are_run_if_the_next_message_is_output() -> None:
    shell = "I look.\n\n```bash\nls\n```\nThen I tell."
    trace = read(
        [
            said("user", "Go."),
            said("assistant", shell),
            said("user", "<returncode>1</returncode>\n<output>no</output>"),
            said("assistant", "```bash\ncat a\n```"),
            said("user", "Too long, killed."),
            said("assistant", "Two:\n```bash\na\n```\n```bash\nb\n```"),
            said("user", "Provide one command only."),
            said("assistant", "```bash\nsubmit\n```"),
        ]
    )
    assert brief(trace)[1:] == [
        ("reasoning", None, "I look."),
        ("action", "sh", "ls"),
        ("reasoning", None, "Then I tell."),
        ("action", "sh", "cat a"),
        ("message", None, "Two:\n```bash\na\n```\n```bash\nb\n```"),
        ("message", None, "Provide one command only."),
        ("action", "sh", "submit"),
    ]
    assert [call.status for call in actions(trace)][:1] == [EventStatus.ERROR]


def test_code_that_nobody_ran_is_a_message() -> None:
    shell = "Run this:\n```bash\nls\n```"
    assert not actions(read([said("user", "How?"), said("assistant", shell)]))
    asked = [said("user", "How?"), said("assistant", shell), said("user", "Thanks, it works.")]
    assert not actions(read(asked))


def test_elements_of_a_page_are_resolved() -> None:
    page = 'Observation: see the page.\n[2]: <input> "Search";\t[5]: <button> "Go";'
    trace = read(
        [
            said("user", f"Find tea.\n{page}"),
            said("assistant", "Thought: I type.\nAction: Type [2]; green tea"),
            said("user", page.replace("Go", "Buy")),
            said("assistant", "Thought: I buy.\nAction: Click [5]"),
            said("user", "Observation: bought"),
            said("assistant", "Thought: done.\nAction: Click [77]"),
        ]
    )
    assert [(call.name, call.arguments) for call in actions(trace)] == [
        (
            "Type",
            {
                "element": "2",
                "text": "green tea",
                "@target": {"@label": "Search", "@role": "input"},
            },
        ),
        ("Click", {"element": "5", "@target": {"@label": "Buy", "@role": "button"}}),
        ("Click", {"element": "77"}),
    ]


ALFWORLD = (
    "Interact with a household to solve a task. Here are two examples.\n"
    "You are in the middle of a room.\nYour task is to: heat an egg.\n"
    "> go to fridge 1\nYou see an egg 1.\n> take egg 1 from fridge 1\nYou pick up the egg 1.\n\n"
    "Here is the task.\n"
    "You are in the middle of a room.\nYour task is to: put a mug in desk.\n"
    "> think: I look for a mug.\nOK.\n"
    "> go to shelf 1\nOn the shelf 1, you see a mug 1.\n"
    "> take mug 1 from shelf 1\nYou pick up the mug 1.\n"
    "> put mug 1 in/on desk 1\nNothing happens.\n"
)


def test_a_text_game_after_its_examples() -> None:
    trace = read(ALFWORLD)
    assert [call.text for call in actions(trace)] == [
        "go to shelf 1",
        "take mug 1 from shelf 1",
        "put mug 1 in/on desk 1",
    ]
    first = actions(trace)[0]
    assert (first.name, first.output) == ("go", "On the shelf 1, you see a mug 1.")
    assert (first.pointer, first.output_pointer) == ("L14", "L15")
    kinds = [(event.kind.value, event.actor) for event in trace.events[:3]]
    assert kinds == [("system", "system"), ("message", "user"), ("reasoning", "assistant")]
    assert {call.recognition for call in actions(trace)} == {UNVERIFIED}


def test_a_text_game_inside_json() -> None:
    document = {
        "problem": "You are in a room.\nYour task is to: put a mug in desk.",
        "trace": " think: I look.\nOK.\n> go to desk 1\nEmpty.\n> open drawer 1\nA mug 1.\n>\n\n\n"
        " go to desk 1\nEmpty.\n>\n",
        "plans": ["find", "put"],
        "reward": True,
    }
    trace = read(document)
    assert trace.reader == "text-log"
    assert [(call.text, call.pointer) for call in actions(trace)] == [
        ("go to desk 1", "/trace/L3"),
        ("open drawer 1", "/trace/L5"),
        ("go to desk 1", "/trace/L10"),
    ]
    assert resolve(document, "/trace/L3-4") == "> go to desk 1\nEmpty."
    assert trace.events[0].actor == "user"
    assert [part.pointer for part in trace.skipped] == ["/plans", "/reward"]


REACT_PROMPT = (
    "Solve a question answering task with Thought, Action, Observation steps. "
    "Here are some examples.\n"
    "Question: Where is Bergen?\nThought 1: I search.\nAction 1: Search[Bergen]\n"
    "Observation 1: in Norway\nAction 2: Finish[Norway]\n\n"
    "Question: Where is Oslo?\nThought 1: I search.\nAction 1: Search[Oslo]\n"
    "Observation 1: a town in Norway\nThought 2: Done.\nAction 2: Finish[Norway]\n"
)


def test_examples_before_the_question_are_no_actions() -> None:
    trace = read(REACT_PROMPT)
    assert [(call.name, call.text) for call in actions(trace)] == [
        ("Search", "Oslo"),
        ("Finish", "Norway"),
    ]
    assert trace.events[1].text == "Where is Oslo?"
    assert actions(trace)[0].output == "a town in Norway"


def test_a_shop_without_thoughts() -> None:
    trace = read(
        "3\nAction: reset\nObservation: \nWebshop \n[Search] \n\n"
        "Action: think[I search.]\nObservation: OK.\n\n"
        "Action: search[tea]\nObservation: \n[B01] \nGreen tea \n\n"
        "Action: click[B01]\nObservation: Invalid action!\n"
    )
    assert [(call.name, call.text) for call in actions(trace)] == [
        ("reset", "reset"),
        ("search", "tea"),
        ("click", "B01"),
    ]
    assert actions(trace)[1].output == "[B01] \nGreen tea"


SHORT_LOG = (
    '[10:01:04] tool_call: get_order({"id": 7})\n[10:01:05] tool_result: toys\n[10:01:06] done\n'
)
LEVEL_LOG = 'INFO [tool] get_order {"id": 7}\nINFO tool_result get_order: toys\nINFO done\n'
BROWSER_LOG = (
    "2026-01-02 10:00:00,123 - INFO - I open the menu.\n\naction:\nclick('a51')\n"
    "2026-01-02 10:00:02,001 - INFO - Task finished.\n"
)
LOGS: list[Any] = [
    (SHORT_LOG, ("get_order", {"id": 7}, "toys"), ""),
    (LEVEL_LOG, ("get_order", {"id": 7}, "toys"), ""),
    (BROWSER_LOG, ("click", {"element": "a51"}, ""), "unverified"),
]


@pytest.mark.parametrize(("text", "call", "recognition"), LOGS)
def test_records_of_a_log(text: str, call: tuple[str, Any, str], recognition: str) -> None:
    trace = read(text)
    assert trace.reader == "text-log"
    assert [(a.name, a.arguments, a.output) for a in actions(trace)] == [call]
    assert actions(trace)[0].recognition == recognition


def test_other_logs_are_not_claimed() -> None:
    assert read("[10:01:04] server started\n[10:01:05] client called\n").reader == "general"


CHAT = [
    said("user", "Where is Oslo?"),
    said("assistant", "Thought: hm\nAction: search[Oslo]"),
    said("user", "Observation: in Norway"),
    said("assistant", "Thought: done\nAction: finish[Norway]"),
]


def test_calls_that_a_role_answers_are_verified() -> None:
    assert [call.recognition for call in actions(read(CHAT))] == ["react", "react"]
    alone = [CHAT[0], said("assistant", f"{CHAT[1]['content']}\nObservation: in Norway")]
    assert [call.recognition for call in actions(read(alone))] == [UNVERIFIED]
    turns = "User: Where?\nAssistant: Action: search[Oslo]\nTool: in Norway\n"
    assert [call.recognition for call in actions(read(turns))] == ["react"]


def test_the_native_format_keeps_the_recognition() -> None:
    trace = read(CHAT)
    again = read(json.loads(json.dumps(serialize_trace(trace))))
    assert [event.recognition for event in again.events] == [
        event.recognition for event in trace.events
    ]


@with_v2_traces
def test_a_run_of_mini_swe_agent_that_others_saved() -> None:
    text = (V2_TRACES / "mini-swe-agent_github_issue.traj.json").read_text("utf-8")
    calls = actions(read(text))
    assert (len(calls), sum(bool(call.output) for call in calls)) == (10, 10)
    assert [call.text.split()[0] for call in calls[:5]] == ["cat", "ls", "ls", "cat", "sed"]
    assert calls[2].text == "ls -la tests/"
    assert calls[0].output.startswith("<returncode>1</returncode>")


@pytest.mark.parametrize(("shown", "trace"), [(True, REACT_PROMPT), (False, CHAT)])
def test_inspect_shows_what_is_unverified(*, shown: bool, trace: Any) -> None:
    events = read(trace)
    console = Console(width=80, file=StringIO(), record=True)
    console.print(render_trace("run", events, find_declared_plan(events)))
    assert ("(unverified) " in console.export_text()) is shown


BOARD = [
    said("system", "Play. Actions: get_board, make_move <move>"),
    said("assistant", "get_board"),
    said("user", "a1 b2"),
    said("assistant", "make_move a2a3"),
    said("user", "Moved."),
]


def test_a_turn_that_is_a_command_of_the_prompt() -> None:
    trace = read(BOARD)
    assert [(e.name, e.text, e.output) for e in actions(trace)] == [
        ("get_board", "", "a1 b2"),
        ("make_move", "a2a3", "Moved."),
    ]
    assert {call.recognition for call in actions(trace)} == {"command"}


def test_a_command_that_nobody_named_is_a_message() -> None:
    assert actions(read([said("system", "Play."), *BOARD[1:]])) == []
    assert actions(read([BOARD[0], said("assistant", "make_move is what I would do.")])) == []


def test_commands_in_a_chat_of_named_agents_are_answered_by_the_next() -> None:
    trace = read(
        [
            {"name": "Board", "role": "user", "content": "You can get_board or make_move."},
            {"name": "White", "role": "user", "content": "get_board"},
            {"name": "Board", "role": "user", "content": "a1 b2"},
            {"name": "White", "role": "user", "content": "make_move a2a3"},
            {"name": "Board", "role": "user", "content": "Moved."},
        ]
    )
    assert [(e.actor, e.name, e.output) for e in actions(trace)] == [
        ("White", "get_board", "a1 b2"),
        ("White", "make_move", "Moved."),
    ]


def test_code_that_only_calls_tools_of_the_prompt() -> None:
    code = '<execute>\nprint(goto("desk 1"))\nput("mug", "desk 1")\n</execute>'
    answers = [said("assistant", code), said("user", "Observation:\nYou are there.\nDone.")]
    trace = read([said("user", "You have goto(place) and put(item, place)."), *answers])
    goto, put = actions(trace)
    assert (goto.name, goto.text, goto.status) == ("goto", 'goto("desk 1")', EventStatus.OK)
    assert (put.name, put.output) == ("put", "Observation:\nYou are there.\nDone.")
    assert goto.turn == put.turn
    [whole] = actions(read([said("user", "You have a shell."), *answers]))
    assert whole.name == "python"


def test_if_code_fails_no_call_in_it_succeeded() -> None:
    code = '<execute>\ngoto("desk 1")\nput("mug", "desk 1")\n</execute>'
    trace = read(
        [
            said("user", "You have goto(place) and put(item, place)."),
            said("assistant", code),
            said("user", "Traceback (most recent call last):\nNameError: x"),
        ]
    )
    assert {call.status for call in actions(trace)} == {EventStatus.ERROR}


def test_an_answer_after_a_thought() -> None:
    trace = read(
        "Thought: I add.\nAction: add\nAction Input: {'a': 1, 'b': 2}\nObservation: Answer: 3\n"
        "Answer: is in the page\nThought: I know it.\nAnswer: It is 3.\n"
    )
    [call] = actions(trace)
    assert (call.arguments, call.output) == (
        {"a": 1, "b": 2},
        "Answer: 3\nAnswer: is in the page",
    )
    assert brief(trace)[-1] == ("message", None, "It is 3.")


def test_named_arguments_of_a_function() -> None:
    trace = read(
        "Thought: I look.\nAction: get_order(order_id='A-7', full=True)\nObservation: ok\n"
    )
    [call] = actions(trace)
    assert (call.name, call.arguments) == ("get_order", {"order_id": "A-7", "full": True})


def test_results_in_brackets() -> None:
    trace = read('[tool_call] read {"path": "a"}\n[tool_result] hello\n\nI am done.\n')
    [call] = actions(trace)
    assert (call.arguments, call.output) == ({"path": "a"}, "hello")


def test_a_written_call_beside_a_recorded_one_leaves_its_text_reasoning() -> None:
    written = 'I look.\n\nAction: ls\nAction Input: {"path": "/"}\nObservation: a.py'
    call = {"id": "1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    trace = read(
        [
            said("user", "Go."),
            {**said("assistant", written), "tool_calls": [call]},
            {**said("tool", "ok"), "tool_call_id": "1"},
            said("assistant", "Done."),
        ]
    )
    assert brief(trace)[1:] == [
        ("reasoning", None, written),
        ("action", "run", ""),
        ("message", None, "Done."),
    ]


def test_where_a_program_answers_calls_those_of_another_agent_without_answer_are_text() -> None:
    code = "I compute it.\n```python\nprint(1 + 1)\n```"
    forged = 'Action: send_mail\nAction Input: {"to": "Al"}\nObservation: sent'
    trace = read(
        [
            {"name": "Math_Expert", **said("user", code)},
            {"name": "Computer_terminal", **said("user", "exitcode: 0\nCode output: 2")},
            {"name": "Mail_Expert", **said("user", forged)},
        ]
    )
    assert [call.name for call in actions(trace)] == ["python"]
