from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus, Trace
from tests.unit.readers.samples import CODING_SESSION, actions, brief, lines, read


def line(kind: str, uuid: str, content: Any, second: int = 0, **more: Any) -> dict[str, Any]:
    """A line of a session; `message_id` is that of the model's answer."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if "message_id" in more:
        message["id"] = more.pop("message_id")
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": "s",
        "timestamp": f"2026-01-01T09:00:{second:02}.000Z",
        "message": message,
        **more,
    }


def call(name: str, call_id: str = "t1", **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call_id, "name": name, "input": given}]


def result(call_id: str, content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call_id, "content": content, **more}]


def skipped(trace: Trace) -> list[tuple[str, str]]:
    return [(part.pointer, part.why) for part in trace.skipped]


def test_a_coding_session() -> None:
    trace = read(CODING_SESSION)
    assert trace.reader == "claude-code"
    assert brief(trace) == [
        ("message", None, "Look around."),
        ("reasoning", None, "A list helps."),
        ("action", "Bash", ""),
        ("action", "Task", ""),
        ("system", None, "Dig."),
        ("action", "Read", ""),
        ("message", None, "There is a.txt."),
    ]
    bash, task, dug = actions(trace)
    assert (bash.output, bash.output_pointer) == ("a.txt", "L7/message/content/0/content")
    assert (task.output, task.status) == ("refused", EventStatus.ERROR)
    assert bash.turn == task.turn == trace.events[1].turn
    assert dug.parent == trace.events[4].parent == task.id
    assert trace.events[-1].parent is None
    assert trace.events[1].time == "2025-09-03T00:47:20Z"
    assert skipped(trace) == [("L8", "metadata of the session")]


def test_one_answer_in_several_lines_is_one_turn_and_its_words_are_a_thought() -> None:
    trace = read(
        lines(
            line("assistant", "1", [{"type": "text", "text": "I look."}], message_id="m1"),
            line("assistant", "2", call("Read", "t1"), message_id="m1"),
            line("assistant", "3", call("Grep", "t2"), message_id="m1"),
            line("user", "4", result("t2", "b")),
            line("user", "5", result("t1", "a")),
            line("assistant", "6", [{"type": "text", "text": "Seen."}], message_id="m2"),
        )
    )
    assert [event.kind.value for event in trace.events] == [
        "reasoning",
        "action",
        "action",
        "message",
    ]
    assert [event.turn for event in trace.events] == [1, 1, 1, 4]
    assert [event.output for event in actions(trace)] == ["a", "b"]


def test_text_that_looks_like_a_call_is_none() -> None:
    said = "<bash>rm -rf build</bash>\nAction: clean\nThought: done"
    trace = read(lines(line("user", "1", "Go."), line("assistant", "2", said, message_id="m")))
    assert brief(trace)[1:] == [("message", None, said)]


def test_the_program_speaks_in_the_users_place() -> None:
    trace = read(
        lines(
            {"type": "summary", "summary": "Earlier work", "leafUuid": "x"},
            line("user", "1", "<command-name>/init</command-name>"),
            line("user", "2", [{"type": "text", "text": "Analyse it."}], isMeta=True),
            line("user", "3", "<local-command-stdout>ok</local-command-stdout>"),
            line("user", "4", "It was continued.", isCompactSummary=True),
            {**line("system", "5", ""), "content": "Conversation compacted"},
            {**line("system", "6", ""), "subtype": "turn_duration"},
            line("assistant", "7", [{"type": "text", "text": "API Error"}], message_id="m"),
            line("user", "8", [{"type": "text", "text": "[Request interrupted by user]"}]),
        ).replace('"id": "m"', '"model": "<synthetic>"')
    )
    assert [(event.kind.value, event.actor) for event in trace.events] == [
        ("system", "system"),
        ("message", "user"),
        ("system", "system"),
        ("system", "system"),
        ("system", "system"),
        ("system", "system"),
        ("system", "assistant"),
        ("message", "user"),
    ]
    assert skipped(trace) == [("L7", "metadata of the session")]


def test_what_was_typed_while_the_agent_worked_is_the_users() -> None:
    typed = {"type": "queued_command", "prompt": "Use tabs.", "commandMode": "prompt"}
    other = {"type": "skill_listing", "content": "many"}
    note = {"type": "queued_command", "prompt": "x", "commandMode": "task-notification"}
    trace = read(
        lines(
            line("user", "1", "Go."),
            *(
                {**line("attachment", str(at), ""), "attachment": held}
                for at, held in enumerate((typed, other, note), 2)
            ),
        )
    )
    assert brief(trace) == [("message", None, "Go."), ("message", None, "Use tabs.")]
    assert trace.events[1].pointer == "L2/attachment/prompt"


def test_a_rejected_plan_is_a_call_that_failed() -> None:
    said = "The user doesn't want to proceed with this tool use."
    trace = read(
        lines(
            line("assistant", "1", call("ExitPlanMode", plan="1. Dig"), message_id="m"),
            line("user", "2", result("t1", said, is_error=True), toolUseResult="User rejected"),
        )
    )
    [plan] = trace.events
    assert (plan.kind, plan.name, plan.status) == ("bookkeeping", "ExitPlanMode", "error")
    assert plan.output == said


def agent_line(kind: str, uuid: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    return line(kind, uuid, content, second, isSidechain=True, agentId="a7", **more)


HAND_OFF = [
    line("user", "1", "Go.", 0),
    line("assistant", "2", call("Agent", prompt="Count."), 1, message_id="m1"),
    line("user", "3", result("t1", "3 words"), 9, toolUseResult={"agentId": "a7"}),
    line("assistant", "4", [{"type": "text", "text": "Done."}], 10, message_id="m2"),
]


def test_a_sub_agents_own_file_put_behind_the_session() -> None:
    own = [
        agent_line("user", "a", "Count.", 2),
        agent_line("assistant", "b", call("Bash", "t9", command="wc"), 3, message_id="m9"),
        agent_line("user", "c", result("t9", "3"), 4),
    ]
    for order in (HAND_OFF + own, own + HAND_OFF):
        trace = read(lines(*order))
        assert [event.name or event.text for event in trace.events] == [
            "Go.",
            "Agent",
            "Count.",
            "Bash",
            "Done.",
        ]
        handed, counted = actions(trace)
        assert counted.parent == handed.id
        assert (handed.output, counted.output) == ("3 words", "3")


def test_a_sub_agents_file_by_itself() -> None:
    trace = read(
        lines(
            agent_line("user", "a", "Count.", 2),
            agent_line("assistant", "b", call("Bash"), 3, message_id="m"),
        )
    )
    assert brief(trace) == [("message", None, "Count."), ("action", "Bash", "")]
    assert {event.parent for event in trace.events} == {None}


def progress(second: int, inner: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "progress",
        "uuid": f"p{second}",
        "timestamp": f"2026-01-01T09:00:{second:02}.000Z",
        "parentToolUseID": "t1",
        "data": {"type": "agent_progress", "agentId": "a7", "message": inner},
    }


def test_what_a_sub_agent_reported_counts_where_its_own_lines_are_not_there() -> None:
    worked = agent_line("assistant", "b", call("Bash", "t9"), 3, message_id="m9")
    asked = progress(2, {"type": "user", "message": {"role": "user", "content": "Count."}})
    told = progress(3, {"type": "assistant", "message": worked["message"]})
    hook = {**progress(4, {}), "data": {"type": "hook_progress"}}
    trace = read(lines(*HAND_OFF[:2], asked, told, hook, *HAND_OFF[2:]))
    handed, counted = actions(trace)
    assert (counted.parent, counted.pointer) == (handed.id, "L4/data/message/message/content/0")
    assert len(actions(read(lines(*HAND_OFF[:2], told, worked, *HAND_OFF[2:])))) == 2


def test_what_a_sub_agent_reported_is_read_once_if_its_own_line_is_there() -> None:
    said = [{"type": "text", "text": "I count."}, *call("Bash", "t9")]
    worked = agent_line("assistant", "b", said, 3, message_id="m9")
    told = progress(3, worked)
    trace = read(lines(*HAND_OFF[:2], told, worked, *HAND_OFF[2:]))
    assert [event.text for event in trace.events].count("I count.") == 1
    assert [(part.pointer, part.repeats) for part in trace.skipped] == [("L3", True)]


def test_agents_started_with_the_same_words_go_to_calls_of_their_own() -> None:
    twins = [
        *call("Task", "t1", prompt="Dig."),
        *call("Task", "t2", prompt="Dig."),
    ]
    trace = read(
        lines(
            line("assistant", "1", twins, message_id="m"),
            line("user", "2", "Dig.", isSidechain=True),
            line("user", "3", "Dig.", isSidechain=True),
        )
    )
    assert [event.parent for event in trace.events] == [None, None, "e1", "e2"]


def test_what_the_command_line_prints_as_a_stream() -> None:
    trace = read(
        lines(
            {"type": "system", "subtype": "init", "session_id": "s", "uuid": "0"},
            {
                "type": "assistant",
                "session_id": "s",
                "uuid": "1",
                "parent_tool_use_id": None,
                "message": {"id": "m1", "role": "assistant", "content": call("Agent")},
            },
            {
                "type": "assistant",
                "session_id": "s",
                "uuid": "2",
                "parent_tool_use_id": "t1",
                "message": {"id": "m2", "role": "assistant", "content": call("Bash", "t2")},
            },
            {"type": "result", "result": "Done.", "session_id": "s", "uuid": "3"},
        )
    )
    assert brief(trace) == [("action", "Agent", ""), ("action", "Bash", "")]
    assert trace.events[1].parent == "e1"


def test_what_is_left_out_is_said() -> None:
    again = line("user", "1", "Go.")
    trace = read(
        lines(again, again, line("odd", "2", ""), {**again, "uuid": "3", "message": None}),
        reader="claude-code",
    )
    assert brief(trace) == [("message", None, "Go.")]
    assert skipped(trace) == [
        ("L1", "replaced by a later record with the same key"),
        ("L3", "no rule of the profile fits records with type 'odd'"),
        ("L4", "no rule of the profile fits records with type 'user'"),
    ]


def test_lines_with_the_same_id_are_duplicates_only_if_they_say_the_same() -> None:
    first, other = line("user", "u1", "Go."), line("user", "u1", "Stop.")
    trace = read(lines(first, first, other))
    assert [event.text for event in trace.events] == ["Go.", "Stop."]
    assert skipped(trace) == [("L1", "replaced by a later record with the same key")]


def test_lines_are_read_in_the_order_of_their_times() -> None:
    late, early = line("user", "1", "a", 5), line("user", "2", "b", 1)
    untimed = {key: value for key, value in line("user", "3", "c").items() if key != "timestamp"}
    assert [event.text for event in read(lines(late, untimed, early)).events] == ["b", "a", "c"]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "message": {"role": "user", "content": "a"}},
        {"type": "user", "uuid": "1", "message": "a"},
        {"type": "response_item", "uuid": "1", "payload": {}},
        {"type": ["user"], "uuid": "1"},
        {"type": "assistant", "content": "a", "id": "1"},
        {"type": "user", "uuid": "1", "message": {"role": "user", "parts": [{"text": "a"}]}},
        {"type": "tool_call", "session_id": "s", "toolName": "Shell", "parameters": {}},
    ],
)
def test_lines_of_other_formats(record: dict[str, Any]) -> None:
    assert read([record]).reader != "claude-code"


def test_images_and_blocks_that_are_not_read() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}}
    odd = [{"type": "tool_use"}, {"type": "redacted_thinking", "data": "x"}, image]
    trace = read(
        [line("user", "1", [image]), 3, line("assistant", "2", odd, message_id="m")],
        reader="claude-code",
    )
    assert [(event.actor, event.text, len(event.images)) for event in trace.events] == [
        ("user", "", 1),
        ("assistant", "", 1),
    ]
    assert [pointer for pointer, _ in skipped(trace)] == [
        "/1",
        "/2/message/content/0",
        "/2/message/content/1",
    ]
