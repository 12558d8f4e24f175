"""Bodies of requests that are JSON."""

from __future__ import annotations

import asyncio
import json

from fastapi import Request

from planproof.core.content import Json
from planproof.core.json_values import is_deeper_than
from planproof.core.strict_json import NOT_STRICT, holds_more_values, parse_strict
from planproof.readers.decoding.json_parsing import too_many_values
from planproof.server.http_problems import Refused
from planproof.server.server_settings import ServerLimits

_SHORT = 256 * 1024
"""Bytes that are parsed in a moment: others need not be let by for it."""


async def json_body(request: Request, limits: ServerLimits) -> Json:
    """The JSON value in the body of a request."""
    data = await request.body()
    if len(data) <= _SHORT:
        return _value(data, limits)
    return await asyncio.to_thread(_value, data, limits)


def _value(data: bytes, limits: ServerLimits) -> Json:
    try:
        text = data.decode("utf-8-sig")
        if holds_more_values(text, limits.values):
            raise refuse_too_many(limits)
        value = _parsed(text)
    except RecursionError as error:
        raise _too_deep(limits) from error
    except ValueError as error:
        raise Refused(
            400, f"is not valid JSON: {error}.", where="body", advice="Send JSON in UTF-8."
        ) from error
    if is_deeper_than(value, limits.depth):
        raise _too_deep(limits)
    return value


def refuse_too_many(limits: ServerLimits) -> Refused:
    """Return the error for a body that holds more values than are taken."""
    error = too_many_values(limits.values, "body")
    return Refused(413, error.what, where=error.where, advice=error.advice)


def _too_deep(limits: ServerLimits) -> Refused:
    told = f"is nested more than {limits.depth} times."
    return Refused(413, told, where="body", advice="Check how it was made.")


def _parsed(text: str) -> Json:
    try:
        return parse_strict(text)
    except NOT_STRICT:
        # What files of cases may hold, such as halves of characters, may be sent as well.
        return json.loads(text)
