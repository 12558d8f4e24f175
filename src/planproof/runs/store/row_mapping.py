"""Convert runs, results and verdicts to database rows and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from functools import wraps
from hashlib import sha256
from typing import Any, ParamSpec, TypeVar

from msgspec import to_builtins

from planproof.core.content import Json
from planproof.core.usage import Usage
from planproof.core.verdict import JudgeSummary, Measures, Verdict, parse_verdict
from planproof.runs.run_records import Result, Run, RunState
from planproof.runs.store.database import make_damage_error

_P = ParamSpec("_P")
_T = TypeVar("_T")
_RESULT_FIELDS = ("id", "metadata", "cost")


def run_to_row(run: Run) -> dict[str, Any]:
    """Convert a run to a row."""
    return {
        "id": run.id,
        "created": format_time(run.created),
        "finished": run.finished and format_time(run.finished),
        "state": run.state.value,
        "source": to_database_text(run.source),
        "judge": run.judge.name,
        "judge_fingerprint": run.judge.fingerprint,
        "models": json.dumps(run.judge.models),
        "fingerprint": run.fingerprint,
        "tags": json.dumps(dict(run.tags)),
    }


def report_damage(read: Callable[_P, _T]) -> Callable[_P, _T]:
    """Make a function that reads stored content raise `StoreFailed` if it is damaged."""

    @wraps(read)
    def read_or_raise(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return read(*args, **kwargs)
        except (ValueError, TypeError, KeyError, zlib.error) as error:
            raise make_damage_error(f"{type(error).__name__}: {error}") from error

    return read_or_raise


@report_damage
def row_to_run(row: Any, cases: int) -> Run:
    """Convert a row to a run."""
    return Run(
        id=row.id,
        created=datetime.fromisoformat(row.created),
        finished=None if row.finished is None else datetime.fromisoformat(row.finished),
        state=RunState(row.state),
        source=row.source,
        judge=JudgeSummary(
            name=row.judge, fingerprint=row.judge_fingerprint, models=tuple(json.loads(row.models))
        ),
        fingerprint=row.fingerprint,
        tags=json.loads(row.tags),
        cases=cases,
    )


def verdict_to_row(verdict: Verdict) -> dict[str, Any]:
    """Convert a verdict to a row, without the fields stored with the result."""
    values: dict[str, Json] = to_builtins(replace(verdict, metadata={}))
    for field in _RESULT_FIELDS:
        del values[field]
    content = json.dumps(values, separators=(",", ":"))
    measures = verdict.measures or Measures()
    return {
        "hash": sha256(content.encode("ascii")).hexdigest(),
        "outcome": verdict.outcome.value,
        "cause": verdict.cause,
        "score": verdict.score,
        "level": verdict.level,
        "reason": to_database_text(verdict.reason),
        "content": content,
        **{field.name: getattr(measures, field.name) for field in fields(Measures)},
    }


def findings_to_rows(verdict: Verdict, verdict_hash: str) -> Iterator[dict[str, Any]]:
    """Convert the findings of a verdict to rows: steps, then extras."""
    findings = [
        ("step", step.number, step.status.value, step, step.evidence[:1], step.text)
        for step in verdict.steps
    ]
    findings += [
        ("extra", None, extra.severity.value, extra, (extra,), extra.what)
        for extra in verdict.extras
    ]
    for position, (finding_type, number, status, finding, cited, words) in enumerate(findings):
        yield {
            "verdict": verdict_hash,
            "place": position,
            "sort": finding_type,
            "number": number and to_database_text(number),
            "status": status,
            "confidence": finding.confidence,
            "event": to_database_text(cited[0].event) if cited else None,
            "text": to_database_text(words),
        }


def result_to_row(run_id: str, result: Result, verdict_hash: str) -> dict[str, Any]:
    """Convert a result to a row."""
    verdict = result.verdict
    about: dict[str, Json] = {"id": result.id}
    if verdict.metadata:
        about["metadata"] = verdict.metadata
    if verdict.cost is not None:
        about["cost"] = asdict(verdict.cost)
    return {
        "run": run_id,
        "position": result.position,
        "case": result.case,
        "id": result.id and to_database_text(result.id),
        "verdict": verdict_hash,
        "seconds": result.seconds,
        "about": json.dumps(about, separators=(",", ":")),
    }


@report_damage
def row_to_result(row: Any) -> Result:
    """Convert a row that includes the content of the verdict to a result."""
    about: dict[str, Json] = json.loads(row.about)
    cost = about.get("cost")
    verdict = replace(
        parse_verdict_content(row.content),
        id=about["id"],
        metadata=about.get("metadata", {}),
        cost=None if cost is None else Usage(**cost),
    )
    return Result(row.position, row.case, about["id"], verdict, row.seconds)


@report_damage
def parse_verdict_content(content: str) -> Verdict:
    """Parse the verdict in the content of a row; without id, metadata and cost."""
    return parse_verdict(json.loads(content))


@report_damage
def unpack_case(content: bytes) -> str:
    """Return the JSON text of a stored case."""
    return zlib.decompress(content).decode("ascii")


def format_time(time: datetime) -> str:
    """Format a time as text that sorts."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def to_database_text(text: str) -> str:
    """Remove what databases reject in text: NUL and lone surrogates."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")
