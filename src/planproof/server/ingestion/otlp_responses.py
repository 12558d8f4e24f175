"""Answers in the words of OTLP/HTTP, in the form in which the request came."""

from __future__ import annotations

from starlette.responses import Response

from planproof.core.content import Json
from planproof.server.http_problems import RequestRefused
from planproof.server.ingestion.otlp_requests import OtlpEncoding
from planproof.server.json_responses import make_json_response

_PROTOBUF = "application/x-protobuf"
# Of google.rpc.Code, which OTLP says to answer with.
_RPC_CODES = {400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 429: 8, 503: 14}
_RPC_INTERNAL = 13


def make_success_response(encoding: OtlpEncoding, rejected: int, why: str) -> Response:
    """The answer that all spans, or all but some, were taken."""
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
    """The answer that nothing was taken; whether it may be sent again is in the status."""
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

    # A google.rpc.Status has the same fields under the same numbers: a code, and a message.
    status = service.ExportTracePartialSuccess(rejected_spans=code, error_message=str(error))
    return Response(status.SerializeToString(), error.status, headers=headers, media_type=_PROTOBUF)
