"""What the words of a record's type, or of a label, say about its kind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

RecordKind: TypeAlias = Literal["user", "message", "reasoning", "call", "result", "system"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_REASONING = _words("reasoning thinking thought thoughts think reflection rationale scratchpad")
_RESULT = _words("result results observation observations returned stdout environment")
_TOOL = _words(
    "tool tools function functions command commands action actions call calls exec execute "
    "execution invoke invoking invocation shell bash cmd"
)
_ENDED = _words(
    "output outputs response responses end ended finish finished completed complete done return"
)
_OUTPUT = _words("output outputs")
_USER = _words("user human customer prompt question instruction instructions query ask task input")
_SYSTEM = _words("system developer")
_AGENT = _words(
    "assistant ai agent model bot llm gpt gemini claude answer reply response completion say "
    "final message text chat"
)
_NOTICE = _words(
    "info debug warning warn error notice log meta metadata config settings session start started "
    "stop stopped usage tokens progress status ping heartbeat summary init title snapshot"
)


def split_words(text: str) -> list[str]:
    """Return the words of a name in lower case: `toolCall`, `tool_call` and `tool-call` alike."""
    return [word.lower() for word in _WORD.findall(text[:200])]


def classify_words(words: Iterable[str]) -> RecordKind | None:
    """Return the kind of record that is called so; None if the words do not say."""
    found = frozenset(words)
    if found & _REASONING:
        return "reasoning"
    if found & _RESULT:
        return "result"
    if found & _TOOL:
        return "result" if found & _ENDED else "call"
    if found & _USER:
        return "user"
    if found & _SYSTEM:
        return "system"
    if found & _AGENT:
        return "message"
    return "result" if found & _OUTPUT else None


def is_notice(words: Iterable[str]) -> bool:
    """Return whether these words name a notice of the program and not an event of the run."""
    found = frozenset(words)
    return bool(found & _NOTICE) and classify_words(found - _NOTICE) in (None, "message")
