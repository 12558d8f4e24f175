"""Protocol buffers of OTLP as the JSON that OTLP itself prescribes for them.

The general way (`json_format.MessageToDict`) takes more than ten times as long, and writes ids in
another alphabet.
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
from planproof.server.guard.json_bodies import refuse_too_many
from planproof.server.http_problems import Refused
from planproof.server.ingestion.received_spans import ReceivedSpan, opening
from planproof.server.server_settings import ServerLimits

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
_LONGEST_VARINT = 10
_NO_ID = b"\0"


class Export:
    """A request to take in spans, as protocol buffers; raises `Refused` for what is none."""

    def __init__(self, data: bytes, limits: ServerLimits) -> None:
        # Two bytes can be a message, which takes hundreds once it is an object.
        if len(data) // 2 > limits.values and count_messages(data, limits.values) > limits.values:
            raise refuse_too_many(limits)
        try:
            self._request = ExportTraceServiceRequest.FromString(data)
        except DecodeError as error:
            raise _invalid() from error

    @property
    def count(self) -> int:
        """How many spans are in it."""
        return sum(len(scope.spans) for _, scope in self._scopes())

    def spans(self) -> Iterator[ReceivedSpan | str]:
        """The spans; of one that can't be kept, why."""
        for resource, scope in self._scopes():
            around = opening(
                _with_schema({"resource": self._resource(resource)}, resource.schema_url),
                _with_schema({"scope": self._scope(scope)}, scope.schema_url),
            )
            for span in scope.spans:
                yield self._received(span, around)

    def _scopes(self) -> Iterator[tuple[ResourceSpans, ScopeSpans]]:
        for resource in self._request.resource_spans:
            for scope in resource.scope_spans:
                yield resource, scope

    def _received(self, span: Span, around: bytes) -> ReceivedSpan | str:
        if len(span.trace_id) != 16 or not span.trace_id.strip(_NO_ID):
            return "a span without a trace id of 16 bytes"
        if len(span.span_id) != 8 or not span.span_id.strip(_NO_ID):
            return "a span without an id of 8 bytes"
        parent = span.parent_span_id if span.parent_span_id.strip(_NO_ID) else b""
        return ReceivedSpan(
            span.trace_id.hex(),
            span.span_id.hex(),
            f"{span.start_time_unix_nano:020}",
            around,
            encode(self._span(span, parent)),
            ends_root=not parent and span.end_time_unix_nano > 0,
        )

    def _span(self, span: Span, parent: bytes) -> dict[str, Json]:
        written: dict[str, Json] = {
            "traceId": span.trace_id.hex(),
            "spanId": span.span_id.hex(),
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": str(span.start_time_unix_nano),
            "endTimeUnixNano": str(span.end_time_unix_nano),
            "attributes": self._pairs(span.attributes),
        }
        if parent:
            written["parentSpanId"] = parent.hex()
        if span.trace_state:
            written["traceState"] = span.trace_state
        if span.flags:
            written["flags"] = span.flags
        if span.events:
            written["events"] = [
                {
                    "timeUnixNano": str(event.time_unix_nano),
                    "name": event.name,
                    "attributes": self._pairs(event.attributes),
                }
                for event in span.events
            ]
        if span.links:
            written["links"] = [
                {
                    "traceId": link.trace_id.hex(),
                    "spanId": link.span_id.hex(),
                    "attributes": self._pairs(link.attributes),
                }
                for link in span.links
            ]
        if span.HasField("status"):
            status: dict[str, Json] = {"code": span.status.code}
            if span.status.message:
                status["message"] = span.status.message
            written["status"] = status
        dropped = {
            "droppedAttributesCount": span.dropped_attributes_count,
            "droppedEventsCount": span.dropped_events_count,
            "droppedLinksCount": span.dropped_links_count,
        }
        written.update((name, count) for name, count in dropped.items() if count)
        return written

    def _resource(self, resource: ResourceSpans) -> Json:
        return {"attributes": self._pairs(resource.resource.attributes)}

    def _scope(self, scope: ScopeSpans) -> Json:
        written: dict[str, Json] = {}
        if scope.scope.name:
            written["name"] = scope.scope.name
        if scope.scope.version:
            written["version"] = scope.scope.version
        if scope.scope.attributes:
            written["attributes"] = self._pairs(scope.scope.attributes)
        return written

    def _pairs(self, attributes: Sequence[Any]) -> list[Json]:
        return [{"key": pair.key, "value": self._value(pair.value)} for pair in attributes]

    def _value(self, value: Any) -> Json:
        kind = value.WhichOneof("value")
        if kind == "string_value":
            return {"stringValue": value.string_value}
        if kind is None:
            return {}
        written = _VALUES.get(kind)
        if written is not None:
            name, write = written
            return {name: write(getattr(value, kind))}
        if kind == "array_value":
            values = value.array_value.values
            return {"arrayValue": {"values": [self._value(item) for item in values]}}
        if kind == "kvlist_value":
            return {"kvlistValue": {"values": self._pairs(value.kvlist_value.values)}}
        return {}


def count_messages(data: bytes, most: int) -> int:
    """Count the messages inside an encoded request, up to one more than `most`.

    Raises `Refused` for what is not a request.
    """
    at, end, fields = 0, len(data), _nested_fields(ExportTraceServiceRequest.DESCRIPTOR)
    around: list[tuple[int, dict[int, Any]]] = []
    count = 0
    while count <= most:
        if at >= end:
            if not around:
                break
            end, fields = around.pop()
            continue
        # Nearly all keys and lengths are a single byte: not worth a call.
        key, at = (data[at], at + 1) if data[at] < 0x80 else _varint(data, at)
        wire = key & 7
        if wire == _VARINT:
            _, at = _varint(data, at)
        elif wire == _BYTES:
            is_short = at < end and data[at] < 0x80
            length, at = (data[at], at + 1) if is_short else _varint(data, at)
            if at + length > end:
                raise _invalid()
            if (number := key >> 3) in fields:
                count += 1
                if length:
                    around.append((end, fields))
                    end, fields = at + length, _nested_fields(fields[number])
                    continue
            at += length
        elif wire in _FIXED:
            at += _FIXED[wire]
        else:  # groups are not part of proto3
            raise _invalid()
    return count


@cache
def _nested_fields(message: Any) -> dict[int, Any]:
    """Return the types of the fields of a message that hold other messages."""
    return {
        field.number: field.message_type
        for field in message.fields
        if field.message_type is not None
    }


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an index, and the index after it."""
    value = 0
    for index, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise _invalid()


def _invalid() -> Refused:
    return Refused(
        400,
        "is not a valid OTLP ExportTraceServiceRequest.",
        where="body",
        advice="Send protocol buffers or JSON, and say which in Content-Type.",
    )


def _with_schema(written: dict[str, Json], url: str) -> dict[str, Json]:
    return {**written, "schemaUrl": url} if url else written


def _number(value: float) -> Json:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


_VALUES: dict[str, tuple[str, Callable[[Any], Json]]] = {
    "bool_value": ("boolValue", bool),
    "int_value": ("intValue", str),
    "double_value": ("doubleValue", _number),
    "bytes_value": ("bytesValue", lambda data: b64encode(data).decode("ascii")),
}
