"""Small traces in the forms of model APIs and of the frameworks on top of them."""

from __future__ import annotations

import json
from typing import Any


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


def said(text: str, **more: Any) -> dict[str, Any]:
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
    said("I look up flights and the weather."),
    function_call("find_flights", {"to": "OSL"}, "c1"),
    function_call("get_weather", {"city": "Oslo"}, "c2"),
    function_call_output("c2", '{"error": "no such city"}'),
    function_call_output("c1", [{"type": "input_text", "text": "SK 4411"}]),
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "gBBB"},
    said("I book SK 4411 now, shall I?"),
    {"role": "user", "content": "Yes."},
    function_call("book", {"flight": "SK 4411"}, "c3"),
    function_call_output("c3", "booked"),
    said("Booked: SK 4411."),
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
    said("It is 828 m tall."),
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
            "response": {"id": "resp_2", "object": "response", "output": [said("828 m.")]},
        },
    )
)
RESPONSES: dict[str, Any] = {
    "response items": RESPONSE_ITEMS,
    "response items, lines": "\n".join(map(json.dumps, RESPONSE_ITEMS)),
    "input and output": {"input": RESPONSE_ITEMS[:2], "output": RESPONSE_ITEMS[2:]},
    "responses, logged": RESPONSES_LOG,
    "hosted tools": HOSTED_TOOLS,
}
BY_READER: dict[str, dict[str, Any]] = {"openai-responses": RESPONSES}
ALL: dict[str, Any] = {
    name: sample for samples in BY_READER.values() for name, sample in samples.items()
}
READERS: dict[str, str] = {
    name: reader for reader, samples in BY_READER.items() for name in samples
}
"""Which reader is to claim which sample."""
