"""A verdict as the message of a failed assertion: what was expected, and what the trace shows."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from planproof.finding import Evidence, Extra, Status, StepFinding
from planproof.phrases import quoted
from planproof.reports.wording import (
    STATUSES,
    Show,
    coverage_line,
    headline,
    score_digits,
    shows,
    tally,
)
from planproof.verdict import Verdict

_WIDTH = 71
"""What pytest leaves of 80 columns."""
_MOST = 12
"""Lapses that are shown in full; a plan can have thousands of steps."""
_SHORT = 60
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
        yield from _wrapped(show(verdict.reason), "  ")
        return
    yield f"score {score_digits(verdict.score)}, below {score_digits(min_score)}"
    yield from _wrapped(tally(verdict), "  ")
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
    yield from _wrapped(show(verdict.reason), "  ")
    if verdict.nearest_better:
        better = verdict.nearest_better
        yield from _wrapped(f"→ {score_digits(better.score)} {show(better.change)}", "  ")
    if verdict.coverage:
        yield from _wrapped(coverage_line(verdict.coverage), "  ")


def _lapse(step: StepFinding, show: Show) -> Iterator[str]:
    yield from _wrapped(f"step {step.number}: {STATUSES[step.status]}", "  ")
    yield from _wrapped(f"- {_short(show(step.text))}", "  ", "    ")
    yield from _wrapped(f"expected: {_EXPECTED[step.status]}", "    ", "      ")
    note = f" ({show(step.note)})" if step.note else ""
    if not step.evidence:
        yield from _wrapped(f"shown: nothing{note}", "    ", "      ")
    for evidence in step.evidence:
        yield from _wrapped(f"shown: {_cited(evidence, show)}{note}", "    ", "      ")


def _extra(extra: Extra, show: Show) -> Iterator[str]:
    yield from _wrapped(f"{extra.severity} extra: {show(extra.what)}", "  ")
    yield from _wrapped("+ no step covers it", "  ", "    ")
    cited = Evidence(extra.event, extra.pointer, extra.quote)
    yield from _wrapped(f"shown: {_cited(cited, show)}", "    ", "      ")


def _cited(evidence: Evidence, show: Show) -> str:
    return f"{evidence.event} {quoted(_short(show(evidence.quote)))} at {evidence.pointer}"


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _wrapped(text: str, indent: str, further: str | None = None) -> list[str]:
    return wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_on_hyphens=False,
    )
