"""How a call ended, read off what came back."""

from __future__ import annotations

import re

from planproof.content import Json
from planproof.readers.pieces.shapes import is_object
from planproof.trace import EventStatus

_HEAD = 400
_TAIL = 200
_EXIT_CODE = re.compile(
    r"\b(?:exit[ _]?(?:code|status)|return[ _]?code)\b[\"']?(?: was)? ?[:=]? ?(-?\d{1,5})\b"
)
_BEGINS_WITH_FAILURE = re.compile(
    r"""(?x)\s{0,40}(?:
        [<\[(*'"]{0,4}(?:error|fatal|exception|failure)s?\b(?!["'])
      | <tool_use_error> | failed\b | unable\ to\b | could\ not\b | invalid\b
      | http/?[\d.]{0,4}\ ?(?:error\ )?[45]\d\d\b
      | status(?:\ code)?:?\ ?[45]\d\d\b
      | (?:permission|access)\ denied | not\ found\b
    )"""
)
_COMPLAINTS = (
    "command not found",
    "no such file or directory",
    "permission denied",
    "is a directory",
    "syntax error",
    "unexpected eof",
    "cannot access",
    "not found",
)
# No line tells of a failure without one of these; looking for them first is the cheaper way.
_SIGNS = (
    *("traceback (", "error", "exception:", "not found", "directory"),
    *("permission denied", "unexpected eof", "cannot access"),
)
_LINE_OF_FAILURE = re.compile(
    rf"""(?mx)
    ^\ {{0,8}}traceback\ \(most\ recent\ call\ last\)
    | ^[\w.]{{0,80}}(?:error|exception):\s
    | ^[\w/.\-]{{1,80}}:\ (?:line\ \d{{1,6}}:\ )?(?:[^\n:]{{1,120}}:\ )?
      (?:{"|".join(map(re.escape, _COMPLAINTS))})
    """
)
_FAILS_IN_JSON = re.compile(
    r"""(?x)\s{0,40}\{\s{0,40}(?:
        "(?:error|errors|exception)"\s?:\s?(?!\s?(?:null|""|\[\]|\{\}|false))
      | "(?:success|ok)"\s?:\s?false
      | "(?:status|state)"\s?:\s?"(?:error|failed|failure)"
      | "is_?error"\s?:\s?true
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
    head = text[:_HEAD].lower()
    exit_code = _exit_code(head)
    if exit_code is None and len(text) > _HEAD:
        exit_code = _exit_code(text[max(_HEAD, len(text) - _TAIL) :].lower())
    if exit_code is not None:
        return EventStatus.OK if exit_code == 0 else EventStatus.ERROR
    return EventStatus.ERROR if _fails(head) else EventStatus.OK


def stated(value: Json) -> EventStatus | None:
    """What a status field of a record says, if it says anything that is understood."""
    if is_object(value):
        value = value.get("status_code") or value.get("code")
    if isinstance(value, str):
        return _WORDS.get(value.rpartition("_")[2].lower())
    return None


def _fails(head: str) -> bool:
    if _FAILS_IN_JSON.match(head):
        return True
    if head.startswith("{") and "\n" not in head:
        return False
    if _BEGINS_WITH_FAILURE.match(head):
        return True
    return any(map(head.__contains__, _SIGNS)) and _LINE_OF_FAILURE.search(head) is not None


def _exit_code(text: str) -> int | None:
    found = _EXIT_CODE.search(text) if "exit" in text or "return" in text else None
    return int(found[1]) if found is not None else None
