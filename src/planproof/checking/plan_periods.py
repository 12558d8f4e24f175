"""One plan after another: each is judged on what was done under it, and the findings are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from planproof.checking.plan_findings import add_parent_findings, mark_out_of_order, reset_order
from planproof.core.finding import Evidence, Extra, Findings, Status, StepFinding
from planproof.core.judge import Judgement, PromptCoverage, with_totals
from planproof.core.plan import Plan
from planproof.core.trace import Kind, Trace
from planproof.core.usage import Usage
from planproof.errors import InvalidInput
from planproof.planning.plan_timeline import PlanTimeline, with_steps_first

_WORTH = {Status.MISSING: 0, Status.AMBIGUOUS: 1, Status.PARTIAL: 2}
_DONE = frozenset({Status.EXECUTED, Status.OUT_OF_ORDER})
_PRESENT = _DONE | {Status.PARTIAL}


class PlanPeriods:
    """What is to be judged, one plan in force after the other, and what is found of it all.

    A step that the next plan keeps is the same step: what was done of it counts there, and its
    evidence is shown again. One that the next plan leaves out is withdrawn if nothing was done
    of it; otherwise it stays.
    """

    def __init__(self, timeline: PlanTimeline) -> None:
        self._held = timeline
        self._places = {event.id: place for place, event in enumerate(timeline.trace.events)}
        self._place = 0
        self._found: dict[str, StepFinding] = {}
        self._extras: list[Extra] = []
        self._given: list[Findings | Judgement] = []

    def iter_periods(self) -> Iterator[tuple[Plan, Trace]]:
        """Each plan with what is held against it; what is found of it is to be added in between."""
        held = self._held
        if len(held.plans) == 1:
            yield held.last_plan, held.trace
            return
        taken = set(held.plan_index_by_event.values())
        for self._place, plan in enumerate(held.plans):
            if self._place in taken or self._place == len(held.plans) - 1:
                begun = self._begun(held.numbers[self._place])
                shown = [one.event for found in begun.values() for one in found.evidence]
                yield with_steps_first(plan, begun), held.slice_trace(self._place, shown)

    def add_findings(self, result: Findings | Judgement) -> None:
        """Take in what was found of the part that came last."""
        if len(self._held.plans) == 1:
            self._given.append(result)
            return
        findings = result.findings if isinstance(result, Judgement) else result
        if findings is None:
            raise findings_required_error()
        numbers = self._held.numbers[self._place]
        if isinstance(result, Judgement):
            named = (replace(r, step=numbers.get(r.step or "", r.step)) for r in result.rejected)
            result = replace(result, rejected=tuple(named))
        self._given.append(result)
        for step in findings.steps:
            if step.number in numbers:
                number = numbers[step.number]
                found = self._since_planned(replace(step, number=number))
                before = self._found.get(number)
                self._found[number] = found if before is None else self._joined(before, found)
        homes = self._held.plan_index_by_event
        self._extras += [e for e in findings.extras if homes[e.event] == self._place]

    def merge_findings(self) -> Findings | Judgement:
        """What was found of all plans together."""
        if len(self._held.plans) == 1:
            return self._given[-1]
        findings = self._findings()
        given = [each for each in self._given if isinstance(each, Judgement)]
        return _together(findings, given, len(self._places)) if given else findings

    @property
    def usage(self) -> Usage:
        """What asking took so far."""
        return sum((each.usage for each in self._given if isinstance(each, Judgement)), Usage())

    def _begun(self, numbers: Mapping[str, str]) -> dict[str, StepFinding]:
        """The steps of a plan of which something was done before it, in the order of that.

        In front of the others, for what was done before a plan can't be out of order under it.
        """
        known = ((number, self._found.get(named)) for number, named in numbers.items())
        begun = [(n, found) for n, found in known if found and found.status in _PRESENT]
        begun.sort(key=lambda each: self._places[each[1].evidence[0].event])
        return dict(begun)

    def _findings(self) -> Findings:
        began = {
            number: self._held.plan_index_by_event[event]
            for number, found in self._found.items()
            if (event := self._begins(found)) is not None
        }
        plan = self._held.merge_plans(began)
        found = [
            replace(
                reset_order(self._found[step.number]),
                text=step.text,
                parent=step.parent,
                free_order=step.free_order,
            )
            for step in plan.leaves
        ]
        ordered = mark_out_of_order(self._held.trace, found)
        extras = sorted(self._extras, key=lambda extra: self._places[extra.event])
        return Findings(
            add_parent_findings(plan, {one.number: one for one in ordered}), tuple(extras)
        )

    def _begins(self, found: StepFinding) -> str | None:
        """The event with which a step began; nothing for one that was left before it had."""
        events = self._held.trace.by_id
        acted = any(events[event].kind is Kind.ACTION for event in found.covers)
        if found.status in _PRESENT or acted or found.number in self._held.numbers[-1]:
            return next(iter((*(one.event for one in found.evidence), *found.covers)), None)
        return None

    def _since_planned(self, found: StepFinding) -> StepFinding:
        """The finding without what happened before the step was planned."""
        first = self._held.active_ranges[found.number].start
        homes = self._held.plan_index_by_event
        evidence = tuple(one for one in found.evidence if homes[one.event] >= first)
        covers = tuple(event for event in found.covers if homes[event] >= first)
        kept = replace(found, evidence=evidence, covers=covers)
        if evidence or not found.evidence:
            return kept
        note = "what shows it came before it was planned"
        return replace(kept, status=Status.AMBIGUOUS, note=note)

    def _joined(self, before: StepFinding, later: StepFinding) -> StepFinding:
        """A step that was judged under two plans: what was done stays done, what was not may be."""
        covers = self._in_time({*before.covers, *later.covers})
        if before.status in _DONE or _WORTH[before.status] > _WORTH.get(later.status, 3):
            return replace(before, covers=covers)
        evidence = later.evidence
        if before.status is Status.PARTIAL:
            evidence = self._cited((*before.evidence, *later.evidence))
        return replace(later, evidence=evidence, covers=covers)

    def _in_time(self, events: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(events, key=self._places.__getitem__))

    def _cited(self, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
        unlike = dict.fromkeys(evidence)
        return tuple(sorted(unlike, key=lambda one: self._places[one.event]))


def findings_required_error() -> InvalidInput:
    """The error for a judge that can't be asked about one plan after another."""
    return InvalidInput(
        "a judge that gives a score and no findings can't judge one plan after another.",
        advice="Take `rules`, `audit` or `cascade`, or leave the first plan in force.",
    )


def _together(findings: Findings, given: Sequence[Judgement], events: int) -> Judgement:
    """The judgements on all plans as one; what samples and panels scored was never the whole."""
    shown = [each.shown for each in given if each.shown is not None]
    joined = Judgement(
        findings=findings,
        notes=tuple(dict.fromkeys(note for each in given for note in each.notes)),
        rejected=tuple(one for each in given for one in each.rejected),
        shown=PromptCoverage(
            events=min(sum(each.events for each in shown), events),
            shortened=min(sum(each.shortened for each in shown), events),
            windows=sum(each.windows for each in shown),
            images=sum(each.images for each in shown),
        )
        if shown
        else None,
    )
    return with_totals(joined, given)
