"""Turns that AutoGen prints with their type; calls stand there as Python writes them."""

from __future__ import annotations

import re

from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import Place
from planproof.readers.toolkit.tool_calls import Call, arguments_of
from planproof.readers.toolkit.trace_builder import Result, Transcript

_LITERAL = r"(?:'((?:[^'\\]|\\.){0,50000})'|\"((?:[^\"\\]|\\.){0,50000})\")"
_CALL = re.compile(
    rf"FunctionCall\(id='([^'\n]{{0,200}})', arguments={_LITERAL}, name='([\w.\-]{{1,80}})'\)",
    re.DOTALL,
)
_RESULT = re.compile(
    rf"FunctionExecutionResult\(content={_LITERAL}, (?:name='[\w.\-]{{1,80}}', )?"
    r"call_id='([^'\n]{0,200})'(?:, is_error=(True|False))?",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WRITTEN = {"n": "\n", "t": "\t", "r": "\r"}


def read_console_turn(
    transcript: Transcript, speakers: Speakers, text: str, place: Place, kind: str, source: str
) -> None:
    """Write a turn of a given type."""
    if kind == "ToolCallRequestEvent":
        speakers.flush()
        transcript.begin_turn()
        for found in _CALL.finditer(text):
            arguments, bare = arguments_of(_unescaped(found[2] or found[3] or ""))
            pointer = place(found.start(), found.end())
            transcript.call(Call(found[4], arguments, bare, found[1]), pointer, source)
    elif kind == "ToolCallExecutionEvent":
        speakers.flush()
        for found in _RESULT.finditer(text):
            output = _unescaped(found[1] or found[2] or "")
            status = EventStatus.ERROR if found[4] == "True" else None
            pointer = place(found.start(), found.end())
            transcript.answer(Result(output, pointer, found[3], actor="tool", status=status))
    elif kind == "ThoughtEvent":
        speakers.flush()
        transcript.begin_turn()
        transcript.say(Kind.REASONING, text.strip(), place(0, len(text)), source)
    else:
        speakers.said(text, place, source)


def _unescaped(literal: str) -> str:
    return _ESCAPED.sub(lambda found: _WRITTEN.get(found[1], found[1]), literal)
