"""Read Auto-GPT logs: numbered answers, each a JSON text with thoughts and a command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from planproof.core.content import Json
from planproof.core.json_values import is_object, parse_embedded_json
from planproof.core.pointer import escape
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import SYSTEM_ROLES, USER_ROLES, get_role
from planproof.readers.toolkit.entries import SNIFF_LIMIT
from planproof.readers.toolkit.json_answers import add_structured_answer
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder

# Looked up once: every answer needs one of them.
_MESSAGE, _SYSTEM = Kind.MESSAGE, Kind.SYSTEM
_MAX_DIGITS = 9
_COMMAND_RESULT = re.compile(r"\s{0,8}Command (\w{1,80}) (?:returned|threw the following error): ")


class AutoGPTReader:
    """Reads steps of Auto-GPT: `{"1": {"role", "content"}, ...}`, with thoughts and a command."""

    name = "auto-gpt"

    def sniff(self, source: Source) -> bool:
        """Return whether the document is numbered answers, and one of the first has thoughts."""
        document = source.document
        if source.form != "json" or not is_object(document):
            return False
        thinks = False
        for key, value in islice(document.items(), SNIFF_LIMIT):
            if not _is_number(key) or not is_object(value):
                return False
            content = value.get("content")
            if not isinstance(content, str):
                return False
            thinks = thinks or (content.lstrip()[:1] == "{" and '"thoughts"' in content)
        return thinks

    def read(self, source: Source) -> Trace:
        """Return the events of the answers by number: thoughts, current plan, and command."""
        builder = TraceBuilder(source.skipped)
        for key, value in _iter_answers(source.document):
            content = value.get("content") if is_object(value) else None
            if isinstance(content, str):
                _add_answer(builder, get_role(value), content, f"/{key}/content")
            else:
                builder.skip(f"/{key}", "not an answer of the agent")
        return builder.build(self.name)


def _iter_answers(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield the entries with their keys, escaped for pointers; numbered ones first, in order."""
    if not is_object(document):
        return
    numbered = list(filter(_is_number, document))
    for key in sorted(numbered, key=int):
        yield key, document[key]
    if len(numbered) < len(document):
        for key in document:
            if not _is_number(key):
                yield escape(key), document[key]


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) <= _MAX_DIGITS


def _add_answer(builder: TraceBuilder, role: str, content: str, pointer: str) -> None:
    if role != "assistant":
        returned = _COMMAND_RESULT.match(content) if role else None
        if returned is not None:
            text = content[returned.end() :]
            builder.add_result(ToolResult(text, pointer, name=returned[1], actor="command"))
            return
        if role in SYSTEM_ROLES or role in USER_ROLES:
            builder.begin_turn()
            kind, actor = (_SYSTEM, "system") if role in SYSTEM_ROLES else (_MESSAGE, "user")
            builder.add_message(kind, content, pointer, actor)
            return
    builder.begin_turn()
    answer = parse_embedded_json(content)
    if not (is_object(answer) and add_structured_answer(builder, answer, pointer, "assistant")):
        # Between answers the model writes summaries: messages, not actions.
        builder.add_message(_MESSAGE, content, pointer, "assistant")
