from __future__ import annotations

from typing import Any

import pytest

from tests.unit.readers.samples import actions, brief, read, tool_call


def step(thought: str, action: str, seen: str, **more: Any) -> dict[str, Any]:
    return {
        "thought": thought,
        "action": action,
        "observation": seen,
        "response": f"{thought}\n```\n{action}\n```",
        "state": {"working_dir": "/repo"},
        **more,
    }


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main", **more}


PROMPTS = [
    message("system", "You are a programmer."),
    message("user", "A demonstration.", is_demo=True),
    message("user", [{"type": "text", "text": "Mend the bug."}]),
]
TRAJECTORY: dict[str, Any] = {
    "environment": "swe_main",
    "trajectory": [
        step("I look.", "find_file a.py\n", "Found 1 match", query=PROMPTS),
        step("", "python a.py", "Traceback (most recent call last):\n  x", query=PROMPTS),
        step("I give up.", "", "Exit due to cost limit"),
        step("", "submit", ""),
    ],
    "history": [*PROMPTS, message("assistant", "I look.", thought="I look.", action="x")],
    "info": {"exit_status": "submitted"},
}


def test_steps_and_the_prompts_before_them() -> None:
    trace = read(TRAJECTORY)
    assert trace.reader == "swe-agent"
    assert brief(trace) == [
        ("system", None, "You are a programmer."),
        ("system", None, "A demonstration."),
        ("message", None, "Mend the bug."),
        ("reasoning", None, "I look."),
        ("action", "find_file", "find_file a.py\n"),
        ("action", "python", "python a.py"),
        ("reasoning", None, "I give up."),
        ("system", None, "Exit due to cost limit"),
        ("action", "submit", "submit"),
    ]
    assert [e.pointer for e in actions(trace)] == [f"/trajectory/{n}" for n in (0, 1, 3)]
    assert [(e.output_pointer, e.status.value) for e in actions(trace)] == [
        ("/trajectory/0/observation", "ok"),
        ("/trajectory/1/observation", "error"),
        ("/trajectory/3/observation", "ok"),
    ]
    first, second, third = [e.turn for e in trace.events][3:6]
    assert first == second != third
    assert {part.why for part in trace.skipped} == {"written again in the steps"}


@pytest.mark.parametrize("key", ["query", "messages"])
def test_prompts_are_in_the_first_step_where_there_is_no_history(key: str) -> None:
    first = step("I look.", "ls", "a", **{key: [*PROMPTS, message("assistant", "more")]})
    trace = read({"trajectory": [first, 3]})
    assert [e.pointer for e in trace.events][:3] == [
        f"/trajectory/0/{key}/0/content",
        f"/trajectory/0/{key}/1/content",
        f"/trajectory/0/{key}/2/content/0/text",
    ]
    assert [part.pointer for part in trace.skipped] == [
        f"/trajectory/0/{key}/3",
        "/trajectory/1",
    ]


def test_a_history_with_tool_calls() -> None:
    called = [tool_call("open", {"path": "a.py"}, "c1"), tool_call("ls", {}, "c2"), {}]
    trace = read(
        {
            "history": [
                *PROMPTS,
                message(
                    "assistant", "I open.", thought="I open.", action="open", tool_calls=called
                ),
                message("tool", "1: x", tool_call_ids=["c1"], message_type="observation"),
            ]
        }
    )
    assert trace.reader == "swe-agent-history"
    assert brief(trace)[3:] == [
        ("reasoning", None, "I open."),
        ("action", "open", ""),
        ("action", "ls", ""),
    ]
    opened, listed = actions(trace)
    assert (opened.arguments, opened.output) == ({"path": "a.py"}, "1: x")
    assert (opened.pointer, listed.output) == ("/history/3/tool_calls/0", "")
    assert [part.why for part in trace.skipped] == ["a call without a name"]


def test_a_history_of_commands_in_text() -> None:
    trace = read(
        [
            PROMPTS[2],
            message("assistant", "I run.\n```\nls\n```", thought="I run.", action="ls\n"),
            message("user", "a.py\n(Open file: n/a)"),
            message("assistant", "Done.", thought="", action=""),
        ]
    )
    assert brief(trace) == [
        ("message", None, "Mend the bug."),
        ("reasoning", None, "I run."),
        ("action", "ls", "ls\n"),
        ("reasoning", None, "Done."),
    ]
    assert actions(trace)[0].output == "a.py\n(Open file: n/a)"


def test_what_is_left_out_is_said() -> None:
    trace = read([3, PROMPTS[2], TRAJECTORY["history"][3], 4], reader="swe-agent-history")
    assert [part.pointer for part in trace.skipped] == ["/0", "/3"]


@pytest.mark.parametrize(
    "value",
    [
        {"trajectory": [{"action": "ls", "observation": "a"}]},
        [{"role": "user", "content": "a", "agent": "main"}],
        [{"role": "assistant", "content": "a", "agent": "main"}],
        [{"role": "assistant", "content": "a", "thought": "b", "action": "c"}],
    ],
)
def test_other_formats(value: Any) -> None:
    assert not read(value).reader.startswith("swe-agent")
