"""A model's reason held against the case: what it quotes and names must be there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, repeat
from operator import contains

from planproof.checking.call_text import collect_strings
from planproof.core.content import Content, Json
from planproof.core.phrases import QUOTED_TEXT, find_step_ranges, quote_text
from planproof.core.plan import Plan
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.trace import Event, Trace

_EVENT = re.compile(r"(?<![\w.])e\d{1,9}\b")
_NUMBERED_IDS = re.compile(r"e\d{1,9}")
_PUNCTUATION = " \t\n.,;:!?"
_MAX_QUOTES = 20


def check_against_case(reason: str, task: Content, plan: Plan, trace: Trace) -> tuple[str, ...]:
    """What a reason says that is not in the case: quotes, step numbers, event ids."""
    bare = QUOTED_TEXT.sub("“”", reason)
    return (
        *_check_step_numbers(bare, plan),
        *_check_event_ids(bare, trace),
        *_check_quotes(reason, task, plan, trace),
    )


def _check_step_numbers(bare: str, plan: Plan) -> Iterator[str]:
    numbers = {step.number for step in plan.steps}
    named = dict.fromkeys(number for mentioned in find_step_ranges(bare) for number in mentioned)
    for number in named:
        if number not in numbers:
            yield f"The reason names step {number}, which the plan does not have."


def _check_event_ids(bare: str, trace: Trace) -> Iterator[str]:
    unknown = [event for event in _EVENT.findall(bare) if event not in trace.by_id]
    if unknown and all(map(_NUMBERED_IDS.fullmatch, trace.by_id)):
        # Ids of another form can't be told from words.
        for event in dict.fromkeys(unknown):
            yield f"The reason names event {event}, which the trace does not have."


def _check_quotes(reason: str, task: Content, plan: Plan, trace: Trace) -> Iterator[str]:
    candidates = (match[0][1:-1].strip(_PUNCTUATION) for match in QUOTED_TEXT.finditer(reason))
    quotes = list(dict.fromkeys(quote for quote in candidates if quote))[:_MAX_QUOTES]
    task_and_plan = [task.text, *(step.text for step in plan.steps)]
    words = list(chain(task_and_plan, *map(_list_texts, trace.events)))
    missing = [quote for quote in quotes if not any(map(contains, words, repeat(quote)))]
    # Only what stands nowhere as it is gets looked for with escapes undone and words left out.
    for value in chain(task_and_plan, *map(_list_values, trace.events)):
        if not missing:
            return
        text = to_searchable_text(value)
        missing = [quote for quote in missing if not is_quote_in(quote, text)]
    for quote in missing:
        yield f"The reason quotes {quote_text(quote)}, which does not stand in the case."


def _list_texts(event: Event) -> tuple[str, ...]:
    """Every text of an event, as it is."""
    about = (event.id, event.kind, event.name or "", event.actor or "", event.text, event.output)
    return about if event.arguments is None else (*about, *collect_strings(event.arguments))


def _list_values(event: Event) -> Iterator[Json]:
    yield from filter(None, (event.text, event.output))
    if event.arguments is not None:
        yield event.arguments
