"""Write an example next to the script that generates it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_example(
    script: str, *, task: str, plan: str, trace: Any, name: str = "trace.json"
) -> None:
    """Write the task, the plan and the trace."""
    folder = Path(script).resolve().parent
    for file, content in (("task.txt", task), ("plan.txt", plan)):
        folder.joinpath(file).write_text(content.rstrip() + "\n", encoding="utf-8")
    write_trace(script, trace, name=name)


def write_trace(script: str, trace: Any, *, name: str = "trace.json") -> None:
    """Write the trace: text as it is, JSON Lines if the name ends with .jsonl, or else JSON."""
    if isinstance(trace, str):
        text = trace
    elif name.endswith(".jsonl"):
        text = "\n".join(json.dumps(item, ensure_ascii=False) for item in trace)
    else:
        text = json.dumps(trace, indent=1, ensure_ascii=False)
    file = Path(script).resolve().parent / name
    file.write_text(text.rstrip() + "\n", encoding="utf-8")
