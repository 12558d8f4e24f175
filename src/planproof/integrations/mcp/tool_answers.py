"""Answers of the MCP tools: typed, short enough for a model to read, secrets masked."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from planproof.core.finding import Evidence, Extra, Status, StepFinding
from planproof.core.json_values import format_value
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Trace
from planproof.core.verdict import Verdict
from planproof.monitor import Deviation, Monitor
from planproof.planning.plan_search import PlanSearch
from planproof.readers.decoding.split_traces import ContainedTrace
from planproof.readers.record_counts import explain_not_understood
from planproof.readers.task_content import find_task
from planproof.reports.terminal.lines import truncate
from planproof.reports.wording import (
    format_coverage,
    format_headline,
    format_low_confidence,
    format_plan_origin,
    format_tally,
    make_sanitizer,
)

_MAX_ITEMS = 100
"""Maximum number of steps, extras, events or notes in an answer; the rest is only counted."""
_MAX_QUOTES = 3
_MAX_TEXT_LENGTH = 300
_show = make_sanitizer(secrets=False)


class Quote(BaseModel):
    """A quote that the program found in the trace."""

    event: str = Field(description="Id of the event, as `inspect` shows it.")
    pointer: str = Field(description="Location in the source.")
    quote: str


class StepAnswer(BaseModel):
    """The status of a step."""

    number: str
    text: str
    status: str = Field(description="executed, partial, missing, ambiguous or out_of_order.")
    confidence: float = Field(description="Probability that the finding is right, 0 to 1.")
    note: str = Field(description="Explanation of the status, if needed.")
    evidence: list[Quote]


class ExtraAnswer(BaseModel):
    """An action that no step covers."""

    what: str
    severity: str = Field(description="major, or minor: a retry, a repeat, a closing call.")
    evidence: Quote


class VerdictAnswer(BaseModel):
    """A verdict: score, reason, and the findings that they are based on."""

    outcome: str = Field(
        description="scored, no_plan, no_events, not_understood, invalid_input or judge_failed: "
        "only a scored verdict has a score."
    )
    score: float | None = Field(description="0.0 to 1.0; null means that it could not be judged.")
    reason: str
    confidence: float | None = Field(
        description="Probability that the score level is right, 0 to 1; null if it is not known."
    )
    low_confidence: str | None = Field(
        description="If the level is more likely wrong than right: a notice that names the judges "
        "to use instead."
    )
    summary: str = Field(description="The score in words, and the number of executed steps.")
    steps: list[StepAnswer]
    extras: list[ExtraAnswer]
    nearest_better: str | None = Field(description="The smallest change that would score higher.")
    plan: str | None = Field(description="Where the plan was found; null if it was given.")
    coverage: str | None = Field(description="How much of the trace was read, and by which reader.")
    left_out: int = Field(description="Number of steps and extras not listed.")


class PlanAnswer(BaseModel):
    """The plan that was declared in a trace, and where."""

    event: str
    sort: str
    declared_by: str
    before_acting: bool
    steps: list[str]


class EventAnswer(BaseModel):
    """An event, shortened."""

    id: str
    kind: str
    actor: str
    name: str
    text: str = Field(description="What was said, or the arguments of a call.")
    output: str
    status: str


class TraceAnswer(BaseModel):
    """A trace as it was read, or the ids of several traces."""

    traces: list[str] = Field(description="Ids for `pick`, if the source contains several traces.")
    reader: str | None
    task: str
    plan: PlanAnswer | None
    understood: bool = Field(
        description="False when less than half of what the agent did was read; such a trace gets "
        "no score."
    )
    count: int = Field(description="Number of all events, or of all traces.")
    events: list[EventAnswer]
    next_event: int | None = Field(description="Pass this as `first_event` to see more.")
    skipped: list[str] = Field(description="Parts that were not read as events, and why.")


class ExpectedStep(BaseModel):
    """A step of the plan."""

    number: str
    text: str


class StepProgress(ExpectedStep):
    """A step of the plan and its status so far."""

    status: str = Field(description="As in a verdict, or `not_begun`.")


class DeviationAnswer(BaseModel):
    """A deviation from the plan."""

    certainty: str = Field(
        description="proven: nothing can undo it; suspected: it may be resolved."
    )
    severity: str
    event: str | None
    step: str | None
    why: str


class OutlookAnswer(BaseModel):
    """The progress of a run against its plan."""

    expected: list[ExpectedStep] = Field(description="Steps that may come next under the plan.")
    ceiling: float = Field(description="The best score that is still possible.")
    steps: list[StepProgress]
    deviations: list[DeviationAnswer]
    left_out: int = Field(description="Number of steps and deviations not listed.")


def build_verdict_answer(verdict: Verdict) -> VerdictAnswer:
    """Build the answer for a verdict; deviations have priority if not all steps fit."""
    steps = sorted(verdict.steps, key=lambda step: step.status is Status.EXECUTED)
    listed = {step.number for step in steps[:_MAX_ITEMS]}
    better = verdict.nearest_better
    counts = f", {format_tally(verdict)}" if verdict.steps else ""
    return VerdictAnswer(
        outcome=verdict.outcome.value,
        score=verdict.score,
        reason=_show(verdict.reason),
        confidence=verdict.confidence,
        low_confidence=format_low_confidence(verdict),
        summary=f"{format_headline(verdict)}{counts}",
        steps=[_build_step(step) for step in verdict.steps if step.number in listed],
        extras=[_build_extra(extra) for extra in verdict.extras[:_MAX_ITEMS]],
        nearest_better=better and f"{better.score} {_show(better.change)}",
        plan=verdict.plan and format_plan_origin(verdict.plan),
        coverage=verdict.coverage and format_coverage(verdict.coverage),
        left_out=_count_omitted(verdict.steps, verdict.extras),
    )


def build_trace_answer(
    trace: Trace, located: PlanSearch, first_event: int, max_events: int
) -> TraceAnswer:
    """Build the answer for a trace: a range of its events, its plan and its task."""
    shown = trace.events[first_event - 1 : first_event - 1 + max_events]
    next_event = first_event + len(shown)
    return TraceAnswer(
        traces=[],
        reader=trace.reader,
        task=_shorten(find_task(trace).text),
        plan=_build_plan(located),
        understood=explain_not_understood(trace) is None,
        count=len(trace.events),
        events=[_build_event(event) for event in shown],
        next_event=next_event if next_event <= len(trace.events) else None,
        skipped=[_shorten(f"{part.pointer}: {part.why}") for part in trace.skipped[:_MAX_ITEMS]],
    )


def build_trace_list_answer(traces: Sequence[ContainedTrace]) -> TraceAnswer:
    """Build the answer for a source with several traces: their ids."""
    return TraceAnswer(
        traces=[_shorten(trace.id) for trace in traces[:_MAX_ITEMS]],
        reader=None,
        task="",
        plan=None,
        understood=True,
        count=len(traces),
        events=[],
        next_event=None,
        skipped=[],
    )


def build_outlook_answer(monitor: Monitor) -> OutlookAnswer:
    """Build the answer about the current progress of a run."""
    steps, deviations = monitor.steps, monitor.deviations
    return OutlookAnswer(
        expected=[_build_expected_step(step) for step in monitor.next_steps[:_MAX_ITEMS]],
        ceiling=monitor.ceiling,
        steps=[
            StepProgress(
                number=_shorten(step.number),
                text=_shorten(step.text),
                status=step.status.value if step.covers or step.evidence else "not_begun",
            )
            for step in steps[:_MAX_ITEMS]
        ],
        deviations=[_build_deviation(deviation) for deviation in deviations[:_MAX_ITEMS]],
        left_out=_count_omitted(steps, deviations),
    )


def _build_step(step: StepFinding) -> StepAnswer:
    return StepAnswer(
        number=_shorten(step.number),
        text=_shorten(step.text),
        status=step.status.value,
        confidence=step.confidence,
        note=_shorten(step.note),
        evidence=[_build_quote(evidence) for evidence in step.evidence[:_MAX_QUOTES]],
    )


def _build_extra(extra: Extra) -> ExtraAnswer:
    return ExtraAnswer(
        what=_shorten(extra.what), severity=extra.severity.value, evidence=_build_quote(extra)
    )


def _build_quote(evidence: Evidence | Extra) -> Quote:
    return Quote(
        event=_shorten(evidence.event),
        pointer=_shorten(evidence.pointer),
        quote=_shorten(evidence.quote),
    )


def _build_plan(located: PlanSearch) -> PlanAnswer | None:
    declaration = located.declaration
    if declaration is None:
        return None
    return PlanAnswer(
        event=_shorten(declaration.event),
        sort=declaration.sort.value,
        declared_by=declaration.declared_by.value,
        before_acting=declaration.before_acting,
        steps=_format_steps(declaration.plan),
    )


def _format_steps(plan: Plan) -> list[str]:
    return [_shorten(f"{step.number} {step.text}") for step in plan.steps[:_MAX_ITEMS]]


def _build_event(event: Event) -> EventAnswer:
    return EventAnswer(
        id=_shorten(event.id),
        kind=event.kind.value,
        actor=_shorten(event.actor or ""),
        name=_shorten(event.name or ""),
        text=_shorten(event.text or format_value(event.arguments)),
        output=_shorten(event.output),
        status=event.status.value,
    )


def _build_expected_step(step: Step) -> ExpectedStep:
    return ExpectedStep(number=_shorten(step.number), text=_shorten(step.text))


def _build_deviation(deviation: Deviation) -> DeviationAnswer:
    return DeviationAnswer(
        certainty=deviation.certainty.value,
        severity=deviation.severity.value,
        event=deviation.event and _shorten(deviation.event),
        step=deviation.step and _shorten(deviation.step),
        why=_shorten(deviation.why),
    )


def _count_omitted(*lists: Sequence[object]) -> int:
    return sum(max(len(listed) - _MAX_ITEMS, 0) for listed in lists)


def _shorten(text: str) -> str:
    return truncate(_show(text), _MAX_TEXT_LENGTH)
