"""Judge a trace that is still growing: current findings, deviations and next steps.

A long trace is not judged again from its beginning: only the last events and those cited as
evidence for steps are kept; older ones have been reported and are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from planproof.checking.rules import Rules
from planproof.core.finding import Findings, Severity, Status, StepFinding
from planproof.core.phrases import format_steps
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, Trace
from planproof.monitor.deviation import Certainty, Deviation, DeviationKind

_WINDOW = 64
_STATUS_PHRASES = {
    Status.PARTIAL: "was only partly executed",
    Status.MISSING: "was skipped",
    Status.AMBIGUOUS: "was skipped, or is only claimed",
    Status.OUT_OF_ORDER: "is out of order",
}


class IncrementalJudge:
    """Judges the events so far whenever the agent does or says something."""

    def __init__(self, plan: Plan, judge: Rules) -> None:
        self._plan = plan
        self._judge = judge
        self._events: dict[str, Event] = {}
        self._old_deviations: list[Deviation] = []
        self.findings = self._judge_events()

    @property
    def suspected_deviations(self) -> list[Deviation]:
        """The deviations that the trace shows so far."""
        return [*self._old_deviations, *self.current_deviations]

    @property
    def current_deviations(self) -> list[Deviation]:
        """The suspected deviations, except those too old to be judged again."""
        return list(self._find_step_deviations()) + [
            Deviation(
                certainty=Certainty.SUSPECTED,
                kind=DeviationKind.EXTRA,
                severity=extra.severity,
                event=extra.event,
                step=None,
                why=f"no step covers {extra.what}",
                confidence=extra.confidence,
            )
            for extra in self.findings.extras
        ]

    @property
    def next_steps(self) -> tuple[Step, ...]:
        """The steps that may come next without putting any step out of order."""
        leaves = self._plan.leaves
        by_number = {leaf_findings.number: leaf_findings for leaf_findings in self.findings.steps}
        leaf_findings = [by_number[step.number] for step in leaves]
        last = _find_last_started(leaf_findings)
        candidates: list[Step] = []
        due = True
        for index, (step, finding) in enumerate(zip(leaves, leaf_findings, strict=True)):
            started = bool(finding.covers)
            if started:
                if finding.status is Status.PARTIAL or (step.loop and index == last):
                    candidates.append(step)
            elif step.free_order:
                candidates.append(step)
            elif index > last and due:
                candidates.append(step)
                due = step.optional or step.condition is not None
        return tuple(candidates)

    def observe(self, event: Event) -> None:
        """Record an event, or replace one that is now complete, and judge again if needed."""
        self._events[event.id] = event
        if event.kind is Kind.SYSTEM or event.actor == "user":
            return
        self.findings = self._judge_events()
        if len(self._events) > 2 * _WINDOW:
            self._drop_old_events()

    def is_retained(self, event: str) -> bool:
        """Return whether an event is still among those that are judged."""
        return event in self._events

    def _judge_events(self) -> Findings:
        return self._judge.judge_in_progress(self._plan, Trace(tuple(self._events.values())))

    def _drop_old_events(self) -> None:
        cited = {evidence.event for step in self.findings.steps for evidence in step.evidence}
        recent = set(list(self._events)[-_WINDOW:])
        retained = {
            id_: event for id_, event in self._events.items() if id_ in cited or id_ in recent
        }
        self._old_deviations += [
            deviation
            for deviation in self.current_deviations
            if deviation.kind is DeviationKind.EXTRA and deviation.event not in retained
        ]
        self._events = retained

    def _find_step_deviations(self) -> Iterator[Deviation]:
        parents = {step.parent for step in self.findings.steps}
        leaf_findings = [step for step in self.findings.steps if step.number not in parents]
        last = _find_last_started(leaf_findings)
        for index, step in enumerate(leaf_findings):
            is_skipped = index < last and not step.waived and not step.free_order
            if step.status is Status.EXECUTED:
                continue
            if is_skipped or step.status is Status.OUT_OF_ORDER:
                note = f" ({step.note})" if step.note else ""
                yield Deviation(
                    certainty=Certainty.SUSPECTED,
                    kind=DeviationKind(step.status.value),
                    severity=Severity.MAJOR,
                    event=step.covers[0] if step.covers else None,
                    step=step.number,
                    why=f"{format_steps([step.number])} {_STATUS_PHRASES[step.status]}{note}",
                    confidence=step.confidence,
                )


def _find_last_started(steps: list[StepFinding]) -> int:
    """Return the index of the last started step in plan order; -1 if there is none."""
    started = (index for index, step in enumerate(steps) if step.covers and not step.free_order)
    return max(started, default=-1)
