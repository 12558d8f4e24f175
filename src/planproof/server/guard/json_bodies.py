"""Bodies of requests that are JSON."""

from __future__ import annotations

import asyncio
import json

from fastapi import Request

from planproof.core.content import Json
from planproof.core.json_values import is_deeper_than
from planproof.core.strict_json import NOT_STRICT_ERRORS, has_more_values, parse_strict
from planproof.readers.decoding.json_parsing import too_many_values_error
from planproof.server.http_problems import RequestRefused
from planproof.server.server_settings import ServerLimits

_INLINE_BODY_BYTES = 256 * 1024
"""Bytes that are parsed in a moment: others need not be let by for it."""


async def read_json_body(request: Request, limits: ServerLimits) -> Json:
    """The JSON value in the body of a request."""
    data = await request.body()
    if len(data) <= _INLINE_BODY_BYTES:
        return _parse_body(data, limits)
    return await asyncio.to_thread(_parse_body, data, limits)


def _parse_body(data: bytes, limits: ServerLimits) -> Json:
    try:
        text = data.decode("utf-8-sig")
        if has_more_values(text, limits.values):
            raise make_too_many_values_error(limits)
        value = _parse_json(text)
    except RecursionError as error:
        raise _make_depth_error(limits) from error
    except ValueError as error:
        raise RequestRefused(
            400, f"is not valid JSON: {error}.", where="body", advice="Send JSON in UTF-8."
        ) from error
    if is_deeper_than(value, limits.depth):
        raise _make_depth_error(limits)
    return value


def make_too_many_values_error(limits: ServerLimits) -> RequestRefused:
    """Return the error for a body that holds more values than are taken."""
    error = too_many_values_error(limits.values, "body")
    return RequestRefused(413, error.what, where=error.where, advice=error.advice)


def _make_depth_error(limits: ServerLimits) -> RequestRefused:
    message = f"is nested more than {limits.depth} times."
    return RequestRefused(413, message, where="body", advice="Check how it was made.")


def _parse_json(text: str) -> Json:
    try:
        return parse_strict(text)
    except NOT_STRICT_ERRORS:
        # What files of cases may hold, such as halves of characters, may be sent as well.
        return json.loads(text)
