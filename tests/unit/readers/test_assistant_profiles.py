"""The profiles of coding assistants, on samples written by hand in the shape of each format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.pointer import resolve
from planproof.core.trace import Event, EventStatus, Kind
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.recognition import FALLBACK_READER, list_readers, load_reader

ASKED = "List the files, then run the tests"
LS = {"command": "ls"}


def _lines(*records: Any) -> str:
    return "\n".join(json.dumps(record) for record in records)


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, **more}


def _codex(kind: str, identity: str, item: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{kind}", "item": {"id": identity, "type": item, **fields}}


def _kimi(event: dict[str, Any]) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": event, "time": 1785612812825}


def _wire(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1769000000.5, "message": {"type": kind, "payload": payload}}


def _copilot(kind: str, parent: str = "e0", **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": "e1", "parentId": parent, "timestamp": "2026-01-01"}


def _qwen(kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
    role = "model" if kind == "assistant" else "user"
    message = {"role": role, "parts": list(parts)}
    return {"uuid": "u", "sessionId": "s", "type": kind, "message": message, **more}


def _said(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": list(content), **more}


def _entry(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    """A message of Pi or Factory Droid."""
    message = {"role": role, "content": list(content), **more}
    return {"type": "message", "id": "m", "timestamp": "2026-01-01T00:00:00Z", "message": message}


def _step(kind: str, source: str = "MODEL", **fields: Any) -> dict[str, Any]:
    return {"step_index": 1, "type": kind, "source": source, "status": "DONE", **fields}


def _droid(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "s", "timestamp": "2026-01-01T00:00:00Z", **fields}


def _cursor(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "s", **fields}


USE = {"type": "tool_use", "id": "t1", "name": "Execute", "input": LS}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt\nb.txt"}
CONTEXT = _text("<environment_details>\n# Current Time\n</environment_details>")
TOOL_PART = {
    "type": "tool",
    "tool": "bash",
    "callID": "c1",
    "state": {"status": "completed", "input": LS, "output": "a.txt\nb.txt"},
}
CALLED = ("action", "assistant", "ls", "a.txt\nb.txt")
"""Kind, actor, and pieces of what was called and of its result."""
SAID = ("message", "assistant", "There are two", "")
USER = ("message", "user", ASKED, "")
THOUGHT = ("reasoning", "assistant", "I look first", "")

_VSCODE_RESULTS: Any = (
    ({}, [USER, THOUGHT, CALLED, SAID]),
    (
        {
            "metadata": {
                "toolCallRounds": [
                    {
                        "response": "",
                        "thinking": {"text": "I look first"},
                        "toolCalls": [
                            {
                                "name": "run_in_terminal",
                                "arguments": json.dumps(LS),
                                "id": "c1",
                            }
                        ],
                    },
                    {"response": "There are two", "toolCalls": []},
                ],
                "toolCallResults": {"c1": {"content": [{"value": "a.txt\nb.txt"}]}},
            }
        },
        [USER, THOUGHT, CALLED, SAID],
    ),
)
SAMPLES: dict[str, Any] = {
    "codex-exec": [
        (
            _lines(
                {"type": "thread.started", "thread_id": "t"},
                _codex("completed", "i0", "reasoning", text="I look first"),
                _codex("started", "i1", "todo_list", items=[{"text": "List", "completed": False}]),
                _codex("started", "i2", "command_execution", command="ls", aggregated_output=""),
                _codex(
                    "completed",
                    "i2",
                    "command_execution",
                    command="ls",
                    aggregated_output="a.txt\nb.txt",
                    exit_code=0,
                    status="completed",
                ),
                _codex(
                    "completed",
                    "i3",
                    "command_execution",
                    command="make",
                    aggregated_output="",
                    exit_code=2,
                    status="failed",
                ),
                _codex("completed", "i4", "agent_message", text="There are two"),
            ),
            "shell",
            [
                THOUGHT,
                ("bookkeeping", "assistant", "List", ""),
                CALLED,
                ("action", "assistant", "make", ""),
                SAID,
            ],
        )
    ],
    "gemini-cli": [
        (
            {
                "sessionId": "s",
                "messages": [
                    {"id": "1", "type": "user", "content": ASKED},
                    {
                        "id": "2",
                        "type": "gemini",
                        "content": "There are two",
                        "thoughts": [{"subject": "Look", "description": "I look first"}],
                        "toolCalls": [
                            {
                                "id": "c1",
                                "name": "run_shell_command",
                                "args": LS,
                                "status": "success",
                                "resultDisplay": "a.txt\nb.txt",
                            }
                        ],
                    },
                    {"id": "3", "type": "info", "content": "Request cancelled."},
                ],
            },
            "run_shell_command",
            [USER, THOUGHT, SAID, CALLED],
        ),
        (
            _lines(
                {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"},
                {"id": "1", "type": "user", "content": [{"text": ASKED}]},
                {"id": "2", "type": "gemini", "content": "There are"},
                {"id": "2", "type": "gemini", "content": "There are two"},
                {"$set": {"lastUpdated": "2026-01-01T00:00:00Z"}},
            ),
            "",
            [USER, SAID],
        ),
    ],
    "gemini-contents": [
        (
            [
                {"role": "user", "parts": [{"text": "<session_context>\ndate\n"}]},
                {"role": "user", "parts": [{"text": ASKED}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "I look first", "thought": True},
                        {"functionCall": {"id": "c1", "name": "shell", "args": LS}},
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "id": "c1",
                                "name": "shell",
                                "response": {"output": "a.txt\nb.txt"},
                            }
                        }
                    ],
                },
                {"role": "model", "parts": [{"text": "There are two"}]},
            ],
            "shell",
            [("system", "system", "date", ""), USER, THOUGHT, CALLED, SAID],
        )
    ],
    "qwen-code": [
        (
            _lines(
                _qwen("user", {"text": ASKED}),
                {"uuid": "v", "sessionId": "s", "type": "system", "subtype": "ui_telemetry"},
                _qwen(
                    "assistant",
                    {"text": "I look first", "thought": True},
                    {"functionCall": {"id": "c1", "name": "run_shell_command", "args": LS}},
                ),
                _qwen(
                    "tool_result",
                    {"functionResponse": {"id": "c1", "response": {"output": "a.txt\nb.txt"}}},
                    toolCallResult={"status": "success"},
                ),
                _qwen("assistant", {"text": "There are two"}),
            ),
            "run_shell_command",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "copilot-cli": [
        (
            _lines(
                _copilot("session.start", sessionId="s"),
                _copilot("user.message", content=ASKED),
                _copilot("assistant.reasoning", content="I look first"),
                _copilot(
                    "assistant.message",
                    content="",
                    reasoningText="I look first",
                    toolRequests=[{"toolCallId": "c1", "name": "bash", "arguments": LS}],
                ),
                _copilot("tool.execution_start", toolCallId="c1", toolName="bash", arguments=LS),
                _copilot(
                    "tool.execution_complete",
                    toolCallId="c1",
                    success=True,
                    result={"content": "a.txt\nb.txt"},
                ),
                _copilot("assistant.message", content="There are two", toolRequests=[]),
            ),
            "bash",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "kimi-code": [
        (
            _lines(
                {"type": "metadata", "protocol_version": "1.4"},
                {"type": "turn.prompt", "input": [_text(ASKED)], "origin": {"kind": "user"}},
                {
                    "type": "context.append_message",
                    "message": _said("user", _text(ASKED), origin={"kind": "user"}),
                },
                _kimi({"type": "step.begin", "step": 1}),
                _kimi({"type": "content.part", "part": {"type": "think", "think": "I look first"}}),
                {
                    "type": "permission.record_approval_result",
                    "toolCallId": "c1",
                    "toolName": "Bash",
                    "action": "Running: ls",
                    "result": {"decision": "approved"},
                },
                _kimi({"type": "tool.call", "toolCallId": "c1", "name": "Bash", "args": LS}),
                _kimi(
                    {
                        "type": "tool.result",
                        "toolCallId": "c1",
                        "result": {"output": "a.txt\nb.txt"},
                    }
                ),
                _kimi({"type": "content.part", "part": _text("There are two")}),
            ),
            "Bash",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "kimi-cli": [
        (
            _lines(
                {"type": "metadata", "protocol_version": "1.1"},
                _wire("TurnBegin", user_input=ASKED),
                _wire("StepBegin", n=1),
                _wire("ContentPart", type="think", think="I look first"),
                _wire(
                    "ToolCall",
                    type="function",
                    id="c1",
                    function={"name": "Bash", "arguments": json.dumps(LS)},
                ),
                _wire("ApprovalRequest", id="a", tool_call_id="c1", action="run ls"),
                _wire(
                    "ToolResult",
                    tool_call_id="c1",
                    return_value={"is_error": False, "output": "a.txt\nb.txt"},
                ),
                _wire("ContentPart", type="text", text="There are two"),
            ),
            "Bash",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "factory-droid-stream": [
        (
            _lines(
                _droid("system", subtype="init", cwd="/tmp"),
                _droid("message", role="user", text=ASKED),
                _droid("tool_call", id="c1", toolName="Execute", parameters=LS),
                _droid("tool_result", id="c1", isError=False, value="a.txt\nb.txt"),
                _droid("message", role="assistant", text="There are two"),
                _droid("completion", finalText="There are two"),
            ),
            "Execute",
            [USER, CALLED, SAID],
        )
    ],
    "factory-droid": [
        (
            _lines(
                {"type": "session_start", "id": "s", "cwd": "/tmp", "title": "List"},
                _entry("user", _text("<system-reminder>date</system-reminder>"), _text(ASKED)),
                _entry("assistant", {"type": "thinking", "thinking": "I look first"}, USE),
                _entry("user", RESULT),
                _entry("assistant", _text("There are two")),
            ),
            "Execute",
            [("system", "system", "date", ""), USER, THOUGHT, CALLED, SAID],
        )
    ],
    "cursor-cli": [
        (
            _lines(
                {"role": "user", "message": {"content": [_text(ASKED)]}},
                {
                    "role": "assistant",
                    "message": {
                        "content": [
                            {"type": "thinking", "thinking": "I look first"},
                            {"type": "tool_use", "name": "Shell", "input": LS},
                        ]
                    },
                },
                {"role": "user", "message": {"content": [RESULT]}},
                {"role": "assistant", "message": {"content": [_text("There are two")]}},
            ),
            "Shell",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "cursor-stream": [
        (
            _lines(
                _cursor("system", subtype="init", cwd="/tmp"),
                _cursor("user", message=_said("user", _text(ASKED))),
                _cursor("thinking", subtype="delta", text="I look"),
                _cursor("thinking", subtype="delta", text=" first"),
                _cursor(
                    "tool_call",
                    subtype="started",
                    call_id="c1",
                    tool_call={"shellToolCall": {"args": LS}},
                ),
                _cursor(
                    "tool_call",
                    subtype="completed",
                    call_id="c1",
                    tool_call={
                        "shellToolCall": {
                            "args": LS,
                            "result": {"success": {"content": "a.txt\nb.txt"}},
                        }
                    },
                ),
                _cursor("assistant", message=_said("assistant", _text("There are two"))),
                _cursor("result", subtype="success", result="There are two"),
            ),
            "shell",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "antigravity-cli": [
        (
            _lines(
                _step("USER_INPUT", "USER_EXPLICIT", content=ASKED),
                _step(
                    "PLANNER_RESPONSE",
                    thinking="I look first",
                    tool_calls=[{"name": "run_command", "args": {"CommandLine": '"ls"'}}],
                ),
                _step("RUN_COMMAND", content="a.txt\nb.txt"),
                _step("VIEW_FILE", content="1: hello"),
                _step("PLANNER_RESPONSE", content="There are two"),
                _step("CONVERSATION_HISTORY", "SYSTEM"),
            ),
            "run_command",
            [USER, THOUGHT, CALLED, ("action", "assistant", "VIEW_FILE", "1: hello"), SAID],
        )
    ],
    "pi": [
        (
            _lines(
                {
                    "type": "session",
                    "version": 3,
                    "id": "s",
                    "timestamp": "2026-01-01T00:00:00Z",
                    "cwd": "/tmp",
                },
                _entry("user", _text(ASKED)),
                _entry(
                    "assistant",
                    {"type": "thinking", "thinking": "I look first"},
                    {"type": "toolCall", "id": "c1", "name": "bash", "arguments": LS},
                ),
                _entry("toolResult", _text("a.txt\nb.txt"), toolCallId="c1", isError=False),
                _entry("assistant", _text("There are two")),
            ),
            "bash",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "ai-sdk": [
        (
            [
                {"id": "1", "role": "user", "parts": [_text(ASKED)]},
                {
                    "id": "2",
                    "role": "assistant",
                    "parts": [
                        {"type": "step-start"},
                        {"type": "reasoning", "text": "I look first"},
                        {
                            "type": "tool-shell",
                            "toolCallId": "c1",
                            "state": "output-available",
                            "input": LS,
                            "output": "a.txt\nb.txt",
                        },
                        _text("There are two"),
                    ],
                },
            ],
            "shell",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "goose": [
        (
            lines,
            "developer__shell",
            [USER, CALLED, SAID],
        )
        for messages in [
            [
                _said("user", _text(ASKED), created=1),
                _said(
                    "assistant",
                    {
                        "type": "toolRequest",
                        "id": "c1",
                        "toolCall": {
                            "status": "success",
                            "value": {"name": "developer__shell", "arguments": LS},
                        },
                    },
                    created=2,
                ),
                _said(
                    "user",
                    {
                        "type": "toolResponse",
                        "id": "c1",
                        "toolResult": {"status": "success", "value": [_text("a.txt\nb.txt")]},
                    },
                    created=3,
                ),
                _said("assistant", _text("There are two"), created=4),
            ]
        ]
        for lines in (
            _lines({"working_dir": "/tmp", "description": "list"}, *messages),
            {"id": "s", "working_dir": "/tmp", "conversation": messages},
        )
    ],
    "vscode-chat": [
        (
            {
                "responderUsername": "GitHub Copilot",
                "requests": [
                    {
                        "message": {"text": ASKED},
                        "response": [
                            {"kind": "thinking", "value": "I look first"},
                            {
                                "kind": "toolInvocationSerialized",
                                "toolId": "run_in_terminal",
                                "toolCallId": "c1",
                                "toolSpecificData": {"commandLine": {"original": "ls"}},
                                "resultDetails": {"output": "a.txt\nb.txt"},
                            },
                            {"value": "There are two"},
                        ],
                        "result": result,
                    }
                ],
            },
            "run_in_terminal",
            rows,
        )
        for result, rows in _VSCODE_RESULTS
    ],
    "vscode-chat-log": [
        (
            _lines(
                {"kind": 0, "v": {"version": 3, "requests": []}},
                {"kind": 1, "k": ["customTitle"], "v": "List"},
                {
                    "kind": 2,
                    "k": ["requests"],
                    "v": [{"message": {"text": ASKED}, "response": [{"kind": "undoStop"}]}],
                },
                {
                    "kind": 2,
                    "k": ["requests", 0, "response"],
                    "v": [
                        {"kind": "thinking", "value": "I look first"},
                        {
                            "kind": "toolInvocationSerialized",
                            "toolId": "run_in_terminal",
                            "toolCallId": "c1",
                            "toolSpecificData": {"commandLine": "ls"},
                        },
                        {
                            "kind": "toolInvocationSerialized",
                            "toolId": "run_in_terminal",
                            "toolCallId": "c1",
                            "toolSpecificData": {
                                "commandLine": "ls",
                                "terminalCommandOutput": {"text": "a.txt\nb.txt"},
                            },
                        },
                        {"value": "There are two"},
                    ],
                },
            ),
            "run_in_terminal",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "atif": [
        (
            {
                "schema_version": "ATIF-v1.5",
                "agent": {"name": "terminus-2"},
                "steps": [
                    {"step_id": 1, "source": "user", "message": ASKED},
                    {
                        "step_id": 2,
                        "source": "agent",
                        "message": "",
                        "reasoning_content": "I look first",
                        "tool_calls": [
                            {"tool_call_id": "c1", "function_name": "bash", "arguments": LS}
                        ],
                        "observation": {
                            "results": [{"source_call_id": "c1", "content": "a.txt\nb.txt"}]
                        },
                    },
                    {"step_id": 3, "source": "agent", "message": "There are two"},
                ],
            },
            "bash",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "opencode": [
        (
            {
                "info": {"id": "s"},
                "messages": [
                    {"info": {"role": "user", "id": "m1"}, "parts": [_text(ASKED)]},
                    {
                        "info": {"role": "assistant", "id": "m2"},
                        "parts": [
                            {"type": "step-start"},
                            {"type": "reasoning", "text": "I look first"},
                            TOOL_PART,
                            _text("There are two"),
                        ],
                    },
                ],
            },
            "bash",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
    "opencode-run": [
        (
            _lines(
                {"type": "step_start", "timestamp": 1, "sessionID": "s", "part": {"type": "step"}},
                {"type": "tool_use", "timestamp": 2, "sessionID": "s", "part": TOOL_PART},
                {"type": "text", "timestamp": 3, "sessionID": "s", "part": _text("There are two")},
            ),
            "bash",
            [CALLED, SAID],
        )
    ],
    "cline": [
        (
            [
                _said("user", _text(f"<task>\n{ASKED}\n</task>"), CONTEXT),
                _said(
                    "assistant",
                    _text(
                        "I look first\n<execute_command>\n<command>ls</command>\n"
                        "<task_progress>\n- [ ] List\n- [ ] Test\n</task_progress>\n"
                        "</execute_command>"
                    ),
                ),
                _said(
                    "user",
                    _text("[execute_command for 'ls'] Result:"),
                    _text("a.txt\nb.txt"),
                    CONTEXT,
                ),
                _said("assistant", _text("There are two")),
            ],
            "execute_command",
            [
                USER,
                ("system", "system", "Current Time", ""),
                ("message", "assistant", "I look first", ""),
                ("reasoning", "assistant", "- [ ] List\n- [ ] Test", ""),
                CALLED,
                ("system", "system", "Current Time", ""),
                SAID,
            ],
        ),
        (
            [
                _said("user", _text(f"<task>\n{ASKED}\n</task>"), CONTEXT),
                _said("assistant", {"type": "thinking", "thinking": "I look first"}, USE),
                _said("user", _text("[Execute for 'ls'] Result:"), _text("a.txt\nb.txt"), CONTEXT),
                _said("assistant", _text("There are two")),
            ],
            "Execute",
            [
                USER,
                ("system", "system", "Current Time", ""),
                THOUGHT,
                CALLED,
                ("system", "system", "Current Time", ""),
                SAID,
            ],
        ),
    ],
    "cline-ui": [
        (
            [
                {"ts": 1, "type": "say", "say": "task", "text": ASKED},
                {"ts": 2, "type": "say", "say": "api_req_started", "text": "{}"},
                {"ts": 3, "type": "say", "say": "reasoning", "text": "I look first"},
                {"ts": 4, "type": "ask", "ask": "command", "text": "ls"},
                {"ts": 5, "type": "say", "say": "command_output", "text": "a.txt\nb.txt"},
                {"ts": 6, "type": "say", "say": "completion_result", "text": "There are two"},
            ],
            "execute_command",
            [USER, THOUGHT, CALLED, SAID],
        )
    ],
}
CASES = [
    pytest.param(name, *sample, id=f"{name}-{number}")
    for name, samples in SAMPLES.items()
    for number, sample in enumerate(samples)
]


def _describe(event: Event) -> str:
    return f"{event.text} {event.name} {json.dumps(event.arguments)}"


@pytest.mark.parametrize(("reader", "value", "tool", "rows"), CASES)
def test_calls_results_texts_and_their_order(
    reader: str, value: Any, tool: str, rows: list[tuple[str, str, str, str]]
) -> None:
    source = Source.from_value(value)
    trace = read_trace(source)
    assert trace.reader == reader
    found = [(event.kind.value, event.actor) for event in trace.events]
    assert found == [(kind, actor) for kind, actor, _, _ in rows]
    for event, (_, _, said, output) in zip(trace.events, rows, strict=True):
        assert said in (event.text if event.kind is Kind.MESSAGE else _describe(event))
        assert event.output == output
    calls = [event for event in trace.events if event.output == "a.txt\nb.txt"]
    assert [event.name for event in calls] == [tool] * bool(tool)
    assert all(event.status is EventStatus.OK for event in calls)
    assert all("ls" in (event.arguments or {}).values() for event in calls)
    assert all(why.why.find("no rule") < 0 for why in trace.skipped)


@pytest.mark.parametrize(("reader", "value", "tool", "rows"), CASES)
def test_pointers_lead_to_what_the_events_say(
    reader: str, value: Any, tool: str, rows: list[tuple[str, str, str, str]]
) -> None:
    source = Source.from_value(value)
    for event, (_, _, said, _) in zip(read_trace(source).events, rows, strict=True):
        first_line = said.split("\n", 1)[0]
        assert first_line in json.dumps(resolve(source.document, event.pointer))
        if event.output_pointer is not None:
            span = resolve(source.document, event.output_pointer)
            assert json.dumps(event.output)[1:-1] in json.dumps(span)


@pytest.mark.parametrize(("reader", "value", "tool", "rows"), CASES)
def test_only_one_reader_claims_a_sample(
    reader: str, value: Any, tool: str, rows: list[tuple[str, str, str, str]]
) -> None:
    source = Source.from_value(value)
    names = [name for name in list_readers() if name != FALLBACK_READER]
    assert [name for name in names if load_reader(name).sniff(source)] == [reader]


def test_the_call_of_a_sub_agent_names_the_call_that_started_it() -> None:
    trace = read_trace(
        Source.from_value(
            _lines(
                _copilot("user.message", content=ASKED),
                _copilot("tool.execution_start", toolCallId="c1", toolName="task", arguments={}),
                _copilot(
                    "assistant.message",
                    content="I look",
                    parentToolCallId="c1",
                    toolRequests=[{"toolCallId": "c2", "name": "view", "arguments": {"path": "a"}}],
                ),
            )
        )
    )
    assert [event.parent for event in trace.events] == [None, None, "e2", "e2"]


def test_a_record_that_repeats_a_call_is_named() -> None:
    trace = read_trace(Source.from_value(SAMPLES["copilot-cli"][0][0]))
    repeated = [part.pointer for part in trace.skipped if part.why == "repeats a call"]
    assert repeated == ["L5"]


def test_a_failed_command_has_its_status() -> None:
    trace = read_trace(Source.from_value(SAMPLES["codex-exec"][0][0]))
    make = trace.events[3]
    assert (make.output, make.status) == ("", EventStatus.ERROR)
    assert make.output_pointer == "L6/item/aggregated_output"
