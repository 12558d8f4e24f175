"""Judge a trace in which the agent changed its plan: each plan on its period, findings merged."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from planproof.checking.plan_findings import add_parent_findings, mark_out_of_order, reset_order
from planproof.core.finding import Evidence, Extra, Findings, Status, StepFinding
from planproof.core.judge import Judgement, PromptCoverage, with_totals
from planproof.core.model import ModelFailed
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.usage import Usage
from planproof.errors import InvalidInput
from planproof.planning.plan_timeline import PlanTimeline, move_steps_first

_RANK = {Status.MISSING: 0, Status.AMBIGUOUS: 1, Status.PARTIAL: 2}
_DONE = frozenset({Status.EXECUTED, Status.OUT_OF_ORDER})
_PRESENT = _DONE | {Status.PARTIAL}


class JudgePeriod(Protocol):
    """Judges a part of a trace by the plan that was in force."""

    def __call__(self, plan: Plan, trace: Trace, /) -> Awaitable[Findings | Judgement]:
        """Return the findings, or raise `ModelFailed`."""
        ...


async def judge_periods(timeline: PlanTimeline, judge: JudgePeriod) -> Findings | Judgement:
    """Judge each plan on the events of its period, and merge the findings.

    A step that the next plan keeps is the same step: work done for it still counts, and its
    evidence is shown again. A step that the next plan drops is withdrawn if it was not started.
    """
    periods = _PlanPeriods(timeline)
    results: list[Findings | Judgement] = []
    for plan, trace in periods:
        try:
            result = await judge(plan, trace)
        except ModelFailed as failed:
            # The questions about earlier plans were paid for all the same.
            usage = _sum_usage(results) + failed.usage
            raise ModelFailed(
                failed.cause, failed.detail, model=failed.model, usage=usage
            ) from failed
        results.append(periods.add(result))
    findings = periods.merge()
    judgements = [result for result in results if isinstance(result, Judgement)]
    if not judgements:
        return findings
    return _merge_judgements(findings, judgements, len(timeline.trace.events))


def iter_independent_periods(timeline: PlanTimeline) -> Iterator[tuple[Plan, Trace]]:
    """Yield each plan with the events of its period, as if nothing had been done before it."""
    if len(timeline.plans) == 1:
        yield timeline.last_plan, timeline.trace
    else:
        yield from _PlanPeriods(timeline)


def findings_required_error() -> InvalidInput:
    """Return the error for a judge that gives no findings, and so can't judge several plans."""
    return InvalidInput(
        "a judge without findings can't judge a trace with several plans in force.",
        advice="Use `rules`, `audit` or `cascade`, or keep the first plan in force.",
    )


class _PlanPeriods:
    """The periods of a timeline, and the findings of those before the current one."""

    def __init__(self, timeline: PlanTimeline) -> None:
        self._timeline = timeline
        self._index_by_event = {event.id: i for i, event in enumerate(timeline.trace.events)}
        self._current = 0
        self._findings: dict[str, StepFinding] = {}
        self._extras: list[Extra] = []

    def __iter__(self) -> Iterator[tuple[Plan, Trace]]:
        """Yield each plan with the events to judge; `add` takes the result before the next."""
        timeline = self._timeline
        with_events = set(timeline.plan_index_by_event.values())
        for self._current, plan in enumerate(timeline.plans):
            if self._current in with_events or self._current == len(timeline.plans) - 1:
                started = self._find_started(timeline.numbers[self._current])
                shown = [each.event for found in started.values() for each in found.evidence]
                yield move_steps_first(plan, started), timeline.slice_trace(self._current, shown)

    def add(self, result: Findings | Judgement) -> Findings | Judgement:
        """Add the findings of the current period; return them with the timeline's numbers."""
        findings = result.findings if isinstance(result, Judgement) else result
        if findings is None:
            raise findings_required_error()
        numbers = self._timeline.numbers[self._current]
        if isinstance(result, Judgement):
            rejected = (replace(r, step=numbers.get(r.step or "", r.step)) for r in result.rejected)
            result = replace(result, rejected=tuple(rejected))
        for step in findings.steps:
            if step.number in numbers:
                number = numbers[step.number]
                found = self._drop_earlier_evidence(replace(step, number=number))
                earlier = self._findings.get(number)
                self._findings[number] = self._merge_step(earlier, found) if earlier else found
        plan_index = self._timeline.plan_index_by_event
        self._extras += [e for e in findings.extras if plan_index[e.event] == self._current]
        return result

    def merge(self) -> Findings:
        """Return the findings on all plans together, with the order of steps decided again."""
        started = {
            number: self._timeline.plan_index_by_event[event]
            for number, found in self._findings.items()
            if (event := self._find_start(found)) is not None
        }
        plan = self._timeline.merge_plans(started)
        leaves = [
            replace(
                reset_order(self._findings[step.number]),
                text=step.text,
                parent=step.parent,
                free_order=step.free_order,
            )
            for step in plan.leaves
        ]
        ordered = mark_out_of_order(self._timeline.trace, leaves)
        extras = sorted(self._extras, key=lambda extra: self._index_by_event[extra.event])
        steps = add_parent_findings(plan, {found.number: found for found in ordered})
        return Findings(steps, tuple(extras))

    def _find_started(self, numbers: Mapping[str, str]) -> dict[str, StepFinding]:
        """Return the steps that were begun under an earlier plan, in the order they were begun.

        They come before the other steps: work done before a plan can't be out of order in it.
        """
        known = ((number, self._findings.get(name)) for number, name in numbers.items())
        started = [(n, found) for n, found in known if found and found.status in _PRESENT]
        started.sort(key=lambda each: self._index_by_event[each[1].evidence[0].event])
        return dict(started)

    def _find_start(self, found: StepFinding) -> str | None:
        """Return the event with which a step began; None if it was dropped before it had."""
        events = self._timeline.trace.by_id
        acted = any(events[event].kind is Kind.ACTION for event in found.covers)
        if found.status in _PRESENT or acted or found.number in self._timeline.numbers[-1]:
            return next(iter((*(each.event for each in found.evidence), *found.covers)), None)
        return None

    def _drop_earlier_evidence(self, found: StepFinding) -> StepFinding:
        """Return a finding without the events that came before its step was planned."""
        first = self._timeline.active_ranges[found.number].start
        plan_index = self._timeline.plan_index_by_event
        evidence = tuple(each for each in found.evidence if plan_index[each.event] >= first)
        covers = tuple(event for event in found.covers if plan_index[event] >= first)
        kept = replace(found, evidence=evidence, covers=covers)
        if evidence or not found.evidence:
            return kept
        note = "evidence is from before the step was planned"
        return replace(kept, status=Status.AMBIGUOUS, note=note)

    def _merge_step(self, earlier: StepFinding, later: StepFinding) -> StepFinding:
        """Merge findings on one step under two plans: work done under the first still counts."""
        covers = self._sort_events({*earlier.covers, *later.covers})
        if earlier.status in _DONE or _RANK[earlier.status] > _RANK.get(later.status, 3):
            return replace(earlier, covers=covers)
        evidence = later.evidence
        if earlier.status is Status.PARTIAL:
            evidence = self._sort_evidence((*earlier.evidence, *later.evidence))
        return replace(later, evidence=evidence, covers=covers)

    def _sort_events(self, events: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(events, key=self._index_by_event.__getitem__))

    def _sort_evidence(self, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        distinct = dict.fromkeys(evidence)
        return tuple(sorted(distinct, key=lambda each: self._index_by_event[each.event]))


def _sum_usage(results: Iterable[Findings | Judgement]) -> Usage:
    return sum((each.usage for each in results if isinstance(each, Judgement)), Usage())


def _merge_judgements(
    findings: Findings, judgements: Sequence[Judgement], events: int
) -> Judgement:
    """Merge judgements on several plans; scores of samples and panels are dropped, as partial."""
    shown = [each.shown for each in judgements if each.shown is not None]
    merged = Judgement(
        findings=findings,
        notes=tuple(dict.fromkeys(note for each in judgements for note in each.notes)),
        rejected=tuple(rejected for each in judgements for rejected in each.rejected),
        shown=PromptCoverage(
            events=min(sum(each.events for each in shown), events),
            shortened=min(sum(each.shortened for each in shown), events),
            windows=sum(each.windows for each in shown),
            images=sum(each.images for each in shown),
        )
        if shown
        else None,
    )
    return with_totals(merged, judgements)
