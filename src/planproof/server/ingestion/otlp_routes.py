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
    200: {"description": "The spans were stored, except those counted in `partialSuccess`."},
    400: {"description": "The body is not a valid request. Do not retry."},
    413: {"description": "The body is too large, or contains too many spans or values."},
    415: {"description": "Neither protocol buffers nor JSON, or unsupported compression."},
    429: {"description": "Too many requests. Retry after Retry-After seconds."},
    503: {"description": "The server is overloaded. Retry after Retry-After seconds."},
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
        "description": "An OTLP ExportTraceServiceRequest; it may be compressed with gzip.",
        "content": {
            "application/json": {"schema": {"type": "object"}, "example": _EXAMPLE_REQUEST},
            "application/x-protobuf": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post(
    "/v1/traces",
    summary="Receive spans (OTLP/HTTP).",
    responses=_RESPONSES,
    openapi_extra=_REQUEST_BODY,
)
async def receive_spans(request: Request, services: ServicesDep) -> Response:
    """Store spans until their trace is complete; they are durable before the response is sent."""
    encoding: OtlpEncoding = "json"
    try:
        encoding = parse_content_type(request.headers.get("content-type"))
        request_spans = await _parse_body(request, encoding, services)
        full = await services.ingestion.inbox.add_spans(request_spans.spans)
    except PlanproofError as error:
        return make_error_response(encoding, to_request_refused(error))
    why = [*dict.fromkeys(request_spans.rejected)][:3]
    if full:
        why.append("a trace that exceeds the limit on spans or bytes")
    return make_success_response(encoding, len(request_spans.rejected) + full, "; ".join(why))


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
    summary="Stream running traces, as server-sent events.",
    response_class=StreamingResponse,
    responses=describe_responses(
        "stream_live_traces", None, "Events until the client disconnects.", ()
    ),
)
async def stream_live_traces(services: ServicesDep) -> StreamingResponse:
    """Send all recent traces now, and again whenever one of them changes."""
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
