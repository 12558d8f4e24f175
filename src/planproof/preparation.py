"""A case, read: source, trace and plan, ready to be judged; or why it can't be."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from planproof.checking.plan_periods import Episodes, gives_no_findings
from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.digests import plan_digest, task_digest
from planproof.core.judge import AnyJudge, ModelJudge
from planproof.core.judgement import PROMPT
from planproof.core.limits import Limits
from planproof.core.model import Question
from planproof.core.plan import InForce, Plan
from planproof.core.trace import Trace
from planproof.core.verdict import Coverage, Inputs, JudgeSummary, Outcome, Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.planning.given_plan import given_plan
from planproof.planning.locate_plan import locate
from planproof.planning.plan_summary import summary_of, why_no_plan
from planproof.planning.plan_timeline import Succession, succession_of
from planproof.readers.accounting import why_not_understood
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import pick
from planproof.readers.detect import read_trace
from planproof.readers.task_content import read_task, task_of
from planproof.readers.write_native import native_form

_MOST_NOTES = 5
_NO_EVENTS = (
    "There is no record in the trace, so nothing can be shown to have been done or left undone."
)
_NO_STEPS = "The plan that was given has no steps, so there is nothing to hold the trace to."


@dataclass(frozen=True, slots=True)
class Reading:
    """How a case is to be read. `where` is its place among others, for errors."""

    reader: str | None = None
    vocabulary: Vocabulary | None = None
    limits: Limits | None = None
    where: str | None = None
    in_force: InForce = "first"


@dataclass(frozen=True, slots=True)
class Ready:
    """A case that has been read: what a judge is given, and the verdict that lacks its findings."""

    unjudged: Verdict
    task: Content
    held: Succession


def case_of(
    task: str | Path | Content | Json,
    plan: str | Path | Plan | Json,
    trace: str | Path | Source | Trace | Json,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Case:
    """A case of what `evaluate` is given: files are read, text and JSON taken as they are."""
    return Case(
        task=task if isinstance(task, Content | None) else _task(task),
        plan=in_file(plan) if isinstance(plan, Path) else plan,
        trace=pick(Source.of_path(trace)) if isinstance(trace, Path) else trace,
        id=id,
        metadata=metadata or {},
    )


def read_case(case: Case, reading: Reading) -> tuple[Source, Trace, Content]:
    """The source of the trace, the trace in it, and the task: without one, what the user said."""
    source = _source(case.trace, _place(reading.where, "execution_trace"), reading.limits)
    reader = "native" if isinstance(case.trace, Trace) else reading.reader
    trace = read_trace(source, reader=reader, vocabulary=reading.vocabulary or Vocabulary())
    return source, trace, task_of(trace) if case.task is None else case.task


def prepared(case: Case, judge: AnyJudge, reading: Reading) -> Ready | Verdict:
    """The way of the data as far as the judge: source, trace, plan; or why there is no farther."""
    source, trace, task = read_case(case, reading)
    located = locate(trace) if case.plan is None else None
    if located is None:
        held = Succession((_plan(case.plan, _place(reading.where, "agent_plan")),), trace)
    else:
        held = succession_of(trace, located, reading.in_force)
    unjudged = Verdict(
        outcome=Outcome.NO_PLAN,
        reason=why_no_plan(located) if located else _NO_STEPS,
        id=case.id,
        plan=summary_of(held.last, located, reading.in_force),
        coverage=_coverage(trace, source),
        judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
        inputs=Inputs(task=task_digest(task), plan=plan_digest(case.plan), trace=source.digest),
        metadata=case.metadata,
    )
    if located is None and not held.last.steps:
        return unjudged
    if why := why_not_understood(trace):
        # Before the plan that was found: what was not read may well declare another one.
        return replace(unjudged, outcome=Outcome.NOT_UNDERSTOOD, reason=why)
    if not held.last.steps:
        return unjudged
    if not trace.events:
        return replace(unjudged, outcome=Outcome.NO_EVENTS, reason=_NO_EVENTS)
    return Ready(unjudged, task, held)


def questions_of(ready: Ready, judge: ModelJudge) -> tuple[Question, ...]:
    """What would be asked about a case: of each plan, as if nothing had been done before it."""
    if judge.name == PROMPT and len(ready.held.plans) > 1:
        raise gives_no_findings()
    parts = Episodes(ready.held).parts()
    return tuple(
        question for plan, trace in parts for question in judge.questions(ready.task, plan, trace)
    )


def _plan(raw: Json, place: str) -> Plan:
    try:
        return given_plan(raw)
    except InvalidInput as error:
        pointer = f"#{error.where}" if (error.where or "").startswith("/") else ""
        raise InvalidInput(error.what, where=f"{place}{pointer}", advice=error.advice) from error


def _place(where: str | None, field: str) -> str:
    return field if where is None else f"{where}, {field}"


def _coverage(trace: Trace, source: Source) -> Coverage:
    kinds = Counter([event.kind for event in trace.events])
    # A reader may or may not hand on what was already lost in parsing.
    skipped = tuple(dict.fromkeys((*source.skipped, *trace.skipped)))
    notes = [f"{part.pointer}: {part.why}" if part.pointer else part.why for part in skipped]
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"and {len(notes) - _MOST_NOTES} more"]
    return Coverage(
        reader=trace.reader,
        events=len(trace.events),
        by_kind={kind.value: kinds[kind] for kind in sorted(kinds)},
        skipped=len(skipped),
        notes=tuple(notes),
    )


def _task(task: str | Path | Json) -> Content:
    return read_task(in_file(task), where=str(task)) if isinstance(task, Path) else read_task(task)


def in_file(path: Path) -> Json:
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
