"""Run a tool of npm: make.cjs next to a make.py, with the packages that package.json pins."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from order_desk import CALLS, INSTRUCTIONS, TASK, TOOLS, TURNS
from scripted_model import MODEL, scripted

_PROGRAMS = Path(__file__).parents[2] / ".venvs" / "npm"
_JSON_TYPES = {"str": "string", "int": "integer", "bool": "boolean", "list[str]": "array"}


def run_script(make: str) -> str:
    """Run make.cjs with the scripted model; return what it writes.

    It gets the model, the task, the tools and their results as JSON in its only argument.
    """
    folder = Path(make).resolve().parent
    modules = _install(folder / "package.json")
    tools = {tool.__name__: tool for tool in TOOLS}
    results = {
        json.dumps([call.name, call.arguments], separators=(",", ":")): tools[call.name](
            **call.arguments
        )
        for call in CALLS
    }
    with scripted(*TURNS) as url:
        run = {
            "url": url,
            "model": MODEL,
            "task": TASK,
            "instructions": INSTRUCTIONS,
            "tools": {name: _describe(tool) for name, tool in tools.items()},
            "results": results,
        }
        environment = {"PATH": os.environ["PATH"], "NODE_PATH": str(modules), "TZ": "UTC"}
        command = ["node", folder / "make.cjs", json.dumps(run)]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode()


def _describe(tool) -> dict:
    types = {name: _JSON_TYPES[kind] for name, kind in tool.__annotations__.items()}
    del types["return"]
    return {"description": tool.__doc__, "parameters": types}


def _install(pins: Path) -> Path:
    """Install the packages of a package.json, if that is not done; return their folder."""
    folder = _PROGRAMS / pins.parent.name
    copy = folder / "package.json"
    if not copy.exists() or copy.read_bytes() != pins.read_bytes():
        folder.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(pins.read_bytes())
        subprocess.run(["npm", "install", "--silent", "--prefix", folder], check=True)
    return folder / "node_modules"
