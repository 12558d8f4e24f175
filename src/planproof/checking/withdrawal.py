"""Withdraw deviations that are more probably a paraphrase that the judge did not recognise.

Where a plan uses other words than its trace, most of what looks missing, partial or extra was done
as planned. Each such deviation has a confidence, fitted on labelled runs; below a limit it is
withdrawn, if there is an event to cite. Missing steps are not withdrawn where the plan uses the
words of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import log
from typing import TYPE_CHECKING

from planproof.checking.alignment import may_be_aligned
from planproof.checking.confidence import discount_unverified, estimate_confidence
from planproof.checking.event_text import cite
from planproof.checking.fitted_values import load_fitted_values
from planproof.checking.plan_findings import mark_out_of_order
from planproof.checking.requirements import Requirement
from planproof.checking.step_status import CHECK_FAILED, ONLY_CLAIMED, is_only_claimed
from planproof.checking.unrelated_actions import is_unrelated
from planproof.contracts.date_values import contains_date, list_days
from planproof.contracts.terms import Word
from planproof.contracts.values import Literal, LiteralKind, extract_literals
from planproof.core.finding import Extra, Severity, Status, StepFinding
from planproof.core.trace import Event, Kind, Trace

if TYPE_CHECKING:
    from planproof.checking.similarity_analysis import Analysis

_CLEAR_OVERLAP = 0.36
_EXACT = frozenset({LiteralKind.PATH, LiteralKind.IDENTIFIER})
_CONCEPT_SHARE = 0.6
_MAX_MARGIN = 6.0
_SCALE = 100
_MAX_CITED = 3
_MAX_CALL_CHARS = 2_000
_MAX_COUNTED_VALUES = 2


class DeviationRater:
    """Rates the deviations of one case, and withdraws those that are doubtful."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._values_in_calls: dict[Literal, bool] = {}

    @property
    def _is_clear(self) -> bool:
        """True if the plan uses the words of the trace."""
        return self._analysis.alignment.lexical_overlap >= _CLEAR_OVERLAP

    def rate_steps(self, findings: Sequence[StepFinding]) -> list[StepFinding]:
        """Give the deviations their confidence, or turn them into executed steps."""
        return [
            self._rate_step(step, finding) if self.is_rated(step, finding) else finding
            for step, finding in enumerate(findings)
        ]

    def is_rated(self, step: int, finding: StepFinding) -> bool:
        """Return whether a finding is a deviation that rests on words alone.

        Conditions, written calls, failed checks and calls without effect are decided by rules.
        """
        requirement = self._analysis.requirements[step]
        if requirement.call is not None or requirement.step.condition is not None:
            return False
        if finding.status is Status.PARTIAL:
            return CHECK_FAILED not in finding.note
        is_claimed = finding.status is Status.AMBIGUOUS and finding.note == ONLY_CLAIMED
        return is_claimed or (finding.status is Status.MISSING and not finding.waived)

    def _is_certain(self, step: int, finding: StepFinding) -> bool:
        """Return whether a deviation is kept, however low its confidence."""
        if finding.status is Status.PARTIAL:
            return (
                self._lacks_exact_value(step)
                or self._has_other_date(step)
                or self._has_other_number(step)
            )
        return self._is_clear

    def _lacks_exact_value(self, step: int) -> bool:
        """Return whether a path or identifier of a step is in no call."""
        requirement, own = self._analysis.requirements[step], self._comparison.own[step]
        return any(value.kind in _EXACT for value in self._list_unseen_values(requirement, own))

    def _has_other_date(self, step: int) -> bool:
        """Return whether the calls of a step have an unplanned date in place of its own."""
        analysis, requirements = self._analysis, self._analysis.requirements
        dates = [each for each in requirements[step].literals if each.kind is LiteralKind.DATE]
        texts = [analysis.candidates[index].call_text for index in self._comparison.own[step]]
        if not dates or all(date.occurs_in_any(texts) for date in dates):
            return False
        planned = "; ".join(requirement.step.text for requirement in requirements)
        return any(
            not contains_date(planned, str(day)) for text in texts for day in list_days(text)
        )

    def _has_other_number(self, step: int) -> bool:
        """Return whether the calls of a step have an unplanned number in place of its own."""
        analysis, own = self._analysis, self._comparison.own[step]
        unseen = self._list_unseen_values(analysis.requirements[step], own)
        if not any(value.kind is LiteralKind.NUMBER for value in unseen):
            return False
        planned = {
            form for each in analysis.requirements for v in each.literals for form in v.forms
        }
        return any(
            value.kind is LiteralKind.NUMBER and planned.isdisjoint(value.forms)
            for index in own
            if not analysis.candidates[index].is_text_only
            for value in extract_literals(analysis.candidates[index].call_text[:_MAX_CALL_CHARS])
        )

    def _rate_step(self, step: int, finding: StepFinding) -> StepFinding:
        deviation = finding.status.value
        confidence = estimate_confidence(deviation, self.compute_step_features(step))
        own = self._comparison.own[step]
        limit = load_fitted_values("reported_from")[deviation]
        if not own or confidence >= limit or self._is_certain(step, finding):
            return replace(
                finding, confidence=discount_unverified(confidence, self._get_events(own))
            )
        events = {event.id: event for event in self._get_events(own)}
        stems = self._analysis.requirements[step].stems
        return replace(
            finding,
            status=Status.EXECUTED,
            confidence=discount_unverified(round(1 - confidence, 2), events.values()),
            evidence=tuple([cite(event, stems) for event in [*events.values()][:_MAX_CITED]]),
            covers=tuple(events),
            note="",
        )

    def rate_order(self, trace: Trace, findings: Sequence[StepFinding]) -> list[StepFinding]:
        """Mark the steps that are out of order, and give these their confidence."""
        marked = mark_out_of_order(trace, findings)
        moved = [k for k, finding in enumerate(marked) if finding.status is Status.OUT_OF_ORDER]
        for step in moved:
            features = self.compute_order_features(step, len(moved))
            confidence = estimate_confidence("out_of_order", features)
            events = [trace.by_id[event] for event in marked[step].covers]
            marked[step] = replace(marked[step], confidence=discount_unverified(confidence, events))
        return marked

    def rate_extras(self, extras: Sequence[Extra]) -> tuple[Extra, ...]:
        """Give the uncovered actions their confidence; announcements keep theirs."""
        confidence_by_event = self._estimate_extras(extras)
        return tuple(
            replace(
                extra,
                confidence=discount_unverified(
                    confidence_by_event[extra.event], self._get_events([self._actions[extra.event]])
                ),
            )
            if extra.event in confidence_by_event
            else extra
            for extra in extras
        )

    def _estimate_extras(self, extras: Sequence[Extra]) -> dict[str, float]:
        events = [extra.event for extra in extras if extra.event in self._actions]
        return {
            event: estimate_confidence("extra", self.compute_extra_features(event, len(events)))
            for event in events
        }

    def has_action(self, event: str) -> bool:
        """Return whether an event is an action that was compared with the steps."""
        return event in self._actions

    @cached_property
    def _actions(self) -> dict[str, int]:
        """The index of the first candidate of each action."""
        actions: dict[str, int] = {}
        for index, candidate in enumerate(self._analysis.candidates):
            if candidate.event.kind is Kind.ACTION:
                actions.setdefault(candidate.event.id, index)
        return actions

    def select_doubtful_extras(self, extras: Sequence[Extra]) -> list[Extra]:
        """Return the major extras that are withdrawn if they can belong to a step."""
        confidence_by_event = self._estimate_extras(extras)
        return [
            extra
            for extra in extras
            if extra.severity is Severity.MAJOR
            and confidence_by_event.get(extra.event, 1.0)
            < load_fitted_values("reported_from")["extra"]
        ]

    def cover(self, findings: Sequence[StepFinding], extras: Sequence[Extra]) -> list[StepFinding]:
        """Add doubtful extras to the steps that were being worked on, where they can belong."""
        analysis = self._analysis
        index_by_event: dict[str, int] = {}
        for index, candidate in enumerate(analysis.candidates):
            index_by_event.setdefault(candidate.event.id, index)
        starts = sorted(
            (index_by_event[finding.covers[0]], step)
            for step, finding in enumerate(findings)
            if finding.covers and finding.covers[0] in index_by_event
        )
        positions = {event.id: n for n, event in enumerate(analysis.trace.events)}
        covered = list(findings)
        for extra in extras:
            index = index_by_event[extra.event]
            begun = [step for start, step in starts if start < index][-1:]
            to_come = [step for start, step in starts if start > index][:1]
            row = analysis.alignment.scores[index]
            steps = [step for step in (*begun, *to_come) if self._can_cover(index, step)]
            if not steps:
                continue
            step = max(steps, key=row.__getitem__)
            found = covered[step]
            evidence = found.evidence
            if step in to_come:
                # The step begins here, which may be before a step planned earlier.
                stems = analysis.requirements[step].stems
                cited = (cite(analysis.candidates[index].event, stems), *evidence)
                evidence = tuple(sorted(cited, key=lambda item: positions[item.event]))
            covers = sorted((*found.covers, extra.event), key=positions.__getitem__)
            covered[step] = replace(found, covers=tuple(covers), evidence=evidence)
        return covered

    def _can_cover(self, index: int, step: int) -> bool:
        """Return whether a candidate has enough in common with a step, in any trace."""
        candidate = self._analysis.candidates[index]
        requirement = self._analysis.requirements[step]
        if not may_be_aligned(self._analysis.alignment.scores[index][step]):
            return False
        if candidate.event.kind is not Kind.ACTION:
            return True
        # Where the plan uses the words of the trace, the same action type is not enough.
        if self._is_clear and requirement.object_terms.isdisjoint(candidate.terms):
            return False
        return not is_unrelated(candidate, requirement)

    def _may_show(self, index: int, step: int) -> bool:
        """Return whether an action could be the step in other words: not a text, nor another type.

        Nothing that an agent says can so withdraw a missing step.
        """
        candidate = self._analysis.candidates[index]
        expected = self._analysis.requirements[step].all_action_types
        if candidate.event.kind is not Kind.ACTION or not self._can_cover(index, step):
            return False
        return not expected or not expected.isdisjoint(candidate.action_types)

    def _get_events(self, indices: Sequence[int]) -> list[Event]:
        return [self._analysis.candidates[index].event for index in indices]

    def compute_step_features(self, step: int) -> dict[str, float]:
        """Compute the features that predict whether a deviation of a step is right.

        `coverage` is the share of its words that its events contain, `coverage_gap` how much higher
        that of the other steps is.
        """
        analysis, comparison = self._analysis, self._comparison
        own = comparison.own[step]
        unseen = self._list_unseen_values(analysis.requirements[step], own)
        coverage, count = comparison.coverage, len(comparison.coverage)
        others = (sum(coverage) - coverage[step]) / (count - 1) if count > 1 else coverage[step]
        rows = [analysis.alignment.scores[index] for index in own]
        margins = [
            row[step] - max((*row[:step], *row[step + 1 :]), default=row[step]) for row in rows
        ]
        margin = max(margins, default=-_SCALE * _MAX_MARGIN) / _SCALE
        return {
            "margin": max(-_MAX_MARGIN, min(_MAX_MARGIN, margin)),
            "coverage": coverage[step],
            "coverage_gap": max(0.0, others - coverage[step]),
            "other_coverage": others,
            "lexical_overlap": analysis.alignment.lexical_overlap,
            "unseen_values": float(min(_MAX_COUNTED_VALUES, len(unseen))),
            "step_count": log(count),
        }

    def compute_order_features(self, step: int, moved_count: int) -> dict[str, float]:
        """Compute the features that predict whether a step was executed out of order."""
        coverage = self._comparison.coverage
        return {
            "moved_count": log(moved_count),
            "step_count": log(len(coverage)),
            "coverage": coverage[step],
        }

    def compute_extra_features(self, event: str, extra_count: int) -> dict[str, float]:
        """Compute the features that predict whether an uncovered action is extra."""
        analysis = self._analysis
        index, comparison = self._actions[event], self._comparison
        best = max(analysis.alignment.scores[index], default=0) / _SCALE
        return {
            "best_score": max(-_MAX_MARGIN, min(_MAX_MARGIN, best)),
            "mean_coverage": sum(comparison.coverage) / len(comparison.coverage),
            "action_count": log(max(1, len(self._actions))),
            "extra_count": log(max(1, extra_count)),
        }

    def _assigned(self, step: int) -> Sequence[int]:
        return self._analysis.alignment.assigned[step]

    def _is_claim(self, index: int, step: int) -> bool:
        requirement = self._analysis.requirements[step]
        candidate = self._analysis.candidates[index]
        return requirement.requires_action and is_only_claimed(candidate, requirement)

    def _list_unseen_values(self, requirement: Requirement, own: Sequence[int]) -> list[Literal]:
        """Return the values of a step that neither its events nor any other call contain."""
        candidates = self._analysis.candidates
        outputs = [candidates[i].output_text for i in own if candidates[i].event.output]
        return [
            value
            for value in requirement.literals
            if not self._is_in_calls(value) and not any(map(value.occurs_in, outputs))
        ]

    def _is_in_calls(self, value: Literal) -> bool:
        """Return whether any call has a value; each is looked for once."""
        known = self._values_in_calls
        if value not in known:
            known[value] = value.occurs_in_any(self._comparison.calls)
        return known[value]

    @cached_property
    def _comparison(self) -> _Comparison:
        """The words that the events of each step contain; compared only if there is a deviation."""
        analysis = self._analysis
        own = [self._find_own(step) for step in range(len(analysis.requirements))]
        counts = Counter(
            chain.from_iterable({w.text for w in each.words} for each in analysis.requirements)
        )
        total = len(analysis.requirements)
        coverage: list[float] = []
        for requirement, indices in zip(analysis.requirements, own, strict=True):
            terms = frozenset[str]().union(*[analysis.candidates[i].terms for i in indices])
            row = [_measure_word(word, terms) for word in requirement.words]
            weights = [1 + log(total / counts[word.text]) for word in requirement.words]
            covered = sum([weight * share for weight, share in zip(weights, row, strict=True)])
            coverage.append(covered / sum(weights) if weights else 1.0)
        calls = [c.call_text for c in analysis.candidates if not c.is_text_only]
        return _Comparison(
            own,
            coverage,
            calls,
        )

    def _find_own(self, step: int) -> list[int]:
        """Return the candidates of a step, or else the free action that is most similar to it."""
        analysis = self._analysis
        own = [index for index in self._assigned(step) if not self._is_claim(index, step)]
        if own:
            return own
        started, assigned = analysis.alignment.started_steps, analysis.alignment.assigned
        before = max((assigned[other][0] for other in started if other < step), default=0)
        after = min(
            (assigned[other][-1] for other in started if other > step),
            default=len(analysis.candidates) - 1,
        )
        used = analysis.alignment.assigned_indices
        free = [
            index
            for index in range(before, after + 1)
            if index not in used and self._may_show(index, step)
        ]
        return sorted(free, key=lambda i: analysis.alignment.scores[i][step], reverse=True)[:1]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Steps and events of one case, compared by their words."""

    own: list[list[int]]
    coverage: list[float]
    calls: list[str]


def _measure_word(word: Word, terms: frozenset[str]) -> float:
    """Return 1 if the terms contain a word, less if they contain one that may replace it."""
    if terms.issuperset(word.stems):
        return 1.0
    return 0.0 if terms.isdisjoint(word.concepts) else _CONCEPT_SHARE
