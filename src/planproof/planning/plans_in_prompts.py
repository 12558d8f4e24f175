"""Plans that were put to the agent: the steps of a scaffold's prompt, or of the user's request."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planproof.core.plan import Plan
from planproof.core.trace import Event, Kind
from planproof.planning.announcements import (
    comes_from_manager,
    heads_plan,
    lists_other_things,
    lists_steps,
    prescribes_steps,
)
from planproof.planning.instruction_verbs import begins_instruction, find_lead_in_end
from planproof.planning.lists import Listing, find_lists
from planproof.planning.located_plan import DeclarationKind, Declarer
from planproof.planning.plan_parser import parse_plan
from planproof.planning.prose_plans import read_prose
from planproof.planning.step_parts import is_instruction, split_required_parts, split_sentences

_LONGEST = 200_000
# Longer than that, a request is a document in which orders stand by chance.
_LONGEST_REQUEST = 1_500
_TEMPLATE = re.compile(r"^[ \t]{0,8}<[a-z_]{3,40}>[ \t]{0,8}$", re.MULTILINE)
_SEQUENCE = re.compile(
    r"\b(?:then|finally|lastly|afterwards?|after\s+that|next|first(?:ly)?|second(?:ly)?)\b",
    re.IGNORECASE,
)
_REQUEST_OPENING = re.compile(
    r"\W*(?:(?:hi|hello|hey)\b[^.!?\n]{0,30}[.!?,]\s*)?(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|please\s+|"
    r"new\s+task:\s*|task:\s*|i\s+(?:want|need|would\s+like)\s+you\s+to\s+)",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"\W*(?:do\s+not|don['’]t|never|avoid|no\b|must|always|only|you\s+(?:must|should))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """Steps in a prompt, and who put them there."""

    plan: Plan
    sort: DeclarationKind
    declared_by: Declarer


def find_prompt_plan(event: Event) -> PromptPlan | None:
    """The steps that a system prompt or a user's request tells the agent to follow."""
    text = event.text[:_LONGEST]
    lists = [listing for listing in find_lists(text) if len(listing.items) > 1 and listing.numbered]
    for listing in lists:
        if prescribes_steps(listing.lead) or heads_plan(listing.lead):
            plan = parse_plan(listing.to_plan_lines())
            return PromptPlan(
                plan, DeclarationKind.PRESCRIBED_STEPS, _identify_declarer(event, text)
            )
    if event.kind is Kind.SYSTEM:
        return None
    for listing in lists:
        if _is_request_list(listing):
            plan = parse_plan(listing.to_plan_lines())
            return PromptPlan(plan, DeclarationKind.REQUESTED_STEPS, Declarer.USER)
    requested_steps = _split_prose_request(text) if not lists else []
    return (
        PromptPlan(parse_plan(requested_steps), DeclarationKind.REQUESTED_STEPS, Declarer.USER)
        if requested_steps
        else None
    )


def _identify_declarer(event: Event, text: str) -> Declarer:
    if comes_from_manager(text):
        return Declarer.PLANNER
    scaffold = event.kind is Kind.SYSTEM or _TEMPLATE.search(text) is not None
    return Declarer.SCAFFOLD if scaffold else Declarer.USER


def _is_request_list(listing: Listing) -> bool:
    """Whether the items of a user's list are things to do, and not rules or remarks."""
    if lists_other_things(listing.lead):
        return False
    texts = [item.text[:400] for item in listing.items]
    if any(map(_FORBIDS.match, texts)):
        return False
    orders = sum(map(is_instruction, texts))
    return orders == len(texts) or (lists_steps(listing.lead) and 2 * orders >= len(texts))


def _split_prose_request(text: str) -> list[str]:
    """The steps of a request in prose; it must be nothing else, and say what comes after what."""
    text = text.strip()
    request = text[opening.end() :] if (opening := _REQUEST_OPENING.match(text)) else text
    if len(text) > _LONGEST_REQUEST or not _SEQUENCE.search(request):
        return []
    if any(not _is_instruction_sentence(sentence) for sentence in split_sentences(request)):
        return []
    parts = (part for step in read_prose(request) for part in split_required_parts(step))
    steps = [_strip_lead_in(part) for part in parts]
    return steps if len(steps) > 1 else []


def _is_instruction_sentence(sentence: str) -> bool:
    return begins_instruction(sentence, find_lead_in_end(sentence), certain=True)


def _strip_lead_in(step: str) -> str:
    bare = step[find_lead_in_end(step) :].strip().rstrip(".?!")
    return bare[:1].upper() + bare[1:]
