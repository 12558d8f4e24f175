"""A recorded session of Claude Code, and what its hook is told when it stops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.golden_files import ROOT

EXAMPLES = ROOT / "examples"


def stop(session: Path, **more: Any) -> bytes:
    """What Claude Code writes on standard input when the agent stops."""
    told = {
        "session_id": session.stem,
        "transcript_path": str(session),
        "cwd": str(session.parent),
        "hook_event_name": "Stop",
        "stop_hook_active": False,
    }
    return json.dumps(told | more).encode()


def write_session(folder: Path) -> Path:
    """Write a session that scores 0.25, its sub-agent's lines in a file of their own."""
    lines = (EXAMPLES / "claude-code" / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    helper = [line for line in lines if '"isSidechain": true' in line]
    own = [line for line in lines if line not in helper]
    file = folder / "projects" / "0000.jsonl"
    (file.with_suffix("") / "subagents").mkdir(parents=True)
    file.write_text("\n".join(own) + "\n", encoding="utf-8")
    inner = file.with_suffix("") / "subagents" / "agent-1.jsonl"
    inner.write_text("\n".join(helper) + "\n", encoding="utf-8")
    return file
