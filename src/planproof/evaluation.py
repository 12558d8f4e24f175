"""A case and a judge in, a verdict out."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from functools import cache
from pathlib import Path

from planproof.case import Case
from planproof.content import Content, Json
from planproof.digests import plan_digest, task_digest
from planproof.errors import InvalidInput, PlanproofError
from planproof.finding import Findings
from planproof.judges.protocol import Judge
from planproof.judges.registry import DEFAULT, find_judge
from planproof.plan import Origin, Plan
from planproof.planning.in_force import part_judged, summary_of, why_no_plan
from planproof.planning.locate import locate
from planproof.planning.parse import parse_plan
from planproof.readers.detect import read_trace
from planproof.readers.members import pick
from planproof.readers.native_form import native_form
from planproof.readers.parsing import Limits
from planproof.readers.source import Source
from planproof.readers.task import read_task, task_of
from planproof.reasons import write_reason
from planproof.scoring import level_of, nearest_better, score
from planproof.trace import Kind, Trace
from planproof.verdict import Coverage, Inputs, JudgeSummary, Outcome, Verdict
from planproof.vocabulary import Vocabulary

_MOST_NOTES = 5
_UNKNOWN = " No reader knows its format; the general reader was used."
_NO_STEPS = "The plan that was given has no steps, so there is nothing to hold the trace to."
_log = logging.getLogger("planproof")


def evaluate(
    *,
    task: str | Path | Content | Json = None,
    plan: str | Path | Plan | Json = None,
    trace: str | Path | Source | Trace | Json,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
    judge: str | Judge | None = None,
    reader: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> Verdict:
    """Judge one case. A `str` is content, a `Path` is a file; parsed JSON and nouns do as well.

    Without a plan, the trace is searched for the one that was declared; without a task, it is the
    first thing that the user says there.

    Raises `InvalidInput` for what can't be read at all; what can be read but not judged gives a
    verdict that says so.
    """
    case = Case(
        task=task if isinstance(task, Content | None) else _task(task),
        plan=_in_file(plan) if isinstance(plan, Path) else plan,
        trace=pick(Source.of_path(trace)) if isinstance(trace, Path) else trace,
        id=id,
        metadata=metadata or {},
    )
    return _verdict(case, _judge(judge, vocabulary), reader, vocabulary)


async def aevaluate(
    *,
    task: str | Path | Content | Json = None,
    plan: str | Path | Plan | Json = None,
    trace: str | Path | Source | Trace | Json,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
    judge: str | Judge | None = None,
    reader: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> Verdict:
    """Judge one case without blocking the event loop."""
    import asyncio  # noqa: PLC0415 - whoever awaits has it; the command line need not load it

    return await asyncio.to_thread(
        evaluate,
        task=task,
        plan=plan,
        trace=trace,
        id=id,
        metadata=metadata,
        judge=judge,
        reader=reader,
        vocabulary=vocabulary,
    )


def evaluate_case(
    case: Case,
    *,
    judge: str | Judge | None = None,
    reader: str | None = None,
    vocabulary: Vocabulary | None = None,
    limits: Limits | None = None,
    where: str | None = None,
) -> Verdict:
    """Judge one of many cases: what can't be read gives a verdict too. `where` is its place."""
    try:
        return _verdict(case, _judge(judge, vocabulary), reader, vocabulary, limits, where)
    except InvalidInput as error:
        return invalid(error, id=case.id, metadata=case.metadata)
    except PlanproofError:
        raise
    except Exception as error:
        # A fault in a reader must not cost the cases that come after this one.
        _log.debug("reading %s failed", where, exc_info=True)
        return Verdict(
            outcome=Outcome.JUDGE_FAILED,
            reason=f"The case could not be read: {type(error).__name__}: {error}",
            id=case.id,
            metadata=case.metadata,
        )


def invalid(
    error: InvalidInput,
    *,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Verdict:
    """The verdict on a case that can't be read."""
    return Verdict(outcome=Outcome.INVALID_INPUT, reason=str(error), id=id, metadata=metadata or {})


def _verdict(
    case: Case,
    judge: Judge,
    reader: str | None,
    vocabulary: Vocabulary | None,
    limits: Limits | None = None,
    where: str | None = None,
) -> Verdict:
    """The way of the data: source, trace, plan, findings, score, reason."""
    source = _source(case.trace, _place(where, "execution_trace"), limits)
    reader = "native" if isinstance(case.trace, Trace) else reader
    trace = read_trace(source, reader=reader, vocabulary=vocabulary or Vocabulary())
    located = locate(trace) if case.plan is None else None
    if located is None:
        plan = _plan(case.plan, _place(where, "agent_plan"))
    else:
        plan = located.plan or Plan((), Origin.DECLARED)
    task = task_of(trace) if case.task is None else case.task
    unjudged = Verdict(
        outcome=Outcome.NO_PLAN,
        reason=why_no_plan(located) if located else _NO_STEPS,
        id=case.id,
        plan=summary_of(plan, located),
        coverage=_coverage(trace, source),
        judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
        inputs=Inputs(task=task_digest(task), plan=plan_digest(case.plan), trace=source.digest),
        metadata=case.metadata,
    )
    if not plan.steps:
        return unjudged
    if not trace.events:
        return replace(
            unjudged,
            outcome=Outcome.NO_EVENTS,
            reason="No record in the trace could be read as an event, so nothing can be shown "
            "to have been done or left undone." + (_UNKNOWN if trace.reader == "general" else ""),
        )
    if located is not None and located.declaration is not None:
        trace = part_judged(trace, located.declaration)
    try:
        return _scored(unjudged, judge.judge(task, plan, trace))
    except Exception as error:
        # A judge may be anybody's code, and a data set goes on after it: a failure is an outcome.
        _log.debug("the judge %s failed", judge.name, exc_info=True)
        return replace(
            unjudged,
            outcome=Outcome.JUDGE_FAILED,
            reason=f"The judge `{judge.name}` failed: {type(error).__name__}: {error}",
        )


def _plan(raw: Json, place: str) -> Plan:
    try:
        return parse_plan(raw)
    except InvalidInput as error:
        pointer = f"#{error.where}" if (error.where or "").startswith("/") else ""
        raise InvalidInput(error.what, where=f"{place}{pointer}", advice=error.advice) from error


def _place(where: str | None, field: str) -> str:
    return field if where is None else f"{where}, {field}"


def _scored(unjudged: Verdict, findings: Findings) -> Verdict:
    number = score(findings)
    return replace(
        unjudged,
        outcome=Outcome.SCORED,
        score=number,
        level=level_of(number),
        reason=write_reason(findings, number),
        steps=findings.steps,
        extras=findings.extras,
        nearest_better=nearest_better(findings),
    )


def _coverage(trace: Trace, source: Source) -> Coverage:
    kinds = [event.kind for event in trace.events]
    # A reader may or may not hand on what was already lost in parsing.
    skipped = tuple(dict.fromkeys((*source.skipped, *trace.skipped)))
    notes = [f"{part.pointer}: {part.why}" if part.pointer else part.why for part in skipped]
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"and {len(notes) - _MOST_NOTES} more"]
    return Coverage(
        reader=trace.reader,
        events=len(trace.events),
        by_kind={kind.value: kinds.count(kind) for kind in sorted(Kind) if kind in kinds},
        skipped=len(skipped),
        notes=tuple(notes),
    )


def _judge(judge: str | Judge | None, vocabulary: Vocabulary | None) -> Judge:
    if judge is None:
        return _default_judge() if vocabulary is None else find_judge(vocabulary=vocabulary)
    return find_judge(judge, vocabulary=vocabulary) if isinstance(judge, str) else judge


@cache
def _default_judge() -> Judge:
    return find_judge(DEFAULT)


def _task(task: str | Path | Json) -> Content:
    return read_task(_in_file(task), where=str(task)) if isinstance(task, Path) else read_task(task)


def _in_file(path: Path) -> Json:
    """What stands in a file: JSON where its name says so, otherwise text."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        return json.loads(text) if path.suffix == ".json" else text
    except OSError as error:
        raise InvalidInput(f"can't be read: {error.strerror}.", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"byte {error.start} is not valid UTF-8.",
            where=str(path),
            advice="Save the file as UTF-8 text.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is not valid JSON: {error}.", where=str(path)) from error


def _source(trace: Source | Trace | Json, name: str, limits: Limits | None) -> Source:
    if isinstance(trace, Source):
        return trace
    value = native_form(trace) if isinstance(trace, Trace) else trace
    return Source.of_value(value, name=name, limits=limits)
