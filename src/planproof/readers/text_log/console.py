"""Turns that AutoGen prints with their type; calls stand there as Python writes them."""

from __future__ import annotations

import re

from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import PointerFactory
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder

_LITERAL = r"(?:'((?:[^'\\]|\\.){0,50000})'|\"((?:[^\"\\]|\\.){0,50000})\")"
_FUNCTION_CALL = re.compile(
    rf"FunctionCall\(id='([^'\n]{{0,200}})', arguments={_LITERAL}, name='([\w.\-]{{1,80}})'\)",
    re.DOTALL,
)
_FUNCTION_RESULT = re.compile(
    rf"FunctionExecutionResult\(content={_LITERAL}, (?:name='[\w.\-]{{1,80}}', )?"
    r"call_id='([^'\n]{0,200})'(?:, is_error=(True|False))?",
    re.DOTALL,
)
_ESCAPE_SEQUENCE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def add_console_turn(
    builder: TraceBuilder,
    speakers: Speakers,
    text: str,
    pointer_for: PointerFactory,
    kind: str,
    source: str,
) -> None:
    """Write a turn of a given type."""
    if kind == "ToolCallRequestEvent":
        speakers.flush()
        builder.begin_turn()
        for match in _FUNCTION_CALL.finditer(text):
            arguments, bare = parse_arguments(_unescape(match[2] or match[3] or ""))
            pointer = pointer_for(match.start(), match.end())
            builder.add_call(ToolCall(match[4], arguments, bare, match[1]), pointer, source)
    elif kind == "ToolCallExecutionEvent":
        speakers.flush()
        for match in _FUNCTION_RESULT.finditer(text):
            output = _unescape(match[1] or match[2] or "")
            status = EventStatus.ERROR if match[4] == "True" else None
            pointer = pointer_for(match.start(), match.end())
            builder.add_result(ToolResult(output, pointer, match[3], actor="tool", status=status))
    elif kind == "ThoughtEvent":
        speakers.flush()
        builder.begin_turn()
        builder.add_message(Kind.REASONING, text.strip(), pointer_for(0, len(text)), source)
    else:
        speakers.add_turn(text, pointer_for, source)


def _unescape(literal: str) -> str:
    return _ESCAPE_SEQUENCE.sub(lambda found: _ESCAPES.get(found[1], found[1]), literal)
