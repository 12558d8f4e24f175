"""Ledgers: what the orchestrator of a team writes for itself, the plan of the team among it."""

from __future__ import annotations

import re

from planproof.core.trace import Kind
from planproof.readers.toolkit.text_pointers import PointerFactory
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LEDGER = re.compile(
    r"\s{0,8}(?:(?:initial|updated|new|current) (?:plan|ledger|facts?)\b|next speaker\b"
    r"|we are working to address the following user request\b)",
    re.IGNORECASE,
)
_PLAN_INTRODUCTION = re.compile(r"Here is the plan to follow as best as possible:", re.IGNORECASE)
_PLAN_LABEL = re.compile(r"\s{0,8}(?:initial|updated|new|current) plan:", re.IGNORECASE)
# What the program's libraries complain of may stand behind its own words.
_WARNING = re.compile(r"^/[^\s:]{1,400}:\d{1,7}: \w{0,40}Warning: ", re.MULTILINE)


def is_ledger(text: str) -> bool:
    """Whether a text is the orchestrator's bookkeeping and not meant for anybody."""
    return _LEDGER.match(text) is not None


def add_ledger(builder: TraceBuilder, text: str, pointer_for: PointerFactory, actor: str) -> None:
    """Write a ledger; a plan in it is an event of its own."""
    # Looking for plain words first is much the quicker way through long ledgers.
    marked = _PLAN_INTRODUCTION.search(text) if "as best as possible" in text else None
    marked = marked or _PLAN_LABEL.match(text)
    start = marked.end() if marked is not None else len(text)
    before = text[: marked.start() if marked is not None else start].strip()
    builder.add_message(Kind.BOOKKEEPING, before, pointer_for(0, start), actor)
    warning = _WARNING.search(text, start) if "Warning: " in text else None
    end = warning.start() if warning is not None else len(text)
    builder.add_plan(text[start:end].strip(), pointer_for(start, end), actor)
