"""Turn a model's claims into findings, and drop claims that the program can refute."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planproof.checking.case_evidence import CaseEvidence
from planproof.checking.confidence import discount_unverified
from planproof.checking.event_text import cite
from planproof.checking.plan_findings import assemble_findings, reset_order
from planproof.contracts.text_values import contains_text
from planproof.contracts.values import fold
from planproof.core.contract import Truth
from planproof.core.finding import (
    CONDITION_NOT_MET,
    EQUATED,
    EQUATED_CONFIDENCE,
    VALUE,
    Check,
    Evidence,
    Extra,
    Findings,
    Severity,
    Status,
    StepFinding,
)
from planproof.core.phrases import join_items, quote_text
from planproof.core.plan import Step
from planproof.core.trace import Event, Kind
from planproof.core.verdict import RejectedEvidence
from planproof.llm.audit.audit_answers import Claim, ClaimedExtra, Claims
from planproof.llm.audit.citations import NO_EVENT, UNRELATED, CitationChecker
from planproof.llm.audit.step_kinds import CALL_KINDS, STRICTEST, StepKind, StepKinds
from planproof.llm.audit.step_values import Equation, StepValues, find_equatable, is_equatable

_SHOWN_STATUSES = frozenset({Status.EXECUTED, Status.PARTIAL})
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
_EVIDENCE_REJECTED = "the cited evidence was rejected"
_NO_EVIDENCE = "no evidence cited"
_NO_CALL_FOR_PART = "no call for the part that is an action"
_NO_CONDITION = "no condition found in the step"
_PAIRED_OTHERWISE = "one of these words is paired with other words in this step"
_NOT_OF_STEP = "the event is not cited for this step"
_UNKNOWN_CONDITION = "no event shows whether the condition was met"
_REPETITION = re.compile(
    r"\b(?:again|anew|once more|(?:one|two|three) more|another (?:time|try)|the same|as before"
    r"|repeat(?:s|ed|edly)?|retry|redo|re(?:open|run|check|send|start)\w{0,3}"
    r"|(?:second|third|fourth) (?:time|attempt|try|round))\b",
    re.IGNORECASE,
)
_EXECUTED_CONFIDENCE = 0.95
_DEVIATION_CONFIDENCE = 0.8
"""Shares of right findings with careful readers as the model, rounded down (docs/quality.md)."""


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """The findings, the rejected evidence, and the actions that no claim accounts for.

    `absent_values` maps a step that the model calls executed to what its events do not show.
    `equations` are the valid ones on which a finding depends.
    """

    findings: Findings
    rejected: tuple[RejectedEvidence, ...]
    unaccounted_actions: tuple[str, ...]
    absent_values: Mapping[str, str]
    equations: tuple[Equation, ...]


@dataclass(slots=True)
class _ClaimEvidence:
    """A claim with its verified citations.

    `lacks_call` is set if a part of the step requires a call and none was cited. `shown` are all
    events with an accepted quote, which may show values of the step. `equations` are those that
    count, `used` those without which the finding would be lower, `absent` the values not found.
    `settled` is the finding to keep, if the step needed no claim.
    """

    claim: Claim | None
    evidence: list[Evidence] = field(default_factory=list[Evidence])
    covers: list[str] = field(default_factory=list[str])
    lacks_call: bool = False
    shown: list[str] = field(default_factory=list[str])
    equations: list[Equation] = field(default_factory=list[Equation])
    used: list[Equation] = field(default_factory=list[Equation])
    absent: list[str] = field(default_factory=list[str])
    settled: StepFinding | None = None


class ClaimVerifier:
    """Verifies claims about one case against its trace."""

    def __init__(self, case: CaseEvidence) -> None:
        self._case = case
        self._plan = case.plan
        self._trace = case.trace
        self._values = StepValues(case)
        self._earlier_tools: set[str] = set()
        self.citations = CitationChecker(case)

    def verify(
        self,
        claims: Claims,
        kinds: StepKinds,
        *,
        equal: Collection[Equation] | None = None,
        settled: Mapping[str, StepFinding] | None = None,
    ) -> VerifiedClaims:
        """Return the findings that these claims support, for steps of these kinds.

        `equal` are the equations that were confirmed; None counts all valid ones, as long as nobody
        was asked. `settled` maps steps that no model was asked about to their findings, which are
        kept; a claim can only add events to them.
        """
        settled = settled or {}
        rejected: list[RejectedEvidence] = []
        self._earlier_tools.clear()
        evidence_by_step = [
            self._collect_evidence(
                step,
                claims,
                kinds.get(step.number, STRICTEST),
                equal,
                rejected,
                settled.get(step.number),
            )
            for step in self._plan.leaves
        ]
        steps = assemble_findings(
            self._plan,
            self._trace,
            [
                self._build_finding(step, claim_evidence)
                for step, claim_evidence in zip(self._plan.leaves, evidence_by_step, strict=True)
            ],
        )
        covered = {event for step in steps for event in step.covers}
        uncovered = self._case.find_extra_actions(covered, _DEVIATION_CONFIDENCE)
        extras = [
            *self._collect_action_extras(uncovered, claims),
            *self._collect_text_extras(claims, steps, rejected),
        ]
        extras.sort(key=lambda extra: self.citations.position(extra.event))
        unaccounted = tuple(extra.event for extra in extras if extra.event not in claims.extras)
        return VerifiedClaims(
            Findings(steps, tuple(extras)),
            tuple(rejected),
            unaccounted,
            {
                each.claim.step: _describe_absent(each.absent)
                for each in evidence_by_step
                if each.claim is not None and each.absent
            },
            tuple(equation for each in evidence_by_step for equation in each.used),
        )

    def _collect_evidence(
        self,
        step: Step,
        claims: Claims,
        kinds: frozenset[StepKind],
        equal: Collection[Equation] | None,
        rejected: list[RejectedEvidence],
        settled: StepFinding | None,
    ) -> _ClaimEvidence:
        claim = claims.steps.get(step.number)
        if settled is not None:
            added = [] if claim is None else self._list_covered(claim, claims)
            covers = self._sort_events({*settled.covers, *added})
            return _ClaimEvidence(None, covers=covers, settled=settled)
        if claim is None or claim.status is Status.MISSING:
            return _ClaimEvidence(None)
        claim_evidence = _ClaimEvidence(claim)
        for event, quote in claim.evidence:
            citation = self._look_up(claim, event, quote)
            if isinstance(citation, str):
                rejected.append(_reject(step, event, quote, citation))
            elif citation not in claim_evidence.evidence:
                claim_evidence.evidence.append(citation)
        claim_evidence.evidence.sort(key=lambda evidence: self.citations.position(evidence.event))
        if claim.condition_failed:
            return claim_evidence
        self._collect_equations(step, claim, claim_evidence, equal, rejected)
        if claim.status in _SHOWN_STATUSES:
            self._filter_evidence(step, kinds, claim_evidence, rejected)
        if claim_evidence.evidence or claim.status is Status.AMBIGUOUS:
            cited = {evidence.event for evidence in claim_evidence.evidence}
            covered = self._list_covered(claim, claims)
            self._cover(step, claim_evidence, cited, covered, rejected)
        if claim.status is Status.EXECUTED and claim_evidence.evidence:
            self._compare_values(step, kinds, claim_evidence)
        self._earlier_tools.update(
            found.name
            for event in claim_evidence.covers
            if (found := self._trace.by_id[event]).kind is Kind.ACTION and found.name
        )
        return claim_evidence

    def _collect_equations(
        self,
        step: Step,
        claim: Claim,
        claim_evidence: _ClaimEvidence,
        equal: Collection[Equation] | None,
        rejected: list[RejectedEvidence],
    ) -> None:
        """Collect the equations that count; one word of an event for one word of the plan.

        The same two words may be paired for several events.
        """
        own = {event for event, _ in claim.evidence}.union(claim.covers)
        values: dict[str, str] = {}
        words: dict[str, str] = {}
        for equation in claim.same:
            why = self._values.check_equation(step, equation)
            if why is None and equation.event not in own:
                why = _NOT_OF_STEP
            if why is None and not self._case.can_cover(equation.event):
                why = _NOT_OF_STEP
            planned, found = fold(equation.words), fold(equation.value)
            if why is None and (
                values.get(planned, found) != found or words.get(found, planned) != planned
            ):
                why = _PAIRED_OTHERWISE
            if why is not None:
                rejected.append(_reject(step, equation.event, equation.value, why))
                continue
            values[planned], words[found] = found, planned
            if equal is None or equation in equal:
                claim_evidence.equations.append(equation)

    def _filter_evidence(
        self,
        step: Step,
        kinds: frozenset[StepKind],
        claim_evidence: _ClaimEvidence,
        rejected: list[RejectedEvidence],
    ) -> None:
        """Keep the evidence that counts for a step of these kinds."""
        claim_evidence.shown = [evidence.event for evidence in claim_evidence.evidence]
        filtered = self.citations.filter_citations(
            step,
            kinds,
            claim_evidence.evidence,
            lambda event: (
                self._is_related(step, event, claim_evidence)
                or (not kinds & CALL_KINDS and self._case.is_message_tool(event))
            ),
        )
        claim_evidence.evidence = list(filtered.counted)
        claim_evidence.lacks_call = filtered.lacks_call
        rejected.extend(
            _reject(step, evidence.event, evidence.quote, why)
            for evidence, why in filtered.objections
        )

    def _is_related(self, step: Step, event: str, claim_evidence: _ClaimEvidence) -> bool:
        """Return whether an action has something in common with a step, note if by an equation."""
        if self._shares_words(step, event):
            return True
        for equation in claim_evidence.equations:
            if equation.event == event or self._values.is_in_call(equation.value, event):
                if equation not in claim_evidence.used:
                    claim_evidence.used.append(equation)
                return True
        return False

    def _shares_words(self, step: Step, event: str) -> bool:
        return (
            self._case.shares_terms(step, event)
            # Calls that only end the run or print something name nothing of what they are for.
            or self._case.is_closing(event)
            or self.citations.find_idle_names(self._trace.by_id[event]) is not None
            or self._values.is_related(event, step)
            # "Do the same for the others" names nothing of what is done again.
            or (
                self._trace.by_id[event].name in self._earlier_tools
                and _REPETITION.search(step.text) is not None
            )
        )

    def _cover(
        self,
        step: Step,
        claim_evidence: _ClaimEvidence,
        cited: set[str],
        covered: Sequence[str],
        rejected: list[RejectedEvidence],
    ) -> None:
        """Put the named events under a step, except actions that have nothing to do with it."""
        tools = {self._trace.by_id[event].name for event in cited}
        accepted = set(cited)
        for event in covered:
            found = self._trace.by_id[event]
            if (
                found.kind is not Kind.ACTION
                or found.name in tools
                or found.parent in accepted
                or self._is_related(step, event, claim_evidence)
            ):
                accepted.add(event)
            elif event not in cited:
                rejected.append(_reject(step, event, "", UNRELATED))
        claim_evidence.covers = self._sort_events(accepted)

    def _compare_values(
        self, step: Step, kinds: frozenset[StepKind], claim_evidence: _ClaimEvidence
    ) -> None:
        """Look for the values of a step in its events; note what is neither there nor equated."""
        is_said = not kinds & CALL_KINDS
        events = [*dict.fromkeys((*claim_evidence.covers, *claim_evidence.shown))]
        if kinds <= CALL_KINDS:
            # The agent's words beside a call do not show what the call was made with.
            events = [event for event in events if self.citations.can_show_values(step, event)]
        for literal in self._values.find_absent(step, events, anywhere=is_said):
            if (text := find_equatable(step, literal)) is not None:
                equation = next(
                    (one for one in claim_evidence.equations if _is_about(one, text)), None
                )
                if equation is not None and equation not in claim_evidence.used:
                    claim_evidence.used.append(equation)
                # A name may only say who is addressed or served.
                if equation is not None or (is_said and is_equatable(literal)):
                    continue
            claim_evidence.absent.append(literal.text)

    def _look_up(self, claim: Claim, event: str, quote: str) -> Evidence | str:
        if claim.condition_failed:
            return self.citations.check_condition_evidence(event, quote)
        if claim.status is Status.AMBIGUOUS:
            return self.citations.resolve(event, quote)
        return self.citations.accept(event, quote)

    def _list_covered(self, claim: Claim, claims: Claims) -> list[str]:
        """Return the events covered without a quote, except those also claimed as extras."""
        return [
            event
            for event in claim.covers
            if self._case.can_cover(event) and event not in claims.extras
        ]

    def _build_finding(self, step: Step, claim_evidence: _ClaimEvidence) -> StepFinding:
        """Return the finding on a step: the model's claim, as far as evidence supports it."""
        claim = claim_evidence.claim
        if claim_evidence.settled is not None:
            return replace(reset_order(claim_evidence.settled), covers=tuple(claim_evidence.covers))
        if claim is None:
            return _build_missing(step)
        note = ""
        if claim.status is Status.AMBIGUOUS:
            status = Status.AMBIGUOUS
        elif not claim_evidence.evidence:
            status, note = Status.AMBIGUOUS, _EVIDENCE_REJECTED if claim.evidence else _NO_EVIDENCE
        elif (
            claim.condition_failed
            and step.condition is None
            and self._is_user_only(claim_evidence.evidence)
        ):
            status, note = Status.AMBIGUOUS, _NO_CONDITION
        elif claim.condition_failed:
            status, note = Status.EXECUTED, CONDITION_NOT_MET
        elif claim_evidence.lacks_call or claim.status is Status.PARTIAL:
            status = Status.PARTIAL
            note = _NO_CALL_FOR_PART if claim_evidence.lacks_call else ""
        elif claim_evidence.absent:
            status, note = Status.PARTIAL, _describe_absent(claim_evidence.absent)
        else:
            status = Status.EXECUTED
        confidence = _estimate_confidence(
            status, [self._trace.by_id[event] for event in claim_evidence.covers]
        )
        if claim_evidence.used:
            note = "; ".join(filter(None, (note, *map(str, claim_evidence.used))))
            confidence = min(confidence, EQUATED_CONFIDENCE)
        return StepFinding(
            number=step.number,
            text=step.text,
            status=status,
            confidence=confidence,
            evidence=tuple(claim_evidence.evidence),
            covers=tuple(claim_evidence.covers),
            note=note,
            parent=step.parent,
            free_order=step.free_order,
            checks=tuple(_list_checks(claim_evidence)),
        )

    def _is_user_only(self, evidence: Sequence[Evidence]) -> bool:
        return all(self._trace.by_id[item.event].actor == "user" for item in evidence)

    def _collect_action_extras(
        self, uncovered: tuple[Extra, ...], claims: Claims
    ) -> Iterator[Extra]:
        """Yield every action outside all steps; minor only if both model and rules say so."""
        for extra in uncovered:
            if self._trace.by_id[extra.event].kind is not Kind.ACTION:
                continue
            claimed = claims.extras.get(extra.event)
            agreed = claimed is not None and claimed.minor
            yield extra if agreed else replace(extra, severity=Severity.MAJOR)

    def _collect_text_extras(
        self, claims: Claims, steps: tuple[StepFinding, ...], rejected: list[RejectedEvidence]
    ) -> Iterator[Extra]:
        """Yield messages and reasoning that a model calls extras, with verified quotes."""
        cited = {evidence.event for step in steps for evidence in step.evidence}
        for claimed in claims.extras.values():
            event = self._trace.by_id.get(claimed.event)
            if event is None:
                rejected.append(_reject_extra(claimed, NO_EVENT))
            elif event.kind in _TEXT_KINDS and event.actor != "user" and event.id not in cited:
                citation = self._cite_extra(event, claimed)
                if isinstance(citation, str):
                    rejected.append(_reject_extra(claimed, citation))
                else:
                    yield self._build_text_extra(event, citation, claimed)

    def _cite_extra(self, event: Event, claimed: ClaimedExtra) -> Evidence | str:
        if not claimed.quote.strip():
            return cite(event, frozenset())
        return self.citations.resolve(event.id, claimed.quote)

    def _build_text_extra(self, event: Event, evidence: Evidence, claimed: ClaimedExtra) -> Extra:
        return Extra(
            event=event.id,
            pointer=evidence.pointer,
            quote=evidence.quote,
            what=event.name or event.kind.value,
            severity=Severity.MINOR if claimed.minor else Severity.MAJOR,
            confidence=_DEVIATION_CONFIDENCE,
        )

    def _sort_events(self, events: set[str]) -> list[str]:
        return sorted(events, key=self.citations.position)


def _build_missing(step: Step) -> StepFinding:
    """Return the finding on a step for which nothing was claimed."""
    conditional = step.condition is not None
    return StepFinding(
        number=step.number,
        text=step.text,
        status=Status.AMBIGUOUS if conditional else Status.MISSING,
        confidence=_DEVIATION_CONFIDENCE,
        note=_UNKNOWN_CONDITION if conditional else "",
        parent=step.parent,
        waived=step.optional,
        free_order=step.free_order,
    )


def _estimate_confidence(status: Status, events: Sequence[Event]) -> float:
    """Return the confidence of a finding on a step that a model made and the program verified."""
    shown = status is Status.EXECUTED
    return discount_unverified(_EXECUTED_CONFIDENCE if shown else _DEVIATION_CONFIDENCE, events)


def _reject(step: Step, event: str, quote: str, why: str) -> RejectedEvidence:
    return RejectedEvidence(step=step.number, event=event, quote=quote, why=why)


def _is_about(equation: Equation, text: str) -> bool:
    """Return whether an equation is about a name of the step, or about words with it."""
    return contains_text(equation.words, text) or contains_text(text, equation.words)


def _describe_absent(values: Sequence[str]) -> str:
    noun = "value" if len(values) == 1 else "values"
    return f"{noun} {join_items(values, format_item=quote_text)} not found in these events"


def _list_checks(claim_evidence: _ClaimEvidence) -> Iterator[Check]:
    for equation in claim_evidence.used:
        yield Check(
            path=EQUATED,
            expected=equation.words,
            found=equation.value,
            event=equation.event,
            result=Truth.MATCH,
        )
    for value in claim_evidence.absent:
        yield Check(path=VALUE, expected=value, found="", event=None, result=Truth.MISMATCH)


def _reject_extra(claimed: ClaimedExtra, why: str) -> RejectedEvidence:
    return RejectedEvidence(step=None, event=claimed.event, quote=claimed.quote, why=why)
