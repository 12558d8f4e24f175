"""Where OpenTelemetry's SDKs and its Collector send traces to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from planproof.errors import PlanproofError
from planproof.server.api.route_docs import answers as described
from planproof.server.api.route_docs import problems
from planproof.server.http_problems import refused_for
from planproof.server.ingestion.otlp_requests import Form, Received, form_of, received
from planproof.server.ingestion.otlp_responses import accepted, refused
from planproof.server.live_traces import LiveTrace, masked
from planproof.server.services import Services, ServicesDep

router = APIRouter(tags=["traces"])

_SHORT = 32 * 1024
"""Bytes of a body that are taken apart in a millisecond: not worth another thread."""
_ANSWERS: dict[int | str, dict[str, Any]] = {
    **problems((408,)),
    200: {"description": "The spans are kept, or all but those that `partialSuccess` counts."},
    400: {"description": "The body is no such request. It must not be sent again."},
    413: {"description": "There is too much in it."},
    415: {"description": "It is neither protocol buffers nor JSON, or packed otherwise."},
    429: {"description": "Too many requests. They may be sent again after Retry-After."},
    503: {"description": "Too much waits. It may be sent again after Retry-After."},
}
_EXAMPLE = {
    "resourceSpans": [
        {
            "resource": {
                "attributes": [{"key": "service.name", "value": {"stringValue": "refunds"}}]
            },
            "scopeSpans": [
                {
                    "scope": {"name": "agent"},
                    "spans": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "eee19b7ec3c1b174",
                            "name": "execute_tool get_order",
                            "startTimeUnixNano": "1767225600000000000",
                            "endTimeUnixNano": "1767225601000000000",
                            "attributes": [
                                {
                                    "key": "gen_ai.operation.name",
                                    "value": {"stringValue": "execute_tool"},
                                },
                                {"key": "gen_ai.tool.name", "value": {"stringValue": "get_order"}},
                                {
                                    "key": "planproof.plan",
                                    "value": {"stringValue": "1. Look up the order."},
                                },
                            ],
                        }
                    ],
                }
            ],
        }
    ]
}
_BODY = {
    "requestBody": {
        "required": True,
        "description": "An ExportTraceServiceRequest of OTLP; it may be packed with gzip.",
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _EXAMPLE},
            "application/x-protobuf": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post(
    "/v1/traces", summary="Take in spans (OTLP/HTTP).", responses=_ANSWERS, openapi_extra=_BODY
)
async def take(request: Request, services: ServicesDep) -> Response:
    """Keep spans until their trace is done; they are durable before this is answered."""
    form: Form = "json"
    try:
        form = form_of(request.headers.get("content-type"))
        found = await _received(request, form, services)
        full = await services.ingestion.inbox.take(found.spans)
    except PlanproofError as error:
        return refused(form, refused_for(error))
    why = [*dict.fromkeys(found.unfit)][:3]
    if full:
        why.append("a trace with more spans than are taken")
    return accepted(form, len(found.unfit) + full, "; ".join(why))


async def _received(request: Request, form: Form, services: Services) -> Received:
    body, limits = await request.body(), services.settings.limits
    if len(body) <= _SHORT:
        return received(body, form, limits)
    # One at a time: taken apart, a body may take many times its size.
    async with services.ingestion.one_large:
        return await asyncio.to_thread(received, body, form, limits)


@router.get(
    "/live/events",
    summary="Traces under way, as server-sent events.",
    response_class=StreamingResponse,
    responses=described("live_events", None, "Events for as long as somebody listens.", ()),
)
async def live_events(services: ServicesDep) -> StreamingResponse:
    """All traces that are shown, now and whenever one of them has changed."""
    return StreamingResponse(
        _told(services.live.changes(services.closing)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _told(changes: AsyncGenerator[list[LiveTrace], None]) -> AsyncGenerator[bytes, None]:
    async for views in changes:
        told = json.dumps([asdict(masked(view)) for view in views], separators=(",", ":"))
        yield f"event: traces\ndata: {told}\n\n".encode("ascii")
