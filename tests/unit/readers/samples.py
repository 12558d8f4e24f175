"""Small traces, one a shape, written by hand: what unit, contract and property tests read."""

from __future__ import annotations

import json
from typing import Any

from planproof.core.trace import Event, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.unit.readers import api_samples, span_samples


def read(trace: Any, reader: str | None = None) -> Trace:
    """Read a raw trace as a case file would hand it over."""
    return read_trace(Source.from_value(trace), reader=reader)


def brief(trace: Trace) -> list[tuple[str, str | None, str]]:
    """Kind, name and text of each event: what most tests look at."""
    return [(event.kind.value, event.name, event.text) for event in trace.events]


def actions(trace: Trace) -> list[Event]:
    """The actions of a trace."""
    return [event for event in trace.events if event.kind == "action"]


def lines(*records: dict[str, Any]) -> str:
    """Records as JSON Lines."""
    return "\n".join(json.dumps(record) for record in records)


def tool_call(name: str, arguments: dict[str, Any], call_id: str = "c1") -> dict[str, Any]:
    """An entry of `tool_calls`."""
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "You look after orders."},
    {"role": "user", "content": "Cancel order 7, please."},
    {
        "role": "assistant",
        "content": "I look the order up first.",
        "tool_calls": [tool_call("get_order", {"id": 7}, "c1"), tool_call("get_user", {}, "c2")],
    },
    {"role": "tool", "tool_call_id": "c2", "content": "Error: no user"},
    {"role": "tool", "tool_call_id": "c1", "content": '{"id": 7, "state": "pending"}'},
    {"role": "assistant", "content": "Shall I cancel it?"},
    {"role": "user", "content": "Yes."},
    {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "cancel_order", "arguments": '{"id": 7}'},
    },
    {"role": "function", "name": "cancel_order", "content": "done"},
    {"role": "assistant", "content": "It is cancelled."},
]
NATIVE: dict[str, Any] = {
    "events": [
        {"id": "a", "kind": "action", "name": "ls", "arguments": {"path": "."}, "output": "x"},
        {"id": "b", "kind": "message", "actor": "agent", "text": "There is x.", "parent": "a"},
    ]
}
GROUP_CHAT: list[dict[str, Any]] = [
    {"role": "user", "name": "Planner", "content": "Let us count the rows."},
    {
        "role": "assistant",
        "name": "Coder",
        "content": "I count them.\n\n```python\nprint(len(rows))\n```\n\nPlease run it.",
    },
    {"role": "user", "name": "Computer_terminal", "content": "exitcode: 1 (failed)\nNameError"},
    {"role": "user", "name": "Planner", "content": "TERMINATE"},
]
STAGED_CHAT: list[dict[str, Any]] = [
    {"role": "human", "content": "How many stops are there?"},
    {"role": "Orchestrator (thought)", "content": 'Updated Ledger:\n{"done": false}'},
    {"role": "Orchestrator (-> WebSurfer)", "content": "Search for the stops."},
    {
        "role": "WebSurfer",
        "content": "I typed 'stops. of the line' into the search bar.\n\n"
        "Here is a screenshot of [Search](https://example.org/s). The viewport shows 30%.",
    },
    {"role": "Assistant", "content": "There are 6 stops."},
    {"role": "Orchestrator (thought)", "content": "Request satisfied."},
    {"role": "Orchestrator (termination condition)", "content": "FINAL ANSWER: 6"},
]
THOUGHTS_AND_COMMANDS: dict[str, Any] = {
    "1": {
        "role": "assistant",
        "content": json.dumps(
            {
                "thoughts": {"text": "I read it.", "plan": "- read\n- write", "criticism": "N/A"},
                "command": {"name": "read_file", "args": {"filename": "a.py"}},
            }
        ),
    },
    "2": {"role": "assistant", "content": "a snippet that adds two numbers."},
    "10": {
        "role": "assistant",
        "content": json.dumps({"command": {"name": "finish", "args": {"reason": "done"}}}),
    },
}
ARRAYS: dict[str, Any] = {
    "turn_history": {
        "actions": ["ls /tmp", "```bash\nhead -n 1 a.txt\n```", "SELECT 1"],
        "observations": ["a.txt\n", "bash: line 1: BASH: command not found", "[(1,)]"],
        "valid_action": [True, False, True],
    },
    "info": {"actions": [{"name": "not_done", "kwargs": {"a": 1}}]},
}
CODING_SESSION: str = lines(
    {
        "type": "user",
        "uuid": "u1",
        "timestamp": "2025-09-03T00:47:19Z",
        "message": {"role": "user", "content": "Look around."},
    },
    {
        "type": "assistant",
        "uuid": "u2",
        "timestamp": "2025-09-03T00:47:20Z",
        "message": {
            "id": "m1",
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "A list helps."}],
        },
    },
    {
        "type": "assistant",
        "uuid": "u3",
        "message": {
            "id": "m1",
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
            ],
        },
    },
    {
        "type": "assistant",
        "uuid": "u4",
        "message": {
            "id": "m1",
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t2", "name": "Task", "input": {"prompt": "Dig."}}
            ],
        },
    },
    {
        "type": "user",
        "isSidechain": True,
        "uuid": "s1",
        "parentUuid": None,
        "message": {"role": "user", "content": "Dig."},
    },
    {
        "type": "assistant",
        "isSidechain": True,
        "uuid": "s2",
        "parentUuid": "s1",
        "message": {
            "id": "m2",
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t3", "name": "Read", "input": {"path": "deep.txt"}}
            ],
        },
    },
    {
        "type": "user",
        "uuid": "u5",
        "toolUseResult": {"messages": [{"role": "user", "content": "a duplicate"}]},
        "message": {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "is_error": True,
                    "content": [{"type": "text", "text": "refused"}],
                },
            ],
        },
    },
    {"type": "file-history-snapshot", "uuid": "u6", "snapshot": {}},
    {
        "type": "assistant",
        "uuid": "u7",
        "message": {
            "id": "m3",
            "role": "assistant",
            "content": [{"type": "text", "text": "There is a.txt."}],
        },
    },
)
ROLLOUT: str = lines(
    {"timestamp": "2025-09-25T01:22:20Z", "type": "session_meta", "payload": {"id": "x"}},
    {
        "timestamp": "2025-09-25T01:22:21Z",
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Make it fast."}],
        },
    },
    {
        "timestamp": "2025-09-25T01:22:22Z",
        "type": "response_item",
        "payload": {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "I look."}],
            "encrypted_content": "gAAA",
        },
    },
    {
        "timestamp": "2025-09-25T01:22:23Z",
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "name": "shell",
            "arguments": '{"command": ["ls"]}',
            "call_id": "c1",
        },
    },
    {
        "timestamp": "2025-09-25T01:22:24Z",
        "type": "response_item",
        "payload": {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output": "a.ts", "metadata": {"exit_code": 2}}',
        },
    },
    {
        "timestamp": "2025-09-25T01:22:25Z",
        "type": "response_item",
        "payload": {"type": "reasoning", "summary": [], "encrypted_content": "gBBB"},
    },
)
ACTION_RECORDS: list[dict[str, Any]] = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "Fix it."}},
    {
        "id": 1,
        "source": "agent",
        "timestamp": "2025-04-30T16:32:57",
        "action": "run",
        "args": {"command": "ls", "thought": "I look first."},
        "message": "Running command: ls",
    },
    {"id": 2, "source": "agent", "cause": 1, "observation": "run", "content": "a.c"},
]
STREAM: str = (
    'event: message_chunk\ndata: {"id": "r0", "role": "user", "content": "Count.", '
    '"finish_reason": "stop"}\n\n'
    'event: message_chunk\ndata: {"id": "r1", "role": "assistant", "agent": "counter", '
    '"thread_id": "t", "content": "I co"}\n\n'
    'event: message_chunk\ndata: {"id": "r1", "role": "assistant", "agent": "counter", '
    '"thread_id": "t", "content": "unt."}\n\n'
    'event: tool_calls\ndata: {"id": "r1", "role": "assistant", "agent": "counter", '
    '"tool_call_chunks": [{"name": "count", "args": "{\\"to\\"", "id": "k1", "index": 0}]}\n\n'
    'event: tool_call_chunks\ndata: {"id": "r1", "role": "assistant", "agent": "counter", '
    '"tool_call_chunks": [{"name": null, "args": ": 3}", "id": null, "index": 0}]}\n\n'
    'event: tool_call_result\ndata: {"id": "r2", "role": "assistant", "tool_call_id": "k1", '
    '"content": "1 2 3"}\n\n'
    "data: [DONE]\n"
)
RULE = "=" * 34
NOTEBOOK: str = (
    "Let me look at the genes.\n\n"
    "<execute>\nprint('genes')\n</execute>\n"
    f"{RULE}\x1b[1m Ai Message \x1b[0m{RULE}\n"
    "\n<observation>genes\n---------- not_a_header ----------\n</observation>\n"
    "1. [✓] look\n2. [ ] choose\n"
    f"{RULE} Human Message {RULE}\n"
    "Go on.\n"
    f"{RULE} Ai Message {RULE}\n"
    "I am done.\n"
)
REACT: str = (
    "Thought: I need the weather.\n"
    "Action: weather\n"
    'Action Input: {"city": "Oslo"}\n'
    "Observation: 4 degrees\n"
    "Thought: I know it now.\n"
    "Action: look_up[Oslo]\n"
    "Observation: a town\n"
    "Final Answer: It is cold in Oslo.\n"
)
INFO = "2025-04-01 02:57:5{}.500 | INFO     | app.agent:act:81 - "
LOG: str = (
    f"{INFO.format(1)}✨ Manus's thoughts: I search.\n"
    f"{INFO.format(2)}🧰 Tools being prepared: ['search']\n"
    f"{INFO.format(3)}🔧 Tool arguments: " + '{"query": "news"}\n'
    f"{INFO.format(4)}🎯 Tool 'search' completed its mission! Result: three\nlines\nhere\n"
    f"{INFO.format(5)}Progress: 1/2\n0. [✓] search\n1. [ ] tell\n"
)
ALL: dict[str, Any] = {
    "openai": OPENAI,
    "openai under a key": {"messages": OPENAI, "model": "m"},
    "openai lines": lines(*OPENAI),
    "native": NATIVE,
    "native lines": lines(*NATIVE["events"]),
    "group chat": GROUP_CHAT,
    "staged chat": STAGED_CHAT,
    "thoughts and commands": THOUGHTS_AND_COMMANDS,
    "arrays": ARRAYS,
    "coding session": CODING_SESSION,
    "rollout": ROLLOUT,
    "action records": ACTION_RECORDS,
    "stream": STREAM,
    "notebook": NOTEBOOK,
    "react": REACT,
    "log": LOG,
    **api_samples.ALL,
    **span_samples.ALL,
}
