"""A result as a row of a table: what Parquet and CSV files hold, column by column."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from planproof.core.content import Json
from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.usage import Usage
from planproof.core.verdict import Coverage, JudgeSummary, NearestBetter, PlanSummary
from planproof.runs.run_records import Result


class Sort(StrEnum):
    """What a column holds."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    JSON = "JSON as text"
    STEPS = "list of steps"
    EXTRAS = "list of extras"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what it holds, and where that comes from."""

    name: str
    sort: Sort
    cell: Callable[[Result], Json]


_NO_PLAN = PlanSummary(origin="", steps=0)
_NOTHING_READ = Coverage(reader="", events=0)
_NO_JUDGE = JudgeSummary(name="", fingerprint="")


def _steps_with(status: Status) -> Callable[[Result], Json]:
    return lambda result: sum(s.status is status for s in result.verdict.findings.counted)


def _extras_with(severity: Severity) -> Callable[[Result], Json]:
    return lambda result: sum(extra.severity is severity for extra in result.verdict.extras)


def _of_plan(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.plan or _NO_PLAN, field) or None


def _of_coverage(field: str) -> Callable[[Result], Json]:
    return lambda result: result.verdict.coverage and getattr(result.verdict.coverage, field)


def _of_judge(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.judge or _NO_JUDGE, field) or None


def _of_cost(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.cost or Usage(), field)


def _of_better(field: str) -> Callable[[Result], Json]:
    def cell(result: Result) -> Json:
        better: NearestBetter | None = result.verdict.nearest_better
        return None if better is None else getattr(better, field)

    return cell


def _step(step: StepFinding) -> dict[str, Json]:
    return {
        "number": step.number,
        "text": step.text,
        "status": step.status.value,
        "sureness": step.sureness,
        "events": [evidence.event for evidence in step.evidence],
        "quotes": [evidence.quote for evidence in step.evidence],
        "note": step.note,
    }


def _extra(extra: Extra) -> dict[str, Json]:
    return {
        "event": extra.event,
        "what": extra.what,
        "severity": extra.severity.value,
        "sureness": extra.sureness,
        "quote": extra.quote,
    }


COLUMNS = (
    Column("position", Sort.WHOLE, lambda result: result.position),
    Column("id", Sort.TEXT, lambda result: result.id),
    Column("case_hash", Sort.TEXT, lambda result: result.case or None),
    Column("outcome", Sort.TEXT, lambda result: result.verdict.outcome.value),
    Column("cause", Sort.TEXT, lambda result: result.verdict.cause),
    Column("score", Sort.NUMBER, lambda result: result.verdict.score),
    Column("level", Sort.NUMBER, lambda result: result.verdict.level),
    Column("reason", Sort.TEXT, lambda result: result.verdict.reason),
    *(Column(f"{status.value}", Sort.WHOLE, _steps_with(status)) for status in Status),
    *(Column(f"{grave.value}_extras", Sort.WHOLE, _extras_with(grave)) for grave in Severity),
    Column("nearest_better_score", Sort.NUMBER, _of_better("score")),
    Column("nearest_better_change", Sort.TEXT, _of_better("change")),
    Column("plan_origin", Sort.TEXT, _of_plan("origin")),
    Column("plan_steps", Sort.WHOLE, _of_plan("steps")),
    Column("reader", Sort.TEXT, _of_coverage("reader")),
    Column("events", Sort.WHOLE, _of_coverage("events")),
    Column("skipped", Sort.WHOLE, _of_coverage("skipped")),
    Column("judge", Sort.TEXT, _of_judge("name")),
    Column("judge_fingerprint", Sort.TEXT, _of_judge("fingerprint")),
    Column("seconds", Sort.NUMBER, lambda result: result.seconds),
    Column("model_calls", Sort.WHOLE, _of_cost("calls")),
    Column("tokens_in", Sort.WHOLE, _of_cost("tokens_in")),
    Column("tokens_out", Sort.WHOLE, _of_cost("tokens_out")),
    Column("cost", Sort.NUMBER, _of_cost("cost")),
    Column("metadata", Sort.JSON, lambda result: json.dumps(result.verdict.metadata)),
    Column("steps", Sort.STEPS, lambda result: [_step(step) for step in result.verdict.steps]),
    Column("extras", Sort.EXTRAS, lambda result: [_extra(one) for one in result.verdict.extras]),
)
