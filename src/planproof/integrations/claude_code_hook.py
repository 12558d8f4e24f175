"""Stop hook for Claude Code: judge a session against its own plan when the agent stops."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from os.path import expanduser
from pathlib import Path

from planproof.core.content import Json
from planproof.core.json_values import is_object, text_at
from planproof.core.limits import Limits
from planproof.core.plan import InForce
from planproof.core.verdict import Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate
from planproof.readers.decoding.source import Source
from planproof.reports.wording import (
    format_headline,
    format_low_confidence,
    format_score,
    format_tally,
    make_sanitizer,
)

_MAX_LAG_SECONDS = 1.0
"""Seconds that the session file may lag behind the agent's last message."""
_POLL_SECONDS = 0.1
_MAX_REASON_LENGTH = 4_000
_CONTINUE_INSTRUCTION = (
    "Complete what the plan still requires. If the plan no longer applies, or you are waiting for "
    "an answer, tell the user and stop."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopEvent:
    """Input of a Stop hook.

    `already_blocked` is true if a hook has already kept the agent from stopping in this turn.
    `last_message` is the agent's last message, which may not be in the session file yet.
    """

    session: Path
    already_blocked: bool
    last_message: str | None = None
    folder: Path | None = None


def parse_stop_event(data: bytes) -> StopEvent | None:
    """Parse the input of a hook; return None for any event other than Stop."""
    try:
        payload: Json = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            "is not valid JSON.",
            where="standard input",
            advice="Run this command as a Claude Code hook; see --print-settings.",
        ) from error
    session = text_at(payload, "transcript_path") if is_object(payload) else None
    if session is None:
        raise InvalidInput(
            "`transcript_path` is missing.",
            where="standard input",
            advice="Run this command as a Claude Code hook; see --print-settings.",
        )
    if payload.get("hook_event_name", "Stop") != "Stop":
        return None
    folder = text_at(payload, "cwd")
    return StopEvent(
        session=Path(expanduser(session)),  # noqa: PTH111 - Path.expanduser needs a home dir
        already_blocked=payload.get("stop_hook_active") is True,
        last_message=text_at(payload, "last_assistant_message"),
        folder=None if folder is None else Path(folder),
    )


def judge_session(
    stop: StopEvent, *, in_force: InForce, limits: Limits, vocabulary: Vocabulary
) -> Verdict:
    """Judge the session so far by the plan it declares itself."""
    data = _read_session(stop)
    if len(data) <= limits.bytes:
        # Each sub-agent has its own file; timestamps put the lines in order.
        files = sorted(stop.session.with_suffix("").glob("subagents/*.jsonl"))
        data = b"\n".join([data, *(file.read_bytes() for file in files)])
    source = Source.from_bytes(data, name=str(stop.session), limits=limits)
    return evaluate(
        trace=source, reader="claude-code", vocabulary=vocabulary, plan_in_force=in_force
    )


def build_hook_response(
    verdict: Verdict, stop: StopEvent, min_score: float | None
) -> dict[str, Json] | None:
    """Build the hook's answer: None without a score, otherwise the verdict for the user.

    Below `min_score` the agent is asked to continue, with the reason; at most once per turn.
    """
    if verdict.score is None:
        return None
    show = make_sanitizer(secrets=False)
    message = (
        f"planproof: {format_score(verdict.score)}, {format_headline(verdict)}: "
        f"{format_tally(verdict)}."
    )
    if low_confidence := format_low_confidence(verdict):
        message += f" It has {low_confidence}."
    if verdict.score < 1:
        message += f"\n{show(verdict.reason)[:_MAX_REASON_LENGTH]}"
    if min_score is None or verdict.score >= min_score or stop.already_blocked:
        return {"systemMessage": message}
    least = f"Judged by its own plan, this session scores less than {format_score(min_score)}."
    return {
        "decision": "block",
        "reason": f"{least}\n{message}\n{_CONTINUE_INSTRUCTION}",
        "systemMessage": message,
    }


def build_settings(command: str) -> dict[str, Json]:
    """Build the content for `.claude/settings.json`."""
    hook = {"type": "command", "command": command, "timeout": 60}
    return {"hooks": {"Stop": [{"hooks": [hook]}]}}


def _read_session(stop: StopEvent) -> bytes:
    """Read the session file; wait for the agent's last message, at most `_MAX_LAG_SECONDS`."""
    lines = (stop.last_message or "").strip().splitlines()
    last_line = (
        json.dumps(lines[-1], ensure_ascii=False)[1:-1].encode(errors="replace") if lines else b""
    )
    deadline = time.monotonic() + _MAX_LAG_SECONDS
    while True:
        try:
            data = stop.session.read_bytes()
        except (OSError, ValueError) as error:
            # The file is missing, or its name is invalid.
            why = getattr(error, "strerror", error)
            raise InvalidInput(f"can't be read: {why}.", where=str(stop.session)) from error
        if last_line in data or time.monotonic() >= deadline:
            return data
        time.sleep(_POLL_SECONDS)
