"""HTML report of the verdicts of a pytest run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import convert, to_builtins

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.verdict import JudgeSummary, Verdict, parse_verdict
from planproof.evaluation import ReadOptions
from planproof.readers.native import serialize_trace
from planproof.readers.profile import Profile
from planproof.readers.profile_reader import ProfileReader
from planproof.reports.html.report_page import render_run_page
from planproof.runs.run_records import Result, RunState, StoredCase, create_run, serialize_case
from planproof.runs.store.open_store import open_store


def serialize_result(
    case: Case, verdict: Verdict, seconds: float, profiles: Sequence[ProfileReader] = ()
) -> Json:
    """Return a case and its verdict as JSON values, to send them from a worker to the controller.

    `Plan` and `Trace` objects in the case are converted to JSON, too.
    """
    raw = replace(
        case,
        plan=[step.text for step in case.plan.leaves] if isinstance(case.plan, Plan) else case.plan,
        trace=serialize_trace(case.trace) if isinstance(case.trace, Trace) else case.trace,
    )
    stored = serialize_case(raw)
    return {
        "hash": stored.hash,
        "case": stored.text,
        "verdict": json.loads(json.dumps(verdict.full())),
        "seconds": seconds,
        "profiles": [to_builtins(reader.profile) for reader in profiles],
    }


def _load_profiles(record: Json) -> Iterator[ProfileReader]:
    return (ProfileReader(convert(profile, Profile)) for profile in record["profiles"])


def write_report(records: Sequence[tuple[str, Json]], file: Path, *, min_score: float) -> None:
    """Write the report of all recorded cases, each named by the id of its test."""
    verdicts = [replace(parse_verdict(record["verdict"]), id=test) for test, record in records]
    judges = [verdict.judge for verdict in verdicts if verdict.judge is not None]
    summary = judges[0] if judges else JudgeSummary(name="rules", fingerprint="")
    run = create_run(source="pytest", judge=summary, fingerprint="")
    results = [
        Result(position, record["hash"], verdict.id, verdict, record["seconds"])
        for position, (verdict, (_, record)) in enumerate(zip(verdicts, records, strict=True))
    ]
    cases = [StoredCase(record["hash"], record["case"]) for _, record in records]
    profiles = {reader.name: reader for _, record in records for reader in _load_profiles(record)}
    reading = ReadOptions(profiles=tuple(profiles.values()))
    partial = file.with_name(f"{file.name}.partial")
    with TemporaryDirectory() as folder:
        store = open_store(str(Path(folder, "runs.db")))
        try:
            store.begin(run)
            store.add(run.id, results, cases)
            store.close_run(run.id, RunState.FINISHED)
            with partial.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(
                    render_run_page(store.find_run(run.id), store, reading, min_score=min_score)
                )
        finally:
            store.close()
    partial.replace(file)
