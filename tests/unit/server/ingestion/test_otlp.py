"""Bodies of OTLP/HTTP: what is taken, and how the rest is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.server.errors import Refused
from planproof.server.ingestion.otlp import Form, form_of, received, spans_in
from planproof.server.ingestion.spans import document_of, service_of
from tests.otlp_traces import export, protobuf, span, spans_of, tool

DEPTH = 100


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
    assert form_of(content_type) == form


@pytest.mark.parametrize("content_type", [None, "", "text/plain", "application/grpc"])
def test_other_forms_are_refused(content_type: str | None) -> None:
    with pytest.raises(Refused) as refused:
        form_of(content_type)
    assert refused.value.status == 415


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_both_forms_give_the_same_spans(form: Form) -> None:
    request = export(spans_of(7))
    body = _json(request) if form == "json" else protobuf(request)
    found = received(body, form, DEPTH)
    assert not found.unfit
    assert [(s.trace, s.id, s.ends_root) for s in found.spans] == [
        (f"{7:032x}", f"{number:016x}", number == 1) for number in (2, 3, 4, 1)
    ]
    assert json.loads(document_of(found.spans)) == export(
        sorted(spans_of(7), key=lambda s: s["startTimeUnixNano"])
    )
    assert service_of(found.spans) == "desk"


def test_a_document_does_not_depend_on_the_order_or_on_doubles() -> None:
    spans = received(_json(export(spans_of(7))), "json", DEPTH).spans
    other = received(_json(export([tool(7, 9, "late")], service="other")), "json", DEPTH).spans
    document = document_of([*spans, *other])
    assert document_of([*reversed(other + spans), *spans]) == document
    assert document_of(spans_in(document)) == document
    assert len(spans_in(document)) == 5


def test_of_two_that_differ_and_bear_one_id_the_one_that_tells_more_is_taken() -> None:
    short, long = span(1, 2, "a", {}), span(1, 2, "a", {"more": "told"})
    kept = [received(_json(export([each])), "json", DEPTH).spans[0] for each in (short, long)]
    for order in (kept, kept[::-1]):
        assert json.loads(document_of(order)) == export([long])


def test_ids_and_times_in_other_spellings_are_the_same() -> None:
    given = span(0xABC, 0xDEF, "a", {}, parent=0xFED)
    loud = given | {key: given[key].upper() for key in ("traceId", "spanId", "parentSpanId")}
    loud["startTimeUnixNano"] = int(given["startTimeUnixNano"])
    (one,) = received(_json(export([given])), "json", DEPTH).spans
    (other,) = received(_json(export([loud])), "json", DEPTH).spans
    assert (one.trace, one.id, one.started) == (other.trace, other.id, other.started)
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
    good, bad = tool(1, 2, "a"), tool(1, 3, "b") | wrong
    found = received(_json(export([bad, good])), "json", DEPTH)
    assert [span.id for span in found.spans] == [good["spanId"]]
    assert len(found.unfit) == 1
    assert "hexadecimal" in found.unfit[0]


def test_in_protocol_buffers_too() -> None:
    good, bad = tool(1, 2, "a"), tool(1, 3, "b") | {"traceId": "12"}
    found = received(protobuf(export([bad, good, good | {"spanId": "00" * 8}])), "protobuf", DEPTH)
    assert [span.id for span in found.spans] == [good["spanId"]]
    assert len(found.unfit) == 2


@pytest.mark.parametrize(
    ("body", "form", "status"),
    [
        (b"", "json", 400),
        (b"\xff\xfe", "json", 400),
        (b"[]", "json", 400),
        (b'{"resourceSpans": 5}', "json", 400),
        (b'{"resourceSpans": [5]}', "json", 400),
        (b'{"resourceSpans": [{"scopeSpans": {}}]}', "json", 400),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [null]}]}]}', "json", 400),
        (b'{"resourceSpans":' + b"[" * 5_000, "json", 413),
        (b'{"resourceSpans":' + b"[" * 500 + b"]" * 500 + b"}", "json", 413),
        (b"\xff\xff\xff", "protobuf", 400),
        (b'{"resourceSpans": []}', "protobuf", 400),
    ],
)
def test_what_is_no_such_request_is_refused(body: bytes, form: Form, status: int) -> None:
    with pytest.raises(Refused) as refused:
        received(body, form, DEPTH)
    assert refused.value.status == status


@pytest.mark.parametrize(("body", "form"), [(b"{}", "json"), (b"", "protobuf")])
def test_a_request_may_be_empty(body: bytes, form: Form) -> None:
    assert received(body, form, DEPTH).spans == []


def test_halves_of_characters_do_not_cost_the_others() -> None:
    body = _json(export([span(1, 2, "a", {"cut": "\ud83d"}), tool(1, 3, "b")]))
    assert len(received(body, "json", DEPTH).spans) == 2


@pytest.mark.parametrize("form", ["json", "protobuf"])
def test_too_many_spans_are_refused(form: Form) -> None:
    nothing: dict[str, Any] = {}
    request = export([nothing] * 50_001)
    body = _json(request) if form == "json" else protobuf(request)
    with pytest.raises(Refused) as refused:
        received(body, form, DEPTH)
    assert refused.value.status == 413


def test_a_multitude_of_attributes_is_refused() -> None:
    nothing: dict[str, Any] = {}
    bomb = span(1, 2, "a", {}) | {"attributes": [nothing] * 500_001}
    with pytest.raises(Refused, match="attributes") as refused:
        received(protobuf(export([bomb])), "protobuf", DEPTH)
    assert refused.value.status == 413
