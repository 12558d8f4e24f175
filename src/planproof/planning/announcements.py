"""Detect whether the words before a list announce a plan, and whose plan it is."""

from __future__ import annotations

import re

_PLAN = r"(?:plan|plans|steps|approach|strategy|checklist|to-?do(?:\s+list|s)?|roadmap|workflow)"
_PLAN_HEADER = re.compile(
    r"(?:#{1,6}\s*|\*\*|__|<)?(?:\d{1,2}[.):]\s*)?(?:(?:the|my|our|an?|initial|updated|revised|new|action|"
    r"high-level|proposed|detailed|step-by-step|execution|implementation|research|task|work)\s+){0,4}"
    rf"{_PLAN}\b[^.?!\n]{{0,60}}$",
    re.IGNORECASE,
)
_PLAN_PHRASE = re.compile(
    rf"\b(?:{_PLAN}|step[\s-]by[\s-]step|(?:as follows|the following))\b", re.IGNORECASE
)
_PLAN_NAME = re.compile(
    r"\b(?:plans?|steps|step[\s-]by[\s-]step|checklist|to-?do(?:\s+list|s)?)\b", re.IGNORECASE
)
_INTENT = re.compile(
    r"\b(?:I|we)(?:['’]ll|\s+(?:will|shall|need\s+to|should|must|am\s+going\s+to|are\s+going\s+to|"
    r"plan\s+to|intend\s+to|can|propose))\b|\b(?:I['’]m|we['’]re)\s+going\s+to\b|"
    r"\blet(?:\s+me|['’]s|\s+us)\b|\bmy\s+(?:plan|approach|strategy|steps)\b|"
    r"\b(?:here|this|below)(?:['’]s|\s+is|\s+are)\s+(?:\w+\s+){0,5}(?:plan|steps|approach|strategy)\b|"
    r"\b(?:the|a|an|our)\s+(?:\w+[\s-]){0,3}plan\b|\bfollow\s+(?:\w+\s+){0,4}steps\b",
    re.IGNORECASE,
)
# Past actions, suggestions to somebody else, and lists of other things.
_NOT_A_PLAN = re.compile(
    r"\b(?:you\s+(?:can|could|should|may|might|need|must|have\s+to|will\s+need|want|would)|"
    r"please\s+(?:follow|provide|confirm|choose|select)|(?:took|taken|followed|performed|completed|"
    r"finished|executed|accomplished|did|done|so\s+far|previous(?:ly)?)|"
    r"(?:was|were|have|has|had|['’]ve)\s+(?:\w+ly\s+)?\w+ed|summary|options?|examples?|"
    r"to\s+reproduce|reproduction|install(?:ation)?|usage|how\s+to\s+(?:use|run|test)|"
    r"next\s+steps|findings|results?|errors?|issues?\s+(?:are|found)|if\s+you|would\s+you|"
    r"(?:following|these)\s+(?:information|details|questions|files|tools|functions|items?|"
    r"format|rules|constraints|requirements|points|reasons|facts|changes|conditions))\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:my|our)\s+(?:\w+\s+){0,2}plan\b|\b(?:new|updated|revised|adjusted)\s+plan\b|"
    r"\bhere(?:['’]s|\s+is)\s+(?:the|my|our|an?)\s+(?:\w+\s+){0,3}plan\b|\bplan\s+to\s+follow\b",
    re.IGNORECASE,
)
_PRESCRIBES = re.compile(
    r"\bfollow(?:ing)?\s+(?:\w+\s+){0,4}(?:steps|procedure|workflow|process|plan)\b|"
    r"\b(?:steps|procedure|workflow|process|plan)\s+(?:\w+\s+){0,3}(?:below|to\s+follow)\b|"
    r"\b(?:do|perform|execute|complete|carry\s+out)\s+(?:\w+\s+){0,2}(?:the\s+)?(?:following|these)\b|"
    r"\b(?:your\s+)?steps\s+(?:are|should\s+be)\b|\bin\s+(?:this|the\s+following)\s+order\b",
    re.IGNORECASE,
)
# "When asked to commit, follow these steps" does not apply to the current task.
_CONDITIONAL = re.compile(
    r"\W*(?:when(?:ever)?|if|in\s+case|should|before|after|unless|for\s+(?:each|every|any)|once|"
    r"whilst|while|to\s+(?:use|call|invoke|report|commit))\b",
    re.IGNORECASE,
)
_OTHER_LISTS = re.compile(
    r"\b(?:rules|constraints|requirements|notes?|tips|guidelines|criteria|facts|tools|context|"
    r"outputs?|format|questions|hints|background|feedback|what\s+to\s+\w+)\b[^.!?]{0,40}$",
    re.IGNORECASE,
)
_PLAN_HEADING = re.compile(
    r"(?:#{1,6}\s{0,4}|\*\*|__)(?:(?:the|your|action|suggested|proposed)\s+){0,2}plan"
    r"(?:\s+(?:for|to)\b[^.?!]{0,60})?:?(?:\*\*|__)?:?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_HANDED_DOWN = re.compile(
    r"\b(?:from|by)\s+(?:your|the)\s+(?:manager|planner|orchestrator|supervisor|lead)\b",
    re.IGNORECASE,
)


def announces_plan(lead: str) -> bool:
    """Return whether an agent says that the following list is what it will do."""
    last = _last_sentence(lead)
    if not last or _NOT_A_PLAN.search(last):
        return False
    if _PLAN_HEADER.match(last):
        return True
    if not last.endswith(":"):
        return _OWN.search(last) is not None
    return _INTENT.search(last) is not None and (
        _PLAN_PHRASE.search(last) is not None
        or last.lower().startswith(("i'll", "i will", "let me"))
    )


def names_plan(lead: str) -> bool:
    """Return whether the words before a list call it a plan or steps, not only an approach."""
    return _PLAN_NAME.search(_last_sentence(lead)) is not None


def announces_own_plan(lead: str) -> bool:
    """Return whether the words can only announce the agent's plan, even late in a run."""
    last = _last_sentence(lead)
    return _OWN.search(last) is not None and not _NOT_A_PLAN.search(last)


def heads_plan(lead: str) -> bool:
    """Return whether a heading over a list in a prompt calls it the plan."""
    return _PLAN_HEADING.fullmatch(_last_sentence(lead)) is not None


def prescribes_steps(lead: str) -> bool:
    """Return whether a prompt tells the agent to follow the list unconditionally."""
    last = _last_sentence(lead)
    return _PRESCRIBES.search(last) is not None and not _CONDITIONAL.match(last)


def lists_steps(lead: str) -> bool:
    """Return whether the words before a user's list say that its items are steps."""
    last = _last_sentence(lead)
    return _PLAN_HEADER.match(last) is not None or prescribes_steps(lead)


def lists_other_things(lead: str) -> bool:
    """Return whether the words before a list say that its items are not steps."""
    last = _last_sentence(lead)
    return any((_NOT_A_PLAN.search(last), _OTHER_LISTS.search(last), _CONDITIONAL.match(last)))


def comes_from_manager(text: str) -> bool:
    """Return whether a message passes on the words of a manager or planner."""
    return _HANDED_DOWN.search(text[:2_000]) is not None


def _last_sentence(lead: str) -> str:
    sentences = [part.strip() for part in _SENTENCE.split(lead) if part.strip()]
    return sentences[-1] if sentences else ""
