"""Turn a model's claims into findings, and drop claims that the program can refute.

Missing words or values of a step are only a doubt, which does not lower a finding: the model is
asked about it again, and its second answer counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planproof.checking.confidence import compute_extra_features, estimate_confidence
from planproof.checking.event_text import cite
from planproof.checking.extras import find_extras
from planproof.checking.plan_findings import assemble_findings
from planproof.checking.similarity_analysis import Analysis
from planproof.core.finding import (
    CONDITION_NOT_MET,
    Evidence,
    Extra,
    Findings,
    Severity,
    Status,
    StepFinding,
)
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, Trace
from planproof.core.verdict import RejectedEvidence
from planproof.llm.audit.audit_answers import Claim, ClaimedExtra, Claims
from planproof.llm.audit.citations import NO_EVENT, CitationChecker

_SHOWN_STATUSES = frozenset({Status.EXECUTED, Status.PARTIAL})
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
_EVIDENCE_REJECTED = "the cited evidence was rejected"
_NO_EVIDENCE = "no evidence cited"
_NO_CALL_FOR_PART = "no call for the part that is an action"
_NOT_FOUND = "not found in these events"
_NO_CONDITION = "no condition found in the step"


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """The findings, the rejected evidence, and the actions that no claim accounts for.

    `doubts` maps a step to what the rules miss in accepted evidence: reason for a question, but not
    for rejecting the claim.
    """

    findings: Findings
    rejected: tuple[RejectedEvidence, ...]
    unaccounted_actions: tuple[str, ...]
    doubts: Mapping[str, str]


@dataclass(slots=True)
class _ClaimEvidence:
    """A claim with its verified citations.

    `lacks_call` is set if a part of the step requires a call and none was cited.
    """

    claim: Claim | None
    evidence: list[Evidence] = field(default_factory=list[Evidence])
    covers: list[str] = field(default_factory=list[str])
    lacks_call: bool = False


class ClaimVerifier:
    """Verifies claims about one case against its trace."""

    def __init__(self, plan: Plan, trace: Trace, analysis: Analysis) -> None:
        self._plan = plan
        self._trace = trace
        self._analysis = analysis
        self.citations = CitationChecker(plan, trace, analysis)

    def verify(
        self, claims: Claims, settled: Mapping[str, list[str]] | None = None
    ) -> VerifiedClaims:
        """Return the findings that these claims support.

        `settled` maps steps that no model was asked about to the events that the rules assign to
        them; for these steps the rules' finding is kept.
        """
        settled = settled or {}
        rejected: list[RejectedEvidence] = []
        doubts: dict[str, str] = {}
        evidence_by_step = [
            self._collect_evidence(step, claims, rejected, settled.get(step.number))
            for step in self._plan.leaves
        ]
        rules_analysis = self._analysis.with_assignment(
            [self._list_candidates(claim_evidence) for claim_evidence in evidence_by_step]
        )
        step_findings = [
            rules_finding
            if claim_evidence.claim is None
            else self._build_finding(index, claim_evidence, rules_analysis, rules_finding, doubts)
            for index, (claim_evidence, rules_finding) in enumerate(
                zip(evidence_by_step, rules_analysis.step_findings, strict=True)
            )
        ]
        steps = assemble_findings(self._plan, self._trace, step_findings)
        uncovered = find_extras(
            rules_analysis.candidates, rules_analysis.alignment, self._trace, steps
        )
        extras = [
            *self._collect_action_extras(uncovered, claims),
            *self._collect_text_extras(claims, steps, rejected),
        ]
        extras.sort(key=lambda extra: self.citations.position(extra.event))
        unaccounted = tuple(extra.event for extra in extras if extra.event not in claims.extras)
        return VerifiedClaims(Findings(steps, tuple(extras)), tuple(rejected), unaccounted, doubts)

    def _collect_evidence(
        self,
        step: Step,
        claims: Claims,
        rejected: list[RejectedEvidence],
        settled: list[str] | None,
    ) -> _ClaimEvidence:
        claim = claims.steps.get(step.number)
        if settled is not None:
            added = [] if claim is None else self._list_covered(claim, claims)
            return _ClaimEvidence(None, covers=self._sort_events({*settled, *added}))
        if claim is None or claim.status is Status.MISSING:
            return _ClaimEvidence(None)
        claim_evidence = _ClaimEvidence(claim)
        for event, quote in claim.evidence:
            citation = self._look_up(claim, event, quote)
            if isinstance(citation, str):
                rejected.append(
                    RejectedEvidence(step=step.number, event=event, quote=quote, why=citation)
                )
            elif citation not in claim_evidence.evidence:
                claim_evidence.evidence.append(citation)
        claim_evidence.evidence.sort(key=lambda evidence: self.citations.position(evidence.event))
        if claim.status in _SHOWN_STATUSES and not claim.condition_failed:
            self._filter_evidence(step, claim, claim_evidence, rejected)
        if not claim.condition_failed and (
            claim_evidence.evidence or claim.status is Status.AMBIGUOUS
        ):
            cited = {evidence.event for evidence in claim_evidence.evidence}
            claim_evidence.covers = self._sort_events(
                cited.union(self._list_covered(claim, claims))
            )
        return claim_evidence

    def _filter_evidence(
        self,
        step: Step,
        claim: Claim,
        claim_evidence: _ClaimEvidence,
        rejected: list[RejectedEvidence],
    ) -> None:
        """Keep the evidence that counts for a step of the kinds that the model assigned."""
        filtered = self.citations.filter_citations(step, claim.kinds, claim_evidence.evidence)
        claim_evidence.evidence = list(filtered.counted)
        claim_evidence.lacks_call = bool(filtered.objections)
        rejected.extend(
            RejectedEvidence(step=step.number, event=evidence.event, quote=evidence.quote, why=why)
            for evidence, why in filtered.objections
        )

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
            if self.citations.can_cover(event) and event not in claims.extras
        ]

    def _list_candidates(self, claim_evidence: _ClaimEvidence) -> list[int]:
        return sorted(
            {
                candidate
                for event in claim_evidence.covers
                for candidate in self.citations.candidates(event)
            }
        )

    def _build_finding(
        self,
        index: int,
        claim_evidence: _ClaimEvidence,
        rules_analysis: Analysis,
        rules_finding: StepFinding,
        doubts: dict[str, str],
    ) -> StepFinding:
        """Return the finding on a step: the model's claim, as far as evidence supports it.

        `rules_finding` is the rules' finding on the same events; a lower status there is a doubt.
        """
        step, claim = self._plan.leaves[index], claim_evidence.claim
        assert claim is not None
        note = doubt = ""
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
            doubt = "" if step.condition is not None else _NO_CONDITION
        elif claim_evidence.lacks_call or claim.status is Status.PARTIAL:
            status = Status.PARTIAL
            note = _NO_CALL_FOR_PART if claim_evidence.lacks_call else rules_finding.note
        else:
            status = Status.EXECUTED
            doubt = (
                "" if rules_finding.status is Status.EXECUTED else rules_finding.note or _NOT_FOUND
            )
        if doubt:
            doubts[step.number] = doubt
            doubt_note = f"accepted on the model's reading; rules: {doubt}"
            note = "; ".join(filter(None, (note, doubt_note)))
        return StepFinding(
            number=step.number,
            text=step.text,
            status=status,
            confidence=rules_analysis.confidence(index, status),
            evidence=tuple(claim_evidence.evidence),
            covers=tuple(claim_evidence.covers),
            note=note,
            parent=step.parent,
            free_order=step.free_order,
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
        alignment = self._analysis.alignment
        candidates = self.citations.candidates(event.id)
        scores = [score for candidate in candidates for score in alignment.scores[candidate]]
        return Extra(
            event=event.id,
            pointer=evidence.pointer,
            quote=evidence.quote,
            what=event.name or event.kind.value,
            severity=Severity.MINOR if claimed.minor else Severity.MAJOR,
            confidence=estimate_confidence(
                "extra", compute_extra_features(scores, alignment.lexical_overlap)
            ),
        )

    def _sort_events(self, events: set[str]) -> list[str]:
        return sorted(events, key=self.citations.position)


def _reject_extra(claimed: ClaimedExtra, why: str) -> RejectedEvidence:
    return RejectedEvidence(step=None, event=claimed.event, quote=claimed.quote, why=why)
