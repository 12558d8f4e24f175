from __future__ import annotations

from typing import Any

import pytest

from tests.unit.readers.samples import ACTION_RECORDS, actions, brief, read


def act(id_: int, action: str, source: str = "agent", **args: Any) -> dict[str, Any]:
    return {"id": id_, "source": source, "action": action, "args": args, "message": ""}


def observation(id_: int, cause: int | None, sort: str = "run", **more: Any) -> dict[str, Any]:
    event: dict[str, Any] = {
        "id": id_,
        "source": "agent",
        "cause": cause,
        "observation": sort,
        "extras": {},
    }
    return {**event, "content": "seen", **more}


def test_actions_and_what_was_observed() -> None:
    trace = read(ACTION_RECORDS)
    assert trace.reader == "openhands"
    assert brief(trace) == [
        ("message", None, "Fix it."),
        ("reasoning", None, "I look first."),
        ("action", "run", ""),
    ]
    [run] = actions(trace)
    assert (run.arguments, run.output) == ({"command": "ls"}, "a.c")
    assert (run.pointer, run.output_pointer, run.time) == (
        "/1",
        "/2/content",
        "2025-04-30T16:32:57",
    )


def test_calls_of_one_answer_of_the_model_are_one_turn() -> None:
    asked = {"tool_call_metadata": {"model_response": {"id": "r"}}}
    trace = read(
        {
            "instance_id": "a-1",
            "history": [
                {**act(1, "run", command="a"), **asked},
                {**act(2, "run", command="b", hidden=False, cwd=None), **asked},
                observation(3, 2),
                observation(4, 1),
                act(5, "think", thought="hm"),
                act(6, "task_tracking", command="plan", task_list=[]),
            ],
        }
    )
    assert [(e.kind.value, e.name, e.turn) for e in trace.events] == [
        ("action", "run", 1),
        ("action", "run", 1),
        ("bookkeeping", "think", 4),
        ("bookkeeping", "task_tracking", 5),
    ]
    assert [e.output_pointer for e in actions(trace)] == [
        "/history/3/content",
        "/history/2/content",
    ]
    assert trace.events[1].arguments == {"command": "b"}
    assert trace.events[2].arguments == {"thought": "hm"}


def test_internal_records_are_not_events() -> None:
    trace = read(
        [
            act(0, "system", content="You are an agent."),
            act(1, "message", "user", content="Go.", image_urls=["https://a.example/b.png"]),
            act(2, "recall", "user", query="Go."),
            observation(3, 2, "recall"),
            act(4, "change_agent_state", "environment", agent_state="running"),
            observation(5, None, "agent_state_changed", content=""),
            act(6, "message", content=""),
            {"source": "environment", "message": "hm", "timestamp": "2025-04-30T16:32:57"},
        ]
    )
    assert brief(trace) == [("system", None, "You are an agent."), ("message", None, "Go.")]
    assert trace.events[1].images[0].url == "https://a.example/b.png"
    assert [part.pointer for part in trace.skipped] == ["/2", "/3", "/4", "/5", "/6", "/7"]


@pytest.mark.parametrize(
    ("observed", "status"),
    [
        ({"extras": {"metadata": {"exit_code": 0}}, "content": "error: none"}, "ok"),
        ({"extras": {"metadata": {"exit_code": 2}}}, "error"),
        ({"extras": {"exit_code": 1}}, "error"),
        ({"extras": {"metadata": {"exit_code": -1}}}, "ok"),
        ({"observation": "error"}, "error"),
        ({"observation": "user_rejected"}, "error"),
        ({"success": False}, "error"),
        ({"extras": None, "content": "Traceback (most recent call last)"}, "error"),
    ],
)
def test_how_an_action_ended(observed: dict[str, Any], status: str) -> None:
    trace = read([act(1, "run", command="a"), {**observation(2, 1), **observed}])
    assert [e.status.value for e in trace.events] == [status]


def test_a_delegates_work_belongs_to_the_hand_over() -> None:
    trace = read(
        [
            act(1, "delegate", agent="BrowsingAgent", inputs={"task": "find"}),
            act(2, "browse", url="https://a.example"),
            observation(3, 2, "browse"),
            observation(4, 1, "delegate"),
            act(5, "finish", outputs={}),
        ]
    )
    assert [(e.name, e.parent) for e in trace.events] == [
        ("delegate", None),
        ("browse", "e1"),
        ("finish", None),
    ]


def test_pairs_tools_of_servers_and_lost_observations() -> None:
    trace = read(
        {
            "history": [
                [
                    act(1, "call_tool_mcp", name="fetch", arguments={"url": "u"}),
                    observation(2, 1, "mcp"),
                ],
                [act(3, "run", "user", command="ls"), observation(4, 3)],
                [observation(4, 3), observation(5, None, "error")],
            ]
        }
    )
    fetched, *rest = trace.events
    assert (fetched.name, fetched.arguments, fetched.output) == ("fetch", {"url": "u"}, "seen")
    assert [(e.kind.value, e.status.value) for e in rest] == [
        ("observation", "ok"),
        ("observation", "error"),
    ]
    assert [part.why for part in trace.skipped] == [
        "replaced by a later record with the same key",
        "nothing in it is an event",
    ]


def sdk(kind: str, id_: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "id": id_, "source": source, "timestamp": "2026-01-01T09:00:00", **more}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


SDK: list[dict[str, Any]] = [
    sdk("SystemPromptEvent", "1", system_prompt=text("You are an agent."), tools=[]),
    sdk("MessageEvent", "2", "user", llm_message={"role": "user", "content": [text("Go.")]}),
    sdk(
        "ActionEvent",
        "3",
        thought=[text("I look.")],
        thinking_blocks=[{"type": "thinking", "thinking": "Where?"}],
        action={"kind": "TerminalAction", "command": "ls"},
        tool_name="terminal",
        tool_call_id="c1",
        llm_response_id="r1",
    ),
    sdk(
        "ActionEvent",
        "4",
        thought=[],
        action=None,
        tool_call={"name": "terminal", "arguments": '{"comand": "ls"}'},
        tool_name="terminal",
        tool_call_id="c2",
        llm_response_id="r1",
    ),
    sdk(
        "ObservationEvent",
        "5",
        "environment",
        observation={"kind": "TerminalObservation", "content": [text("a")], "exit_code": 0},
        tool_name="terminal",
        tool_call_id="c1",
        action_id="3",
    ),
    sdk("AgentErrorEvent", "6", error="no command", tool_name="terminal", tool_call_id="c2"),
    sdk("ConversationStateUpdateEvent", "7", "environment", key="x", value={}),
    sdk(
        "MessageEvent",
        "8",
        llm_message={"role": "assistant", "content": [text("Done.")], "reasoning_content": "So."},
    ),
    sdk("Condensation", "9", "environment", summary="Much was done."),
]


def test_reasoning_that_the_thought_repeats_is_read_once() -> None:
    event = sdk(
        "ActionEvent",
        "20",
        thought=[text("<think>I look.\n</think>\nLet me see.")],
        reasoning_content="I look.\n",
        thinking_blocks=[],
        action={"command": "ls", "kind": "TerminalAction"},
        tool_name="terminal",
        tool_call_id="c1",
    )
    assert brief(read([SDK[0], event]))[1:] == [
        ("reasoning", None, "<think>I look.\n</think>\nLet me see."),
        ("action", "terminal", ""),
    ]


def test_events_of_the_sdk() -> None:
    trace = read(SDK)
    assert trace.reader == "openhands"
    assert brief(trace) == [
        ("system", None, "You are an agent."),
        ("message", None, "Go."),
        ("reasoning", None, "I look."),
        ("reasoning", None, "Where?"),
        ("action", "terminal", ""),
        ("action", "terminal", ""),
        ("reasoning", None, "So."),
        ("message", None, "Done."),
        ("system", None, "Much was done."),
    ]
    ran, failed = actions(trace)
    assert (ran.arguments, ran.output, ran.status) == ({"command": "ls"}, "a", "ok")
    assert ran.output_pointer == "/4/observation/content/0/text"
    assert (failed.arguments, failed.output) == ({"comand": "ls"}, "no command")
    assert (failed.status, failed.turn) == ("error", ran.turn)
    assert [part.pointer for part in trace.skipped] == ["/6"]


@pytest.mark.parametrize(
    ("observed", "found"),
    [
        ({"output": "a", "exit_code": 3}, ("a", "error")),
        ({"content": "a", "is_error": True}, ("a", "error")),
        ({"content": [], "is_error": False}, ("", "ok")),
        ({"message": "thanks"}, ("thanks", "ok")),
    ],
)
def test_observations_of_several_versions(observed: dict[str, Any], found: Any) -> None:
    answer = sdk("ObservationEvent", "5", observation=observed, tool_call_id="c1")
    [ran] = actions(read([SDK[2], answer]))
    assert (ran.output, ran.status.value) == found


def test_what_is_left_out_is_said() -> None:
    odd = sdk("OddEvent", "1")
    trace = read([SDK[1], SDK[1], odd, sdk("MessageEvent", "9"), 3], reader="openhands")
    assert len(trace.events) == 1
    assert [part.pointer for part in trace.skipped] == ["/0", "/2", "/3", "/4"]
