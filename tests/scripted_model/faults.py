"""Everything that can go wrong with a model, by name. Each wraps what would be a good answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.scripted_model.replies import (
    Behaviour,
    Bytes,
    Drips,
    Hangs,
    HttpError,
    Reply,
    Resets,
    Says,
)
from tests.scripted_model.request import Asked

Good: TypeAlias = Callable[[Asked], str]
"""A good answer to what was asked, as JSON."""

_SORRY = "I'm sorry, but I can't help with that."
_TOO_LONG = "This model's maximum context length is 8192 tokens. Please shorten the messages."


def _always(reply: Reply) -> Callable[[Good], Behaviour]:
    return lambda good: lambda asked: reply


def _said(change: Callable[[str], Reply | str]) -> Callable[[Good], Behaviour]:
    return lambda good: lambda asked: change(good(asked))


def _times(count: int | None, reply: Reply) -> Callable[[Good], Behaviour]:
    """The fault the first so many times, or for ever."""
    return lambda good: (
        lambda asked: reply if count is None or asked.number <= count else good(asked)
    )


def with_field(name: str, value: Any) -> Callable[[Good], Behaviour]:
    """A good answer but for one field; `...` leaves it out."""

    def change(text: str) -> str:
        fields = json.loads(text)
        if value is ...:
            fields.pop(name, None)
        else:
            fields[name] = value
        return json.dumps(fields)

    return _said(change)


_LIMITED = HttpError(429, "slow down", "rate_limit_exceeded")
_LIMITED_FOR_A_SECOND = HttpError(429, "slow down", "rate_limit_exceeded", {"retry-after": "1"})
_LIMITED_FOR_NOTHING = HttpError(429, "slow down", "rate_limit_exceeded", {"retry-after": "0"})
_BROKEN = HttpError(500, "it broke")

MODES: dict[str, Callable[[Good], Behaviour]] = {
    "good": _said(lambda text: text),
    "fenced": _said(lambda text: f"Here it is:\n```json\n{text}\n```\n"),
    "malformed": _said(lambda text: text[:-1] + ",,}"),
    "truncated, length": _said(lambda text: Says(text[: len(text) // 2], "length")),
    "truncated, stop": _said(lambda text: Says(text[: len(text) // 2], "stop")),
    "empty": _always(Says("")),
    "refusal, field": _always(Says(_SORRY, refusal=True)),
    "refusal, text": _always(Says(_SORRY)),
    "429 once": _times(1, _LIMITED),
    "429 twice": _times(2, _LIMITED),
    "429 for ever": _times(None, _LIMITED),
    "429 once, retry-after": _times(1, _LIMITED_FOR_A_SECOND),
    "429 twice, retry-after": _times(2, _LIMITED_FOR_A_SECOND),
    "429 for ever, retry-after": _times(None, _LIMITED_FOR_A_SECOND),
    "429 for ever, retry-after 0": _times(None, _LIMITED_FOR_NOTHING),
    "408 once": _times(1, HttpError(408, "it took too long")),
    "409 once": _times(1, HttpError(409, "somebody else was first")),
    "500 once": _times(1, _BROKEN),
    "500 twice": _times(2, _BROKEN),
    "500 for ever": _times(None, _BROKEN),
    "context length": _always(HttpError(400, _TOO_LONG, "context_length_exceeded")),
    "400": _always(HttpError(400, "what is this")),
    "401": _always(HttpError(401, "that key is not known", "invalid_api_key")),
    "403": _always(HttpError(403, "that is not allowed")),
    "404": _always(HttpError(404, "there is no such model", "model_not_found")),
    "reset": _always(Resets()),
    "reset once": _times(1, Resets()),
    "not json": _always(Bytes(b"<html>bad gateway</html>", "text/html")),
    "drip": _said(Drips),
    "hang": _always(Hangs()),
}

SCORES: dict[str, Callable[[Good], Behaviour]] = {
    f"score {json.dumps(value)}": with_field("score", value)
    for value in (7.5, -3, float("nan"), None, True, "80%")
} | {"score missing": with_field("score", ...)}
"""What a model may say instead of a score."""
