"""Claude Code's Stop hook: a session judged against its own plan when the agent stops."""

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
from planproof.reports.wording import headline, score_digits, shows, tally

_PATIENCE = 1.0
"""Seconds that the session file may lag behind the agent's last words."""
_PAUSE = 0.1
_LONGEST = 4_000
_GO_ON = (
    "Do what the plan still asks for. If it no longer holds, or you wait for an answer, say so "
    "to the user and stop."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """What Claude Code tells a hook when the agent stops.

    `again` says that a hook has already kept the agent from stopping in this turn; `last_words`
    is what the agent said last, which may not be in the session file yet.
    """

    session: Path
    again: bool
    last_words: str | None = None
    folder: Path | None = None


def stop_of(data: bytes) -> Stop | None:
    """The stop that a hook was told of; None when it was told of another event."""
    try:
        told: Json = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            "is no JSON.",
            where="standard input",
            advice="This is to be run by Claude Code; see --print-settings.",
        ) from error
    session = text_at(told, "transcript_path") if is_object(told) else None
    if session is None:
        raise InvalidInput(
            "`transcript_path` is missing.",
            where="standard input",
            advice="This is to be run by Claude Code; see --print-settings.",
        )
    if told.get("hook_event_name", "Stop") != "Stop":
        return None
    folder = text_at(told, "cwd")
    return Stop(
        session=Path(expanduser(session)),  # noqa: PTH111 - a path's own raises without a home
        again=told.get("stop_hook_active") is True,
        last_words=text_at(told, "last_assistant_message"),
        folder=None if folder is None else Path(folder),
    )


def judged(stop: Stop, *, in_force: InForce, limits: Limits, vocabulary: Vocabulary) -> Verdict:
    """The verdict on the session so far, by the plan that it declares itself."""
    data = _session(stop)
    if len(data) <= limits.bytes:
        # Each sub-agent has a file of its own; times bring the lines into order.
        files = sorted(stop.session.with_suffix("").glob("subagents/*.jsonl"))
        data = b"\n".join([data, *(file.read_bytes() for file in files)])
    source = Source.of_bytes(data, name=str(stop.session), limits=limits)
    return evaluate(
        trace=source, reader="claude-code", vocabulary=vocabulary, plan_in_force=in_force
    )


def answer(verdict: Verdict, stop: Stop, min_score: float | None) -> dict[str, Json] | None:
    """What Claude Code is told: nothing without a score, else the verdict for the user.

    Below `min_score` the agent is to go on, with the reason; never twice in a turn.
    """
    if verdict.score is None:
        return None
    show = shows(secrets=False)
    told = f"planproof: {score_digits(verdict.score)}, {headline(verdict)}: {tally(verdict)}."
    if verdict.score < 1:
        told += f"\n{show(verdict.reason)[:_LONGEST]}"
    if min_score is None or verdict.score >= min_score or stop.again:
        return {"systemMessage": told}
    least = f"Held against its own plan, this session scores less than {score_digits(min_score)}."
    return {"decision": "block", "reason": f"{least}\n{told}\n{_GO_ON}", "systemMessage": told}


def settings(command: str) -> dict[str, Json]:
    """What to put into `.claude/settings.json`."""
    hook = {"type": "command", "command": command, "timeout": 60}
    return {"hooks": {"Stop": [{"hooks": [hook]}]}}


def _session(stop: Stop) -> bytes:
    """The session file, once the agent's last words are in it; or as it is by then."""
    lines = (stop.last_words or "").strip().splitlines()
    awaited = (
        json.dumps(lines[-1], ensure_ascii=False)[1:-1].encode(errors="replace") if lines else b""
    )
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            data = stop.session.read_bytes()
        except (OSError, ValueError) as error:
            # There is none, or no file can have this name.
            why = getattr(error, "strerror", error)
            raise InvalidInput(f"can't be read: {why}.", where=str(stop.session)) from error
        if awaited in data or time.monotonic() >= until:
            return data
        time.sleep(_PAUSE)
