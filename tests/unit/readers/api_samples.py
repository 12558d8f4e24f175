"""Small traces in the forms of model APIs; those of frameworks on top of them come along."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.readers import framework_samples


def function_call(name: str, arguments: dict[str, Any], call_id: str) -> dict[str, Any]:
    """An item of the Responses API: ids of the item and of the call differ."""
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
    }


def function_call_output(call_id: str, output: Any) -> dict[str, Any]:
    """The result of such a call."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def message_item(text: str, **more: Any) -> dict[str, Any]:
    """A message of the model, as an item."""
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
        **more,
    }


RESPONSE_ITEMS: list[dict[str, Any]] = [
    {"role": "developer", "content": "You book flights."},
    {"role": "user", "content": [{"type": "input_text", "text": "Book me to Oslo."}]},
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "I look first."}],
        "encrypted_content": "gAAA",
    },
    message_item("I look up flights and the weather."),
    function_call("find_flights", {"to": "OSL"}, "c1"),
    function_call("get_weather", {"city": "Oslo"}, "c2"),
    function_call_output("c2", '{"error": "no such city"}'),
    function_call_output("c1", [{"type": "input_text", "text": "SK 4411"}]),
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gBBB"},
    message_item("I book SK 4411 now, shall I?"),
    {"role": "user", "content": "Yes."},
    function_call("book", {"flight": "SK 4411"}, "c3"),
    function_call_output("c3", "booked"),
    message_item("Booked: SK 4411."),
]
HOSTED_TOOLS: list[dict[str, Any]] = [
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "tallest tower", "sources": None},
    },
    {
        "type": "web_search_call",
        "id": "ws_2",
        "status": "failed",
        "action": {"type": "open_page", "url": "https://example.org/towers"},
    },
    {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["tower height"],
        "results": [{"file_id": "f1", "filename": "towers.md", "score": 0.9, "text": "828 m"}],
    },
    {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "status": "completed",
        "container_id": "cntr_1",
        "code": "print(828 * 2)",
        "outputs": [{"type": "logs", "logs": "1656\n"}],
    },
    {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "k1",
        "status": "completed",
        "pending_safety_checks": [],
        "action": {"type": "click", "button": "left", "x": 10, "y": 20},
    },
    {
        "type": "computer_call_output",
        "call_id": "k1",
        "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,aGk="},
    },
    {
        "type": "computer_call",
        "id": "cu_2",
        "call_id": "k2",
        "status": "completed",
        "pending_safety_checks": [],
        "actions": [{"type": "move", "x": 1, "y": 2}, {"type": "type", "text": "towers"}],
    },
    {
        "type": "mcp_list_tools",
        "id": "ml_1",
        "server_label": "maps",
        "tools": [{"name": "route", "input_schema": {}}],
    },
    {
        "type": "mcp_call",
        "id": "mc_1",
        "server_label": "maps",
        "name": "route",
        "arguments": '{"to": "Oslo"}',
        "output": None,
        "error": "quota exceeded",
    },
    {
        "type": "shell_call",
        "id": "sh_1",
        "call_id": "k3",
        "status": "completed",
        "action": {"commands": ["ls"], "timeout_ms": 1000},
    },
    {
        "type": "shell_call_output",
        "id": "sho_1",
        "call_id": "k3",
        "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}],
    },
    {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "revised_prompt": "a tower",
        "result": "aGk=",
    },
    message_item("It is 828 m tall."),
]
RESPONSES_LOG: str = "\n".join(
    json.dumps(record)
    for record in (
        {
            "request": {"instructions": "Be brief.", "input": "How tall is it?"},
            "response": {
                "id": "resp_1",
                "object": "response",
                "created_at": 1741476542,
                "output": [function_call("measure", {"what": "tower"}, "c1")],
            },
        },
        {
            "request": {
                "instructions": "Be brief.",
                "input": [
                    {"role": "user", "content": "How tall is it?"},
                    function_call("measure", {"what": "tower"}, "c1"),
                    function_call_output("c1", "828 m"),
                ],
            },
            "response": {"id": "resp_2", "object": "response", "output": [message_item("828 m.")]},
        },
    )
)


BLOCKS: list[dict[str, Any]] = [
    {"role": "user", "content": "What does the sign say?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I need a picture.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "c2VjcmV0"},
            {"type": "text", "text": "I take a picture."},
            {"type": "tool_use", "id": "u1", "name": "camera", "input": {"zoom": 2}},
            {"type": "tool_use", "id": "u2", "name": "clock", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "u2", "is_error": True, "content": "stopped"},
            {
                "type": "tool_result",
                "tool_use_id": "u1",
                "content": [
                    {"type": "text", "text": "taken"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    },
                ],
            },
            {"type": "text", "text": "Go on."},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {
                "type": "server_tool_use",
                "id": "srv1",
                "name": "web_search",
                "input": {"query": "sign"},
            },
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srv1",
                "content": [
                    {"type": "web_search_result", "title": "Signs", "url": "https://e.org"}
                ],
            },
            {
                "type": "server_tool_use",
                "id": "srv2",
                "name": "web_fetch",
                "input": {"url": "https://e.org"},
            },
            {
                "type": "web_fetch_tool_result",
                "tool_use_id": "srv2",
                "content": {"type": "web_fetch_tool_result_error", "error_code": "unavailable"},
            },
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It says stop."}]},
]
EXCHANGES: str = "\n".join(
    json.dumps(record)
    for record in (
        {
            "request": {"system": "Be brief.", "messages": BLOCKS[:1]},
            "response": {"type": "message", "content": BLOCKS[1]["content"]},
        },
        {
            "request": {
                "system": [{"type": "text", "text": "Be brief."}],
                "messages": BLOCKS[:3],
            },
            "response": {"type": "message", "content": BLOCKS[4]["content"]},
        },
    )
)
ANTHROPIC: dict[str, Any] = {
    "content blocks": BLOCKS,
    "content blocks, lines": "\n".join(map(json.dumps, BLOCKS)),
    "a system prompt beside the messages": {"system": "Be brief.", "messages": BLOCKS[:1]},
    "requests and responses": EXCHANGES,
    "a response": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": BLOCKS[1]["content"],
        "stop_reason": "tool_use",
    },
}


def sdk_span(identity: str, parent: str | None, at: int, kind: str, **data: Any) -> dict[str, Any]:
    """A span of the Agents SDK; `error` goes to the span, the rest to its data."""
    return {
        "object": "trace.span",
        "id": identity,
        "trace_id": "trace_1",
        "parent_id": parent,
        "started_at": f"2026-01-01T09:00:{at:02d}.000000+00:00",
        "ended_at": f"2026-01-01T09:00:{at + 1:02d}.000000+00:00",
        "error": data.pop("error", None),
        "span_data": {"type": kind, **data},
    }


def call_message(text: str | None, *calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """A message of the model that asks for calls, given as id, name and arguments."""
    listed = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for i, n, a in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": listed or None}


_USER = {"role": "user", "content": "Reserve 12 and deliver them."}
_FIRST = call_message("I check.", ("c1", "check", {"item": "K"}), ("c2", "check", {"item": "L"}))
_SECOND = call_message(None, ("c3", "transfer_to_delivery_desk", {}))
_RESULTS = [
    {"role": "tool", "tool_call_id": "c1", "content": "40"},
    {"role": "tool", "tool_call_id": "c2", "content": "none"},
]
SDK_SPANS: list[dict[str, Any]] = [
    {"object": "trace", "id": "trace_1", "workflow_name": "w", "group_id": None, "metadata": None},
    sdk_span("g1", "a1", 2, "guardrail", name="business only", triggered=False),
    sdk_span("m1", "a1", 3, "generation", input=[_USER], output=[_FIRST], model="m"),
    sdk_span("f2", "a1", 5, "function", name="check", input='{"item": "L"}', output="none"),
    sdk_span("f1", "a1", 4, "function", name="check", input='{"item": "K"}', output="40"),
    sdk_span("m2", "a1", 6, "generation", input=[_USER, _FIRST, *_RESULTS], output=[_SECOND]),
    sdk_span("h1", "a1", 7, "handoff", from_agent="Stock desk", to_agent="Delivery desk"),
    sdk_span("a1", "t1", 1, "agent", name="Stock desk", handoffs=["Delivery desk"], tools=[]),
    sdk_span("r1", "a2", 9, "response", response_id="resp_1", usage=None),
    sdk_span(
        "m3",
        "a3",
        12,
        "response",
        input="Where to?",
        response={"output": [function_call("look_up", {"customer": "Hofer"}, "c9")]},
    ),
    sdk_span(
        "f4",
        "a3",
        13,
        "function",
        name="look_up",
        input='{"customer": "Hofer"}',
        output=None,
        error={"message": "Error running tool", "data": None},
    ),
    sdk_span("a3", "f3", 11, "agent", name="Address book", handoffs=[], tools=[]),
    sdk_span("f3", "a2", 10, "function", name="ask_address_book", input="Where to?", output="Wien"),
    sdk_span("p1", "a2", 14, "custom", name="plan", data={"steps": ["pack", "ship"]}),
    sdk_span("x1", "a2", 15, "custom", name="database", data={"rows": 3}),
    sdk_span("a2", "t1", 8, "agent", name="Delivery desk", handoffs=[], tools=[]),
    sdk_span("t1", None, 0, "custom", name="task", data={"sdk_span_type": "task"}),
]
SDK: dict[str, Any] = {
    "spans of the SDK": {"data": SDK_SPANS},
    "spans of the SDK, lines": "\n".join(map(json.dumps, SDK_SPANS)),
    "spans of the SDK, batches": json.dumps(SDK_SPANS[:5]) + "\n" + json.dumps(SDK_SPANS[5:]),
}
RESPONSES: dict[str, Any] = {
    "response items": RESPONSE_ITEMS,
    "response items, lines": "\n".join(map(json.dumps, RESPONSE_ITEMS)),
    "input and output": {"input": RESPONSE_ITEMS[:2], "output": RESPONSE_ITEMS[2:]},
    "responses, logged": RESPONSES_LOG,
    "hosted tools": HOSTED_TOOLS,
}
BY_READER: dict[str, dict[str, Any]] = {
    "openai-responses": RESPONSES,
    "openai-agents": SDK,
    "anthropic-messages": ANTHROPIC,
    **framework_samples.BY_READER,
}
ALL: dict[str, Any] = {
    name: sample for samples in BY_READER.values() for name, sample in samples.items()
}
READERS: dict[str, str] = {
    name: reader for reader, samples in BY_READER.items() for name in samples
}
"""Which reader is to claim which sample."""
