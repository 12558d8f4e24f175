"""Make cases of the traces in this repository, for `scripts.verdict_projection`.

Every trace is judged with its own plan and its declared plan, if there are any, and with plans that
are derived from the actions counted by a person. The derived plans are followed, reversed,
incomplete, too long, or unrelated, so that all parts of the alignment are used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.parallel_verdicts import Record

_FOLDERS = ("examples", "tests/goldens")
_MISSING_STEP = "Archive the quarterly inventory spreadsheet in the vault."
_ABSTRACT = [
    "Find out what the user needs.",
    "Do it with the tools at hand.",
    "Check the result.",
    "Tell the user what was done.",
]


def generate_golden_cases(root: Path) -> Iterator[Record]:
    """Yield the cases of all traces in a checkout. An id has a path and the name of a plan."""
    for parent in _FOLDERS:
        for expected in sorted((root / parent).glob("*/expected.json")):
            yield from _generate_folder_cases(f"{parent}/{expected.parent.name}", expected)
    documents = root / "docs" / "examples"
    for file in sorted([*documents.glob("*.json"), *documents.glob("*.jsonl")]):
        yield from _generate_document_cases(f"docs/examples/{file.name}", file)


def derive_plans(actions: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return plans by name, derived from the counted actions (`name`, `holds`) of a trace."""
    calls = [f"Call {action['name']} with {action['holds']}" for action in actions]
    words = [f"{action['name'].replace('_', ' ').capitalize()}." for action in actions]
    middle = len(calls) // 2
    plans = {
        "calls": calls,
        "names": words,
        "reversed": calls[::-1],
        "every-other": calls[::2],
        "one-more": [*calls[:middle], _MISSING_STEP, *calls[middle:]],
        "abstract": _ABSTRACT,
    }
    return {name: plan for name, plan in plans.items() if plan}


def _generate_folder_cases(id_: str, expected_file: Path) -> Iterator[Record]:
    folder, expected = expected_file.parent, json.loads(expected_file.read_bytes())
    (trace,) = folder.glob("trace.*")
    task = _read_optional_text(folder / "task.txt")
    plans: dict[str, Any] = derive_plans(expected["actions"])
    if own := _read_optional_text(folder / "plan.txt"):
        plans["own"] = own
    if expected["plan"] is not None:
        plans["declared"] = None
    for name, plan in plans.items():
        yield {
            "id": f"{id_}::{name}",
            "user_task": task,
            "agent_plan": plan,
            "trace_file": str(trace),
            "pick": expected.get("pick"),
        }


def _generate_document_cases(id_: str, file: Path) -> Iterator[Record]:
    """Yield the cases of a docs file: as they are, or its traces with the plan next to it."""
    text = file.read_text(encoding="utf-8")
    own = _read_optional_text(file.parent / "plan.md")
    for number, line in enumerate([text] if file.suffix == ".json" else text.split("\n"), 1):
        try:
            value = json.loads(line)
        except ValueError:
            continue  # some examples of the docs have a bad line on purpose
        case_id = f"{id_}:{number}"
        if isinstance(value, dict) and "execution_trace" in value:
            yield {**value, "id": case_id, "base": case_id}
            continue
        for name, plan in (("own", own), ("declared", None), ("abstract", _ABSTRACT)):
            yield {
                "id": f"{case_id}::{name}",
                "base": case_id,
                "user_task": None,
                "agent_plan": plan,
                "execution_trace": value,
            }


def _read_optional_text(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None
