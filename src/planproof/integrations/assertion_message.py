"""A verdict as the message of a failed assertion: what was expected, and what the trace shows."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.finding import Evidence, Extra, Status, StepFinding
from planproof.core.phrases import quoted
from planproof.core.verdict import Verdict
from planproof.reports.terminal.lines import cut, folded
from planproof.reports.wording import (
    STATUSES,
    Show,
    coverage_line,
    headline,
    score_digits,
    shows,
    tally,
)

_WIDTH = 71
"""What pytest leaves of 80 columns."""
_MOST = 12
"""Lapses that are shown in full; a plan can have thousands of steps."""
_LONGEST = 60
_EXPECTED = {
    Status.PARTIAL: "the step as written, whole",
    Status.MISSING: "an event that executes it",
    Status.AMBIGUOUS: "evidence that it was executed",
    Status.OUT_OF_ORDER: "the step in its place in the plan",
}


def failure_text(verdict: Verdict, min_score: float) -> str:
    """Why a verdict is not good enough, in lines that fit a terminal; secrets are masked."""
    show = shows(secrets=False)
    return "\n".join(_lines(verdict, min_score, show))


def _lines(verdict: Verdict, min_score: float, show: Show) -> Iterator[str]:
    if verdict.score is None:
        yield headline(verdict)
        yield from folded(show(verdict.reason), _WIDTH, "  ")
        return
    yield f"score {score_digits(verdict.score)}, below {score_digits(min_score)}"
    yield from folded(tally(verdict), _WIDTH, "  ")
    lapses = [step for step in verdict.findings.counted if step.status is not Status.EXECUTED]
    for step in lapses[:_MOST]:
        yield ""
        yield from _lapse(step, show)
    for extra in verdict.extras[:_MOST]:
        yield ""
        yield from _extra(extra, show)
    left = max(len(lapses) - _MOST, 0) + max(len(verdict.extras) - _MOST, 0)
    if left:
        yield ""
        yield f"  and {left:,} more"
    yield ""
    yield from folded(show(verdict.reason), _WIDTH, "  ")
    if verdict.nearest_better:
        better = verdict.nearest_better
        yield from folded(f"→ {score_digits(better.score)} {show(better.change)}", _WIDTH, "  ")
    if verdict.coverage:
        yield from folded(coverage_line(verdict.coverage), _WIDTH, "  ")


def _lapse(step: StepFinding, show: Show) -> Iterator[str]:
    yield from folded(f"step {show(step.number)}: {STATUSES[step.status]}", _WIDTH, "  ")
    yield from folded(f"- {cut(show(step.text), _LONGEST)}", _WIDTH, "  ", "    ")
    yield from folded(f"expected: {_EXPECTED[step.status]}", _WIDTH, "    ", "      ")
    note = f" ({show(step.note)})" if step.note else ""
    if not step.evidence:
        yield from folded(f"shown: nothing{note}", _WIDTH, "    ", "      ")
    for evidence in step.evidence:
        yield from folded(f"shown: {_cited(evidence, show)}{note}", _WIDTH, "    ", "      ")


def _extra(extra: Extra, show: Show) -> Iterator[str]:
    yield from folded(f"{extra.severity} extra: {show(extra.what)}", _WIDTH, "  ")
    yield from folded("+ no step covers it", _WIDTH, "  ", "    ")
    cited = Evidence(extra.event, extra.pointer, extra.quote)
    yield from folded(f"shown: {_cited(cited, show)}", _WIDTH, "    ", "      ")


def _cited(evidence: Evidence, show: Show) -> str:
    quote = quoted(cut(show(evidence.quote), _LONGEST))
    return f"{show(evidence.event)} {quote} at {show(evidence.pointer)}"
