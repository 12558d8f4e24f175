"""Running Codex on the scripted model; its rollouts without what differs, or is its own text."""

from __future__ import annotations

import re
from typing import Any

from settling import settled

LEFT_OUT = "(left out)"
_TOOK = re.compile(r'"duration_seconds":[\d.]+')


def provider(url: str) -> list[str]:
    """The options that make Codex ask the scripted model."""
    served = f'{{name="scripted", base_url="{url}/v1", wire_api="responses"}}'
    settings = {"model_provider": '"scripted"', "model_providers.scripted": served}
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    return ["--model", "gpt-5-codex", *options]


def settled_rollout(lines: list[Any]) -> list[Any]:
    """The lines of a rollout, settled; of the program's instructions only that there were some."""
    for line in lines:
        payload = line.get("payload", line)
        for key in ("instructions", "base_instructions", "user_instructions"):
            if payload.get(key):
                payload[key] = LEFT_OUT
        if payload.get("role") == "developer":
            payload["content"] = [{"type": "input_text", "text": LEFT_OUT}]
        if payload.get("type") == "function_call_output":
            payload["output"] = _TOOK.sub('"duration_seconds":0.0', payload["output"])
    return settled(lines)
