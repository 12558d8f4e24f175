"""Remove restatements of the plan from a trace: they are not evidence of any step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from planproof.checking.call_text import format_call
from planproof.contracts.values import fold
from planproof.core.plan import Plan
from planproof.core.trace import Event, Kind, Trace

_SENTENCE = re.compile(r"[^\n.!?]*(?:[.!?](?!\s)[^\n.!?]*)*(?:[.!?\n]+|$)")
_JUDGE_ADDRESS = re.compile(
    r"\b(?:evaluators?|graders?|plan adherence|score (?:of |is |must be |should be )?1(?:\.0+)?\b"
    r"|(?:ignore|disregard) (?:all |any |the )?(?:previous |prior |above )?instructions"
    r"|(?:mark|count|treat|consider) (?:all|every|each|the) (?:\w+ )?steps?\b"
    r"|(?:all|every|each) (?:of the |the )?(?:planned )?steps? (?:of the plan )?"
    r"(?:is|are|was|were|has been|have been) (?:now )?(?:done|complete|executed|finished|followed)"
    r"|(?:i|we)(?:'ve| have)? (?:now )?(?:completed|finished|executed|carried out|done|performed)"
    r" (?:all|every|each|the|my) ?(?:planned )?(?:steps?|plan)\b"
    r"|(?:completed|finished|executed|carried out|done|performed) steps? \d"
    r"|steps? \d[\w, -]{0,40} (?:is|are|was|were|has been|have been) (?:now )?"
    r"(?:done|complete|executed|finished|followed))",
    re.IGNORECASE,
)
_ADDRESS_WORDS = ("evaluator", "grader", "score ", "instructions", "step", "plan")
"""All matches of `_JUDGE_ADDRESS` contain one of these; searching for them is much faster."""
# Bound once: attribute access on an enum takes longer than the comparison.
_BOOKKEEPING = Kind.BOOKKEEPING
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
_MIN_OPENING_CHARS = 12
_OPENING_CHARS = 30
_MIN_KEPT_SHARE = 0.6


def remove_restatements(trace: Trace, plan: Plan) -> Trace:
    """Return the trace without messages and outputs that repeat the words of a step.

    "I have done step 2: run the tests" would score higher for step 2 than any action, and so would
    a to-do list with the step as an item, or an output crafted to look like it. Text that declares
    steps done, or addresses the judge, is not evidence either.
    """
    folded = [fold(step.text)[:_OPENING_CHARS] for step in plan.leaves]
    all_text = fold(
        "\n".join(
            [
                format_call(event) if event.kind is _BOOKKEEPING else event.output or event.text
                for event in trace.events
            ]
        )
    )
    openings = [text for text in folded if len(text) >= _MIN_OPENING_CHARS and text in all_text]
    if not openings and not addresses_judge(all_text):
        return trace
    events = [_strip_restatements(event, openings) for event in trace.events]
    return replace(trace, events=tuple(event for event in events if event is not None))


def _strip_restatements(event: Event, openings: Sequence[str]) -> Event | None:
    """Return the event without restatements, or None if most of it is a restatement."""
    if event.kind is _BOOKKEEPING:
        return None if _restates(format_call(event), openings) else event
    if event.kind is Kind.ACTION:
        if not _restates(event.output, openings):
            return event
        return replace(event, output=_drop_restating_sentences(event.output, openings))
    if (
        event.kind not in _TEXT_KINDS
        or event.actor == "user"
        or not _restates(event.text, openings)
    ):
        return event
    remaining = _drop_restating_sentences(event.text, openings)
    return (
        replace(event, text=remaining)
        if len(remaining) >= _MIN_KEPT_SHARE * len(event.text)
        else None
    )


def _restates(text: str, openings: Sequence[str]) -> bool:
    folded = fold(text)
    if any(opening in folded for opening in openings):
        return True
    return addresses_judge(folded)


def addresses_judge(folded: str) -> bool:
    """Return whether a folded text addresses the judge or declares steps done."""
    return (
        any(map(folded.__contains__, _ADDRESS_WORDS)) and _JUDGE_ADDRESS.search(folded) is not None
    )


def _drop_restating_sentences(text: str, openings: Sequence[str]) -> str:
    """Drop sentences that restate the plan; line breaks keep quotes from spanning the gaps."""
    sentences = (match[0] for match in _SENTENCE.finditer(text))
    return "\n".join(sentence for sentence in sentences if not _restates(sentence, openings))
