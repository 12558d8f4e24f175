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
from planproof.evaluation import build_case, evaluate_case, invalid_input_verdict
from planproof.llm.judge_registry import find_judge
from planproof.readers.decoding.case_files import parse_case
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.runs.engines.process_pool import count_cores

Record: TypeAlias = dict[str, Any]
"""A case as the bench has it: `id`, `user_task`, `agent_plan`, `execution_trace`.

In place of `execution_trace` there may be `trace_file` and, where it holds several, `pick`.
"""
Projection: TypeAlias = dict[str, Any]
"""A verdict as plain values; `project` says which."""


def project_verdict(verdict: Verdict) -> Projection:
    """Return what a verdict decides and on which evidence, without reasons, notes or costs."""
    return {
        "outcome": str(verdict.outcome),
        "score": None if verdict.score is None else _round_digits(verdict.score),
        "steps": [
            {
                "number": step.number,
                "status": str(step.status),
                "confidence": _round_digits(step.confidence),
                "evidence": [
                    [evidence.event, evidence.pointer, evidence.quote] for evidence in step.evidence
                ],
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
                "confidence": _round_digits(extra.confidence),
            }
            for extra in verdict.extras
        ],
    }


def judge_all(records: Iterable[Record], *, jobs: int | None = None) -> dict[str, Projection]:
    """Return the projected verdict on every case by its id, in the order of the cases.

    Neighbouring cases with the same trace go to the same process. With one job, this process works.
    """
    batches = [list(batch) for _, batch in groupby(records, key=_trace_key)]
    workers = min(count_cores() if jobs is None else jobs, len(batches))
    if workers <= 1:
        pairs = [pair for batch in batches for pair in _judge_batch(batch)]
    else:
        # Spawned, not forked: no thread or lock is copied into another process.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            pairs = [pair for batch in pool.map(_judge_batch, batches) for pair in batch]
    projection_by_id = dict(pairs)
    if len(projection_by_id) < len(pairs):
        raise ValueError(
            f"{len(pairs) - len(projection_by_id)} cases have an id that another case has, too"
        )
    return projection_by_id


def _trace_key(record: Record) -> str:
    return str(record.get("base") or record.get("trace_file") or record["id"])


def _judge_batch(records: Sequence[Record]) -> list[tuple[str, Projection]]:
    judge = find_judge("rules")
    return [(record["id"], project_verdict(_judge(record, judge))) for record in records]


def _judge(record: Record, judge: AnyJudge) -> Verdict:
    try:
        return evaluate_case(_load_case(record), judge=judge)
    except InvalidInput as error:
        return invalid_input_verdict(error)


def _load_case(record: Record) -> Case:
    if "trace_file" not in record:
        return parse_case(record, name=record["id"])
    source = select_trace(Source.from_path(Path(record["trace_file"])), record.get("pick"))
    return build_case(record["user_task"], record["agent_plan"], source)


def _round_digits(value: float) -> float:
    """Round to six digits, which are the same on all machines."""
    return round(value, 6)
