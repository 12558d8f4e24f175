"""A verdict as the message of a failed assertion: what was expected, and what the trace shows."""

from __future__ import annotations

from collections.abc import Iterator

from planproof.core.finding import Evidence, Extra, Status, StepFinding
from planproof.core.phrases import quote_text
from planproof.core.verdict import Verdict
from planproof.reports.terminal.lines import truncate, wrap_text
from planproof.reports.wording import (
    STATUS_LABELS,
    TextSanitizer,
    format_coverage,
    format_headline,
    format_low_confidence,
    format_score,
    format_tally,
    make_sanitizer,
)

_WIDTH = 71
"""The width that pytest leaves of 80 columns."""
_MAX_FINDINGS = 12
"""Maximum number of steps and of extras shown in full; a plan can have thousands of steps."""
_MAX_TEXT_LENGTH = 60
_EXPECTED = {
    Status.PARTIAL: "the whole step, as written",
    Status.MISSING: "an event that executes it",
    Status.AMBIGUOUS: "evidence that it was executed",
    Status.OUT_OF_ORDER: "the step in plan order",
}


def format_failure(verdict: Verdict, min_score: float) -> str:
    """Return why a verdict fails, in lines that fit a terminal; secrets are masked."""
    show = make_sanitizer(secrets=False)
    return "\n".join(_format_lines(verdict, min_score, show))


def _format_lines(verdict: Verdict, min_score: float, show: TextSanitizer) -> Iterator[str]:
    if verdict.score is None:
        yield format_headline(verdict)
        yield from wrap_text(show(verdict.reason), _WIDTH, "  ")
        return
    yield f"score {format_score(verdict.score)}, below {format_score(min_score)}"
    yield from wrap_text(format_tally(verdict), _WIDTH, "  ")
    if low_confidence := format_low_confidence(verdict):
        yield from wrap_text(low_confidence, _WIDTH, "  ")
    deviating_steps = [
        step for step in verdict.findings.counted_steps if step.status is not Status.EXECUTED
    ]
    for step in deviating_steps[:_MAX_FINDINGS]:
        yield ""
        yield from _format_step(step, show)
    for extra in verdict.extras[:_MAX_FINDINGS]:
        yield ""
        yield from _format_extra(extra, show)
    left = max(len(deviating_steps) - _MAX_FINDINGS, 0) + max(
        len(verdict.extras) - _MAX_FINDINGS, 0
    )
    if left:
        yield ""
        yield f"  and {left:,} more"
    yield ""
    yield from wrap_text(show(verdict.reason), _WIDTH, "  ")
    if verdict.nearest_better:
        better = verdict.nearest_better
        yield from wrap_text(f"→ {format_score(better.score)} {show(better.change)}", _WIDTH, "  ")
    if verdict.coverage:
        yield from wrap_text(format_coverage(verdict.coverage), _WIDTH, "  ")


def _format_step(step: StepFinding, show: TextSanitizer) -> Iterator[str]:
    yield from wrap_text(f"step {show(step.number)}: {STATUS_LABELS[step.status]}", _WIDTH, "  ")
    yield from wrap_text(f"- {truncate(show(step.text), _MAX_TEXT_LENGTH)}", _WIDTH, "  ", "    ")
    yield from wrap_text(f"expected: {_EXPECTED[step.status]}", _WIDTH, "    ", "      ")
    note = f" ({show(step.note)})" if step.note else ""
    if not step.evidence:
        yield from wrap_text(f"found: nothing{note}", _WIDTH, "    ", "      ")
    for evidence in step.evidence:
        yield from wrap_text(
            f"found: {_format_evidence(evidence, show)}{note}", _WIDTH, "    ", "      "
        )


def _format_extra(extra: Extra, show: TextSanitizer) -> Iterator[str]:
    yield from wrap_text(f"{extra.severity} extra: {show(extra.what)}", _WIDTH, "  ")
    yield from wrap_text("+ no step covers it", _WIDTH, "  ", "    ")
    cited = Evidence(extra.event, extra.pointer, extra.quote)
    yield from wrap_text(f"found: {_format_evidence(cited, show)}", _WIDTH, "    ", "      ")


def _format_evidence(evidence: Evidence, show: TextSanitizer) -> str:
    quote = quote_text(truncate(show(evidence.quote), _MAX_TEXT_LENGTH))
    return f"{show(evidence.event)} {quote} at {show(evidence.pointer)}"
