"""Small cases whose verdicts leave nothing to argue about."""

from __future__ import annotations

import json
from typing import Any


def called(number: int, name: str, **arguments: Any) -> list[dict[str, Any]]:
    """A tool call as chat messages, with its result."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": "ok"},
    ]


TASK = "Archive report 12 and mail it to Ann."
PLAN = [
    "Read file report-12.txt",
    "Copy report-12.txt to the folder archive",
    "Delete file draft-7.txt",
]
READ = called(1, "read_file", path="report-12.txt")
COPY = called(2, "copy_file", path="report-12.txt", folder="archive")
DELETE = called(3, "delete_file", path="draft-7.txt")

USER = {"role": "user", "content": TASK}
FOLLOWED: dict[str, Any] = {
    "id": "followed",
    "user_task": TASK,
    "agent_plan": PLAN,
    "execution_trace": [USER, *READ, *COPY, *DELETE],
}
IDLE: dict[str, Any] = {**FOLLOWED, "id": "idle", "execution_trace": [USER]}
PLANLESS: dict[str, Any] = {**FOLLOWED, "id": "planless", "agent_plan": []}
