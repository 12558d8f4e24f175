"""Build a step from the text of a plan item: its parts, condition, choices and order."""

from __future__ import annotations

import re

from planproof.core.plan import Step
from planproof.planning.masking import compile_hinted
from planproof.planning.step_parts import (
    find_choices,
    is_optional,
    opens_subordinate,
    split_required_parts,
    split_sentences,
)

# Only the head of a step is searched: a step may be a whole document.
_HEAD = 4_000

_LEADING_CONDITION = re.compile(
    r"(?:(?:and|then|but|first|next|finally|otherwise|also)\b,?\s+)*"
    r"(?:(?:only\s+)?(?:if|when|whenever|unless|in\s+case|in\s+the\s+event\s+(?:that|of)|"
    r"provided\s+that|assuming(?:\s+that)?|should(?=\s+(?:the|this|that|any|it|there|no|\w+['’]s)\b)))"
    r"\s+(?P<condition>.+)",
    re.IGNORECASE | re.DOTALL,
)
_TRAILING_CONDITION = compile_hinted(
    r"(?<!\S)(?P<before>\S+)\s+(?P<word>only\s+(?:if|when)|if|unless|in\s+case|provided\s+that)\s+"
    r"(?P<condition>.+)",
    "if when unless case provided",
)
_EMPHASIS = "*_# "
_CONDITION_END = re.compile(r",\s+(?:then\s+)?|\s+then\s+|:\s+")
_CLAUSE_END = re.compile(r",\s|;|\.\s")
_QUESTION_WORD = re.compile(
    r"(?:check(?:s|ing)?|see(?:ing)?|verif(?:y|ies|ying)|determin(?:e|es|ing)|test(?:s|ing)?|out|"
    r"confirm(?:s|ing)?|ask(?:s|ing)?|evaluat(?:e|es|ing)|decid(?:e|es|ing)|know|sure|as|even|"
    r"identif(?:y|ies|ying)|wonder|tell|learn|assess|question|and|or|what|say)\W*",
    re.IGNORECASE,
)
_SAYS_OPTIONAL = compile_hinted(r"[(\[]\s*optional\s*[)\]]|^\W*optional(?:ly)?\b", "optional")
_LEFT_TO_AGENT = re.compile(
    r"\W*(?:you|we|i|they|it|the\s+[\w\-]+|[A-Z][\w\-]*)\s+(?:may|might)\s+"
    r"(?!be\b|have\b|need\b|not\b)(?:also\s+|optionally\s+|choose\s+to\s+)?[a-z]+"
)
_LOOP = compile_hinted(
    r"\b(?:repeat(?:ing|edly)?\b[^.;]{0,120}\b(?:until|while|times|each|every)|repeatedly|until|"
    r"iterat(?:e|es|ing)|loop(?:s|ing)?\s+(?:over|through|until)|one\s+by\s+one|one\s+at\s+a\s+time|as\s+long\s+as|in\s+turn|"
    r"(?:keep|continue)\s+(?:on\s+)?(?:to\s+\w+|\w+ing)|(?:each|every)\s+(?:of|one)|"
    r"for\s+(?:each|every)\s+(?!and\b|or\b|why\b|in\b)\w+)\b|^\W*for\s+all\b",
    "repeat until iterat loop one long turn keep continue each every all",
)
_EACH_OBJECT = re.compile(r"\W*(?:[\w\-]+\s+){1,2}each\s+(?!other\b|time\b)\w+", re.IGNORECASE)
_ANY_ORDER = (
    r"(?:in\s+(?:any|either|no\s+particular|whatever|arbitrary)\s+order|in\s+parallel|concurrently|"
    r"at\s+any\s+(?:time|point)|regardless\s+of\s+(?:the\s+)?order|"
    r"(?:the\s+)?order\s+(?:does\s+not|doesn['’]t|is\s+not|isn['’]t)\s+(?:matter|important|relevant))"
)
_TOGETHER = rf"(?:{_ANY_ORDER}|simultaneously|at\s+the\s+same\s+time)"
_FREE_ORDER = compile_hinted(
    rf"\b{_TOGETHER}", "order parallel concurrently any simultaneously same"
)
_OWN_ORDER_FREE = re.compile(
    rf"^\W*{_TOGETHER}\s*[,:)\]]|[(\[]\s*{_TOGETHER}\s*[)\]]|"
    rf"{_TOGETHER}\s+(?:with|as|to)\s+(?:the\s+)?(?:steps?\b|previous|preceding|next|above|\#?\d)",
    re.IGNORECASE,
)
_LAST_SAID = re.compile(rf"{_ANY_ORDER}\W*$", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\bnot\b|n['’]t\b|\bnever\b|\bno\b|\bwithout\b)[^.;]{0,40}$", re.IGNORECASE
)
_SEVERAL = re.compile(r"\b(?:and|all|both|each|these|them|two|three|four)\b|,", re.IGNORECASE)


def make_step(
    number: str,
    text: str,
    *,
    parent: str | None = None,
    condition: str | None = None,
    optional: bool = False,
    free_order: bool = False,
) -> Step:
    """Return the step, with the properties that its text states added to the given ones."""
    head = text[:_HEAD]
    parts = split_required_parts(text)
    first = parts[0][:_HEAD] if len(parts) == 1 else None
    return Step(
        number=number,
        text=text,
        parts=parts,
        choices=find_choices(head),
        condition=condition or _find_condition(head, first),
        optional=optional or _is_optional_step(head, first),
        loop=_LOOP.search(head) is not None or _EACH_OBJECT.match(head) is not None,
        free_order=free_order or _has_free_order(head),
        parent=parent,
    )


def leaves_order_open(text: str) -> bool:
    """Return whether the text says that its items may be done in any order."""
    match = _FREE_ORDER.search(text)
    return match is not None and not _DENIED.search(text, 0, match.start())


def _find_condition(text: str, only_part: str | None) -> str | None:
    """Return the condition of the whole step; one that governs only a later part is ignored."""
    if _LEADING_CONDITION.match(text.lstrip(_EMPHASIS)):
        leading = _find_leading_condition(split_sentences(text)[0])
        if leading is not None:
            return leading
    return _find_trailing_condition(only_part) if only_part is not None else None


def _find_leading_condition(text: str) -> str | None:
    match = _LEADING_CONDITION.match(text.lstrip(_EMPHASIS))
    if match is None:
        return None
    rest = match["condition"]
    end = _CONDITION_END.search(rest)
    condition = (rest[: end.start()] if end else rest).strip(" .;")
    return None if is_optional(f"if {condition[:40]}") else condition or None


def _find_trailing_condition(text: str) -> str | None:
    if opens_subordinate(text):
        return None
    match = _TRAILING_CONDITION.search(text)
    if match is None:
        return None
    tail = f"{match['word']} {match['condition'][:40]}"
    # After a comma it may govern only the last clause: "do A, repeating it if X".
    apart = "," in text[: match.start("word")]
    if apart or _QUESTION_WORD.fullmatch(match["before"]) or is_optional(tail):
        return None
    return _CLAUSE_END.split(match["condition"], maxsplit=1)[0].strip(" .)") or None


def _is_optional_step(text: str, only_part: str | None) -> bool:
    if _SAYS_OPTIONAL.search(text):
        return True
    if _LEFT_TO_AGENT.match(text):
        return True
    # Optional parts are not among the required ones, unless there are no others.
    return only_part is not None and is_optional(only_part)


def _has_free_order(text: str) -> bool:
    if not leaves_order_open(text):
        return False
    # "Fetch A and B in parallel" leaves the order of A and B open, not that of the step itself.
    if _OWN_ORDER_FREE.search(text):
        return True
    return _LAST_SAID.search(text) is not None and _SEVERAL.search(text) is None
