"""Run Codex with the scripted model, and normalize its rollouts."""

from __future__ import annotations

import re
from typing import Any

from normalization import normalize_trace

LEFT_OUT = "(left out)"
_TOOK = re.compile(r'"duration_seconds":[\d.]+')


def provider(url: str) -> list[str]:
    """Return the options that make Codex use the scripted model."""
    served = f'{{name="scripted", base_url="{url}/v1", wire_api="responses"}}'
    settings = {"model_provider": '"scripted"', "model_providers.scripted": served}
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    return ["--model", "gpt-5-codex", *options]


def normalize_rollout(lines: list[Any]) -> list[Any]:
    """Return the normalized lines of a rollout, without the instructions of Codex."""
    for line in lines:
        payload = line.get("payload", line)
        for key in ("instructions", "base_instructions", "user_instructions"):
            if payload.get(key):
                payload[key] = LEFT_OUT
        if payload.get("role") == "developer":
            payload["content"] = [{"type": "input_text", "text": LEFT_OUT}]
        if payload.get("type") == "function_call_output":
            payload["output"] = _TOOK.sub('"duration_seconds":0.0', payload["output"])
    return normalize_trace(lines)
