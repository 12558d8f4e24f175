"""A plan written as running prose: "First ..., then ... and finally ..."."""

from __future__ import annotations

import re

from planproof.planning.instruction_verbs import begins_clause, begins_instruction
from planproof.planning.masking import shield
from planproof.planning.step_parts import is_instruction, split_sentences

_SEQUENCE = (
    r"(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|fifth(?:ly)?|then|next|"
    r"after\s+(?:that|this|which)|afterwards?|subsequently|finally|lastly|to\s+(?:begin|start)(?:\s+with)?)"
)
_OPENS_STEP = re.compile(rf"(?:and\s+)?{_SEQUENCE}\b", re.IGNORECASE)
_WITHIN = re.compile(
    rf"(?:;\s*(?:and\s+)?|,\s*(?:and\s+)?|(?<!\s)\s+and\s+)(?={_SEQUENCE}\b)", re.IGNORECASE
)
_LEAD_IN = re.compile(rf"\W*(?:and\s+)?{_SEQUENCE}\b,?\s*", re.IGNORECASE)
_NO_PLAN = re.compile(
    r"\W*(?:none|null|nil|n/?a|empty|no\s+plan\b.*|not\s+(?:available|applicable)|-+|"
    r"(?:there\s+is|i\s+have|we\s+have)\s+no\s+plan\b.*|.*(?:\bnot|n['’]t)\b[^.]*\bplan)\W*",
    re.IGNORECASE | re.DOTALL,
)
_PREAMBLE = re.compile(
    r"\W*(?:here(?:['’]s|\s+is|\s+are)\b|(?:my|the)\s+(?:plan|steps)\b[^.]*:)", re.IGNORECASE
)
_LONGEST_NO_PLAN = 120


def read_prose(text: str) -> list[str]:
    """The steps told in running text; none when it tells of no plan."""
    text = text.strip()
    if (
        not text
        or text.endswith(":")
        or (len(text) < _LONGEST_NO_PLAN and _NO_PLAN.fullmatch(text))
    ):
        return []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and not any(_OPENS_STEP.match(line) for line in lines[1:]):
        return _split_lines_into_steps(lines)
    return _join_sentences_into_steps(split_sentences(text))


def _split_lines_into_steps(lines: list[str]) -> list[str]:
    """One step a line, where most lines give an order; otherwise it is a text like any other."""
    ordering = [line for line in lines if _is_step_sentence(line)]
    if 2 * len(ordering) > len(lines) or all(len(line) < 80 for line in lines):
        return [line for line in lines if not (line.endswith(":") or _PREAMBLE.match(line))]
    return _join_sentences_into_steps(split_sentences("\n".join(lines)))


def _join_sentences_into_steps(sentence_list: list[str]) -> list[str]:
    steps: list[str] = []
    for sentence in sentence_list:
        parts = _split_sentence(sentence)
        if _OPENS_STEP.match(sentence) or len(parts) > 1 or _is_step_sentence(sentence):
            steps += parts
        elif steps:
            steps[-1] = f"{steps[-1]} {sentence}"
    # Prose without any order in it was still given as the plan: it is one step.
    return steps or ([" ".join(sentence_list)] if not _PREAMBLE.match(sentence_list[0]) else [])


def _split_sentence(sentence: str) -> list[str]:
    shielded = shield(sentence)
    steps: list[str] = []
    start = 0
    for boundary in _WITHIN.finditer(shielded):
        following = _LEAD_IN.match(shielded, boundary.end())
        instruction_start = following.end() if following else boundary.end()
        if begins_instruction(shielded, instruction_start, certain=True) or begins_clause(
            shielded, instruction_start
        ):
            steps.append(sentence[start : boundary.start()])
            start = boundary.end()
    steps.append(sentence[start:])
    return [step.strip() for step in steps if step.strip()]


def _is_step_sentence(sentence: str) -> bool:
    return is_instruction(sentence) and not _PREAMBLE.match(sentence)
