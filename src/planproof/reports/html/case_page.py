"""What the page of a case shows, as JSON values: masked, cut to its room, harmless as text.

`assets/case.js` draws it. A finding goes by a name of its own: `s0` is the first step, `x0` the
first extra.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from planproof.core.case import Case
from planproof.core.content import Content, Json
from planproof.core.finding import Evidence, Extra, StepFinding
from planproof.core.trace import Event, Trace
from planproof.core.verdict import Verdict
from planproof.errors import UnknownName
from planproof.preparation import Reading, read_case
from planproof.reports.html.passages import Passage, Quote, passage
from planproof.reports.html.size_budget import Room
from planproof.reports.redaction import MASK
from planproof.reports.wording import (
    STATUSES,
    Show,
    asking_lines,
    coverage_line,
    headline,
    plan_line,
    score_digits,
    shows,
    tally,
)

# Arguments that are longer are spread over lines.
_LONGEST_LINE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """A case with its verdict, and the trace as it was read; none where it can't be read."""

    verdict: Verdict
    task: Content
    trace: Trace | None = None


def judged_case(case: Case, verdict: Verdict, reading: Reading) -> JudgedCase:
    """A case that was judged, its trace read again by the reader that the verdict names."""
    reader = verdict.coverage.reader if verdict.coverage else reading.reader
    try:
        _, trace, task = read_case(case, replace(reading, reader=reader))
    except UnknownName:
        raise
    except Exception:
        # What could not be read has nothing but its verdict, and that says why.
        return JudgedCase(verdict=verdict, task=case.task or Content())
    return JudgedCase(verdict=verdict, task=task, trace=trace)


def case_data(case: JudgedCase, *, room: Room, secrets: bool) -> dict[str, Json]:
    """The verdict, the steps, the extras and the events, and how they belong together."""
    verdict, show = case.verdict, shows(secrets=secrets)
    events = _Events(case, room, secrets=secrets)
    better = verdict.nearest_better
    return {
        "id": None if verdict.id is None else show(verdict.id),
        "outcome": verdict.outcome.value,
        "score": None if verdict.score is None else score_digits(verdict.score),
        "level": verdict.level,
        "headline": headline(verdict),
        "tally": tally(verdict) if verdict.steps else "",
        "reason": show(verdict.reason),
        "better": better and [score_digits(better.score), show(better.change)],
        "task": passage(case.task.text, (), room=room.characters, secrets=secrets).pieces,
        "steps": list(_steps(verdict, events, show)),
        "extras": [_extra(extra, events, show) for extra in verdict.extras],
        "events": events.shown,
        "plan_at": verdict.plan and events.places.get(verdict.plan.event or ""),
        "notes": [show(note) for note in _notes(verdict)],
    }


def _steps(verdict: Verdict, events: _Events, show: Show) -> Iterator[dict[str, Json]]:
    parents = {step.parent for step in verdict.steps}
    above = {step.number: step.parent for step in verdict.steps}
    for place, step in enumerate(verdict.steps):
        finding = f"s{place}"
        counted = step.number not in parents and not step.waived
        yield {
            "number": show(step.number),
            "text": show(step.text),
            "status": step.status.value if counted else "left_out" if step.waived else "parent",
            "label": STATUSES[step.status] if counted else "left out" if step.waived else "",
            "note": show(step.note),
            "sureness": round(step.sureness, 2) if counted else None,
            "depth": _depth(step.number, above),
            "evidence": [_evidence(each, finding, events, show) for each in step.evidence],
            "covers": _ranges(events.places[each] for each in step.covers if each in events.places),
        }


def _depth(number: str, above: dict[str, str | None]) -> int:
    depth = 0
    while depth < 3 and (parent := above.get(number)) is not None:
        number, depth = parent, depth + 1
    return depth


def _evidence(cited: Evidence | Extra, finding: str, events: _Events, show: Show) -> Json:
    """The event's place among those shown, its id, and the quote."""
    hidden = finding in events.secret.get(cited.event, ())
    quote = MASK if hidden else show(cited.quote)
    return [events.places.get(cited.event), show(cited.event), quote]


def _extra(extra: Extra, events: _Events, show: Show) -> dict[str, Json]:
    finding = events.extras[id(extra)]
    return {
        "evidence": [_evidence(extra, finding, events, show)],
        "what": show(extra.what),
        "severity": extra.severity.value,
        "sureness": round(extra.sureness, 2),
    }


def _notes(verdict: Verdict) -> Iterator[str]:
    """How it was read and judged."""
    if verdict.plan and (found := plan_line(verdict.plan)):
        yield f"plan: {found}"
    if coverage := verdict.coverage:
        judge = f", judged by {verdict.judge.name}" if verdict.judge else ""
        yield coverage_line(coverage) + judge
        yield from coverage.notes
    yield from asking_lines(verdict)


def _ranges(places: Iterator[int]) -> list[list[int]]:
    """Places as first and last of each unbroken run."""
    ranges: list[list[int]] = []
    for place in sorted(set(places)):
        if ranges and ranges[-1][1] == place - 1:
            ranges[-1][1] = place
        else:
            ranges.append([place, place])
    return ranges


class _Events:
    """The events as they are shown, and where each of them stands."""

    def __init__(self, case: JudgedCase, room: Room, *, secrets: bool) -> None:
        self.shown: list[Json] = []
        self.places: dict[str, int] = {}
        self.secret: dict[str, set[str]] = {}
        self.extras = {id(extra): f"x{place}" for place, extra in enumerate(case.verdict.extras)}
        self._room, self._secrets = room.characters, secrets
        # The same few names and actors come again and again.
        self._show = lru_cache(maxsize=1_000)(shows(secrets=secrets))
        quotes = self._quotes(case.verdict.steps, case.verdict.extras)
        events = case.trace.events if case.trace else ()
        named = set(quotes) & {event.id for event in events}
        for event in room.shown(events, named):
            if isinstance(event, int):
                self.shown.append(event)
            else:
                self.places[event.id] = len(self.shown)
                self.shown.append(self._event(event, quotes.get(event.id, ())))

    def _quotes(
        self, steps: Sequence[StepFinding], extras: Sequence[Extra]
    ) -> dict[str, list[Quote]]:
        quotes: dict[str, list[Quote]] = {}
        for place, step in enumerate(steps):
            for cited in step.evidence:
                quotes.setdefault(cited.event, []).append(Quote(f"s{place}", cited.quote))
        for extra in extras:
            quotes.setdefault(extra.event, []).append(Quote(self.extras[id(extra)], extra.quote))
        return quotes

    def _event(self, event: Event, quotes: Sequence[Quote]) -> dict[str, Json]:
        by_name = [quote.finding for quote in quotes if quote.words == event.name]
        sought = [quote for quote in quotes if quote.finding not in by_name]
        fields: dict[str, Json] = {"id": self._show(event.id), "kind": event.kind.value}
        for name in ("name", "actor", "time"):
            if value := getattr(event, name):
                fields[name] = self._show(value)
        if event.status.value != "unknown":
            fields["status"] = event.status.value
        if by_name:
            fields["named_by"] = by_name
        parts: list[Json] = []
        secret: set[str] = set()
        for label, text in _texts(event):
            # Each quote is marked once, in the first text that holds it.
            found = self._passage(text, sought)
            sought = [quote for quote in sought if quote.finding not in found.quoted_by]
            secret |= found.secret_to
            parts.append([label, found.pieces])
        if secret:
            self.secret[event.id] = secret
        return fields | {"parts": parts}

    def _passage(self, text: str, quotes: Sequence[Quote]) -> Passage:
        return passage(text, quotes, room=self._room, secrets=self._secrets)


def _texts(event: Event) -> Iterator[tuple[str, str]]:
    if event.text:
        yield "", event.text
    if event.arguments not in (None, {}, []):
        text = json.dumps(event.arguments, ensure_ascii=False)
        if len(text) > _LONGEST_LINE:
            text = json.dumps(event.arguments, ensure_ascii=False, indent=2)
        yield "arguments", text
    if event.output:
        yield "output", event.output
    if event.images:
        kinds = ", ".join(image.media_type for image in event.images)
        yield "images, not shown", kinds
