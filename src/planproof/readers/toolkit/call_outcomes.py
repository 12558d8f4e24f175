"""Infer from its output whether a call succeeded."""

from __future__ import annotations

import re

from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.trace import EventStatus

_HEAD_LENGTH = 400
_TAIL_LENGTH = 200
_EXIT_CODE = re.compile(
    r"\b(?:exit[ _]?(?:code|status)|return[ _]?code)\b[\"']?(?: was)? ?[:=]? ?(-?\d{1,5})\b"
)
_FAILURE_PREFIX = re.compile(
    r"""(?x)\s{0,40}(?:
        [<\[(*'"]{0,4}(?:error|fatal|exception|failure)s?\b(?!["'])
      | <tool_use_error> | failed\b | unable\ to\b | could\ not\b | invalid\b
      | http/?[\d.]{0,4}\ ?(?:error\ )?[45]\d\d\b
      | status(?:\ code)?:?\ ?[45]\d\d\b
      | (?:permission|access)\ denied | not\ found\b
    )"""
)
_INITIALS = frozenset("<[(*'\"efuihspanc")
_SHELL_ERRORS = (
    "command not found",
    "no such file or directory",
    "permission denied",
    "is a directory",
    "syntax error",
    "unexpected eof",
    "cannot access",
    "not found",
)
# Begins with a line end instead of ^, which is found in a fraction of the time.
_FAILURE_LINE = re.compile(
    rf"""(?x)\n(?:
      \ {{0,8}}traceback\ \(most\ recent\ call\ last\)
    | [\w.]{{0,80}}(?:error|exception):\s
    | [\w/.\-]{{1,80}}:\ (?:line\ \d{{1,6}}:\ )?(?:[^\n:]{{1,120}}:\ )?
      (?:{"|".join(map(re.escape, _SHELL_ERRORS))})
    )"""
)
_JSON_FAILURE = re.compile(
    r"""(?x)\s{0,40}\{\s{0,40}(?:
        "(?:error|errors|exception)"\s?:\s?(?!\s?(?:null|""|\[\]|\{\}|false))
      | "(?:success|ok)"\s?:\s?false
      | "(?:status|state)"\s?:\s?"(?:error|failed|failure)"
      | "is_?error"\s?:\s?true
    )"""
)
# Bound once: used for every result.
_OK, _ERROR = EventStatus.OK, EventStatus.ERROR
_STATUS_WORDS = {
    "ok": EventStatus.OK,
    "success": EventStatus.OK,
    "succeeded": EventStatus.OK,
    "completed": EventStatus.OK,
    "error": EventStatus.ERROR,
    "failed": EventStatus.ERROR,
    "failure": EventStatus.ERROR,
}


def infer_status(text: str) -> EventStatus:
    """Return an error status if a result reports a failure, else a success."""
    head = text[:_HEAD_LENGTH].lower()
    exit_code = _find_exit_code(head)
    if exit_code is None and len(text) > _HEAD_LENGTH:
        exit_code = _find_exit_code(text[max(_HEAD_LENGTH, len(text) - _TAIL_LENGTH) :].lower())
    if exit_code is not None:
        return _OK if exit_code == 0 else _ERROR
    return _ERROR if _is_failure(head) else _OK


def parse_status(value: Json) -> EventStatus | None:
    """Parse the status field of a record; None if it is not understood."""
    if is_object(value):
        value = value.get("status_code") or value.get("code")
    if isinstance(value, str):
        return _STATUS_WORDS.get(value.rpartition("_")[2].lower())
    return None


def _is_failure(head: str) -> bool:
    initial = head.lstrip()[:1]
    if initial == "{":
        if _JSON_FAILURE.match(head):
            return True
        if head.startswith("{") and "\n" not in head:
            return False
    elif initial in _INITIALS and _FAILURE_PREFIX.match(head):
        return True
    may_tell = ":" in head or "traceback (" in head
    return may_tell and _FAILURE_LINE.search(f"\n{head}") is not None


def _find_exit_code(text: str) -> int | None:
    # Few texts have an x, and searching for a single letter takes a tenth of the time.
    may_tell = ("x" in text and "exit" in text) or "return" in text
    match = _EXIT_CODE.search(text) if may_tell else None
    return int(match[1]) if match is not None else None
