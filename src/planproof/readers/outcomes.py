"""How a call ended, read off what came back."""

from __future__ import annotations

import re

from planproof.content import Json
from planproof.readers.shapes import is_object
from planproof.trace import EventStatus

_HEAD = 600
_EXIT_CODE = re.compile(
    r"(?i)\b(?:exit[ _]?(?:code|status)|return[ _]?code)\b[\"']?(?:\s+was)?\s*[:=]?\s*(-?\d{1,5})"
)
_FAILS = re.compile(
    r"""(?mix)
    \A\s*(?:
        [<\[({"'*]*(?:error|fatal|exception|failure)\b
      | failed\b | unable\ to\b | could\ not\b | invalid\b | tool_use_error
      | <tool_use_error>
      | http/?[\d.]*\s*(?:error\s*)?[45]\d\d\b
      | status(?:\ code)?:?\s*[45]\d\d\b
      | permission\ denied | access\ denied | not\ found\b
    )
    | ^\s*traceback\ \(most\ recent\ call\ last\)
    | ^(?:\w+\.){0,5}\w{0,40}(?:error|exception):\s
    | ^[\w/.\-]{1,80}:\ (?:line\ \d+:\ )?(?:[^\n:]{1,120}:\ )?
      (?:command\ not\ found|no\ such\ file\ or\ directory|permission\ denied|is\ a\ directory
        |syntax\ error|unexpected\ eof|cannot\ access|not\ found)
    """
)
_FAILS_IN_JSON = re.compile(
    r"""(?x)\A\s*\{\s*(?:
        "(?:error|errors|exception)"\s*:\s*(?!null|""|\[\]|\{\}|false)
      | "(?:success|ok)"\s*:\s*false
      | "(?:status|state)"\s*:\s*"(?:error|failed|failure)"
      | "(?:is_error|isError)"\s*:\s*true
    )"""
)
_WORDS = {
    "ok": EventStatus.OK,
    "success": EventStatus.OK,
    "succeeded": EventStatus.OK,
    "completed": EventStatus.OK,
    "error": EventStatus.ERROR,
    "failed": EventStatus.ERROR,
    "failure": EventStatus.ERROR,
}


def outcome_of(text: str) -> EventStatus:
    """Whether a result tells of a failure; a plain result tells of none."""
    head = text[:_HEAD]
    exit_code = _EXIT_CODE.search(head) or _EXIT_CODE.search(text, max(_HEAD, len(text) - 200))
    if exit_code is not None and exit_code.start() < _HEAD // 4:
        return EventStatus.OK if int(exit_code[1]) == 0 else EventStatus.ERROR
    if _FAILS.search(head) or _FAILS_IN_JSON.match(head):
        return EventStatus.ERROR
    if exit_code is not None and int(exit_code[1]) != 0:
        return EventStatus.ERROR
    return EventStatus.OK


def stated(value: Json) -> EventStatus | None:
    """What a status field of a record says, if it says anything that is understood."""
    if is_object(value):
        value = value.get("status_code") or value.get("code")
    if isinstance(value, str):
        return _WORDS.get(value.rpartition("_")[2].lower())
    return None
