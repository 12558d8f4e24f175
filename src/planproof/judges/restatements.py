"""Words that repeat the plan's own: they are about the plan, and no evidence of anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from planproof.alignment.calls import call_text
from planproof.alignment.literals import fold
from planproof.plan import Plan
from planproof.trace import Event, Kind, Trace

_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?!\s)[^\n.!?]*)*(?:[.!?\n]+|$)")
_SAID = frozenset({Kind.MESSAGE, Kind.REASONING})
_TOO_SHORT = 12
_TELLING = 30
_LEFT = 0.6


def without_restatements(trace: Trace, plan: Plan) -> Trace:
    """The trace without what was said, or came back, in the very words of a step.

    "I have done step 2: run the tests" would fit step 2 better than any deed can, and so would a
    to-do list that has the step as an item, or an output that was made to look like it.
    """
    folded = (fold(step.text).strip()[:_TELLING] for step in plan.leaves)
    spoken = fold("\n".join(_texts(trace)))
    openings = [text for text in folded if len(text) >= _TOO_SHORT and text in spoken]
    if not openings:
        return trace
    events = [_without(event, openings) for event in trace.events]
    return replace(trace, events=tuple(event for event in events if event is not None))


def _texts(trace: Trace) -> Iterator[str]:
    for event in trace.events:
        if event.kind is Kind.BOOKKEEPING:
            yield call_text(event)
        else:
            yield event.output or event.text


def _without(event: Event, openings: Sequence[str]) -> Event | None:
    """What is left of an event; nothing, if it is a restatement for the most part."""
    if event.kind is Kind.BOOKKEEPING:
        return None if _restates(call_text(event), openings) else event
    if event.kind is Kind.ACTION:
        if not _restates(event.output, openings):
            return event
        return replace(event, output=_others(event.output, openings))
    if event.kind not in _SAID or event.actor == "user" or not _restates(event.text, openings):
        return event
    kept = _others(event.text, openings)
    return replace(event, text=kept) if len(kept) >= _LEFT * len(event.text) else None


def _restates(text: str, openings: Sequence[str]) -> bool:
    folded = fold(text)
    return any(opening in folded for opening in openings)


def _others(text: str, openings: Sequence[str]) -> str:
    """The sentences in other words. Joined by line breaks: no quote runs over what is left out."""
    sentences = (match[0] for match in _SENTENCE.finditer(text))
    return "\n".join(sentence for sentence in sentences if not _restates(sentence, openings))
