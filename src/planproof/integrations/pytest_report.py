"""The verdicts of a run of pytest as a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import JudgeSummary, Verdict
from planproof.core.verdict_json import verdict_of
from planproof.preparation import Reading
from planproof.readers.write_native import native_form
from planproof.reports.html.report_page import run_page
from planproof.runs.case_json import kept
from planproof.runs.run_records import KeptCase, Result, RunState, new_run
from planproof.runs.store.open_store import open_store


def noted(case: Case, verdict: Verdict, seconds: float) -> Json:
    """A case and its verdict as JSON values, so that they can go from a worker to whoever reports.

    What is planproof's own in the case is written as JSON, too.
    """
    raw = replace(
        case,
        plan=[step.text for step in case.plan.leaves] if isinstance(case.plan, Plan) else case.plan,
        trace=native_form(case.trace) if isinstance(case.trace, Trace) else case.trace,
    )
    held = kept(raw)
    return {
        "hash": held.hash,
        "case": held.text,
        "verdict": json.loads(json.dumps(verdict.full())),
        "seconds": seconds,
    }


def write_page(notes: Sequence[tuple[str, Json]], file: Path, *, min_score: float) -> None:
    """Write the page of all cases that were noted, each with the id of its test."""
    verdicts = [replace(verdict_of(note["verdict"]), id=test) for test, note in notes]
    judges = [verdict.judge for verdict in verdicts if verdict.judge is not None]
    summary = judges[0] if judges else JudgeSummary(name="rules", fingerprint="")
    run = new_run(source="pytest", judge=summary, fingerprint="")
    results = [
        Result(place, note["hash"], verdict.id, verdict, note["seconds"])
        for place, (verdict, (_, note)) in enumerate(zip(verdicts, notes, strict=True))
    ]
    cases = [KeptCase(note["hash"], note["case"]) for _, note in notes]
    partial = file.with_name(f"{file.name}.partial")
    with TemporaryDirectory() as folder:
        store = open_store(str(Path(folder, "runs.db")))
        try:
            store.begin(run)
            store.add(run.id, results, cases)
            store.close_run(run.id, RunState.FINISHED)
            with partial.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(
                    run_page(store.find(run.id), store, Reading(), min_score=min_score)
                )
        finally:
            store.close()
    partial.replace(file)
