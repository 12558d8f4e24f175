"""Convert OTLP protocol buffers to the JSON encoding that OTLP prescribes.

The generic `json_format.MessageToDict` takes more than ten times as long, and encodes ids as base64
instead of hexadecimal.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from google.protobuf.message import DecodeError
from msgspec.json import encode
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from planproof.core.content import Json
from planproof.server.guard.body_limits import make_too_many_values_error
from planproof.server.http_problems import RequestRefused
from planproof.server.ingestion.received_spans import ReceivedSpan, build_header
from planproof.server.server_settings import ServerLimits

_VARINT, _BYTES = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}
_LONGEST_VARINT = 10
_NO_ID = b"\0"


class ExportRequest:
    """An encoded `ExportTraceServiceRequest`; raises `RequestRefused` if it is invalid."""

    def __init__(self, data: bytes, limits: ServerLimits) -> None:
        # A message can be two bytes long, but takes hundreds of bytes as an object.
        if len(data) // 2 > limits.values and count_messages(data, limits.values) > limits.values:
            raise make_too_many_values_error(limits)
        try:
            self._request = ExportTraceServiceRequest.FromString(data)
        except DecodeError as error:
            raise _make_invalid_error() from error

    @property
    def span_count(self) -> int:
        """Number of spans in the request."""
        return sum(len(scope.spans) for _, scope in self._iterate_scopes())

    def iterate_spans(self) -> Iterator[ReceivedSpan | str]:
        """Yield the spans; yield the reason as text for a span that must be rejected."""
        for resource, scope in self._iterate_scopes():
            header = build_header(
                _with_schema({"resource": self._resource_to_json(resource)}, resource.schema_url),
                _with_schema({"scope": self._scope_to_json(scope)}, scope.schema_url),
            )
            for span in scope.spans:
                yield self._convert_received_span(span, header)

    def _iterate_scopes(self) -> Iterator[tuple[ResourceSpans, ScopeSpans]]:
        for resource in self._request.resource_spans:
            for scope in resource.scope_spans:
                yield resource, scope

    def _convert_received_span(self, span: Span, header: bytes) -> ReceivedSpan | str:
        if len(span.trace_id) != 16 or not span.trace_id.strip(_NO_ID):
            return "a span without a trace id of 16 bytes"
        if len(span.span_id) != 8 or not span.span_id.strip(_NO_ID):
            return "a span without an id of 8 bytes"
        parent = span.parent_span_id if span.parent_span_id.strip(_NO_ID) else b""
        return ReceivedSpan(
            span.trace_id.hex(),
            span.span_id.hex(),
            f"{span.start_time_unix_nano:020}",
            header,
            encode(self._span_to_json(span, parent)),
            ends_root=not parent and span.end_time_unix_nano > 0,
        )

    def _span_to_json(self, span: Span, parent: bytes) -> dict[str, Json]:
        span_json: dict[str, Json] = {
            "traceId": span.trace_id.hex(),
            "spanId": span.span_id.hex(),
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": str(span.start_time_unix_nano),
            "endTimeUnixNano": str(span.end_time_unix_nano),
            "attributes": self._attributes_to_json(span.attributes),
        }
        if parent:
            span_json["parentSpanId"] = parent.hex()
        if span.trace_state:
            span_json["traceState"] = span.trace_state
        if span.flags:
            span_json["flags"] = span.flags
        if span.events:
            span_json["events"] = [
                {
                    "timeUnixNano": str(event.time_unix_nano),
                    "name": event.name,
                    "attributes": self._attributes_to_json(event.attributes),
                }
                for event in span.events
            ]
        if span.links:
            span_json["links"] = [
                {
                    "traceId": link.trace_id.hex(),
                    "spanId": link.span_id.hex(),
                    "attributes": self._attributes_to_json(link.attributes),
                }
                for link in span.links
            ]
        if span.HasField("status"):
            status: dict[str, Json] = {"code": span.status.code}
            if span.status.message:
                status["message"] = span.status.message
            span_json["status"] = status
        dropped = {
            "droppedAttributesCount": span.dropped_attributes_count,
            "droppedEventsCount": span.dropped_events_count,
            "droppedLinksCount": span.dropped_links_count,
        }
        span_json.update((name, count) for name, count in dropped.items() if count)
        return span_json

    def _resource_to_json(self, resource: ResourceSpans) -> Json:
        return {"attributes": self._attributes_to_json(resource.resource.attributes)}

    def _scope_to_json(self, scope: ScopeSpans) -> Json:
        scope_json: dict[str, Json] = {}
        if scope.scope.name:
            scope_json["name"] = scope.scope.name
        if scope.scope.version:
            scope_json["version"] = scope.scope.version
        if scope.scope.attributes:
            scope_json["attributes"] = self._attributes_to_json(scope.scope.attributes)
        return scope_json

    def _attributes_to_json(self, attributes: Sequence[Any]) -> list[Json]:
        return [{"key": pair.key, "value": self._value_to_json(pair.value)} for pair in attributes]

    def _value_to_json(self, value: Any) -> Json:
        kind = value.WhichOneof("value")
        if kind == "string_value":
            return {"stringValue": value.string_value}
        if kind is None:
            return {}
        converter = _VALUE_CONVERTERS.get(kind)
        if converter is not None:
            name, write = converter
            return {name: write(getattr(value, kind))}
        if kind == "array_value":
            values = value.array_value.values
            return {"arrayValue": {"values": [self._value_to_json(item) for item in values]}}
        if kind == "kvlist_value":
            return {"kvlistValue": {"values": self._attributes_to_json(value.kvlist_value.values)}}
        return {}


def count_messages(data: bytes, limit: int) -> int:
    """Count the messages nested in an encoded request, up to one more than `limit`.

    Raises `RequestRefused` if the data is not a valid request.
    """
    at, end, fields = 0, len(data), _find_nested_fields(ExportTraceServiceRequest.DESCRIPTOR)
    enclosing: list[tuple[int, dict[int, Any]]] = []
    count = 0
    while count <= limit:
        if at >= end:
            if not enclosing:
                break
            end, fields = enclosing.pop()
            continue
        # Nearly all keys and lengths are a single byte: not worth a call.
        key, at = (data[at], at + 1) if data[at] < 0x80 else _read_varint(data, at)
        wire = key & 7
        if wire == _VARINT:
            _, at = _read_varint(data, at)
        elif wire == _BYTES:
            is_short = at < end and data[at] < 0x80
            length, at = (data[at], at + 1) if is_short else _read_varint(data, at)
            if at + length > end:
                raise _make_invalid_error()
            if (number := key >> 3) in fields:
                count += 1
                if length:
                    enclosing.append((end, fields))
                    end, fields = at + length, _find_nested_fields(fields[number])
                    continue
            at += length
        elif wire in _FIXED_SIZES:
            at += _FIXED_SIZES[wire]
        else:  # groups are not part of proto3
            raise _make_invalid_error()
    return count


@cache
def _find_nested_fields(message: Any) -> dict[int, Any]:
    """Return the types of the fields of a message that hold other messages."""
    return {
        field.number: field.message_type
        for field in message.fields
        if field.message_type is not None
    }


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an index, and the index after it."""
    value = 0
    for index, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise _make_invalid_error()


def _make_invalid_error() -> RequestRefused:
    return RequestRefused(
        400,
        "is not a valid OTLP ExportTraceServiceRequest.",
        where="body",
        advice="Send protocol buffers or JSON, with the matching Content-Type.",
    )


def _with_schema(header: dict[str, Json], url: str) -> dict[str, Json]:
    return {**header, "schemaUrl": url} if url else header


def _number_to_json(value: float) -> Json:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


_VALUE_CONVERTERS: dict[str, tuple[str, Callable[[Any], Json]]] = {
    "bool_value": ("boolValue", bool),
    "int_value": ("intValue", str),
    "double_value": ("doubleValue", _number_to_json),
    "bytes_value": ("bytesValue", lambda data: b64encode(data).decode("ascii")),
}
