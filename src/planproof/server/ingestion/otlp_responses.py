"""Answers in the words of OTLP/HTTP, in the form in which the request came."""

from __future__ import annotations

from starlette.responses import Response

from planproof.core.content import Json
from planproof.server.http_problems import Refused
from planproof.server.ingestion.otlp_requests import Form
from planproof.server.json_responses import json_answer

_PROTOBUF = "application/x-protobuf"
# Of google.rpc.Code, which OTLP says to answer with.
_CODES = {400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 429: 8, 503: 14}
_INTERNAL = 13


def accepted(form: Form, rejected: int, why: str) -> Response:
    """The answer that all spans, or all but some, were taken."""
    if form == "json":
        told: dict[str, Json] = {}
        if rejected:
            told["partialSuccess"] = {"rejectedSpans": str(rejected), "errorMessage": why}
        return json_answer(told)
    from opentelemetry.proto.collector.trace.v1 import (  # noqa: PLC0415 - loads protobuf
        trace_service_pb2 as service,
    )

    answer = service.ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.rejected_spans = rejected
        answer.partial_success.error_message = why
    return Response(answer.SerializeToString(), media_type=_PROTOBUF)


def refused(form: Form, why: Refused) -> Response:
    """The answer that nothing was taken; whether it may be sent again is in the status."""
    code = _CODES.get(why.status, _INTERNAL)
    later = why.retry_after
    headers = {} if later is None else {"Retry-After": str(later)}
    if form == "json":
        return json_answer({"code": code, "message": str(why)}, status=why.status, headers=headers)
    from opentelemetry.proto.collector.trace.v1 import (  # noqa: PLC0415 - loads protobuf
        trace_service_pb2 as service,
    )

    # A google.rpc.Status has the same fields under the same numbers: a code, and a message.
    status = service.ExportTracePartialSuccess(rejected_spans=code, error_message=str(why))
    return Response(status.SerializeToString(), why.status, headers=headers, media_type=_PROTOBUF)
