"""Cases and results as rows of text and numbers, for the way between the machines of a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from planproof.core.verdict_json import verdict_of
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.case_json import case_in
from planproof.runs.engines.local import Judged, Task
from planproof.runs.run_records import KeptCase, Result

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Arrived:
    """What came back for a case; without a verdict where the run has one already."""

    position: int
    hash: str
    where: str
    judged: Judged | None


Merging: TypeAlias = Callable[
    [Generator[Arrived, None, None]], Generator[Arrived | Result, None, None]
]
"""Puts the results that a run has already in the place of what came back for them."""


def task_row(task: Task, *, done: bool) -> Row:
    """A case on its way out; of one that is done only what tells that it is the same."""
    line = task.line
    told = {
        "where": line.where,
        "id": line.id,
        "metadata": None if line.case is None else line.case.metadata,
        "error": line.error and (line.error.what, line.error.where, line.error.advice),
    }
    return {
        "position": task.position,
        "hash": task.hash,
        "done": done,
        "text": None if done or task.kept is None else task.kept.text,
        "told": json.dumps(told),
    }


def task_of(row: Mapping[str, Any]) -> Task:
    """The case that a row holds."""
    told = json.loads(row["told"])
    if row["text"] is None:
        what, where, advice = told["error"]
        error = InvalidInput(what, where=where, advice=advice)
        line = CaseLine(told["where"], error=error, id=told["id"])
        return Task(row["position"], line, None)
    kept = KeptCase(row["hash"], row["text"])
    case = case_in(kept, id=told["id"], metadata=told["metadata"])
    return Task(row["position"], CaseLine(told["where"], case, id=told["id"]), kept)


def judged_row(row: Mapping[str, Any], judged: Judged | None) -> Row:
    """A result on its way back, beside the row that it was found for."""
    result = None if judged is None else judged[0]
    return {
        **row,
        "verdict": None if result is None else json.dumps(result.verdict.full()),
        "seconds": 0.0 if result is None else result.seconds,
    }


def arrived(row: Mapping[str, Any]) -> Arrived:
    """What a row brought back."""
    told = json.loads(row["told"])
    judged: Judged | None = None
    if row["verdict"] is not None:
        verdict = verdict_of(json.loads(row["verdict"]))
        result = Result(row["position"], row["hash"], verdict.id, verdict, row["seconds"])
        judged = result, None if row["text"] is None else KeptCase(row["hash"], row["text"])
    return Arrived(row["position"], row["hash"], told["where"], judged)
