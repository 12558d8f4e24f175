"""How it stands so far: the judge's findings on the trace up to now, and what is to come next.

A long trace is not judged again from its beginning: what the findings on the steps rest on is
kept, and the last events; what is older has been told and is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator

from planproof.checking.rules import Rules
from planproof.core.finding import Findings, Severity, Status, StepFinding
from planproof.core.phrases import steps_named
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, Trace
from planproof.monitor.deviation import Certainty, Deviation, Sort

_WINDOW = 64
_WHY = {
    Status.PARTIAL: "was executed in part",
    Status.MISSING: "was passed over",
    Status.AMBIGUOUS: "was passed over, or is only spoken of",
    Status.OUT_OF_ORDER: "is out of order",
}


class Outlook:
    """Judges the events so far whenever the agent has done or said something."""

    def __init__(self, plan: Plan, judge: Rules) -> None:
        self._plan = plan
        self._judge = judge
        self._kept: dict[str, Event] = {}
        self._forgotten: list[Deviation] = []
        self.findings = self._judged()

    @property
    def suspected(self) -> list[Deviation]:
        """What the trace so far shows to be off the plan."""
        return [*self._forgotten, *self.current]

    @property
    def current(self) -> list[Deviation]:
        """The same without what is too old to be judged again."""
        return list(self._lapses()) + [
            Deviation(
                certainty=Certainty.SUSPECTED,
                sort=Sort.EXTRA,
                severity=extra.severity,
                event=extra.event,
                step=None,
                why=f"no step covers {extra.what}",
                sureness=extra.sureness,
            )
            for extra in self.findings.extras
        ]

    @property
    def expected(self) -> tuple[Step, ...]:
        """The steps that may come next: begun, any that was not would put none out of order."""
        leaves = self._plan.leaves
        by_number = {found.number: found for found in self.findings.steps}
        found = [by_number[step.number] for step in leaves]
        last = _last_begun(found)
        expected: list[Step] = []
        due = True
        for place, (step, finding) in enumerate(zip(leaves, found, strict=True)):
            begun = bool(finding.covers)
            if begun:
                if finding.status is Status.PARTIAL or (step.loop and place == last):
                    expected.append(step)
            elif step.free_order:
                expected.append(step)
            elif place > last and due:
                expected.append(step)
                due = step.optional or step.condition is not None
        return tuple(expected)

    def see(self, event: Event) -> None:
        """Take in an event, or one again that is complete now, and judge if there is reason to."""
        self._kept[event.id] = event
        if event.kind is Kind.SYSTEM or event.actor == "user":
            return
        self.findings = self._judged()
        if len(self._kept) > 2 * _WINDOW:
            self._forget()

    def knows(self, event: str) -> bool:
        """Whether an event is still among those that are judged."""
        return event in self._kept

    def _judged(self) -> Findings:
        return self._judge.so_far(self._plan, Trace(tuple(self._kept.values())))

    def _forget(self) -> None:
        cited = {evidence.event for step in self.findings.steps for evidence in step.evidence}
        recent = set(list(self._kept)[-_WINDOW:])
        kept = {id_: event for id_, event in self._kept.items() if id_ in cited or id_ in recent}
        self._forgotten += [
            deviation
            for deviation in self.current
            if deviation.sort is Sort.EXTRA and deviation.event not in kept
        ]
        self._kept = kept

    def _lapses(self) -> Iterator[Deviation]:
        parents = {step.parent for step in self.findings.steps}
        found = [step for step in self.findings.steps if step.number not in parents]
        last = _last_begun(found)
        for place, step in enumerate(found):
            over = place < last and not step.waived and not step.free_order
            if step.status is Status.EXECUTED:
                continue
            if over or step.status is Status.OUT_OF_ORDER:
                note = f" ({step.note})" if step.note else ""
                yield Deviation(
                    certainty=Certainty.SUSPECTED,
                    sort=Sort(step.status.value),
                    severity=Severity.MAJOR,
                    event=step.covers[0] if step.covers else None,
                    step=step.number,
                    why=f"{steps_named([step.number])} {_WHY[step.status]}{note}",
                    sureness=step.sureness,
                )


def _last_begun(found: list[StepFinding]) -> int:
    """The place of the last step in plan order that has begun; -1 before any has."""
    begun = (place for place, step in enumerate(found) if step.covers and not step.free_order)
    return max(begun, default=-1)
