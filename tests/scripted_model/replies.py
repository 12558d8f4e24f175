"""What the server can answer, and each of it in the words of a dialect."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tests.scripted_model.request import ModelRequest


@dataclass(frozen=True, slots=True)
class TextReply:
    """An answer; `finish` is "stop", "length" or "content_filter"."""

    text: str
    finish: str = "stop"
    refusal: bool = False


@dataclass(frozen=True, slots=True)
class HttpError:
    """An error with a status, in the provider's form."""

    status: int
    message: str = "it failed"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class RawReply:
    """A body that is not what any provider sends."""

    body: bytes
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class EncodedReply:
    """A good answer whose body, in the dialect of the client, is changed by `encode`."""

    text: str
    encode: Callable[[bytes], bytes]
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class EndlessReply:
    """A body that never ends, as fast as the client reads it."""

    status: int = 200


@dataclass(frozen=True, slots=True)
class CutReply:
    """Half of a good answer, and then the connection is closed."""

    text: str


@dataclass(frozen=True, slots=True)
class ConnectionReset:
    """The connection is reset without a word."""


@dataclass(frozen=True, slots=True)
class SlowReply:
    """A good answer, one byte a second."""

    text: str


@dataclass(frozen=True, slots=True)
class NoReply:
    """Nothing ever comes."""


Reply: TypeAlias = (
    TextReply
    | HttpError
    | RawReply
    | EncodedReply
    | EndlessReply
    | CutReply
    | ConnectionReset
    | SlowReply
    | NoReply
)
Behaviour: TypeAlias = Callable[[ModelRequest], "Reply | str"]

TOKENS_OUT = 20
CACHED = 5


def encode_reply(said: TextReply, asked: ModelRequest) -> dict[str, Any]:
    """The JSON of an answer, in the dialect that it was asked in."""
    tokens_in = max(CACHED, len(json.dumps(asked.body)) // 4)
    return {
        "chat": _chat,
        "responses": _responses,
        "messages": _messages,
        "gemini": _gemini,
        "converse": _converse,
    }[asked.dialect](said, asked, tokens_in)


def encode_error(error: HttpError, asked: ModelRequest) -> dict[str, Any]:
    """The JSON of an error."""
    if asked.dialect == "messages":
        kind = {401: "authentication_error", 429: "rate_limit_error"}.get(error.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": error.message}}
    if asked.dialect == "gemini":
        return {"error": {"code": error.status, "message": error.message, "status": error.code}}
    if asked.dialect == "converse":
        return {"message": error.message}
    return {"error": {"message": error.message, "type": "error", "code": error.code}}


def _chat(said: TextReply, asked: ModelRequest, tokens_in: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text, "refusal": None}
    finish = said.finish
    if said.refusal:
        message |= {"content": None, "refusal": said.text}
    elif asked.wants_a_call and said.text.startswith("{"):
        function = {"name": "answer", "arguments": said.text}
        call = {"id": "call_1", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
        finish = "tool_calls" if finish == "stop" else finish
    return {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": 1,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": TOKENS_OUT,
            "total_tokens": tokens_in + TOKENS_OUT,
            "prompt_tokens_details": {"cached_tokens": CACHED},
        },
    }


def _responses(said: TextReply, asked: ModelRequest, tokens_in: int) -> dict[str, Any]:
    content: dict[str, Any] = {"type": "output_text", "text": said.text, "annotations": []}
    if said.refusal:
        content = {"type": "refusal", "refusal": said.text}
    message: dict[str, Any] = {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [content],
    }
    why = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(said.finish)
    return {
        "id": f"resp_{asked.number}",
        "object": "response",
        "created_at": 1,
        "status": "incomplete" if why else "completed",
        "incomplete_details": {"reason": why} if why else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "model": asked.model,
        "output": [message],
        "parallel_tool_calls": True,
        "temperature": 0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1,
        "usage": {
            "input_tokens": tokens_in,
            "input_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": 0},
            "output_tokens": TOKENS_OUT,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens_in + TOKENS_OUT,
        },
    }


def _messages(said: TextReply, asked: ModelRequest, tokens_in: int) -> dict[str, Any]:
    stop = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[said.finish]
    block: dict[str, Any] = {"type": "text", "text": said.text}
    if asked.wants_a_call and said.text.startswith("{"):
        try:
            block = {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "answer",
                "input": json.loads(said.text),
            }
            stop = "tool_use" if stop == "end_turn" else stop
        except ValueError:
            pass  # a call's arguments are an object here; what is not JSON can only be text
    return {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [] if said.refusal or not said.text else [block],
        "stop_reason": "refusal" if said.refusal else stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": tokens_in - CACHED,
            "output_tokens": TOKENS_OUT,
            "cache_read_input_tokens": CACHED,
            "cache_creation_input_tokens": 0,
        },
    }


def _gemini(said: TextReply, asked: ModelRequest, tokens_in: int) -> dict[str, Any]:
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}[said.finish]
    parts = [{"text": said.text}] if said.text and not said.refusal else []
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": parts},
                "finishReason": "SAFETY" if said.refusal else finish,
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": tokens_in,
            "candidatesTokenCount": TOKENS_OUT,
            "totalTokenCount": tokens_in + TOKENS_OUT,
            "cachedContentTokenCount": CACHED,
        },
        "modelVersion": asked.model,
        "responseId": f"r{asked.number}",
    }


def _converse(said: TextReply, asked: ModelRequest, tokens_in: int) -> dict[str, Any]:
    stop = {"stop": "end_turn", "length": "max_tokens", "content_filter": "content_filtered"}
    blocks: list[dict[str, Any]] = [{"text": said.text}] if said.text and not said.refusal else []
    reason = stop["content_filter" if said.refusal else said.finish]
    if asked.wants_a_call and said.text.startswith("{"):
        try:
            call = {"toolUseId": "t1", "name": "answer", "input": json.loads(said.text)}
            blocks, reason = [{"toolUse": call}], "tool_use"
        except ValueError:
            pass  # as with Anthropic: arguments are an object, or there are none
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": reason,
        "usage": {
            "inputTokens": tokens_in - CACHED,
            "outputTokens": TOKENS_OUT,
            "totalTokens": tokens_in + TOKENS_OUT,
            "cacheReadInputTokens": CACHED,
        },
        "metrics": {"latencyMs": 1},
    }
