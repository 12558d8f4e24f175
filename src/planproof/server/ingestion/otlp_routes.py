"""HTTP routes: traces from OpenTelemetry SDKs and Collectors (OTLP), and the live event stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from planproof.core.content import Json
from planproof.errors import PlanproofError
from planproof.server.api.schemas import describe_errors, describe_responses
from planproof.server.http_problems import RequestRefused, make_json_response, to_request_refused
from planproof.server.ingestion.otlp_requests import (
    OtlpEncoding,
    ParsedRequest,
    parse_content_type,
    parse_request,
)
from planproof.server.live_traces import LiveTrace, mask_secrets
from planproof.server.services import Services, ServicesDep

router = APIRouter(tags=["traces"])

_INLINE_BODY_BYTES = 32 * 1024
"""Bodies up to this size are parsed in about a millisecond: not worth another thread."""
_RESPONSES: dict[int | str, dict[str, Any]] = {
    **describe_errors((408,)),
    200: {"description": "The spans are kept, or all but those that `partialSuccess` counts."},
    400: {"description": "The body is no such request. It must not be sent again."},
    413: {"description": "There is too much in it."},
    415: {"description": "It is neither protocol buffers nor JSON, or packed otherwise."},
    429: {"description": "Too many requests. They may be sent again after Retry-After."},
    503: {"description": "Too much waits. It may be sent again after Retry-After."},
}
_EXAMPLE_REQUEST = {
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
_REQUEST_BODY = {
    "requestBody": {
        "required": True,
        "description": "An ExportTraceServiceRequest of OTLP; it may be packed with gzip.",
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _EXAMPLE_REQUEST},
            "application/x-protobuf": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post(
    "/v1/traces",
    summary="Take in spans (OTLP/HTTP).",
    responses=_RESPONSES,
    openapi_extra=_REQUEST_BODY,
)
async def take(request: Request, services: ServicesDep) -> Response:
    """Keep spans until their trace is done; they are durable before this is answered."""
    form: OtlpEncoding = "json"
    try:
        form = parse_content_type(request.headers.get("content-type"))
        request_spans = await _parse_body(request, form, services)
        full = await services.ingestion.inbox.add_spans(request_spans.spans)
    except PlanproofError as error:
        return make_error_response(form, to_request_refused(error))
    why = [*dict.fromkeys(request_spans.rejected)][:3]
    if full:
        why.append("a trace with more spans than are taken")
    return make_success_response(form, len(request_spans.rejected) + full, "; ".join(why))


async def _parse_body(
    request: Request, encoding: OtlpEncoding, services: Services
) -> ParsedRequest:
    body, limits = await request.body(), services.settings.limits
    if len(body) <= _INLINE_BODY_BYTES:
        return parse_request(body, encoding, limits)
    # One at a time: a parsed body may take many times its size in memory.
    async with services.ingestion.large_body_lock:
        return await asyncio.to_thread(parse_request, body, encoding, limits)


@router.get(
    "/live/events",
    summary="Traces under way, as server-sent events.",
    response_class=StreamingResponse,
    responses=describe_responses(
        "live_events", None, "Events for as long as somebody listens.", ()
    ),
)
async def live_events(services: ServicesDep) -> StreamingResponse:
    """All traces that are shown, now and whenever one of them has changed."""
    return StreamingResponse(
        _stream_events(services.live.watch_changes(services.closing)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream_events(
    changes: AsyncGenerator[list[LiveTrace], None],
) -> AsyncGenerator[bytes, None]:
    async for views in changes:
        data = json.dumps([asdict(mask_secrets(view)) for view in views], separators=(",", ":"))
        yield f"event: traces\ndata: {data}\n\n".encode("ascii")


_PROTOBUF = "application/x-protobuf"
# Values of google.rpc.Code, which OTLP requires in error responses.
_RPC_CODES = {400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 429: 8, 503: 14}
_RPC_INTERNAL = 13


def make_success_response(encoding: OtlpEncoding, rejected: int, why: str) -> Response:
    """Return the response for accepted spans; `rejected` of them were not stored."""
    if encoding == "json":
        body: dict[str, Json] = {}
        if rejected:
            body["partialSuccess"] = {"rejectedSpans": str(rejected), "errorMessage": why}
        return make_json_response(body)
    from opentelemetry.proto.collector.trace.v1 import (  # noqa: PLC0415 - loads protobuf
        trace_service_pb2 as service,
    )

    answer = service.ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.rejected_spans = rejected
        answer.partial_success.error_message = why
    return Response(answer.SerializeToString(), media_type=_PROTOBUF)


def make_error_response(encoding: OtlpEncoding, error: RequestRefused) -> Response:
    """Return the response for a refused request; the status tells the client if it may retry."""
    code = _RPC_CODES.get(error.status, _RPC_INTERNAL)
    retry_after = error.retry_after
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    if encoding == "json":
        return make_json_response(
            {"code": code, "message": str(error)}, status=error.status, headers=headers
        )
    from opentelemetry.proto.collector.trace.v1 import (  # noqa: PLC0415 - loads protobuf
        trace_service_pb2 as service,
    )

    # google.rpc.Status has the same field numbers and types: a code and a message.
    status = service.ExportTracePartialSuccess(rejected_spans=code, error_message=str(error))
    return Response(status.SerializeToString(), error.status, headers=headers, media_type=_PROTOBUF)
