"""Split the text of a step into the parts that must be done, and find its alternatives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from planproof.planning.instruction_verbs import (
    begins_accompaniment,
    begins_clause,
    begins_finite,
    begins_instruction,
    find_lead_in_end,
    is_plain_verb,
    is_verb,
)
from planproof.planning.masking import compile_hinted, mask_quotes

_LONGEST_CONDITION = 200
# A longer step is a document and is not split.
_LONGEST_SPLIT = 8_000

_APPENDIX = re.compile(
    r"\n\s*(?:#{1,6}\s|-{3,}\s*(?:\n|$)|```|here(?:['’]s|\s+is|\s+are)\b|notes?:|this assumes\b)",
    re.IGNORECASE,
)
_BULLET_LINE = re.compile(
    r"^[ \t]*(?:[-*+•–‣◦▪·]|\d{1,3}[.)]|\(?[a-z][.)])[ \t]+(?=\S)", re.MULTILINE
)
_ASIDE = re.compile(
    r"\W*(?:for example|for instance|e\.g|i\.e|this (?:will|would|is|can|may|requires|step)|these|"
    r"note that|that is|such as|there (?:may|might|is|are)|we can|it (?:is|can|may))\b",
    re.IGNORECASE,
)
_OPTIONAL = compile_hinted(
    r"\b(?:(?:if|when|where|whenever|wherever)\s+(?:it\s+is\s+)?(?:needed|necessary|required|"
    r"desired|appropriate|applicable|you\s+(?:like|want|wish))|as\s+(?:needed|necessary|desired)|"
    r"if\s+need\s+be|optionally)\b|"
    r"\(\s*optional\s*\)|^\W*optional\b",
    "need necessary required desired appropriate applicable you optional",
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’)\x00]*\s+(?=[\"'“‘`*(\[\x00]*[A-Z\x00])|\n[ \t]*\n\s*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|dr|mr|mrs|ms|no|approx|fig|st|cf)|\b[A-Za-z])\.$", re.IGNORECASE
)
_SUBORDINATE = re.compile(
    r"(?:if|when|whenever|once|after|before|unless|while|until|in case|in the event|using|to|for|"
    r"based on|on|upon|with|as|from|by|told|given|where|since|because|should|in order to|in|at|"
    r"without|instead of|having)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?:if|when|unless|once|in case)\b", re.IGNORECASE)
_BOUNDARY = re.compile(
    r"(?:(?P<strong>\s*(?:;|→|->|=>)\s*)|(?P<comma>,\s+)|\s+(?=(?:and|then|&|but)[\s,]))"
    r"(?P<joined>(?:and|&|but),?\s+)?"
    r"(?P<then>(?:then|afterwards?|after that|next|finally|lastly|subsequently|thereafter)\b,?\s+)?"
)
_BOUNDARY_HINTS = (",", ";", "and", "then", "&", "but", "→", "->", "=>")
_MODAL_CLAUSE = re.compile(
    r"\b(?:that|which|who|whether|how|so)\b.*\b(?:can|could|will|would|may)\b"
)
_RELATIVE = re.compile(r"\b(?:that|which|who)\b")
_WORDS = re.compile(r"[\w\-]+\s*")
_EMPHASIS = re.compile(r"\*\*|__")


def split_required_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a step that must be done; at least one."""
    if len(text) > _LONGEST_SPLIT:
        return (text,)
    parts = tuple(_clean(part) for block in _split_blocks(text) for part in _split_clauses(block))
    parts = tuple(part for part in parts if part)
    required = tuple(part for part in parts if not is_optional(part)) or parts
    return required if len(required) > 1 else (_select_only_part(text, parts, required),)


def _select_only_part(text: str, parts: tuple[str, ...], required: tuple[str, ...]) -> str:
    if len(parts) > 1:
        return required[0]
    return text[: _find_end_of_instructions(text)].strip() or text


def is_optional(text: str) -> bool:
    """Return whether the text leaves it to the agent to do this at all."""
    return _OPTIONAL.search(text) is not None


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, ignoring full stops in quotes, code and abbreviations."""
    masked = mask_quotes(text)
    parts: list[str] = []
    start = 0
    for gap in _SENTENCE_END.finditer(masked):
        if _ABBREVIATION.search(masked, max(start, gap.start() - 8), gap.start()):
            continue
        parts.append(text[start : gap.end()].strip())
        start = gap.end()
    parts.append(text[start:].strip())
    return [sentence for sentence in parts if sentence]


def opens_subordinate(text: str) -> bool:
    """Return whether the text begins with a subordinate clause ("If ...", "Once ...")."""
    return _SUBORDINATE.match(text) is not None


def is_instruction(sentence: str) -> bool:
    """Return whether a sentence says what to do, as an order or as an announcement."""
    text = _EMPHASIS.sub("", sentence)
    start = find_lead_in_end(text)
    if begins_instruction(text, start, certain=True) or begins_clause(text, start):
        return True
    if opens_subordinate(text):
        comma = mask_quotes(text).find(", ")
        return comma > 0 and (
            begins_instruction(text, comma + 2, certain=True) or begins_clause(text, comma + 2)
        )
    return False


def _find_end_of_instructions(text: str) -> int:
    appendix = _APPENDIX.search(text, 1) if "\n" in text else None
    return appendix.start() if appendix else len(text)


def _split_blocks(text: str) -> list[str]:
    """Return the sentences that give instructions.

    Bullets take precedence over the text above them, which only sums them up.
    """
    body = text[: _find_end_of_instructions(text)]
    bullets = list(_BULLET_LINE.finditer(body, body.find("\n") if "\n" in body else len(body)))
    if bullets:
        edges = [*(bullet.start() for bullet in bullets), len(body)]
        listed = [body[b.end() : edge] for b, edge in zip(bullets, edges[1:], strict=True)]
        blocks = [block for item in listed for block in _group_instructions(item)]
        if blocks:
            return blocks
        body = body[: bullets[0].start()]
    return _group_instructions(body) or [body]


def _group_instructions(text: str) -> list[str]:
    """Split a text into sentences, joining those without an instruction to the previous one."""
    blocks: list[str] = []
    for sentence in split_sentences(text):
        if _ASIDE.match(sentence):
            continue
        if not blocks or is_instruction(sentence):
            blocks.append(sentence)
        else:
            blocks[-1] = f"{blocks[-1]} {sentence}"
    return blocks


def _split_clauses(sentence: str) -> Iterator[str]:
    if not any(map(sentence.__contains__, _BOUNDARY_HINTS)):
        yield sentence
        return
    masked = mask_quotes(sentence)
    start = 0
    has_subject = begins_clause(masked, find_lead_in_end(masked))
    inside_part = _find_first_boundary(masked)
    for boundary in _BOUNDARY.finditer(masked, inside_part):
        if boundary.start() < inside_part:
            continue
        left = masked[start : boundary.start()]
        starts = (
            _starts_part(masked, boundary)
            or (
                has_subject and begins_finite(masked, boundary.end()) and not _RELATIVE.search(left)
            )
            or _find_instruction_after_condition(masked, boundary) > 0
        )
        if starts and not _shares_object(left, after_comma=bool(boundary["comma"])):
            yield sentence[start : boundary.start()]
            start = boundary.end()
            inside_part = max(start, _find_instruction_after_condition(masked, boundary))
    yield sentence[start:]


def _find_first_boundary(masked: str) -> int:
    """Return the index after the comma of "If X, ...": the condition is not a part itself."""
    lead = find_lead_in_end(masked)
    if opens_subordinate(masked[lead : lead + 20]):
        comma = masked.find(", ", lead)
        return comma + 2 if comma > 0 else lead
    return lead


def _starts_part(masked: str, boundary: re.Match[str]) -> bool:
    end = boundary.end()
    certain = bool(boundary["strong"] or boundary["then"])
    if (certain or boundary["comma"]) and begins_accompaniment(masked, end):
        return True
    if not (certain or boundary["joined"]) and masked.startswith("to ", end):
        return False  # "..., to find X" states a purpose
    if begins_instruction(masked, end, certain=certain):
        return True
    return bool(certain or boundary["comma"]) and begins_clause(masked, end)


def _find_instruction_after_condition(masked: str, boundary: re.Match[str]) -> int:
    """Return the start of the instruction in "..., and if X, do Y"; 0 if there is none."""
    end = boundary.end()
    if not (boundary["joined"] or boundary["strong"]) or not _CONDITION.match(masked, end):
        return 0
    comma = masked.find(", ", end, end + _LONGEST_CONDITION)
    return comma + 2 if comma > 0 and begins_instruction(masked, comma + 2, certain=True) else 0


def _shares_object(left: str, *, after_comma: bool) -> bool:
    """Return whether the left side lacks its object: "identify and extract the dates"."""
    words = _WORDS.findall(left[-80:])
    if not words:
        return True
    last = words[-1].rstrip()
    # Words separated by a comma do not belong together: "collect, clean".
    joined = len(words) > 1 and words[-2][-1:].isspace()
    before = words[-2].rstrip() if joined else None
    if after_comma:
        return before is None and is_verb(last)  # "collect, clean, and plot the data"
    if is_plain_verb(last):
        return True
    if is_verb(last) and (
        before is None or is_verb(before) or before.lower() in {"to", "then", "will"}
    ):
        return True
    return _MODAL_CLAUSE.search(left) is not None


def _clean(part: str) -> str:
    return _EMPHASIS.sub("", part).strip().strip(",;").rstrip(".").strip()


_OR = re.compile(
    r",?\s+or\s+(?!(?:more|less|so|not|other|others|later|earlier|higher|lower|fewer|greater|above|"
    r"below|better|worse|else|older|newer|any|equal)\b)",
    re.IGNORECASE,
)
_NO_CHOICE = re.compile(
    r"\b(?:whether|if|unless|when|no|not|without|neither|nor|which|cannot|\w+n['’]t)\b[^.;]*$",
    re.IGNORECASE,
)
# "or call the user", but not "or source on the matter".
_ACTION = re.compile(
    r"(?!\w+\s+(?:for|to|on|up|out|in|into|with|from|at|as|of|through|against|over|that)\b)\w"
)
_EITHER = re.compile(r"\beither\s+", re.IGNORECASE)
_STOPS = re.compile(
    r"(?:[,;:.!?]\s|\s(?:to|for|from|in|on|at|of|with|by|into|and|via|through|using|as|about|near|when|if|"
    r"between|before|after|like|than|that|which|who|the|a|an|any|its|their|either|both|should|will|"
    r"is|are)\s)",
    re.IGNORECASE,
)
_CLAUSE_STOPS = re.compile(r"[;.!?](?:\s|$)|,\s|\s(?:then|and)\s|$")
_LIST_ITEM = re.compile(r",\s+")
_MAX_CHARS_BEFORE = 160


def find_choices(text: str) -> tuple[str, ...]:
    """Return the alternatives that the text names; empty if there is no choice."""
    masked = mask_quotes(text)
    for conjunction in _OR.finditer(masked):
        sentence = max(
            masked.rfind(". ", 0, conjunction.start()),
            masked.rfind("; ", 0, conjunction.start()),
        )
        before = masked[
            max(sentence + 1, conjunction.start() - _MAX_CHARS_BEFORE, 0) : conjunction.start()
        ]
        if _NO_CHOICE.search(before):
            continue
        if _ACTION.match(masked, conjunction.end()) and begins_instruction(
            masked, conjunction.end()
        ):
            return _split_action_choices(text, masked, conjunction, before)
        return _split_object_choices(text, masked, conjunction, before)
    return ()


def _split_action_choices(
    text: str, masked: str, conjunction: re.Match[str], before: str
) -> tuple[str, ...]:
    start = conjunction.start() - len(before)
    either = _EITHER.search(before)
    if either:
        start += either.end()
    end = _CLAUSE_STOPS.search(masked, conjunction.end())
    right = text[conjunction.end() : end.start() if end else len(text)]
    return _deduplicate(text[start : conjunction.start()], right)


def _split_object_choices(
    text: str, masked: str, conjunction: re.Match[str], before: str
) -> tuple[str, ...]:
    offset = conjunction.start() - len(before)
    either = _EITHER.search(before)
    if either:
        starts = [offset + either.end()]
    else:
        stops = [stop.end() for stop in _find_overlapping(_STOPS, before)]
        starts = [offset + (stops[-1] if stops else _find_end_of_first_word(before))]
        # "A, B, or C": go back over the items of the list.
        while stops and before[: stops[-1]].rstrip(" ").endswith(","):
            stops.pop()
            starts.insert(0, offset + (stops[-1] if stops else _find_end_of_first_word(before)))
    end = _STOPS.search(masked + " ", conjunction.end())
    right = text[conjunction.end() : end.start() if end else len(text)]
    edges = [*starts, conjunction.start()]
    left = [text[a:b].strip(" ,") for a, b in pairwise(edges)]
    return _deduplicate(*left, right)


def _find_overlapping(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return all matches, including those that share a space with the previous one."""
    matches: list[re.Match[str]] = []
    at = pattern.search(text)
    while at:
        matches.append(at)
        at = pattern.search(text, at.end() - 1)
    return matches


def _find_end_of_first_word(text: str) -> int:
    stripped = len(text) - len(text.lstrip())
    space = text.find(" ", stripped)
    return space + 1 if space > 0 else stripped


def _deduplicate(*texts: str) -> tuple[str, ...]:
    cleaned = tuple(dict.fromkeys(text.strip(" .,;*") for text in texts))
    return cleaned if len(cleaned) > 1 and all(cleaned) else ()
