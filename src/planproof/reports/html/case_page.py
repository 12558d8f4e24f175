"""Data for the HTML page of a case, as JSON values: masked, within the size budget, escaped.

`assets/case.js` draws it. Findings have short names: `s0` is the first step, `x0` the first extra.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.finding import Evidence, Extra, StepFinding
from planproof.core.quotes import ELLIPSIS
from planproof.core.trace import Event, Trace
from planproof.core.verdict import Verdict
from planproof.errors import UnknownName
from planproof.evaluation import ReadOptions, read_trace_and_task
from planproof.reports.html.size_budget import SizeBudget
from planproof.reports.plain_text import MASK, escape_invisible, redact
from planproof.reports.wording import (
    STATUS_LABELS,
    TextSanitizer,
    format_coverage,
    format_headline,
    format_low_confidence,
    format_model_notes,
    format_plan_origin,
    format_score,
    format_tally,
    make_sanitizer,
)

# Longer arguments are spread over several lines.
_MAX_LINE_LENGTH = 100
_MAX_CHECKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """A case with its verdict and the trace as read; `trace` is None if it can't be read."""

    verdict: Verdict
    task: Content
    trace: Trace | None = None


def read_judged_case(case: Case, verdict: Verdict, reading: ReadOptions) -> JudgedCase:
    """Read the trace of a judged case again, with the reader named in the verdict."""
    reader = verdict.coverage.reader if verdict.coverage else reading.reader
    try:
        _, trace, task = read_trace_and_task(case, replace(reading, reader=reader))
    except UnknownName:
        raise
    except Exception:
        # A case that can't be read has only its verdict, which gives the reason.
        return JudgedCase(verdict=verdict, task=case.task or Content())
    return JudgedCase(verdict=verdict, task=task, trace=trace)


def build_case_data(case: JudgedCase, *, budget: SizeBudget, secrets: bool) -> dict[str, Json]:
    """Build the verdict, steps, extras and events, and the links between them."""
    verdict, show = case.verdict, make_sanitizer(secrets=secrets)
    events = _EventRows(case, budget, secrets=secrets)
    better = verdict.nearest_better
    return {
        "id": None if verdict.id is None else show(verdict.id),
        "outcome": verdict.outcome.value,
        "score": None if verdict.score is None else format_score(verdict.score),
        "level": verdict.level,
        "headline": format_headline(verdict),
        "tally": "; ".join(_list_counts(verdict)),
        "reason": show(verdict.reason),
        "better": better and [format_score(better.score), show(better.change)],
        "task": mark_quotes(
            case.task.text, (), max_characters=budget.max_characters, secrets=secrets
        ).segments,
        "steps": list(_build_steps(verdict, events, show)),
        "extras": [_build_extra(extra, events, show) for extra in verdict.extras],
        "events": events.rows,
        "plan_at": verdict.plan and events.index_by_event.get(verdict.plan.event or ""),
        "notes": [show(note) for note in _list_notes(verdict)],
    }


def _list_counts(verdict: Verdict) -> Iterator[str]:
    """Yield what is shown beside the headline."""
    if verdict.steps:
        yield format_tally(verdict)
    if low_confidence := format_low_confidence(verdict):
        yield low_confidence


def _build_steps(
    verdict: Verdict, events: _EventRows, show: TextSanitizer
) -> Iterator[dict[str, Json]]:
    parents = {step.parent for step in verdict.steps}
    parent_by_number = {step.number: step.parent for step in verdict.steps}
    for index, step in enumerate(verdict.steps):
        finding = f"s{index}"
        is_counted = step.number not in parents and not step.waived
        yield {
            "number": show(step.number),
            "text": show(step.text),
            "status": step.status.value if is_counted else "left_out" if step.waived else "parent",
            "label": STATUS_LABELS[step.status]
            if is_counted
            else "left out"
            if step.waived
            else "",
            "note": show(step.note),
            "confidence": round(step.confidence, 2) if is_counted else None,
            "depth": _count_ancestors(step.number, parent_by_number),
            "evidence": [_build_evidence(cited, finding, events, show) for cited in step.evidence],
            "checks": [
                [check.result.value, show(check.path), show(check.expected), show(check.found)]
                for check in step.checks[:_MAX_CHECKS]
            ],
            "covers": _merge_ranges(
                events.index_by_event[cited]
                for cited in step.covers
                if cited in events.index_by_event
            ),
        }


def _count_ancestors(number: str, parent_by_number: dict[str, str | None]) -> int:
    depth = 0
    while depth < 3 and (parent := parent_by_number.get(number)) is not None:
        number, depth = parent, depth + 1
    return depth


def _build_evidence(
    cited: Evidence | Extra, finding: str, events: _EventRows, show: TextSanitizer
) -> Json:
    """Return the event's index among the rows shown, its id, and the quote."""
    hidden = finding in events.redacted_findings.get(cited.event, ())
    quote = MASK if hidden else show(cited.quote)
    return [events.index_by_event.get(cited.event), show(cited.event), quote]


def _build_extra(extra: Extra, events: _EventRows, show: TextSanitizer) -> dict[str, Json]:
    finding = events.extra_names[id(extra)]
    return {
        "evidence": [_build_evidence(extra, finding, events, show)],
        "what": show(extra.what),
        "severity": extra.severity.value,
        "confidence": round(extra.confidence, 2),
    }


def _list_notes(verdict: Verdict) -> Iterator[str]:
    """Yield notes on how the case was read and judged."""
    if verdict.plan and (plan_origin := format_plan_origin(verdict.plan)):
        yield f"plan: {plan_origin}"
    if coverage := verdict.coverage:
        judge = f", judged by {verdict.judge.name}" if verdict.judge else ""
        yield format_coverage(coverage) + judge
        yield from coverage.notes
    yield from format_model_notes(verdict)


def _merge_ranges(indexes: Iterator[int]) -> list[list[int]]:
    """Merge indexes into ranges, each as first and last index."""
    ranges: list[list[int]] = []
    for index in sorted(set(indexes)):
        if ranges and ranges[-1][1] == index - 1:
            ranges[-1][1] = index
        else:
            ranges.append([index, index])
    return ranges


class _EventRows:
    """The events shown, and the index of each."""

    def __init__(self, case: JudgedCase, budget: SizeBudget, *, secrets: bool) -> None:
        self.rows: list[Json] = []
        self.index_by_event: dict[str, int] = {}
        self.redacted_findings: dict[str, set[str]] = {}
        self.extra_names = {
            id(extra): f"x{index}" for index, extra in enumerate(case.verdict.extras)
        }
        self._max_characters, self._secrets = budget.max_characters, secrets
        # The same few names and actors occur again and again.
        self._show = lru_cache(maxsize=1_000)(make_sanitizer(secrets=secrets))
        quotes = self._collect_quotes(case.verdict.steps, case.verdict.extras)
        events = case.trace.events if case.trace else ()
        cited = set(quotes) & {event.id for event in events}
        for event in budget.select_events(events, cited):
            if isinstance(event, int):
                self.rows.append(event)
            else:
                self.index_by_event[event.id] = len(self.rows)
                self.rows.append(self._build_event(event, quotes.get(event.id, ())))

    def _collect_quotes(
        self, steps: Sequence[StepFinding], extras: Sequence[Extra]
    ) -> dict[str, list[FindingQuote]]:
        quotes: dict[str, list[FindingQuote]] = {}
        for index, step in enumerate(steps):
            for cited in step.evidence:
                quotes.setdefault(cited.event, []).append(FindingQuote(f"s{index}", cited.quote))
        for extra in extras:
            quotes.setdefault(extra.event, []).append(
                FindingQuote(self.extra_names[id(extra)], extra.quote)
            )
        return quotes

    def _build_event(self, event: Event, quotes: Sequence[FindingQuote]) -> dict[str, Json]:
        name_quotes = [quote.finding for quote in quotes if quote.words == event.name]
        text_quotes = [quote for quote in quotes if quote.finding not in name_quotes]
        fields: dict[str, Json] = {"id": self._show(event.id), "kind": event.kind.value}
        for name in ("name", "actor", "time"):
            if value := getattr(event, name):
                fields[name] = self._show(value)
        if event.status.value != "unknown":
            fields["status"] = event.status.value
        if name_quotes:
            fields["named_by"] = name_quotes
        parts: list[Json] = []
        secret: set[str] = set()
        for label, text in _iter_texts(event):
            # Mark each quote once, in the first text that contains it.
            marked = self._mark_quotes(text, text_quotes)
            text_quotes = [
                quote for quote in text_quotes if quote.finding not in marked.quoting_findings
            ]
            secret |= marked.redacted_findings
            parts.append([label, marked.segments])
        if secret:
            self.redacted_findings[event.id] = secret
        return fields | {"parts": parts}

    def _mark_quotes(self, text: str, quotes: Sequence[FindingQuote]) -> MarkedText:
        return mark_quotes(text, quotes, max_characters=self._max_characters, secrets=self._secrets)


def _iter_texts(event: Event) -> Iterator[tuple[str, str]]:
    if event.text:
        yield "", event.text
    if event.arguments not in (None, {}, []):
        text = json.dumps(event.arguments, ensure_ascii=False)
        if len(text) > _MAX_LINE_LENGTH:
            text = json.dumps(event.arguments, ensure_ascii=False, indent=2)
        yield "arguments", text
    if event.output:
        yield "output", event.output
    if event.images:
        kinds = ", ".join(image.media_type for image in event.images)
        yield "images, not shown", kinds


TextSegment: TypeAlias = "str | int | list[str | list[str]]"
"""Text; or text with the findings that quote it; or the number of characters omitted."""
Span: TypeAlias = tuple[int, int]

# No secret that is masked is longer, so truncation never reveals the end of one.
_MAX_SECRET_LENGTH = 8_000
# White space, quotation marks and escapes, which are ignored when comparing quotes.
_LOOSE = re.compile(r'\\+[nrtbf]?|[\s"]+')


@dataclass(frozen=True, slots=True)
class FindingQuote:
    """The text quoted by a finding."""

    finding: str
    words: str


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in segments, the findings that quote it, and those whose quotes are secret."""

    segments: list[TextSegment]
    quoting_findings: set[str] = field(default_factory=set[str])
    redacted_findings: set[str] = field(default_factory=set[str])


def mark_quotes(
    text: str, quotes: Sequence[FindingQuote], *, max_characters: int, secrets: bool
) -> MarkedText:
    """Mark quotes in a text of limited length; quoted parts are always shown."""
    searched = text if quotes else text[: max_characters + _MAX_SECRET_LENGTH]
    masked = searched if secrets else redact(searched)
    marks: list[tuple[Span, str]] = []
    secret: set[str] = set()
    for quote in quotes:
        words = quote.words if secrets else redact(quote.words)
        if spans := find_quote_spans(words, masked):
            marks += [(span, quote.finding) for span in spans]
        elif masked is not searched and find_quote_spans(quote.words, searched):
            secret.add(quote.finding)
    omitted = len(text) - len(searched)
    segments = list(
        _split_segments(masked, marks, _select_spans(masked, marks, max_characters), omitted)
    )
    return MarkedText(segments, {finding for _, finding in marks}, secret)


def find_quote_spans(words: str, text: str) -> list[Span]:
    """Find the spans of a quote in a text: one per fragment if the quote has omissions."""
    start = text.find(words)
    if start >= 0 and words:
        return [(start, start + len(words))]
    bare, offsets = _strip_loose_characters(text)
    spans: list[Span] = []
    reached = 0
    for fragment in words.split(ELLIPSIS):
        bare_fragment, _ = _strip_loose_characters(fragment)
        start = bare.find(bare_fragment, reached)
        if start < 0:
            return []
        reached = start + len(bare_fragment)
        if bare_fragment:
            spans.append((offsets[start], offsets[reached - 1] + 1))
    return spans


def _strip_loose_characters(text: str) -> tuple[str, list[int]]:
    """Remove the characters matched by `_LOOSE`; return the offsets of the others as well."""
    fragments: list[str] = []
    offsets: list[int] = []
    reached = 0
    for loose in _LOOSE.finditer(text):
        fragments.append(text[reached : loose.start()])
        offsets += range(reached, loose.start())
        reached = loose.end()
    fragments.append(text[reached:])
    offsets += range(reached, len(text))
    return "".join(fragments), offsets


def _select_spans(text: str, marks: Sequence[tuple[Span, str]], max_characters: int) -> list[Span]:
    """Select the spans to show: the beginning of the text, and the surroundings of each mark."""
    if len(text) <= max_characters:
        return [(0, len(text))]
    around = max_characters // 4
    candidates = [(0, max_characters)]
    candidates += [
        (max(start - around, 0), min(end + around, len(text))) for (start, end), _ in marks
    ]
    spans: list[Span] = []
    for start, end in sorted(candidates):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _split_segments(
    text: str, marks: Sequence[tuple[Span, str]], spans: Sequence[Span], omitted: int
) -> Iterator[TextSegment]:
    reached = 0
    for start, end in spans:
        if start > reached:
            yield start - reached
        yield from _split_at_marks(text, marks, start, end)
        reached = end
    if omitted := omitted + len(text) - reached:
        yield omitted


def _split_at_marks(
    text: str, marks: Sequence[tuple[Span, str]], start: int, end: int
) -> Iterator[TextSegment]:
    """Split a part of the text where a mark begins or ends."""
    edges = {edge for span, _ in marks for edge in span if start < edge < end}
    borders = [start, *sorted(edges), end]
    for left, right in pairwise(borders):
        findings = [name for (first, last), name in marks if first <= left and right <= last]
        escaped = escape_invisible(text[left:right])
        if escaped:
            yield [escaped, list(dict.fromkeys(findings))] if findings else escaped
