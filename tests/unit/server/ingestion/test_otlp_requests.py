"""Bodies of OTLP/HTTP: what is taken, and how the rest is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from planproof.core.json_values import is_object
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.server.http_problems import RequestRefused
from planproof.server.ingestion.otlp_protobuf import count_messages
from planproof.server.ingestion.otlp_requests import (
    OtlpEncoding,
    parse_content_type,
    parse_request,
    parse_spans,
)
from planproof.server.ingestion.received_spans import build_document, find_service_name
from planproof.server.server_settings import ServerLimits
from tests.otlp_traces import (
    encode_protobuf,
    make_attribute,
    make_export,
    make_span,
    make_spans,
    make_tool_span,
)

LIMITS = ServerLimits(depth=100)


def _json(request: Any) -> bytes:
    return json.dumps(request).encode()


@pytest.mark.parametrize(
    ("content_type", "form"),
    [
        ("application/json", "json"),
        ("Application/JSON; charset=utf-8", "json"),
        ("application/x-protobuf", "protobuf"),
    ],
)
def test_the_form_is_what_the_request_says(content_type: str, form: str) -> None:
    assert parse_content_type(content_type) == form


def test_json_may_begin_with_a_byte_order_mark() -> None:
    body = _json(make_export(make_spans(1)))
    with_mark, without = (
        parse_request(data, "json", LIMITS) for data in (b"\xef\xbb\xbf" + body, body)
    )
    assert with_mark == without
    assert with_mark.spans


@pytest.mark.parametrize("content_type", [None, "", "text/plain", "application/grpc"])
def test_other_forms_are_refused(content_type: str | None) -> None:
    with pytest.raises(RequestRefused) as refused:
        parse_content_type(content_type)
    assert refused.value.status == 415


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_both_forms_give_the_same_spans(form: OtlpEncoding) -> None:
    request = make_export(make_spans(7))
    body = _json(request) if form == "json" else encode_protobuf(request)
    found = parse_request(body, form, LIMITS)
    assert not found.rejected
    assert [(s.trace, s.id, s.ends_root) for s in found.spans] == [
        (f"{7:032x}", f"{number:016x}", number == 1) for number in (2, 3, 4, 1)
    ]
    assert json.loads(build_document(found.spans)) == make_export(
        sorted(make_spans(7), key=lambda s: s["startTimeUnixNano"])
    )
    assert find_service_name(found.spans) == "desk"


def test_a_document_does_not_depend_on_the_order_or_on_doubles() -> None:
    spans = parse_request(_json(make_export(make_spans(7))), "json", LIMITS).spans
    other = parse_request(
        _json(make_export([make_tool_span(7, 9, "late")], service="other")), "json", LIMITS
    ).spans
    document = build_document([*spans, *other])
    assert build_document([*reversed(other + spans), *spans]) == document
    assert build_document(parse_spans(document)) == document
    assert len(parse_spans(document)) == 5


def test_of_two_spans_with_one_id_the_more_complete_is_kept() -> None:
    short, long = make_span(1, 2, "a", {}), make_span(1, 2, "a", {"more": "told"})
    kept = [
        parse_request(_json(make_export([each])), "json", LIMITS).spans[0] for each in (short, long)
    ]
    for order in (kept, kept[::-1]):
        assert json.loads(build_document(order)) == make_export([long])


def test_ids_and_times_in_other_spellings_are_the_same() -> None:
    given = make_span(0xABC, 0xDEF, "a", {}, parent=0xFED)
    loud = given | {key: given[key].upper() for key in ("traceId", "spanId", "parentSpanId")}
    loud["startTimeUnixNano"] = int(given["startTimeUnixNano"])
    (one,) = parse_request(_json(make_export([given])), "json", LIMITS).spans
    (other,) = parse_request(_json(make_export([loud])), "json", LIMITS).spans
    assert (one.trace, one.id, one.start_time) == (other.trace, other.id, other.start_time)
    assert json.loads(other.content)["parentSpanId"] == f"{0xFED:016x}"


@pytest.mark.parametrize(
    "wrong",
    [
        {"traceId": "0" * 32},
        {"traceId": "12"},
        {"traceId": 5},
        {"traceId": "W46f95gDgQPSabYzgT/GDA=="},
        {"spanId": "0" * 16},
        {"spanId": None},
    ],
)
def test_a_span_without_ids_is_left_out_and_the_others_are_taken(wrong: dict[str, Any]) -> None:
    good, bad = make_tool_span(1, 2, "a"), make_tool_span(1, 3, "b") | wrong
    found = parse_request(_json(make_export([bad, good])), "json", LIMITS)
    assert [span.id for span in found.spans] == [good["spanId"]]
    assert len(found.rejected) == 1
    assert "hexadecimal" in found.rejected[0]


def _everywhere(value: Any, replacement: Any) -> Iterator[Any]:
    """Copies of a value, each with another one of the values in it replaced."""
    keys: list[Any] = [*value] if is_object(value) else [*range(len(value))]
    for key in keys:
        yield _set_key(value, key, replacement)
        if isinstance(value[key], (dict, list)):
            for inner in _everywhere(value[key], replacement):
                yield _set_key(value, key, inner)


def _set_key(value: Any, key: Any, held: Any) -> Any:
    changed = copy(value)
    changed[key] = held
    return changed


# With everything in it that a span may have.
FULL: dict[str, Any] = make_tool_span(1, 2, "full") | {
    "events": [{"timeUnixNano": "1", "name": "e", "attributes": [make_attribute("a", ["b"])]}],
    "links": [{"traceId": f"{3:032x}", "spanId": f"{4:016x}", "attributes": []}],
    "status": {"code": 2, "message": "no"},
    "flags": 1,
    "traceState": "a=b",
}


def _replace_fields(replacement: Any) -> list[Any]:
    """Requests for a span and another, in each of which one field of the first is replaced."""
    spans = _everywhere(FULL, replacement)
    return [make_export([changed, make_tool_span(2, 5, "other")]) for changed in spans]


def test_null_is_an_absent_field() -> None:
    for changed in _everywhere(FULL, None):
        without = json.loads(json.dumps(changed), object_hook=_remove_nulls)
        found = parse_request(
            _json(make_export([changed, make_tool_span(2, 5, "other")])), "json", LIMITS
        )
        same = parse_request(
            _json(make_export([without, make_tool_span(2, 5, "other")])), "json", LIMITS
        )
        assert found == same
        assert len(found.spans) + len(found.rejected) == 2
        assert b"null" not in b"".join(span.content for span in found.spans)


def _remove_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {key: held for key, held in value.items() if held is not None}


@pytest.mark.parametrize("wrong", [5.5, {"a": 1}, [[]], True])
def test_a_value_of_another_type_costs_its_span_and_no_other(wrong: Any) -> None:
    rejected = 0
    for request in _replace_fields(wrong):
        found = parse_request(_json(request), "json", LIMITS)
        assert found.spans[-1].id == f"{5:016x}"
        assert len(found.spans) + len(found.rejected) == 2
        rejected += len(found.rejected)
        for kept in found.spans:
            assert find_service_name([kept]) == "desk"
            read_trace(Source.from_text(build_document([kept])))
    assert rejected > 20


@pytest.mark.parametrize("key", ["resource", "scope"])
@pytest.mark.parametrize(
    "described", [5, [], {"attributes": 5}, {"attributes": [None]}, {"attributes": {"a": 1}}]
)
def test_a_resource_or_scope_of_another_type_costs_its_spans(key: str, described: Any) -> None:
    good, bad = make_export(make_spans(1)), make_export(make_spans(2))
    held = bad["resourceSpans"][0]
    (held if key == "resource" else held["scopeSpans"][0])[key] = described
    good["resourceSpans"] += bad["resourceSpans"]
    found = parse_request(_json(good), "json", LIMITS)
    assert {span.trace for span in found.spans} == {f"{1:032x}"}
    assert len(found.rejected) == len(make_spans(2))
    assert f"a {key} that is not valid OTLP" in found.rejected[0]


@pytest.mark.parametrize("resource", [None, {"attributes": None}, {}])
def test_a_resource_without_attributes_has_no_service(resource: Any) -> None:
    request = make_export(make_spans(1))
    request["resourceSpans"][0] |= {"resource": resource, "schemaUrl": None}
    found = parse_request(_json(request), "json", LIMITS)
    assert not found.rejected
    assert find_service_name(found.spans) is None


@pytest.mark.parametrize("span", [None, 5, [], "span"])
def test_a_span_that_is_not_an_object_is_skipped(span: Any) -> None:
    found = parse_request(_json(make_export([span, make_tool_span(1, 2, "a")])), "json", LIMITS)
    assert (len(found.spans), found.rejected) == (1, ["a span that is not an object"])


def test_in_protocol_buffers_too() -> None:
    good, bad = make_tool_span(1, 2, "a"), make_tool_span(1, 3, "b") | {"traceId": "12"}
    found = parse_request(
        encode_protobuf(make_export([bad, good, good | {"spanId": "00" * 8}])), "protobuf", LIMITS
    )
    assert [span.id for span in found.spans] == [good["spanId"]]
    assert len(found.rejected) == 2


@pytest.mark.parametrize(
    ("body", "form", "status"),
    [
        (b"", "json", 400),
        (b"\xff\xfe", "json", 400),
        (b"[]", "json", 400),
        (b'{"resourceSpans": 5}', "json", 400),
        (b'{"resourceSpans": [5]}', "json", 400),
        (b'{"resourceSpans": [{"scopeSpans": {}}]}', "json", 400),
        (b'{"resourceSpans": [{"scopeSpans": [5]}]}', "json", 400),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": 5}]}]}', "json", 400),
        (b'{"resourceSpans":' + b"[" * 5_000, "json", 413),
        (b'{"resourceSpans":' + b"[" * 500 + b"]" * 500 + b"}", "json", 413),
        (b"\xff\xff\xff", "protobuf", 400),
        (b'{"resourceSpans": []}', "protobuf", 400),
    ],
)
def test_an_invalid_request_is_refused(body: bytes, form: OtlpEncoding, status: int) -> None:
    with pytest.raises(RequestRefused) as refused:
        parse_request(body, form, LIMITS)
    assert refused.value.status == status


@pytest.mark.parametrize(("body", "form"), [(b"{}", "json"), (b"", "protobuf")])
def test_a_request_may_be_empty(body: bytes, form: OtlpEncoding) -> None:
    assert parse_request(body, form, LIMITS).spans == []


def test_halves_of_characters_do_not_cost_the_others() -> None:
    body = _json(make_export([make_span(1, 2, "a", {"cut": "\ud83d"}), make_tool_span(1, 3, "b")]))
    assert len(parse_request(body, "json", LIMITS).spans) == 2


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_too_many_spans_are_refused(form: OtlpEncoding) -> None:
    nothing: dict[str, Any] = {}
    request = make_export([nothing] * 50_001)
    body = _json(request) if form == "json" else encode_protobuf(request)
    with pytest.raises(RequestRefused) as refused:
        parse_request(body, form, LIMITS)
    assert refused.value.status == 413


NOTHING: dict[str, Any] = {}
EMPTY = {
    "resources": {"resourceSpans": [NOTHING] * 2_001},
    "scopes": {"resourceSpans": [{"scopeSpans": [NOTHING] * 2_001}]},
    "attributes": make_export([make_span(1, 2, "a", {}) | {"attributes": [NOTHING] * 2_001}]),
    "events": make_export([make_span(1, 2, "a", {}) | {"events": [NOTHING] * 2_001}]),
    "values": make_export([make_span(1, 2, "a", {"all": [""] * 2_001})]),
}


@pytest.mark.parametrize("form", ["json", "protobuf"])
@pytest.mark.parametrize("name", EMPTY)
def test_a_multitude_of_empty_messages_is_refused_before_any_is_an_object(
    name: str, form: OtlpEncoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = _json(EMPTY[name]) if form == "json" else encode_protobuf(EMPTY[name])
    parse_request(body, form, ServerLimits(values=50_000))
    for parse in (
        "readers.decoding.json_parsing.parse_strict",
        "server.ingestion.otlp_protobuf.ExportTraceServiceRequest.FromString",
    ):
        monkeypatch.setattr(f"planproof.{parse}", None)
    with pytest.raises(RequestRefused, match="more than 2,000 values") as refused:
        parse_request(body, form, ServerLimits(values=2_000))
    assert refused.value.status == 413
    assert "max_values" in (refused.value.advice or "")


@pytest.mark.parametrize("request_", [make_export([FULL, *make_spans(3)]), make_export([]), {}])
def test_messages_are_counted_as_they_are_parsed(request_: Any) -> None:
    body = encode_protobuf(request_)
    parsed = ExportTraceServiceRequest.FromString(body)
    assert count_messages(body, 10_000) == _count(parsed) - 1


def _count(message: Any) -> int:
    """Count a message and those in it."""
    count = 1
    for field, held in message.ListFields():
        if field.message_type is not None:
            inner = [held] if isinstance(held, Message) else held
            count += sum(map(_count, inner))
    return count


@pytest.mark.parametrize("body", [b"\x0b", b"\x0a\x05\x00", b"\x0a\xff", b"\xff" * 12])
def test_an_uncountable_body_is_not_a_request(body: bytes) -> None:
    with pytest.raises(RequestRefused) as refused:
        count_messages(body, 10)
    assert refused.value.status == 400
