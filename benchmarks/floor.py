"""The baseline: parse the trace and match tool names in order."""

from __future__ import annotations

import json
from collections.abc import Iterable


def match_in_order(trace: str, tools: Iterable[str]) -> float:
    """Return the share of the planned tools that were called in plan order."""
    called = [
        call["function"]["name"]
        for message in json.loads(trace)
        for call in message.get("tool_calls", ())
    ]
    matched = position = 0
    planned = tuple(tools)
    for tool in planned:
        try:
            position = called.index(tool, position) + 1
        except ValueError:
            continue
        matched += 1
    return matched / len(planned)
