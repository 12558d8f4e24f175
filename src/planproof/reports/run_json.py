"""Runs, a summary, a comparison and a gate as JSON. Nothing is masked here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from planproof.core.content import Json
from planproof.core.verdict import values
from planproof.runs.compare import Comparison
from planproof.runs.gate import Check
from planproof.runs.run_records import Run
from planproof.runs.summary import Summary


def runs_json(runs: Iterable[Run]) -> str:
    """A list of runs."""
    return _written([run_value(run) for run in runs])


def summary_json(run: Run, summary: Summary) -> str:
    """A run and what it comes to."""
    return _written({"run": run_value(run), "summary": values(summary)})


def comparison_json(base: Run, new: Run, comparison: Comparison) -> str:
    """Two runs and what changed."""
    return _written(
        {
            "base": run_value(base),
            "new": run_value(new),
            "comparison": {"paired": comparison.paired, **values(comparison)},
        }
    )


def gate_json(run: Run, found: Sequence[Check]) -> str:
    """Whether a run passes, and every condition with its figures."""
    passed = all(check.held for check in found)
    return _written({"run": run_value(run), "passed": passed, "checks": values(tuple(found))})


def run_value(run: Run) -> Json:
    """A run as JSON values."""
    return {
        "id": run.id,
        "state": run.state.value,
        "created": run.created.isoformat(),
        "finished": run.finished and run.finished.isoformat(),
        "source": run.source,
        "judge": values(run.judge),
        "fingerprint": run.fingerprint,
        "tags": dict(run.tags),
        "cases": run.cases,
    }


def _written(value: Json) -> str:
    return json.dumps(value, indent=2)
