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


class ColumnType(StrEnum):
    """What a column holds."""

    TEXT = "text"
    INTEGER = "whole number"
    NUMBER = "number"
    JSON = "JSON as text"
    STEPS = "list of steps"
    EXTRAS = "list of extras"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what it holds, and where that comes from."""

    name: str
    column_type: ColumnType
    get_value: Callable[[Result], Json]


_NO_PLAN = PlanSummary(origin="", steps=0)
_NO_COVERAGE = Coverage(reader="", events=0)
_NO_JUDGE = JudgeSummary(name="", fingerprint="")


def _make_status_counter(status: Status) -> Callable[[Result], Json]:
    return lambda result: sum(s.status is status for s in result.verdict.findings.counted_steps)


def _make_extra_counter(severity: Severity) -> Callable[[Result], Json]:
    return lambda result: sum(extra.severity is severity for extra in result.verdict.extras)


def _make_plan_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.plan or _NO_PLAN, field) or None


def _make_coverage_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: result.verdict.coverage and getattr(result.verdict.coverage, field)


def _make_judge_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.judge or _NO_JUDGE, field) or None


def _make_cost_getter(field: str) -> Callable[[Result], Json]:
    return lambda result: getattr(result.verdict.cost or Usage(), field)


def _make_nearest_better_getter(field: str) -> Callable[[Result], Json]:
    def get_value(result: Result) -> Json:
        better: NearestBetter | None = result.verdict.nearest_better
        return None if better is None else getattr(better, field)

    return get_value


def _step_to_dict(step: StepFinding) -> dict[str, Json]:
    return {
        "number": step.number,
        "text": step.text,
        "status": step.status.value,
        "sureness": step.sureness,
        "events": [evidence.event for evidence in step.evidence],
        "quotes": [evidence.quote for evidence in step.evidence],
        "note": step.note,
    }


def _extra_to_dict(extra: Extra) -> dict[str, Json]:
    return {
        "event": extra.event,
        "what": extra.what,
        "severity": extra.severity.value,
        "sureness": extra.sureness,
        "quote": extra.quote,
    }


COLUMNS = (
    Column("position", ColumnType.INTEGER, lambda result: result.position),
    Column("id", ColumnType.TEXT, lambda result: result.id),
    Column("case_hash", ColumnType.TEXT, lambda result: result.case or None),
    Column("outcome", ColumnType.TEXT, lambda result: result.verdict.outcome.value),
    Column("cause", ColumnType.TEXT, lambda result: result.verdict.cause),
    Column("score", ColumnType.NUMBER, lambda result: result.verdict.score),
    Column("level", ColumnType.NUMBER, lambda result: result.verdict.level),
    Column("reason", ColumnType.TEXT, lambda result: result.verdict.reason),
    *(
        Column(f"{status.value}", ColumnType.INTEGER, _make_status_counter(status))
        for status in Status
    ),
    *(
        Column(f"{grave.value}_extras", ColumnType.INTEGER, _make_extra_counter(grave))
        for grave in Severity
    ),
    Column("nearest_better_score", ColumnType.NUMBER, _make_nearest_better_getter("score")),
    Column("nearest_better_change", ColumnType.TEXT, _make_nearest_better_getter("change")),
    Column("plan_origin", ColumnType.TEXT, _make_plan_getter("origin")),
    Column("plan_steps", ColumnType.INTEGER, _make_plan_getter("steps")),
    Column("reader", ColumnType.TEXT, _make_coverage_getter("reader")),
    Column("events", ColumnType.INTEGER, _make_coverage_getter("events")),
    Column("skipped", ColumnType.INTEGER, _make_coverage_getter("skipped")),
    Column("judge", ColumnType.TEXT, _make_judge_getter("name")),
    Column("judge_fingerprint", ColumnType.TEXT, _make_judge_getter("fingerprint")),
    Column("seconds", ColumnType.NUMBER, lambda result: result.seconds),
    Column("model_calls", ColumnType.INTEGER, _make_cost_getter("calls")),
    Column("tokens_in", ColumnType.INTEGER, _make_cost_getter("tokens_in")),
    Column("tokens_out", ColumnType.INTEGER, _make_cost_getter("tokens_out")),
    Column("cost", ColumnType.NUMBER, _make_cost_getter("cost")),
    Column("metadata", ColumnType.JSON, lambda result: json.dumps(result.verdict.metadata)),
    Column(
        "steps",
        ColumnType.STEPS,
        lambda result: [_step_to_dict(step) for step in result.verdict.steps],
    ),
    Column(
        "extras",
        ColumnType.EXTRAS,
        lambda result: [_extra_to_dict(one) for one in result.verdict.extras],
    ),
)
