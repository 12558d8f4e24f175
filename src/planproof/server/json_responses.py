"""Answers in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response

from planproof.core.content import Json

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def make_json_response(
    value: Json,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Response:
    """A JSON value as an answer. ASCII only: halves of characters in a trace can be written."""
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        # Python's JSON knows numbers that are none; others could not read them.
        text = _ENCODER.encode(json.loads(json.dumps(value), parse_constant=str))
    return Response(text.encode("ascii"), status, headers=headers, media_type=media_type)
