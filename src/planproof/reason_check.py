"""A model's reason held against the case: what it quotes and names must be there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planproof.content import Content
from planproof.phrases import QUOTED, quoted, steps_mentioned
from planproof.plan import Plan
from planproof.quotes import quotable, stands_in
from planproof.trace import Event, Trace

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
    if not all(map(_NUMBERED_IDS.fullmatch, trace.by_id)):
        return  # ids of another form can't be told from words
    for event in dict.fromkeys(_EVENT.findall(bare)):
        if event not in trace.by_id:
            yield f"The reason names event {event}, which the trace does not have."


def _invented_quotes(reason: str, task: Content, plan: Plan, trace: Trace) -> Iterator[str]:
    found = (match[0][1:-1].strip(_AROUND) for match in QUOTED.finditer(reason))
    quotes = list(dict.fromkeys(quote for quote in found if quote))[:_MOST_CHECKED]
    told = [task.text, *(step.text for step in plan.steps)]
    missing = [quote for quote in quotes if not any(quote in text for text in told)]
    if not missing:
        return
    plain = [quotable(text) for text in told]
    missing = [quote for quote in missing if not any(stands_in(quote, text) for text in plain)]
    for event in trace.events:
        if not missing:
            return
        missing = _not_in(event, missing)
    for quote in missing:
        yield f"The reason quotes {quoted(quote)}, which does not stand in the case."


def _not_in(event: Event, quotes: list[str]) -> list[str]:
    fields = [event.id, event.kind.value, event.name or "", event.actor or "", event.text]
    fields.append(event.output)
    left = [quote for quote in quotes if not any(quote in field for field in fields)]
    if not left:
        return left
    texts = [quotable(field) for field in (event.text, event.output) if field]
    if event.arguments is not None:
        texts.append(quotable(event.arguments))
    return [quote for quote in left if not any(stands_in(quote, text) for text in texts)]
