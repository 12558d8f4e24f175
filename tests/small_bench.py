"""A bench of a few cases in the layout of the real one, with programs of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.trace_builders import asked, did, trace

_TRACE = trace(
    asked("Refund order A-1042."),
    did("get_order", order="A-1042"),
    did("refund_order", order="A-1042"),
)
_FAITHFUL = ["Look up order A-1042 with get_order", "Refund order A-1042 with refund_order"]
_EXPAND = """
import json
from pathlib import Path

HERE = Path(__file__).parent


def cases(split):
    with (HERE / "asked.txt").open("a") as log:
        log.write(split + "\\n")
    lines = (HERE / "traces.jsonl").read_text().splitlines()
    return [case for case in map(json.loads, lines) if case["split"] == split]
"""
_SCORE = """
def folded(value):
    return " ".join(str(value).lower().split())


def at_pointer(trace, pointer):
    return trace


def share(hits):
    hits = list(hits)
    return sum(hits) / len(hits) if hits else float("nan")


def constructed(cases, got):
    score = lambda case: got.get(case["id"], {}).get("score")
    kind = lambda case: case["label"]["kind"]
    clean = [case for case in cases if kind(case) == "faithful"]
    flawed = [case for case in cases if kind(case) != "faithful"]
    caught = lambda case: score(case) is not None and score(case) <= 0.5
    return {
        "cases": len(cases),
        "pass_clean": share(score(case) is not None and score(case) >= 0.75 for case in clean),
        "catch_flawed": share(map(caught, flawed)),
        "catch_missing": share(caught(case) for case in flawed if kind(case) == "missing"),
        "locate_strictly": share(bool(got[case["id"]]["steps"]) for case in flawed),
        "told_apart": 0.0,
        "ranked_below_origin": 0.0,
    }
"""


def v2_case(base: str, kind: str, split: str = "train", source: str = "a/b") -> dict[str, Any]:
    """A case whose plan was followed (`faithful`), or has one step more (`missing`)."""
    more = ["Archive the quarterly inventory in the vault"] if kind == "missing" else []
    label: dict[str, Any] = {"kind": kind, "wording": "faithful", "style": "terse"}
    if more:
        label["step"] = len(_FAITHFUL) + 1
    return {
        "id": f"{base}::{kind}",
        "base": base,
        "split": split,
        "source": source,
        "user_task": "Refund order A-1042.",
        "agent_plan": [*_FAITHFUL, *more],
        "execution_trace": _TRACE,
        "label": label,
    }


def write_bench(folder: Path, cases: list[dict[str, Any]]) -> Path:
    """Write a bench whose second part has these cases, and whose first part is not there."""
    v2 = folder / "v2"
    v2.mkdir(parents=True, exist_ok=True)
    (folder / "score.py").write_text(_SCORE, encoding="utf-8")
    (v2 / "expand.py").write_text(_EXPAND, encoding="utf-8")
    anchors = ["get_order", "refund_order"]
    plans = [{"id": case["id"], "actions": anchors, "anchors": anchors} for case in cases]
    (v2 / "plans.jsonl").write_text(
        "".join(json.dumps(plan) + "\n" for plan in plans), encoding="utf-8"
    )
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    (v2 / "traces.jsonl").write_text(lines, encoding="utf-8")
    return folder
