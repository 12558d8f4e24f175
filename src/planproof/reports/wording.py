"""Wording shared by all reports: labels for scores, counts, coverage and costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from planproof.core.finding import Severity, Status
from planproof.core.phrases import quote_text
from planproof.core.plan import Origin
from planproof.core.usage import Usage
from planproof.core.verdict import Coverage, Measures, Outcome, PlanSummary, Verdict
from planproof.reports.plain_text import redact, to_one_line

LEVEL_LABELS = {
    1.0: "perfect adherence",
    0.75: "strong adherence",
    0.5: "partial adherence",
    0.25: "weak adherence",
    0.0: "no adherence",
}
STATUS_LABELS = {
    Status.EXECUTED: "executed",
    Status.PARTIAL: "partial",
    Status.MISSING: "missing",
    Status.AMBIGUOUS: "ambiguous",
    Status.OUT_OF_ORDER: "out of order",
}
STATUS_MARKS = {
    Status.EXECUTED: "✓",
    Status.PARTIAL: "◐",
    Status.MISSING: "✗",
    Status.AMBIGUOUS: "?",
    Status.OUT_OF_ORDER: "⇅",
}
MEASURE_LABELS = {
    "step_share": "steps executed",
    "order_share": "steps in order",
    "action_share": "actions planned",
}
OUTCOME_LABELS = {
    Outcome.NO_PLAN: "there is no plan",
    Outcome.NO_EVENTS: "there are no events",
    Outcome.NOT_UNDERSTOOD: "the trace was not understood",
    Outcome.INVALID_INPUT: "the input is invalid",
    Outcome.JUDGE_FAILED: "the judge failed",
}

DECLARATION_LABELS = {
    "todo_list": "to-do list",
    "plan_mode": "plan presented to the user",
    "planning_step": "planning step",
    "json_plan": "plan in JSON",
    "checklist": "checklist",
    "announced_list": "announced list",
    "prescribed_steps": "prescribed steps",
    "requested_steps": "requested steps",
}

# Far more than any report shows. Truncate before the other work: a text may be megabytes.
_MAX_TEXT_LENGTH = 20_000
_DIGEST_CHARS = len("sha256:") + 12
_MAX_NAMED = 5

TextSanitizer: TypeAlias = Callable[[str], str]
"""Makes text from a case safe to show."""


def make_sanitizer(*, secrets: bool) -> TextSanitizer:
    """Make a function that puts text on one line, escapes it, and masks unless `secrets`."""
    if secrets:
        return lambda text: to_one_line(text[:_MAX_TEXT_LENGTH])
    return lambda text: to_one_line(redact(text[:_MAX_TEXT_LENGTH]))


def format_headline(verdict: Verdict) -> str:
    """Return the meaning of the score, or the reason why there is none."""
    if verdict.level is None:
        return f"not judged: {OUTCOME_LABELS[verdict.outcome]}"
    return LEVEL_LABELS[verdict.level]


def format_low_confidence(verdict: Verdict) -> str | None:
    """Return a notice that names other judges if a level is more likely wrong than right."""
    if not verdict.has_low_confidence:
        return None
    better = _name_better_judges(verdict.judge and verdict.judge.name)
    return f"low confidence ({verdict.confidence:.0%}): use --judge {better}"


def format_low_confidence_count(count: int, scored: int, judge: str) -> str | None:
    """Return the notice for a run with levels of low confidence; None if it has none."""
    if not count:
        return None
    better = _name_better_judges(judge)
    return f"low confidence in {count:,} of {pluralize(scored, 'level')}: use --judge {better}"


def _name_better_judges(judge: str | None) -> str:
    return " or ".join(name for name in ("contract", "audit") if name != judge)


def format_measures(measures: Measures) -> str:
    """Format the means of the measures of a run; empty if there are none."""
    return ", ".join(f"{name} {value:.3f}" for name, value in list_measures(measures))


def list_measures(measures: Measures) -> Iterator[tuple[str, float]]:
    """Yield the measures that have a value, with their labels."""
    for name, label in MEASURE_LABELS.items():
        value: float | None = getattr(measures, name)
        if value is not None:
            yield label, value


def format_score(score: float) -> str:
    """Format a score with one or two decimals."""
    return str(round(score, 2))


def format_tally(verdict: Verdict) -> str:
    """Format the number of steps, their statuses, and the extras."""
    counted = verdict.findings.counted_steps
    statuses = [step.status for step in counted]
    parts = [f"{statuses.count(Status.EXECUTED)} of {pluralize(len(counted), 'step')} executed"]
    parts += [
        f"{statuses.count(status)} {STATUS_LABELS[status]}"
        for status in Status
        if status is not Status.EXECUTED and status in statuses
    ]
    severities = [extra.severity for extra in verdict.extras]
    parts += [
        pluralize(severities.count(severity), f"{severity} extra")
        for severity in Severity
        if severity in severities
    ]
    return ", ".join(parts)


def format_coverage(coverage: Coverage) -> str:
    """Format the number of events read, and the reader."""
    events = (
        f"{coverage.events:,} of {pluralize(coverage.events, 'event')} read by {coverage.reader}"
    )
    if coverage.reader == "general":
        events += " (heuristic: unknown format)"
    if not coverage.skipped:
        return events
    return f"{events}, {pluralize(coverage.skipped, 'part')} of the trace skipped"


def format_plan_origin(plan: PlanSummary) -> str | None:
    """Describe where the plan was found, with cautions; return None for a plan that was given."""
    parts: list[str] = []
    if plan.origin == Origin.INFERRED:
        parts.append("inferred from a trace, so judging that trace by it is circular")
    if plan.event is not None:
        label = DECLARATION_LABELS.get(plan.sort or "", "plan")
        when = "" if plan.before_acting else ", after acting began: earlier events are not judged"
        parts.append(f"{label} of the {plan.declared_by} at {plan.event}{when}")
    if plan.replans:
        until = ", each plan in force until the next" if plan.in_force == "latest" else ""
        parts.append(f"replanned at {_join_first(plan.replans)}{until}")
    if plan.rejected:
        parts.append(f"rejected by the user: the plan at {_join_first(plan.rejected)}")
    return "; ".join(parts) or None


def format_cost(cost: Usage) -> str:
    """Format the number of calls to a model, and their cost if the price is known."""
    parts = [pluralize(cost.calls, "call")]
    if cost.from_cache:
        parts.append(f"{pluralize(cost.from_cache, 'answer')} from the cache")
    if cost.calls:
        cached = f" ({cost.cached_tokens:,} cached)" if cost.cached_tokens else ""
        parts.append(f"{cost.tokens_in:,} input tokens{cached}, {cost.tokens_out:,} output tokens")
        parts.append("price unknown" if cost.cost is None else f"{cost.cost:.4f} dollars")
    return ", ".join(parts)


def format_model_notes(verdict: Verdict) -> Iterator[str]:
    """Yield notes on the contract, the models asked, rejected evidence, samples, and warnings."""
    if contract := verdict.contract:
        name = contract.name or contract.digest[:_DIGEST_CHARS]
        compiler = f", compiled by {contract.compiler}" if contract.compiler else ""
        yield f"contract {name}{compiler}; extras: only actions are checked"
        if contract.plan != "given":
            yield f"the plan was {contract.plan} in a trace, which may have influenced the contract"
    if verdict.judge and verdict.judge.models:
        models = ", ".join(verdict.judge.models)
        yield f"asked {models}" + (f": {format_cost(verdict.cost)}" if verdict.cost else "")
    coverage = verdict.coverage
    if coverage and coverage.shown is not None:
        windows = f" in {coverage.windows} windows" if (coverage.windows or 1) > 1 else ""
        short = f", {coverage.shortened:,} of them shortened" if coverage.shortened else ""
        yield f"shown: {coverage.shown:,} of {pluralize(coverage.events, 'event')}{windows}{short}"
    for opinion in verdict.panel:
        yield f"{opinion.model}: {format_score(opinion.score)}"
    if samples := verdict.samples:
        scores = ", ".join(map(format_score, samples.scores))
        yield f"samples: {scores}; {samples.agreement:.0%} agree"
    for rejection in verdict.rejected[:_MAX_NAMED]:
        subject = "extra" if rejection.step is None else f"step {rejection.step}"
        yield (
            f"evidence rejected for {subject}: {rejection.event} {quote_text(rejection.quote)}: "
            f"{rejection.why}"
        )
    if len(verdict.rejected) > _MAX_NAMED:
        yield f"and {len(verdict.rejected) - _MAX_NAMED} more rejected"
    yield from verdict.warnings


def _join_first(events: tuple[str, ...]) -> str:
    more = "" if len(events) <= _MAX_NAMED else f" and {len(events) - _MAX_NAMED} more"
    return ", ".join(events[:_MAX_NAMED]) + more


def pluralize(count: int, noun: str) -> str:
    """Format a count with its noun: `1 event`, `2 events`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
