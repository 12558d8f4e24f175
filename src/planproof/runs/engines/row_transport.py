"""Convert cases and results to rows of text and numbers for transport between machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from planproof.core.verdict import parse_verdict
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.local import JudgeTask, ResultWithCase
from planproof.runs.run_records import Result, StoredCase, deserialize_case

TransportRow: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReturnedCase:
    """A case returned by a worker; `result` is None if the run already has one."""

    position: int
    hash: str
    where: str
    result: ResultWithCase | None


MergeResults: TypeAlias = Callable[
    [Generator[ReturnedCase, None, None]], Generator[ReturnedCase | Result, None, None]
]
"""Replaces returned cases with the results that the run already has for them."""


def task_to_row(task: JudgeTask, *, done: bool) -> TransportRow:
    """Convert a case to a row; a done one has only the fields that identify it."""
    line = task.line
    line_fields = {
        "where": line.where,
        "id": line.id,
        "metadata": None if line.case is None else line.case.metadata,
        "error": line.error and (line.error.what, line.error.where, line.error.advice),
    }
    return {
        "position": task.position,
        "hash": task.hash,
        "done": done,
        "text": None if done or task.stored_case is None else task.stored_case.text,
        "line": json.dumps(line_fields),
    }


def row_to_task(row: Mapping[str, Any]) -> JudgeTask:
    """Convert a row to a case."""
    line_fields = json.loads(row["line"])
    if row["text"] is None:
        what, where, advice = line_fields["error"]
        error = InvalidInput(what, where=where, advice=advice)
        line = CaseLine(line_fields["where"], error=error, id=line_fields["id"])
        return JudgeTask(row["position"], line, None)
    stored = StoredCase(row["hash"], row["text"])
    case = deserialize_case(stored, id=line_fields["id"], metadata=line_fields["metadata"])
    return JudgeTask(
        row["position"], CaseLine(line_fields["where"], case, id=line_fields["id"]), stored
    )


def add_result_to_row(
    row: Mapping[str, Any], result_with_case: ResultWithCase | None
) -> TransportRow:
    """Return the row with its result added."""
    result = None if result_with_case is None else result_with_case[0]
    return {
        **row,
        "verdict": None if result is None else json.dumps(result.verdict.full()),
        "seconds": 0.0 if result is None else result.seconds,
    }


def parse_returned_row(row: Mapping[str, Any]) -> ReturnedCase:
    """Convert a returned row to a case with its result."""
    line_fields = json.loads(row["line"])
    result_with_case: ResultWithCase | None = None
    if row["verdict"] is not None:
        verdict = parse_verdict(json.loads(row["verdict"]))
        result = Result(row["position"], row["hash"], verdict.id, verdict, row["seconds"])
        result_with_case = (
            result,
            None if row["text"] is None else StoredCase(row["hash"], row["text"]),
        )
    return ReturnedCase(row["position"], row["hash"], line_fields["where"], result_with_case)
