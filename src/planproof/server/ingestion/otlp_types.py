"""The OTLP messages in their JSON encoding, limited to the fields that are stored.

As in all proto3 JSON, null means that a field is absent, a number may be written as a string, and
unknown fields are ignored. Raises `msgspec.ValidationError` for a value of another type.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from msgspec import Struct, convert

from planproof.core.content import Json

Number: TypeAlias = int | float | str
_Message = TypeVar("_Message", bound=Struct)


class AnyValue(Struct, rename="camel", omit_defaults=True):
    """The value of an attribute."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: Number | None = None
    double_value: Number | None = None
    array_value: ArrayValue | None = None
    kvlist_value: KeyValueList | None = None
    bytes_value: str | None = None


class ArrayValue(Struct, omit_defaults=True):
    """A list of values."""

    values: list[AnyValue] | None = None


class KeyValue(Struct, omit_defaults=True):
    """An attribute."""

    key: str | None = None
    value: AnyValue | None = None


class KeyValueList(Struct, omit_defaults=True):
    """A list of named values."""

    values: list[KeyValue] | None = None


class Resource(Struct, rename="camel", omit_defaults=True):
    """The source of the spans, such as a service."""

    attributes: list[KeyValue] | None = None
    dropped_attributes_count: Number | None = None


class OtlpScope(Struct, rename="camel", omit_defaults=True):
    """The instrumentation that made the spans."""

    name: str | None = None
    version: str | None = None
    attributes: list[KeyValue] | None = None
    dropped_attributes_count: Number | None = None


class SpanEvent(Struct, rename="camel", omit_defaults=True):
    """Something that happened during a span."""

    time_unix_nano: Number | None = None
    name: str | None = None
    attributes: list[KeyValue] | None = None
    dropped_attributes_count: Number | None = None


class Link(Struct, rename="camel", omit_defaults=True):
    """A reference to another span."""

    trace_id: str | None = None
    span_id: str | None = None
    trace_state: str | None = None
    attributes: list[KeyValue] | None = None
    dropped_attributes_count: Number | None = None
    flags: Number | None = None


class SpanStatus(Struct, omit_defaults=True):
    """How a span ended; `code` is a number or its name."""

    message: str | None = None
    code: Number | None = None


class OtlpSpan(Struct, rename="camel", omit_defaults=True):
    """A span; `kind` is a number or its name."""

    trace_id: str | None = None
    span_id: str | None = None
    trace_state: str | None = None
    parent_span_id: str | None = None
    flags: Number | None = None
    name: str | None = None
    kind: Number | None = None
    start_time_unix_nano: Number | None = None
    end_time_unix_nano: Number | None = None
    attributes: list[KeyValue] | None = None
    dropped_attributes_count: Number | None = None
    events: list[SpanEvent] | None = None
    dropped_events_count: Number | None = None
    links: list[Link] | None = None
    dropped_links_count: Number | None = None
    status: SpanStatus | None = None


def read_message(value: Json, message_type: type[_Message]) -> _Message:
    """Return the message in a JSON value; null is one without fields."""
    return message_type() if value is None else convert(value, message_type)
