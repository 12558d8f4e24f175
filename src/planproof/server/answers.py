"""Answers in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response

from planproof.content import Json


def json_answer(
    value: Json,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    media_type: str = "application/json",
) -> Response:
    """A JSON value as an answer. ASCII only: halves of characters in a trace can be written."""
    text = json.dumps(value, separators=(",", ":"))
    return Response(text.encode("ascii"), status, headers=headers, media_type=media_type)
