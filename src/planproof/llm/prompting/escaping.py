"""Text of a case as data: on one line, in which nothing hides and nothing commands.

What is escaped is escaped as JSON does it, so that a model may quote it either way: whoever looks
for a quote undoes the escapes on both sides.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256

from planproof.core.content import Content, Json
from planproof.core.phrases import ELLIPSIS
from planproof.core.plan import Plan
from planproof.core.trace import Trace

# Control tokens of chat formats: servers of open models may take them for the end of a message.
_CONTROL_TOKEN = re.compile(
    r"<(?=[|｜]|/?s>|<SYS>>|</SYS>>|(?:start|end)_of_turn>)|\[(?=/?INST\])|(?<=[|｜])>"
)
# Line ends as JSON has them; quotation marks and backslashes stay, for code and JSON to be legible.
_LINE_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "«": "\\u00ab", "»": "\\u00bb"}
_LONGEST_ID = 64
_PLAIN_NAME = re.compile(rf"[\w.:#/@-]{{1,{_LONGEST_ID}}}")
_LONGEST_NAME = 80
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


def to_compact_json(value: Json) -> str:
    """A value as compact JSON on one line."""
    return escape_text(_ENCODER.encode(value))


def escape_text(text: str) -> str:
    """JSON text without control tokens, and with nothing in it that can't be seen."""
    # One of these stands in every control token, and few texts have one.
    if "<" in text or "|>" in text or "INST]" in text or "｜>" in text:
        text = _CONTROL_TOKEN.sub(_escape_match, text)
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escape_character(character) for character in text
    )


def wrap_in_guillemets(text: str) -> str:
    """A text on one line, between marks that nothing inside it can close."""
    # Most have none of these: to look for each takes a tenth of what a table of all takes.
    for character, code in _LINE_ESCAPES.items():
        if character in text:
            text = text.replace(character, code)
    return f"«{escape_text(text)}»"


def write_name(name: str) -> str:
    """The name of a tool or an agent: as it is where it is plain, else a JSON string."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return to_compact_json(
        name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + ELLIPSIS
    )


def write_id(event_id: str) -> str:
    """The id of an event: never shortened, for it has to be found again."""
    if event_id.isalnum() and len(event_id) <= _LONGEST_ID:
        return event_id
    return event_id if _PLAIN_NAME.fullmatch(event_id) else to_compact_json(event_id)


def clip_middle(text: str, max_chars: int) -> str:
    """Head and tail of a text, with an ellipsis between; all of it if it is short enough."""
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
    """The mark of a case: digits that follow from all of it."""
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
    """The text between two lines that name it and bear the mark."""
    return f"[begin {name} {mark}]\n{text}\n[end {name} {mark}]"
