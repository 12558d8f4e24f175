"""Judge many cases with `rules` and its shipped weights, on all cores.

A verdict leaves this module as a `Projection`: plain values under fixed names. `project` is the
only place that knows what the fields of a verdict are called, so a rename changes that function
and no figure or digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

from planproof.core.case import Case
from planproof.core.judge import AnyJudge
from planproof.core.verdict import Verdict
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate_case, invalid
from planproof.llm.judge_registry import find_judge
from planproof.preparation import case_of
from planproof.readers.decoding.case_files import parse_case
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import pick
from planproof.runs.engines.process_pool import cores

Record: TypeAlias = dict[str, Any]
"""A case as the bench has it: `id`, `user_task`, `agent_plan`, `execution_trace`.

In place of `execution_trace` there may be `trace_file` and, where it holds several, `pick`.
"""
Projection: TypeAlias = dict[str, Any]
"""A verdict as plain values; `project` says which."""


def project(verdict: Verdict) -> Projection:
    """Return what a verdict decides and on which evidence, without reasons, notes or costs."""
    return {
        "outcome": str(verdict.outcome),
        "score": None if verdict.score is None else _digits(verdict.score),
        "steps": [
            {
                "number": step.number,
                "status": str(step.status),
                "confidence": _digits(step.sureness),
                "evidence": [[each.event, each.pointer, each.quote] for each in step.evidence],
                "covers": list(step.covers),
            }
            for step in verdict.steps
        ],
        "extras": [
            {
                "event": extra.event,
                "pointer": extra.pointer,
                "quote": extra.quote,
                "severity": str(extra.severity),
                "confidence": _digits(extra.sureness),
            }
            for extra in verdict.extras
        ],
    }


def judge_all(records: Iterable[Record], *, jobs: int | None = None) -> dict[str, Projection]:
    """Return the projected verdict on every case by its id, in the order of the cases.

    Neighbouring cases with the same trace go to a process together. One job works in this process.
    """
    batches = [list(batch) for _, batch in groupby(records, key=_trace_key)]
    workers = min(cores() if jobs is None else jobs, len(batches))
    if workers <= 1:
        pairs = [pair for batch in batches for pair in _judge_batch(batch)]
    else:
        # Spawned, so that no thread or lock of this process is copied into another.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            pairs = [pair for batch in pool.map(_judge_batch, batches) for pair in batch]
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{len(pairs) - len(found)} cases have an id that another case has, too")
    return found


def _trace_key(record: Record) -> str:
    return str(record.get("base") or record.get("trace_file") or record["id"])


def _judge_batch(records: Sequence[Record]) -> list[tuple[str, Projection]]:
    judge = find_judge("rules")
    return [(record["id"], project(_judge(record, judge))) for record in records]


def _judge(record: Record, judge: AnyJudge) -> Verdict:
    try:
        return evaluate_case(_case(record), judge=judge)
    except InvalidInput as error:
        return invalid(error)


def _case(record: Record) -> Case:
    if "trace_file" not in record:
        return parse_case(record, name=record["id"])
    source = pick(Source.of_path(Path(record["trace_file"])), record.get("pick"))
    return case_of(record["user_task"], record["agent_plan"], source)


def _digits(value: float) -> float:
    """Round to six digits, which are the same on machines whose last bits differ."""
    return round(value, 6)
