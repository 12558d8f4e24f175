"""What a client of OTLP/HTTP sends: protocol buffers or JSON, made into spans."""

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
from planproof.server.http_problems import Refused
from planproof.server.ingestion.otlp_types import Resource, Scope, Span, read_message
from planproof.server.ingestion.received_spans import ReceivedSpan, opening
from planproof.server.server_settings import ServerLimits

Form: TypeAlias = Literal["protobuf", "json"]

_FORMS: dict[str, Form] = {"application/x-protobuf": "protobuf", "application/json": "json"}
_MOST_SPANS = 50_000
_TRACE_ID = re.compile(r"[0-9a-fA-F]{32}")
_SPAN_ID = re.compile(r"[0-9a-fA-F]{16}")
_DIGITS = 20


@dataclass(slots=True)
class Received:
    """What came: spans that can be kept, and why others can't."""

    spans: list[ReceivedSpan] = field(default_factory=list[ReceivedSpan])
    unfit: list[str] = field(default_factory=list[str])


def form_of(content_type: str | None) -> Form:
    """In which form a request says that it is written."""
    bare = (content_type or "").partition(";")[0].strip().lower()
    if bare not in _FORMS:
        raise Refused(
            415,
            f"is not taken as `{bare[:100]}`.",
            where="Content-Type",
            advice=f"Send {' or '.join(_FORMS)}.",
        )
    return _FORMS[bare]


def received(data: bytes, form: Form, limits: ServerLimits) -> Received:
    """The spans in the body of a request; raises `Refused` for what is no request of OTLP."""
    if form == "protobuf":
        from planproof.server.ingestion.otlp_protobuf import Export  # noqa: PLC0415 - loads protobuf

        export = Export(data, limits)
        _check_count(export.count)
        return _sorted_out(export.spans())
    return _sorted_out(_in_json(_parsed(data, limits)))


def spans_in(document: str) -> list[ReceivedSpan]:
    """The spans in a document that was put together of such spans."""
    return _sorted_out(_in_json(json.loads(document))).spans


def _sorted_out(found: Iterator[ReceivedSpan | str]) -> Received:
    sorted_out = Received()
    for each in found:
        if isinstance(each, str):
            sorted_out.unfit.append(each)
        else:
            sorted_out.spans.append(each)
    return sorted_out


def _parsed(data: bytes, limits: ServerLimits) -> Json:
    try:
        within = Limits(depth=limits.depth, values=limits.values)
        return Parser("body", within).parse(data.decode())
    except InvalidInput as error:
        raise Refused(413, error.what, where=error.where, advice=error.advice) from error
    except (ValueError, RecursionError) as error:
        raise Refused(
            400, f"is not valid JSON: {error}.", where="body", advice="Send JSON in UTF-8."
        ) from error


def _in_json(document: Json) -> Iterator[ReceivedSpan | str]:
    if not is_object(document):
        raise _misshapen("body", "an object with `resourceSpans`")
    count = 0
    for resource in _objects(document, "resourceSpans"):
        owner = _described(resource, "resource", Resource)
        for scope in _objects(resource, "scopeSpans"):
            own = _described(scope, "scope", Scope)
            spans = _listed(scope, "spans")
            count += len(spans)
            _check_count(count)
            if isinstance(owner, str) or isinstance(own, str):
                why = owner if isinstance(owner, str) else own
                yield from (f"a span of {why}" for _ in spans)
                continue
            around = opening(owner, own)
            for span in spans:
                yield _received(span, around)


def _listed(holder: dict[str, Json], key: str) -> list[Json]:
    held = holder.get(key)
    if held is None:
        return []
    if not is_list(held):
        raise _misshapen(key, "a list")
    return held


def _objects(holder: dict[str, Json], key: str) -> list[dict[str, Json]]:
    held = _listed(holder, key)
    if not all(is_object(item) for item in held):
        raise _misshapen(key, "a list of objects")
    return held


def _described(
    holder: dict[str, Json], key: str, message: type[Resource | Scope]
) -> dict[str, Json] | str:
    """Return what a holder of spans says of itself, without the spans; or what is wrong with it."""
    try:
        described: dict[str, Json] = {key: read_message(holder.get(key), message)}
        schema = convert(holder.get("schemaUrl"), str | None)
    except ValidationError as error:
        return f"a {key} that is not valid OTLP: {error}"
    return described if schema is None else {**described, "schemaUrl": schema}


def _received(value: Json, around: bytes) -> ReceivedSpan | str:
    if not is_object(value):
        return "a span that is not an object"
    trace, own, parent = (value.get(key) for key in ("traceId", "spanId", "parentSpanId"))
    if not _is_id(trace, _TRACE_ID):
        return "a span whose traceId is not 32 hexadecimal digits"
    if not _is_id(own, _SPAN_ID):
        return "a span whose spanId is not 16 hexadecimal digits"
    try:
        span = read_message(value, Span)
    except ValidationError as error:
        return f"a span that is not valid OTLP: {error}"
    span.trace_id, span.span_id = trace.lower(), own.lower()
    span.parent_span_id = parent.lower() if _is_id(parent, _SPAN_ID) else None
    started = _nanoseconds(span.start_time_unix_nano)
    return ReceivedSpan(
        span.trace_id,
        span.span_id,
        f"{started:0{_DIGITS}}",
        around,
        encode(span),
        ends_root=span.parent_span_id is None and _nanoseconds(span.end_time_unix_nano) > 0,
    )


def _is_id(value: Json, pattern: re.Pattern[str]) -> TypeGuard[str]:
    return (
        isinstance(value, str) and pattern.fullmatch(value) is not None and value.strip("0") != ""
    )


def _nanoseconds(value: Json) -> int:
    """A time, which may be written as a number or as its digits; 0 for what is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS:
        return int(value)
    return value if type(value) is int and 0 <= value < 10**_DIGITS else 0


def _check_count(count: int) -> None:
    if count > _MOST_SPANS:
        raise Refused(
            413,
            f"holds more than {_MOST_SPANS:,} spans.",
            where="body",
            advice="Send fewer spans at once.",
        )


def _misshapen(where: str, expected: str) -> Refused:
    return Refused(400, f"must be {expected}.", where=where, advice="Send OTLP in JSON.")
