"""A case, read: source, trace and plan, ready to be judged; or why it can't be."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from planproof.checking.plan_periods import PlanPeriods, findings_required_error
from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.digests import plan_digest, task_digest
from planproof.core.judge import PROMPT, AnyJudge, ModelJudge
from planproof.core.limits import Limits
from planproof.core.model import Question
from planproof.core.plan import InForce, Plan
from planproof.core.trace import Trace
from planproof.core.verdict import Coverage, Inputs, JudgeSummary, Outcome, Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.planning.given_plan import parse_given_plan
from planproof.planning.locate_plan import find_declared_plan
from planproof.planning.located_plan import explain_missing_plan, summarize_plan
from planproof.planning.plan_timeline import PlanTimeline, build_timeline
from planproof.readers.accounting import explain_not_understood
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.readers.detect import read_trace
from planproof.readers.native import serialize_trace
from planproof.readers.task_content import find_task, read_task

_MOST_NOTES = 5
_NO_EVENTS = (
    "There is no record in the trace, so nothing can be shown to have been done or left undone."
)
_NO_STEPS = "The plan that was given has no steps, so there is nothing to hold the trace to."


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a case is to be read. `where` is its place among others, for errors."""

    reader: str | None = None
    vocabulary: Vocabulary | None = None
    limits: Limits | None = None
    where: str | None = None
    in_force: InForce = "first"


@dataclass(frozen=True, slots=True)
class LoadedCase:
    """A case that has been read: what a judge is given, and the verdict that lacks its findings."""

    draft: Verdict
    task: Content
    timeline: PlanTimeline


def build_case(
    task: str | Path | Content | Json,
    plan: str | Path | Plan | Json,
    trace: str | Path | Source | Trace | Json,
    id: str | None = None,  # noqa: A002 - the name of the field
    metadata: dict[str, Json] | None = None,
) -> Case:
    """A case of what `evaluate` is given: files are read, text and JSON taken as they are."""
    return Case(
        task=task if isinstance(task, Content | None) else _task(task),
        plan=read_json_or_text(plan) if isinstance(plan, Path) else plan,
        trace=select_trace(Source.from_path(trace)) if isinstance(trace, Path) else trace,
        id=id,
        metadata=metadata or {},
    )


def read_trace_and_task(case: Case, options: ReadOptions) -> tuple[Source, Trace, Content]:
    """The source of the trace, the trace in it, and the task: without one, what the user said."""
    source = _source(case.trace, _place(options.where, "execution_trace"), options.limits)
    reader = "native" if isinstance(case.trace, Trace) else options.reader
    trace = read_trace(source, reader=reader, vocabulary=options.vocabulary or Vocabulary())
    return source, trace, find_task(trace) if case.task is None else case.task


def load_case(case: Case, judge: AnyJudge, options: ReadOptions) -> LoadedCase | Verdict:
    """The way of the data as far as the judge: source, trace, plan; or why there is no farther."""
    source, trace, task = read_trace_and_task(case, options)
    search = find_declared_plan(trace) if case.plan is None else None
    if search is None:
        timeline = PlanTimeline((_plan(case.plan, _place(options.where, "agent_plan")),), trace)
    else:
        timeline = build_timeline(trace, search, options.in_force)
    unjudged = Verdict(
        outcome=Outcome.NO_PLAN,
        reason=explain_missing_plan(search) if search else _NO_STEPS,
        id=case.id,
        plan=summarize_plan(timeline.last_plan, search, options.in_force),
        coverage=_coverage(trace, source),
        judge=JudgeSummary(name=judge.name, fingerprint=judge.fingerprint),
        inputs=Inputs(task=task_digest(task), plan=plan_digest(case.plan), trace=source.digest),
        metadata=case.metadata,
    )
    if search is None and not timeline.last_plan.steps:
        return unjudged
    if why := explain_not_understood(trace):
        # Before the plan that was found: what was not read may well declare another one.
        return replace(unjudged, outcome=Outcome.NOT_UNDERSTOOD, reason=why)
    if not timeline.last_plan.steps:
        return unjudged
    if not trace.events:
        return replace(unjudged, outcome=Outcome.NO_EVENTS, reason=_NO_EVENTS)
    return LoadedCase(unjudged, task, timeline)


def build_questions(case: LoadedCase, judge: ModelJudge) -> tuple[Question, ...]:
    """What would be asked about a case: of each plan, as if nothing had been done before it."""
    if judge.name == PROMPT and len(case.timeline.plans) > 1:
        raise findings_required_error()
    parts = PlanPeriods(case.timeline).iter_periods()
    return tuple(
        question for plan, trace in parts for question in judge.questions(case.task, plan, trace)
    )


def _plan(raw: Json, place: str) -> Plan:
    try:
        return parse_given_plan(raw)
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
    return (
        read_task(read_json_or_text(task), where=str(task))
        if isinstance(task, Path)
        else read_task(task)
    )


def read_json_or_text(path: Path) -> Json:
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
    value = serialize_trace(trace) if isinstance(trace, Trace) else trace
    return Source.from_value(value, name=name, limits=limits)
