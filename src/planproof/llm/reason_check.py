"""A model's reason held against the case: what it quotes and names must be there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, repeat
from operator import contains

from planproof.checking.call_text import strings_in
from planproof.core.content import Content, Json
from planproof.core.phrases import QUOTED, quoted, steps_mentioned
from planproof.core.plan import Plan
from planproof.core.quotes import quotable, stands_in
from planproof.core.trace import Event, Trace

_EVENT = re.compile(r"(?<![\w.])e\d{1,9}\b")
_NUMBERED_IDS = re.compile(r"e\d{1,9}")
_AROUND = " \t\n.,;:!?"
_MOST_CHECKED = 20


def check_against_case(reason: str, task: Content, plan: Plan, trace: Trace) -> tuple[str, ...]:
    """What a reason says that is not in the case: quotes, step numbers, event ids."""
    bare = QUOTED.sub("“”", reason)
    return (
        *_unknown_steps(bare, plan),
        *_unknown_events(bare, trace),
        *_invented_quotes(reason, task, plan, trace),
    )


def _unknown_steps(bare: str, plan: Plan) -> Iterator[str]:
    numbers = {step.number for step in plan.steps}
    named = dict.fromkeys(number for each in steps_mentioned(bare) for number in each)
    for number in named:
        if number not in numbers:
            yield f"The reason names step {number}, which the plan does not have."


def _unknown_events(bare: str, trace: Trace) -> Iterator[str]:
    unknown = [event for event in _EVENT.findall(bare) if event not in trace.by_id]
    if unknown and all(map(_NUMBERED_IDS.fullmatch, trace.by_id)):
        # Ids of another form can't be told from words.
        for event in dict.fromkeys(unknown):
            yield f"The reason names event {event}, which the trace does not have."


def _invented_quotes(reason: str, task: Content, plan: Plan, trace: Trace) -> Iterator[str]:
    found = (match[0][1:-1].strip(_AROUND) for match in QUOTED.finditer(reason))
    quotes = list(dict.fromkeys(quote for quote in found if quote))[:_MOST_CHECKED]
    told = [task.text, *(step.text for step in plan.steps)]
    words = list(chain(told, *map(_words, trace.events)))
    missing = [quote for quote in quotes if not any(map(contains, words, repeat(quote)))]
    # Only what stands nowhere as it is gets looked for with escapes undone and words left out.
    for value in chain(told, *map(_values, trace.events)):
        if not missing:
            return
        text = quotable(value)
        missing = [quote for quote in missing if not stands_in(quote, text)]
    for quote in missing:
        yield f"The reason quotes {quoted(quote)}, which does not stand in the case."


def _words(event: Event) -> tuple[str, ...]:
    """Every text of an event, as it is."""
    about = (event.id, event.kind, event.name or "", event.actor or "", event.text, event.output)
    return about if event.arguments is None else (*about, *strings_in(event.arguments))


def _values(event: Event) -> Iterator[Json]:
    yield from filter(None, (event.text, event.output))
    if event.arguments is not None:
        yield event.arguments
