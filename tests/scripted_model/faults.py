"""Everything that can go wrong with a model, by name. Each wraps what would be a good answer."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.scripted_model.replies import (
    Behaviour,
    ConnectionReset,
    CutReply,
    EncodedReply,
    EndlessReply,
    HttpError,
    NoReply,
    RawReply,
    Reply,
    SlowReply,
    TextReply,
)
from tests.scripted_model.request import ModelRequest

Good: TypeAlias = Callable[[ModelRequest], str]
"""A good answer to what was asked, as JSON."""

_SORRY = "I'm sorry, but I can't help with that."
_TOO_LONG = "This model's maximum context length is 8192 tokens. Please shorten the messages."


def _always_reply(reply: Reply) -> Callable[[Good], Behaviour]:
    return lambda good: lambda asked: reply


def _change_text(change: Callable[[str], Reply | str]) -> Callable[[Good], Behaviour]:
    return lambda good: lambda asked: change(good(asked))


def _fail_times(count: int | None, reply: Reply) -> Callable[[Good], Behaviour]:
    """Return the fault the first `count` times, or always."""
    return lambda good: (
        lambda asked: reply if count is None or asked.number <= count else good(asked)
    )


def replace_field(name: str, value: Any) -> Callable[[Good], Behaviour]:
    """A good answer but for one field; `...` leaves it out."""

    def change(text: str) -> str:
        fields = json.loads(text)
        if value is ...:
            fields.pop(name, None)
        else:
            fields[name] = value
        return json.dumps(fields)

    return _change_text(change)


def _repeat_first_key(text: str) -> str:
    """Return an answer that has its first key a second time, with the same value."""
    name, value = next(iter(json.loads(text).items()))
    return f"{text[:-1]}, {json.dumps(name)}: {json.dumps(value)}}}"


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


def _make_gzip_bomb(body: bytes) -> bytes:
    """Return a few kilobytes that decompress to a valid body with 64 MB of blanks around it."""
    return b"".join(map(_compress, (b" " * (1 << 26), body)))


_GZIP = {"content-encoding": "gzip"}
_TEN_MEGABYTES = b" " * 10_000_000
_DEEP = b"[" * 200_000

_LIMITED = HttpError(429, "slow down", "rate_limit_exceeded")
_LIMITED_FOR_A_SECOND = HttpError(429, "slow down", "rate_limit_exceeded", {"retry-after": "1"})
_LIMITED_FOR_NOTHING = HttpError(429, "slow down", "rate_limit_exceeded", {"retry-after": "0"})
_BROKEN = HttpError(500, "it broke")

MODES: dict[str, Callable[[Good], Behaviour]] = {
    "good": _change_text(lambda text: text),
    "fenced": _change_text(lambda text: f"Here it is:\n```json\n{text}\n```\n"),
    "malformed": _change_text(lambda text: text[:-1] + ",,}"),
    "truncated, length": _change_text(lambda text: TextReply(text[: len(text) // 2], "length")),
    "truncated, stop": _change_text(lambda text: TextReply(text[: len(text) // 2], "stop")),
    "empty": _always_reply(TextReply("")),
    "refusal, field": _always_reply(TextReply(_SORRY, refusal=True)),
    "refusal, text": _always_reply(TextReply(_SORRY)),
    "429 once": _fail_times(1, _LIMITED),
    "429 twice": _fail_times(2, _LIMITED),
    "429 for ever": _fail_times(None, _LIMITED),
    "429 once, retry-after": _fail_times(1, _LIMITED_FOR_A_SECOND),
    "429 twice, retry-after": _fail_times(2, _LIMITED_FOR_A_SECOND),
    "429 for ever, retry-after": _fail_times(None, _LIMITED_FOR_A_SECOND),
    "429 for ever, retry-after 0": _fail_times(None, _LIMITED_FOR_NOTHING),
    "408 once": _fail_times(1, HttpError(408, "it took too long")),
    "409 once": _fail_times(1, HttpError(409, "somebody else was first")),
    "500 once": _fail_times(1, _BROKEN),
    "500 twice": _fail_times(2, _BROKEN),
    "500 for ever": _fail_times(None, _BROKEN),
    "context length": _always_reply(HttpError(400, _TOO_LONG, "context_length_exceeded")),
    "400": _always_reply(HttpError(400, "what is this")),
    "401": _always_reply(HttpError(401, "that key is not known", "invalid_api_key")),
    "403": _always_reply(HttpError(403, "that is not allowed")),
    "404": _always_reply(HttpError(404, "there is no such model", "model_not_found")),
    "reset": _always_reply(ConnectionReset()),
    "reset once": _fail_times(1, ConnectionReset()),
    "not json": _always_reply(RawReply(b"<html>bad gateway</html>", "text/html")),
    "503 for ever": _fail_times(None, HttpError(503, "it is overloaded")),
    "wrong schema": _always_reply(TextReply('{"verdict": "all is well"}')),
    "duplicate keys": _change_text(_repeat_first_key),
    "gzip": _change_text(lambda text: EncodedReply(text, _compress, _GZIP)),
    "gzip bomb": _change_text(lambda text: EncodedReply(text, _make_gzip_bomb, _GZIP)),
    "gzip, cut": _change_text(lambda text: EncodedReply(text, lambda b: _compress(b)[:-9], _GZIP)),
    "other encoding": _always_reply(RawReply(b"x", headers={"content-encoding": "br"})),
    "10 MB": _change_text(lambda text: EncodedReply(text, lambda body: body + _TEN_MEGABYTES)),
    "endless": _always_reply(EndlessReply()),
    "endless 500": _always_reply(EndlessReply(500)),
    "deep json": _always_reply(RawReply(_DEEP)),
    "cut": _change_text(CutReply),
    "drip": _change_text(SlowReply),
    "hang": _always_reply(NoReply()),
}

SCORES: dict[str, Callable[[Good], Behaviour]] = {
    f"score {json.dumps(value)}": replace_field("score", value)
    for value in (7.5, -3, float("nan"), float("inf"), None, True, "80%")
} | {"score missing": replace_field("score", ...)}
"""What a model may say instead of a score."""
