"""Escape text of a case as data: one line, no hidden characters, no control tokens.

Escapes are JSON escapes, so a model may quote text escaped or not: quotes are compared with the
escapes undone on both sides.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256

from planproof.core.content import Content, Json
from planproof.core.phrases import ELLIPSIS
from planproof.core.plan import Plan
from planproof.core.trace import Trace

# Control tokens of chat formats: servers of open models may read them as the end of a message.
_CONTROL_TOKEN = re.compile(
    r"<(?=[|｜]|/?s>|<SYS>>|</SYS>>|(?:start|end)_of_turn>)|\[(?=/?INST\])|(?<=[|｜])>"
)
# Line ends as in JSON; quotation marks and backslashes stay, so that code and JSON are legible.
_LINE_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "«": "\\u00ab", "»": "\\u00bb"}
_LONGEST_ID = 64
_PLAIN_NAME = re.compile(rf"[\w.:#/@-]{{1,{_LONGEST_ID}}}")
_LONGEST_NAME = 80
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


def to_compact_json(value: Json) -> str:
    """Return a value as compact JSON on one line."""
    return escape_text(_ENCODER.encode(value))


def escape_text(text: str) -> str:
    """Escape control tokens and invisible characters in JSON text."""
    # Every control token contains one of these, and few texts do.
    if "<" in text or "|>" in text or "INST]" in text or "｜>" in text:
        text = _CONTROL_TOKEN.sub(_escape_match, text)
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escape_character(character) for character in text
    )


def wrap_in_guillemets(text: str) -> str:
    """Return a text on one line, between marks that nothing inside it can close."""
    # Most texts have none of these; a search for each takes a tenth of the time of a table.
    for character, code in _LINE_ESCAPES.items():
        if character in text:
            text = text.replace(character, code)
    return f"«{escape_text(text)}»"


def write_name(name: str) -> str:
    """Return the name of a tool or an agent: unchanged if plain, else as a JSON string."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return to_compact_json(
        name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + ELLIPSIS
    )


def write_id(event_id: str) -> str:
    """Return the id of an event, never shortened, so that it can be matched in an answer."""
    if event_id.isalnum() and len(event_id) <= _LONGEST_ID:
        return event_id
    return event_id if _PLAIN_NAME.fullmatch(event_id) else to_compact_json(event_id)


def clip_middle(text: str, max_chars: int) -> str:
    """Return head and tail of a text with an ellipsis between; all of it if short enough."""
    if len(text) <= max_chars:
        return text
    tail = max_chars // 3
    return f"{text[: max_chars - tail]}{ELLIPSIS}{text[len(text) - tail :] if tail else ''}"


def _escape_match(match: re.Match[str]) -> str:
    return _escape_character(match[0])


def _escape_character(character: str) -> str:
    hex_digits = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{hex_digits[start : start + 4]}" for start in range(0, len(hex_digits), 4))


_DIGITS = 20


def compute_mark(task: Content, plan: Plan, trace: Trace) -> str:
    """Return the mark of a case: digits derived from all of its content."""
    texts = [task.text]
    for step in plan.steps:
        texts += (step.number, step.text)
    for event in trace.events:
        texts += (event.id, event.name or "", event.actor or "", event.text, event.output)
        if event.arguments is not None:
            texts.append(repr(event.arguments))
    texts.append("")
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def wrap_in_fence(name: str, text: str, mark: str) -> str:
    """Put a text between two lines with its name and the mark."""
    return f"[begin {name} {mark}]\n{text}\n[end {name} {mark}]"
