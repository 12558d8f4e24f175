"""JSON reports: a verdict as score and reason or in full, and runs with their summaries.

Nothing is masked: quotes must stay as they are in the trace, so that they can be verified.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from planproof.core.content import Json
from planproof.core.verdict import Verdict, to_json_values
from planproof.runs.compare import Comparison
from planproof.runs.gate import GateCheck
from planproof.runs.run_records import Run
from planproof.runs.summary import Summary

# ASCII only: every terminal can show it, and lone surrogates can be written.


def to_brief_json(verdict: Verdict) -> str:
    """Return exactly `{"score": ..., "reason": ...}`."""
    return json.dumps(verdict.brief())


def to_full_json(verdict: Verdict) -> str:
    """Return the full verdict, indented."""
    return json.dumps(verdict.full(), indent=2)


def to_json_line(verdict: Verdict) -> str:
    """Return the full verdict on one line, for JSON Lines."""
    return json.dumps(verdict.full(), separators=(",", ":"))


def runs_to_json(runs: Iterable[Run]) -> str:
    """Return a list of runs."""
    return _dump_json([run_to_dict(run) for run in runs])


def summary_to_json(run: Run, summary: Summary) -> str:
    """Return a run and its summary."""
    return _dump_json({"run": run_to_dict(run), "summary": to_json_values(summary)})


def comparison_to_json(base: Run, new: Run, comparison: Comparison) -> str:
    """Return two runs and their comparison."""
    return _dump_json(
        {
            "base": run_to_dict(base),
            "new": run_to_dict(new),
            "comparison": {"paired": comparison.pair_count, **to_json_values(comparison)},
        }
    )


def gate_to_json(run: Run, summary: Summary, checks: Sequence[GateCheck]) -> str:
    """Return the result of a gate, and every condition with its figures."""
    passed = all(check.held for check in checks)
    return _dump_json(
        {
            "run": run_to_dict(run),
            "passed": passed,
            "checks": to_json_values(tuple(checks)),
            "low_confidence": summary.low_confidence,
        }
    )


def run_to_dict(run: Run) -> Json:
    """Convert a run to JSON values."""
    return {
        "id": run.id,
        "state": run.state.value,
        "created": run.created.isoformat(),
        "finished": run.finished and run.finished.isoformat(),
        "source": run.source,
        "judge": to_json_values(run.judge),
        "fingerprint": run.fingerprint,
        "tags": dict(run.tags),
        "cases": run.cases,
    }


def _dump_json(value: Json) -> str:
    return json.dumps(value, indent=2)
