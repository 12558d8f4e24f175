"""Parse OTLP/HTTP trace requests, in protocol buffers or JSON, into spans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeGuard

from msgspec import ValidationError, convert
from msgspec.json import encode

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.json_parsing import Parser
from planproof.server.http_problems import RequestRefused
from planproof.server.ingestion.otlp_types import OtlpScope, OtlpSpan, Resource, read_message
from planproof.server.ingestion.received_spans import ReceivedSpan, build_header
from planproof.server.server_settings import ServerLimits

OtlpEncoding: TypeAlias = Literal["protobuf", "json"]

_ENCODINGS: dict[str, OtlpEncoding] = {
    "application/x-protobuf": "protobuf",
    "application/json": "json",
}
_MAX_SPANS = 50_000
_TRACE_ID = re.compile(r"[0-9a-fA-F]{32}")
_SPAN_ID = re.compile(r"[0-9a-fA-F]{16}")
_NANOSECOND_DIGITS = 20


@dataclass(slots=True)
class ParsedRequest:
    """Accepted spans of a request, and a reason for each rejected one."""

    spans: list[ReceivedSpan] = field(default_factory=list[ReceivedSpan])
    rejected: list[str] = field(default_factory=list[str])


def parse_content_type(content_type: str | None) -> OtlpEncoding:
    """Return the encoding that a Content-Type header names; raises `RequestRefused` for others."""
    bare = (content_type or "").partition(";")[0].strip().lower()
    if bare not in _ENCODINGS:
        raise RequestRefused(
            415,
            f"unsupported media type `{bare[:100]}`.",
            where="Content-Type",
            advice=f"Send {' or '.join(_ENCODINGS)}.",
        )
    return _ENCODINGS[bare]


def parse_request(data: bytes, encoding: OtlpEncoding, limits: ServerLimits) -> ParsedRequest:
    """Return the spans in a request body; raises `RequestRefused` if it is not valid OTLP."""
    if encoding == "protobuf":
        # Imported here because it loads protobuf.
        from planproof.server.ingestion.otlp_protobuf import ExportRequest  # noqa: PLC0415

        export = ExportRequest(data, limits)
        _check_count(export.span_count)
        return _collect_spans(export.iterate_spans())
    return _collect_spans(_iterate_spans(_parse_json(data, limits)))


def parse_spans(document: str) -> list[ReceivedSpan]:
    """Return the spans in a document written by `build_document`."""
    return _collect_spans(_iterate_spans(json.loads(document))).spans


def _collect_spans(items: Iterator[ReceivedSpan | str]) -> ParsedRequest:
    request = ParsedRequest()
    for item in items:
        if isinstance(item, str):
            request.rejected.append(item)
        else:
            request.spans.append(item)
    return request


def _parse_json(data: bytes, limits: ServerLimits) -> Json:
    try:
        within = Limits(depth=limits.depth, values=limits.values)
        return Parser("body", within).parse(data.decode("utf-8-sig"))
    except InvalidInput as error:
        raise RequestRefused(413, error.what, where=error.where, advice=error.advice) from error
    except (ValueError, RecursionError) as error:
        raise RequestRefused(
            400, f"is not valid JSON: {error}.", where="body", advice="Send JSON in UTF-8."
        ) from error


def _iterate_spans(document: Json) -> Iterator[ReceivedSpan | str]:
    if not is_object(document):
        raise _make_shape_error("body", "an object with `resourceSpans`")
    count = 0
    for resource in _get_objects(document, "resourceSpans"):
        resource_header = _read_header(resource, "resource", Resource)
        for scope in _get_objects(resource, "scopeSpans"):
            scope_header = _read_header(scope, "scope", OtlpScope)
            spans = _get_list(scope, "spans")
            count += len(spans)
            _check_count(count)
            if isinstance(resource_header, str) or isinstance(scope_header, str):
                why = resource_header if isinstance(resource_header, str) else scope_header
                yield from (f"a span of {why}" for _ in spans)
                continue
            header = build_header(resource_header, scope_header)
            for span in spans:
                yield _parse_span(span, header)


def _get_list(parent: dict[str, Json], key: str) -> list[Json]:
    value = parent.get(key)
    if value is None:
        return []
    if not is_list(value):
        raise _make_shape_error(key, "a list")
    return value


def _get_objects(parent: dict[str, Json], key: str) -> list[dict[str, Json]]:
    items = _get_list(parent, key)
    if not all(is_object(item) for item in items):
        raise _make_shape_error(key, "a list of objects")
    return items


def _read_header(
    parent: dict[str, Json], key: str, message: type[Resource | OtlpScope]
) -> dict[str, Json] | str:
    """Return the fields of a resource or scope without its spans, or an error message."""
    try:
        header: dict[str, Json] = {key: read_message(parent.get(key), message)}
        schema = convert(parent.get("schemaUrl"), str | None)
    except ValidationError as error:
        return f"a {key} that is not valid OTLP: {error}"
    return header if schema is None else {**header, "schemaUrl": schema}


def _parse_span(value: Json, header: bytes) -> ReceivedSpan | str:
    if not is_object(value):
        return "a span that is not an object"
    trace, span_id, parent = (value.get(key) for key in ("traceId", "spanId", "parentSpanId"))
    if not _is_id(trace, _TRACE_ID):
        return "a span whose traceId is not 32 hexadecimal digits"
    if not _is_id(span_id, _SPAN_ID):
        return "a span whose spanId is not 16 hexadecimal digits"
    try:
        span = read_message(value, OtlpSpan)
    except ValidationError as error:
        return f"a span that is not valid OTLP: {error}"
    span.trace_id, span.span_id = trace.lower(), span_id.lower()
    span.parent_span_id = parent.lower() if _is_id(parent, _SPAN_ID) else None
    started = _parse_nanoseconds(span.start_time_unix_nano)
    return ReceivedSpan(
        span.trace_id,
        span.span_id,
        f"{started:0{_NANOSECOND_DIGITS}}",
        header,
        encode(span),
        ends_root=span.parent_span_id is None and _parse_nanoseconds(span.end_time_unix_nano) > 0,
    )


def _is_id(value: Json, pattern: re.Pattern[str]) -> TypeGuard[str]:
    return (
        isinstance(value, str) and pattern.fullmatch(value) is not None and value.strip("0") != ""
    )


def _parse_nanoseconds(value: Json) -> int:
    """Return a time given as a number or as digits; 0 if it is neither."""
    if (
        isinstance(value, str)
        and value.isascii()
        and value.isdigit()
        and len(value) <= _NANOSECOND_DIGITS
    ):
        return int(value)
    return value if type(value) is int and 0 <= value < 10**_NANOSECOND_DIGITS else 0


def _check_count(count: int) -> None:
    if count > _MAX_SPANS:
        raise RequestRefused(
            413,
            f"contains more than {_MAX_SPANS:,} spans.",
            where="body",
            advice="Send fewer spans at once.",
        )


def _make_shape_error(where: str, expected: str) -> RequestRefused:
    return RequestRefused(400, f"must be {expected}.", where=where, advice="Send OTLP JSON.")
