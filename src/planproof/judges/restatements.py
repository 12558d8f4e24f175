"""Words that repeat the plan's own: they are about the plan, and no evidence of anything."""

from __future__ import annotations

import re
from dataclasses import replace

from planproof.alignment.units import call_text
from planproof.plan import Plan
from planproof.trace import Event, Kind, Trace

_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?!\s)[^\n.!?]*)*(?:[.!?\n]+|$)")
_SPACE = re.compile(r"\s+")
_SAID = frozenset({Kind.MESSAGE, Kind.REASONING})
_TOO_SHORT = 12
_TELLING = 30
_LEFT = 0.6


def without_restatements(trace: Trace, plan: Plan) -> Trace:
    """The trace without what the agent said in the very words of a step.

    "I have done step 2: run the tests" would fit step 2 better than any deed can, and so would a
    to-do list that has the step as an item.
    """
    opened = [_SPACE.sub(r" ", step.text).strip()[:_TELLING] for step in plan.leaves]
    opened = [text for text in opened if len(text) >= _TOO_SHORT]
    if not opened:
        return trace
    quoted = "|".join(re.escape(text).replace(r"\ ", r"\s+") for text in opened)
    pattern = re.compile(quoted, re.IGNORECASE)
    events: list[Event] = []
    for event in trace.events:
        if event.kind is Kind.BOOKKEEPING and pattern.search(call_text(event)):
            continue
        if event.kind not in _SAID or event.actor == "user" or not pattern.search(event.text):
            events.append(event)
            continue
        # Joined by line breaks: a quote never runs over what was taken out.
        kept = "\n".join(
            sentence[0]
            for sentence in _SENTENCE.finditer(event.text)
            if not pattern.search(sentence[0])
        )
        if len(kept) >= _LEFT * len(event.text):
            events.append(replace(event, text=kept))
    return replace(trace, events=tuple(events))
