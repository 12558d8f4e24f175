from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from planproof.core.trace import EventStatus
from tests.unit.readers.samples import ROLLOUT, actions, brief, lines, read


def item(kind: str, **more: Any) -> dict[str, Any]:
    """A line that wraps an item."""
    payload = {"type": kind, **more}
    return {"timestamp": "2026-01-01T09:00:00.000Z", "type": "response_item", "payload": payload}


def message_item(role: str, text: str) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": text}])


def event(kind: str, **more: Any) -> dict[str, Any]:
    return {**item(kind, **more), "type": "event_msg"}


def call(name: str, call_id: str, **given: Any) -> dict[str, Any]:
    return item("function_call", name=name, call_id=call_id, arguments=json.dumps(given))


def back(call_id: str, output: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=output)


def test_a_rollout() -> None:
    trace = read(ROLLOUT)
    assert trace.reader == "codex"
    assert brief(trace) == [
        ("message", None, "Make it fast."),
        ("reasoning", None, "I look."),
        ("action", "shell", ""),
    ]
    [shell] = actions(trace)
    assert (shell.arguments, shell.status) == ({"command": ["ls"]}, EventStatus.ERROR)
    assert (shell.output, shell.output_pointer) == ("a.ts", "L5/payload/output")
    assert (shell.turn, shell.actor) == (trace.events[1].turn, "assistant")
    assert shell.time == "2025-09-25T01:22:23Z"
    assert [part.pointer for part in trace.skipped] == ["L1", "L6"]


def test_screen_updates_are_not_events() -> None:
    trace = read(
        lines(
            {**item("x"), "type": "session_meta"},
            message_item("developer", "Be brief."),
            message_item("user", "<environment_context>\n<cwd>/a</cwd>\n</environment_context>"),
            message_item("user", "# AGENTS.md instructions for /a"),
            event("user_message", message="Go."),
            message_item("user", "Go."),
            event("agent_reasoning", text="Hm."),
            item("reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
            event("token_count", info=None),
            {**item("x"), "type": "turn_context"},
            event("agent_message", message="Done."),
            message_item("assistant", "Done."),
            event("turn_aborted", reason="interrupted"),
            {**item("x", message="So far: nothing."), "type": "compacted"},
        )
    )
    assert [(e.kind.value, e.actor, e.text[:18]) for e in trace.events] == [
        ("system", "system", "Be brief."),
        ("system", "system", "<environment_conte"),
        ("system", "system", "# AGENTS.md instru"),
        ("message", "user", "Go."),
        ("reasoning", "assistant", "Hm."),
        ("message", "assistant", "Done."),
        ("system", "system", "interrupted"),
        ("system", "system", "So far: nothing."),
    ]
    kinds = Counter((part.why.partition(";")[0], part.repeats) for part in trace.skipped)
    assert kinds == {("the state of the program", False): 2, ("a notice for display", True): 4}


def test_calls_of_one_answer_and_the_words_before_them() -> None:
    trace = read(
        lines(
            message_item("assistant", "I look."),
            call("exec_command", "1", cmd="ls"),
            call("exec_command", "2", cmd="cat a"),
            back("2", "Wall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nno a"),
            back("1", "Process exited with code 0\nOutput:\nb"),
            call("update_plan", "3", plan=[{"step": "Dig", "status": "pending"}]),
            back("3", "Plan updated"),
        )
    )
    assert [(e.kind.value, e.turn) for e in trace.events] == [
        ("reasoning", 1),
        ("action", 1),
        ("action", 1),
        ("bookkeeping", 3),
    ]
    assert [e.status.value for e in trace.events] == ["unknown", "ok", "error", "ok"]


def test_a_result_ends_a_turn() -> None:
    trace = read(
        lines(
            {**item("x"), "type": "turn_context"},
            call("shell", "1"),
            back("1", "a"),
            call("shell", "2"),
            back("2", "b"),
            event("token_count", info=None),
            call("shell", "3"),
            {**item("x"), "type": "token_usage_record"},
            back("3", [{"type": "input_text", "text": "c"}]),
        )
    )
    assert [(e.turn, e.output) for e in trace.events] == [(1, "a"), (2, "b"), (3, "c")]


def test_tools_of_other_kinds() -> None:
    shell = {"type": "exec", "command": ["ls"]}
    trace = read(
        lines(
            item("local_shell_call", call_id="1", status="completed", action=shell),
            back("1", {"content": "denied", "success": False}),
            item("custom_tool_call", call_id="2", name="apply_patch", input="*** Begin Patch"),
            item("custom_tool_call_output", call_id="2", output='{"output": "ok", "metadata": {}}'),
            item("web_search_call", action={"type": "search", "query": "rain"}),
            back("9", [{"type": "input_text", "text": "nobody asked"}]),
            item("ghost_snapshot", ghost_commit={}),
            item("odd"),
        )
    )
    ran, patched, searched = actions(trace)
    assert (ran.name, ran.arguments, ran.output, ran.status) == ("shell", shell, "denied", "error")
    assert (patched.name, patched.text, patched.output) == ("apply_patch", "*** Begin Patch", "ok")
    assert (searched.name, searched.arguments) == ("web_search", {"query": "rain"})
    assert brief(trace)[-1] == ("observation", None, "nobody asked")
    assert [part.why for part in trace.skipped] == [
        "the state of the program",
        "no rule of the profile fits records with type 'odd'",
    ]


def test_a_tool_that_is_not_there() -> None:
    trace = read(lines(call("update_plan", "1"), back("1", "unsupported call: update_plan")))
    assert trace.events[0].status == "error"


def test_a_proposed_plan_is_set_apart() -> None:
    marked = "So:\n<proposed_plan>\n1. Dig\n</proposed_plan>\nShall I?"
    trace = read(lines(message_item("user", "Plan it."), message_item("assistant", marked)))
    assert brief(trace)[1:] == [
        ("message", None, marked),
        ("bookkeeping", "plan", "1. Dig"),
    ]


def test_items_with_the_same_id_and_other_content_are_read() -> None:
    trace = read(lines(back("x", "lost"), call("a", "x"), call("b", "x"), back("x", "found")))
    assert brief(trace) == [("observation", None, "lost"), ("action", "a", ""), ("action", "b", "")]
    assert [event.output for event in actions(trace)].count("found") == 1
    assert not [part for part in trace.skipped if "duplicate" in part.why]


def test_what_a_resumed_session_repeats_is_read_once() -> None:
    once = [call("shell", "1"), back("1", "a")]
    trace = read(lines(*once, *once))
    assert [e.output for e in trace.events] == ["a"]
    assert [part.pointer for part in trace.skipped] == ["L1", "L2"]


def test_the_first_generation_has_bare_items() -> None:
    trace = read(
        lines(
            {"id": "x", "timestamp": "2025-08-01T09:00:00.000Z", "instructions": None},
            message_item("user", "Go.")["payload"],
            {"record_type": "state"},
            call("shell", "1", command=["ls"])["payload"],
            {"record_type": "state"},
            back("1", '{"output":"a\\n","metadata":{"exit_code":0}}')["payload"],
        )
    )
    assert trace.reader == "codex"
    assert brief(trace) == [("message", None, "Go."), ("action", "shell", "")]
    assert (trace.events[1].output, trace.events[1].status) == ("a\n", "ok")
    assert {part.why for part in trace.skipped} == {"the state of the program"}


@pytest.mark.parametrize(
    "records",
    [
        [message_item("user", "Go.")["payload"]],
        [{"type": "odd", "payload": {}}],
        [{"type": "response_item", "payload": []}],
        [message_item("user", "Go."), {"payload": {}}],
    ],
)
def test_lines_of_other_formats(records: list[dict[str, Any]]) -> None:
    assert read(records).reader != "codex"


def test_what_is_left_out_is_said() -> None:
    failed = event("stream_error", message="cut off")
    trace = read([message_item("user", "Go."), 3, failed], reader="codex")
    assert brief(trace) == [("message", None, "Go."), ("system", None, "cut off")]
    assert [part.pointer for part in trace.skipped] == ["/1"]


def test_a_message_between_agents_and_an_output_that_is_one_block() -> None:
    trace = read(
        lines(
            call("shell", "c1", command=["ls"]),
            back("c1", {"type": "input_text", "text": "a.txt"}),
            item(
                "agent_message",
                author="/root/reviewer",
                recipient="/root",
                content=[{"type": "input_text", "text": "Two issues."}],
            ),
            item("agent_message", author="/root", content=[]),
        )
    )
    assert [(event.actor, event.text, event.output) for event in trace.events] == [
        ("assistant", "", "a.txt"),
        ("/root/reviewer", "Two issues.", ""),
    ]
    assert [part.why for part in trace.skipped] == ["nothing in it is an event"]


def test_a_user_image_is_skipped_and_reported() -> None:
    image = {"type": "input_image"}
    trace = read(
        lines(item("message", role="user", content=[image]), message_item("assistant", "No."))
    )
    assert [event.text for event in trace.events] == ["No."]
    assert [part.why for part in trace.skipped] == [
        "no rule of the profile fits records with type 'input_image'"
    ]
