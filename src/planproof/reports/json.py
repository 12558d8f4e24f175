"""A verdict as JSON: the two fields of the specification, or all that they rest on.

Nothing is masked here: quotes must stay what the trace says, or nobody could verify them.
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

# ASCII only: every byte can be shown on every terminal, and lone surrogates can be written.


def to_brief_json(verdict: Verdict) -> str:
    """Exactly `{"score": ..., "reason": ...}`."""
    return json.dumps(verdict.brief())


def to_full_json(verdict: Verdict) -> str:
    """The whole verdict, indented for reading."""
    return json.dumps(verdict.full(), indent=2)


def to_json_line(verdict: Verdict) -> str:
    """The whole verdict on one line, for a file of many."""
    return json.dumps(verdict.full(), separators=(",", ":"))


def runs_to_json(runs: Iterable[Run]) -> str:
    """A list of runs."""
    return _dump_json([run_to_dict(run) for run in runs])


def summary_to_json(run: Run, summary: Summary) -> str:
    """A run and what it comes to."""
    return _dump_json({"run": run_to_dict(run), "summary": to_json_values(summary)})


def comparison_to_json(base: Run, new: Run, comparison: Comparison) -> str:
    """Two runs and what changed."""
    return _dump_json(
        {
            "base": run_to_dict(base),
            "new": run_to_dict(new),
            "comparison": {"paired": comparison.pair_count, **to_json_values(comparison)},
        }
    )


def gate_to_json(run: Run, checks: Sequence[GateCheck]) -> str:
    """Whether a run passes, and every condition with its figures."""
    passed = all(check.held for check in checks)
    return _dump_json(
        {"run": run_to_dict(run), "passed": passed, "checks": to_json_values(tuple(checks))}
    )


def run_to_dict(run: Run) -> Json:
    """A run as JSON values."""
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
