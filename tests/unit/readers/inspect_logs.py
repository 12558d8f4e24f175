"""Small Inspect logs, packed as Inspect packs them."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any


def sample(number: int, said: str = "Done.") -> dict[str, Any]:
    """A sample in which the model calls a tool once."""
    return {
        "id": f"task-{number}",
        "epoch": 1,
        "input": f"Find flag {number}.",
        "target": "flag",
        "messages": [
            {"id": "m1", "role": "user", "content": f"Find flag {number}."},
            {
                "id": "m2",
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [{"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}],
            },
            {
                "id": "m3",
                "role": "tool",
                "content": "flag.txt",
                "tool_call_id": "c1",
                "function": "bash",
            },
            {"id": "m4", "role": "assistant", "content": said},
        ],
    }


def log(count: int = 3) -> dict[str, Any]:
    """The JSON form of a log."""
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "flags", "model": "mockllm/model"},
        "samples": [sample(number) for number in range(1, count + 1)],
    }


def pack_log(entries: dict[str, bytes] | None = None, count: int = 3) -> bytes:
    """The bytes of a `.eval` file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2}))
        for number in range(1, count + 1):
            name = f"samples/task-{number}_epoch_1.json"
            archive.writestr(name, json.dumps(sample(number)))
        for name, content in (entries or {}).items():
            archive.writestr(name, content)
    return file.getvalue()
