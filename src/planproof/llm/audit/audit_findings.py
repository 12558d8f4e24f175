"""From what a model claims to findings: what the program can prove wrong falls away.

What it only doubts, since the words or values of a step are not where it looks for them, lowers no
finding: the model is asked about it, and its reading stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planproof.checking.analysis import Weighed
from planproof.checking.confidence import signs_of_extra, sureness_of
from planproof.checking.extras import extras_of
from planproof.checking.plan_findings import assembled
from planproof.checking.quoting import cite
from planproof.core.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, Trace
from planproof.core.verdict import Rejected
from planproof.llm.audit.audit_answers import Claim, ClaimedExtra, Claims
from planproof.llm.audit.citations import Citations

_SHOWS = frozenset({Status.EXECUTED, Status.PARTIAL})
_SAID = frozenset({Kind.MESSAGE, Kind.REASONING})
_FELL = "what was named as evidence of it does not stand"
_UNNAMED = "no evidence of it was named"
_HALF = "no call for the part that is an action"
_CONDITION_FAILED = "its condition did not hold"
_NOT_FOUND = "not found in these events"
_NO_CONDITION = "no condition found in the step"


@dataclass(frozen=True, slots=True)
class Examined:
    """The findings, what was rejected on the way, and the actions that nobody accounted for.

    `doubts` are by step what the rules miss in evidence that stands: worth a question, no veto.
    """

    findings: Findings
    rejected: tuple[Rejected, ...]
    unaccounted: tuple[str, ...]
    doubts: Mapping[str, str]


@dataclass(slots=True)
class _Held:
    """What is left of a claim once its citations have been looked up.

    `halved` says that a part of the step takes a call, and none was cited.
    """

    claim: Claim | None
    evidence: list[Evidence] = field(default_factory=list[Evidence])
    covers: list[str] = field(default_factory=list[str])
    halved: bool = False


class Examination:
    """Holds claims about one case against its trace."""

    def __init__(self, plan: Plan, trace: Trace, weighed: Weighed) -> None:
        self._plan = plan
        self._trace = trace
        self._weighed = weighed
        self.citations = Citations(plan, trace, weighed)

    def of(self, claims: Claims, settled: Mapping[str, list[str]] | None = None) -> Examined:
        """What can be found by these claims.

        `settled` are steps that nobody was asked about, with the events that the rules give them:
        for these the rules' finding stands.
        """
        settled = settled or {}
        rejected: list[Rejected] = []
        doubts: dict[str, str] = {}
        held = [
            self._held(step, claims, rejected, settled.get(step.number))
            for step in self._plan.leaves
        ]
        ruled = self._weighed.explained_by([self._run(each) for each in held])
        found = [
            rules if each.claim is None else self._finding(index, each, ruled, rules, doubts)
            for index, (each, rules) in enumerate(zip(held, ruled.found, strict=True))
        ]
        steps = assembled(self._plan, self._trace, found)
        due = extras_of(ruled.units, ruled.explanation, self._trace, steps)
        extras = [*self._actions(due, claims), *self._words(claims, steps, rejected)]
        extras.sort(key=lambda extra: self.citations.place(extra.event))
        unaccounted = tuple(extra.event for extra in extras if extra.event not in claims.extras)
        return Examined(Findings(steps, tuple(extras)), tuple(rejected), unaccounted, doubts)

    def _held(
        self,
        step: Step,
        claims: Claims,
        rejected: list[Rejected],
        settled: list[str] | None,
    ) -> _Held:
        claim = claims.steps.get(step.number)
        if settled is not None:
            added = [] if claim is None else self._covered(claim, claims)
            return _Held(None, covers=self._in_order({*settled, *added}))
        if claim is None or claim.status is Status.MISSING:
            return _Held(None)
        held = _Held(claim)
        for event, quote in claim.evidence:
            found = self._looked_up(claim, event, quote)
            if isinstance(found, str):
                rejected.append(Rejected(step=step.number, event=event, quote=quote, why=found))
            elif found not in held.evidence:
                held.evidence.append(found)
        held.evidence.sort(key=lambda one: self.citations.place(one.event))
        if claim.status in _SHOWS and not claim.condition_failed:
            self._sift(step, claim, held, rejected)
        if not claim.condition_failed and (held.evidence or claim.status is Status.AMBIGUOUS):
            cited = {one.event for one in held.evidence}
            held.covers = self._in_order(cited.union(self._covered(claim, claims)))
        return held

    def _sift(self, step: Step, claim: Claim, held: _Held, rejected: list[Rejected]) -> None:
        """Leave what counts for a step of the kinds that the model gives it."""
        sifted = self.citations.sifted(step, claim.kinds, held.evidence)
        held.evidence = list(sifted.counted)
        held.halved = bool(sifted.objections)
        rejected.extend(
            Rejected(step=step.number, event=one.event, quote=one.quote, why=why)
            for one, why in sifted.objections
        )

    def _looked_up(self, claim: Claim, event: str, quote: str) -> Evidence | str:
        if claim.condition_failed:
            return self.citations.against_condition(event, quote)
        if claim.status is Status.AMBIGUOUS:
            return self.citations.resolved(event, quote)
        return self.citations.accepted(event, quote)

    def _covered(self, claim: Claim, claims: Claims) -> list[str]:
        """What is counted in with a step without a quote; not what is called an extra as well."""
        return [
            event
            for event in claim.covers
            if self.citations.can_cover(event) and event not in claims.extras
        ]

    def _run(self, held: _Held) -> list[int]:
        return sorted({unit for event in held.covers for unit in self.citations.units(event)})

    def _finding(
        self, index: int, held: _Held, ruled: Weighed, rules: StepFinding, doubts: dict[str, str]
    ) -> StepFinding:
        """Return the finding on a step: what the model claims of it, as far as it is shown.

        `rules` is what the rules find on the same events. Where that is less, it is a doubt.
        """
        step, claim = self._plan.leaves[index], held.claim
        assert claim is not None
        note = doubt = ""
        if claim.status is Status.AMBIGUOUS:
            status = Status.AMBIGUOUS
        elif not held.evidence:
            status, note = Status.AMBIGUOUS, _FELL if claim.evidence else _UNNAMED
        elif claim.condition_failed and step.condition is None and self._only_user(held.evidence):
            status, note = Status.AMBIGUOUS, _NO_CONDITION
        elif claim.condition_failed:
            status, note = Status.EXECUTED, _CONDITION_FAILED
            doubt = "" if step.condition is not None else _NO_CONDITION
        elif held.halved or claim.status is Status.PARTIAL:
            status = Status.PARTIAL
            note = _HALF if held.halved else rules.note
        else:
            status = Status.EXECUTED
            doubt = "" if rules.status is Status.EXECUTED else rules.note or _NOT_FOUND
        if doubt:
            doubts[step.number] = doubt
            read = f"accepted on the model's reading; rules: {doubt}"
            note = "; ".join(filter(None, (note, read)))
        return StepFinding(
            number=step.number,
            text=step.text,
            status=status,
            sureness=ruled.sureness(index, status),
            evidence=tuple(held.evidence),
            covers=tuple(held.covers),
            note=note,
            parent=step.parent,
            free_order=step.free_order,
        )

    def _only_user(self, evidence: Sequence[Evidence]) -> bool:
        return all(self._trace.by_id[one.event].actor == "user" for one in evidence)

    def _actions(self, due: tuple[Extra, ...], claims: Claims) -> Iterator[Extra]:
        """Every action under no step; minor only if both the model and the rules say so."""
        for extra in due:
            if self._trace.by_id[extra.event].kind is not Kind.ACTION:
                continue
            claimed = claims.extras.get(extra.event)
            agreed = claimed is not None and claimed.minor
            yield extra if agreed else replace(extra, severity=Severity.MAJOR)

    def _words(
        self, claims: Claims, steps: tuple[StepFinding, ...], rejected: list[Rejected]
    ) -> Iterator[Extra]:
        """Messages and thoughts that a model calls extras, and quotes."""
        cited = {one.event for step in steps for one in step.evidence}
        for claimed in claims.extras.values():
            event = self._trace.by_id.get(claimed.event)
            if event is None:
                rejected.append(_unresolved(claimed, "there is no such event in what is judged"))
            elif event.kind in _SAID and event.actor != "user" and event.id not in cited:
                found = self._quoted(event, claimed)
                if isinstance(found, str):
                    rejected.append(_unresolved(claimed, found))
                else:
                    yield self._said(event, found, claimed)

    def _quoted(self, event: Event, claimed: ClaimedExtra) -> Evidence | str:
        if not claimed.quote.strip():
            return cite(event, frozenset())
        return self.citations.resolved(event.id, claimed.quote)

    def _said(self, event: Event, found: Evidence, claimed: ClaimedExtra) -> Extra:
        explanation = self._weighed.explanation
        units = self.citations.units(event.id)
        fits = [fit for unit in units for fit in explanation.affinity[unit]]
        return Extra(
            event=event.id,
            pointer=found.pointer,
            quote=found.quote,
            what=event.name or event.kind.value,
            severity=Severity.MINOR if claimed.minor else Severity.MAJOR,
            sureness=sureness_of("extra", signs_of_extra(fits, explanation.nearness)),
        )

    def _in_order(self, events: set[str]) -> list[str]:
        return sorted(events, key=self.citations.place)


def _unresolved(claimed: ClaimedExtra, why: str) -> Rejected:
    return Rejected(step=None, event=claimed.event, quote=claimed.quote, why=why)
