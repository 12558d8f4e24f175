"""What the tools answer: small enough for a model to read, without secrets, with a schema."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from planproof.core.finding import Evidence, Extra, Status, StepFinding
from planproof.core.json_values import written
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Trace
from planproof.core.verdict import Verdict
from planproof.monitor import Deviation, Monitor
from planproof.planning.located_plan import Located
from planproof.readers.accounting import why_not_understood
from planproof.readers.decoding.split_traces import Member
from planproof.readers.task_content import task_of
from planproof.reports.terminal.lines import cut
from planproof.reports.wording import coverage_line, headline, plan_line, shows, tally

_MOST = 100
"""Steps, extras, events, notes: what is more is counted."""
_MOST_QUOTES = 3
_LONGEST = 300
_show = shows(secrets=False)


class Quote(BaseModel):
    """A quote that the program found in the trace."""

    event: str = Field(description="Id of the event, as `inspect` shows it.")
    pointer: str = Field(description="Where it stands in the source.")
    quote: str


class StepAnswer(BaseModel):
    """What became of a step."""

    number: str
    text: str
    status: str = Field(description="executed, partial, missing, ambiguous or out_of_order.")
    sureness: float = Field(description="How often findings of this sort are right, 0 to 1.")
    note: str = Field(description="Why, where the status alone does not say it.")
    evidence: list[Quote]


class ExtraAnswer(BaseModel):
    """Something done that no step covers."""

    what: str
    severity: str = Field(description="major, or minor: a retry, a repeat, a closing call.")
    evidence: Quote


class VerdictAnswer(BaseModel):
    """A verdict: score, reason, and the findings that they rest on."""

    outcome: str = Field(
        description="scored, no_plan, no_events, not_understood, invalid_input or judge_failed: "
        "only a scored verdict has a score."
    )
    score: float | None = Field(description="0.0 to 1.0; null means that it could not be judged.")
    reason: str
    summary: str = Field(description="The score in words, and how many steps were executed.")
    steps: list[StepAnswer]
    extras: list[ExtraAnswer]
    nearest_better: str | None = Field(description="The smallest change that would score higher.")
    plan: str | None = Field(description="Where the plan was found; null if it was given.")
    coverage: str | None = Field(description="How much of the trace was read, and by what reader.")
    left_out: int = Field(description="Steps and extras beyond those that are listed.")


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
    """What is understood of a trace, or the ids of several."""

    traces: list[str] = Field(description="Ids for `pick`, where the source holds several traces.")
    reader: str | None
    task: str
    plan: PlanAnswer | None
    understood: bool = Field(
        description="False when less than half of what the agent did was read; such a trace gets "
        "no score."
    )
    count: int = Field(description="How many events there are, or traces.")
    events: list[EventAnswer]
    next_event: int | None = Field(description="Give this as `first_event` to see more.")
    skipped: list[str] = Field(description="What gave no event, and why.")


class StepToCome(BaseModel):
    """A step of the plan."""

    number: str
    text: str


class StepSoFar(StepToCome):
    """A step of the plan and what has become of it."""

    status: str = Field(description="As in a verdict, or `not_begun`.")


class DeviationAnswer(BaseModel):
    """Something off the plan."""

    certainty: str = Field(description="proven: nothing can undo it; suspected: it may go away.")
    severity: str
    event: str | None
    step: str | None
    why: str


class OutlookAnswer(BaseModel):
    """How a run stands to its plan now."""

    expected: list[StepToCome] = Field(description="Steps that may come next under the plan.")
    ceiling: float = Field(description="The best score that is still within reach.")
    steps: list[StepSoFar]
    deviations: list[DeviationAnswer]
    left_out: int = Field(description="Steps and deviations beyond those that are listed.")


def verdict_answer(verdict: Verdict) -> VerdictAnswer:
    """A verdict; lapses come first, so that nothing else crowds them out."""
    steps = sorted(verdict.steps, key=lambda step: step.status is Status.EXECUTED)
    kept = {step.number for step in steps[:_MOST]}
    better = verdict.nearest_better
    told = f", {tally(verdict)}" if verdict.steps else ""
    return VerdictAnswer(
        outcome=verdict.outcome.value,
        score=verdict.score,
        reason=_show(verdict.reason),
        summary=f"{headline(verdict)}{told}",
        steps=[_step(step) for step in verdict.steps if step.number in kept],
        extras=[_extra(extra) for extra in verdict.extras[:_MOST]],
        nearest_better=better and f"{better.score} {_show(better.change)}",
        plan=verdict.plan and plan_line(verdict.plan),
        coverage=verdict.coverage and coverage_line(verdict.coverage),
        left_out=_beyond(verdict.steps, verdict.extras),
    )


def trace_answer(trace: Trace, located: Located, first: int, most: int) -> TraceAnswer:
    """Some events of a trace, its plan and its task."""
    shown = trace.events[first - 1 : first - 1 + most]
    behind = first + len(shown)
    return TraceAnswer(
        traces=[],
        reader=trace.reader,
        task=_short(task_of(trace).text),
        plan=_plan(located),
        understood=why_not_understood(trace) is None,
        count=len(trace.events),
        events=[_event(event) for event in shown],
        next_event=behind if behind <= len(trace.events) else None,
        skipped=[_short(f"{part.pointer}: {part.why}") for part in trace.skipped[:_MOST]],
    )


def traces_answer(found: Sequence[Member]) -> TraceAnswer:
    """The ids of several traces."""
    return TraceAnswer(
        traces=[_short(member.id) for member in found[:_MOST]],
        reader=None,
        task="",
        plan=None,
        understood=True,
        count=len(found),
        events=[],
        next_event=None,
        skipped=[],
    )


def outlook_answer(monitor: Monitor) -> OutlookAnswer:
    """How a run stands by now."""
    steps, deviations = monitor.steps, monitor.deviations
    return OutlookAnswer(
        expected=[_to_come(step) for step in monitor.expected[:_MOST]],
        ceiling=monitor.ceiling,
        steps=[
            StepSoFar(
                number=_short(step.number),
                text=_short(step.text),
                status=step.status.value if step.covers or step.evidence else "not_begun",
            )
            for step in steps[:_MOST]
        ],
        deviations=[_deviation(deviation) for deviation in deviations[:_MOST]],
        left_out=_beyond(steps, deviations),
    )


def _step(step: StepFinding) -> StepAnswer:
    return StepAnswer(
        number=_short(step.number),
        text=_short(step.text),
        status=step.status.value,
        sureness=step.sureness,
        note=_short(step.note),
        evidence=[_quote(evidence) for evidence in step.evidence[:_MOST_QUOTES]],
    )


def _extra(extra: Extra) -> ExtraAnswer:
    return ExtraAnswer(
        what=_short(extra.what), severity=extra.severity.value, evidence=_quote(extra)
    )


def _quote(found: Evidence | Extra) -> Quote:
    return Quote(
        event=_short(found.event), pointer=_short(found.pointer), quote=_short(found.quote)
    )


def _plan(located: Located) -> PlanAnswer | None:
    found = located.declaration
    if found is None:
        return None
    return PlanAnswer(
        event=_short(found.event),
        sort=found.sort.value,
        declared_by=found.declared_by.value,
        before_acting=found.before_acting,
        steps=_numbered(found.plan),
    )


def _numbered(plan: Plan) -> list[str]:
    return [_short(f"{step.number} {step.text}") for step in plan.steps[:_MOST]]


def _event(event: Event) -> EventAnswer:
    return EventAnswer(
        id=_short(event.id),
        kind=event.kind.value,
        actor=_short(event.actor or ""),
        name=_short(event.name or ""),
        text=_short(event.text or written(event.arguments)),
        output=_short(event.output),
        status=event.status.value,
    )


def _to_come(step: Step) -> StepToCome:
    return StepToCome(number=_short(step.number), text=_short(step.text))


def _deviation(deviation: Deviation) -> DeviationAnswer:
    return DeviationAnswer(
        certainty=deviation.certainty.value,
        severity=deviation.severity.value,
        event=deviation.event and _short(deviation.event),
        step=deviation.step and _short(deviation.step),
        why=_short(deviation.why),
    )


def _beyond(*lists: Sequence[object]) -> int:
    return sum(max(len(listed) - _MOST, 0) for listed in lists)


def _short(text: str) -> str:
    return cut(_show(text), _LONGEST)
