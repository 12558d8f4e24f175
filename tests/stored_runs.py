"""A store with runs in it, for whatever shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from planproof.core.verdict import Outcome, Verdict
from planproof.runs.run_records import Result, Run, RunState
from planproof.runs.store.open_store import open_store
from planproof.runs.store.store_protocol import Store
from tests.judged_cases import EVERY_STATUS, demo_case, store_run
from tests.run_builders import RUN, make_results

CASES = (
    demo_case("followed"),
    demo_case("claimed"),
    demo_case("reordered"),
    EVERY_STATUS,
    Verdict(outcome=Outcome.JUDGE_FAILED, reason="No answer came.", cause="timeout", id="<b>late"),
)
"""The cases of the run `RUN`, whose traces are kept with them."""

NIGHTLY = replace(RUN, id="20251231-030000-aaaaaa", created=RUN.created - timedelta(days=1))
"""The run before it, over the same data."""
LONG = replace(
    RUN,
    id="20251230-030000-bbbbbb",
    created=RUN.created - timedelta(days=2),
    source="<i>other</i>.jsonl",
    tags={"<b>tag": "password=hunter2hunter2"},
)
"""An earlier one over other data, with 250 cases."""


def store_finished_run(store: Store, run: Run, results: Sequence[Result]) -> None:
    """Keep a run that has ended."""
    store.begin(run)
    store.add(run.id, results, [])
    store.close_run(run.id, RunState.FINISHED)


def fill_store(path: Path) -> Path:
    """A store with three runs."""
    store = open_store(str(path))
    scores = (0.25, 0.5, 0.75, 1.0, None)
    store_finished_run(
        store, LONG, make_results({f"case-{n:03}": scores[n % 5] for n in range(250)})
    )
    before = {"refund-followed": 0.5, "bugfix-step-claimed": 1.0, "report-12": 0.0, "gone": 1.0}
    store_finished_run(store, NIGHTLY, make_results({**before, "<b>late": 0.25}))
    store_run(store, CASES)
    store.close()
    return path
