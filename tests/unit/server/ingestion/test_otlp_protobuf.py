"""Protocol buffers as JSON: as OTLP prescribes it, and as the general way would write it."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from planproof.server.ingestion.otlp_requests import parse_request
from planproof.server.ingestion.received_spans import build_document
from planproof.server.server_settings import ServerLimits
from tests.otlp_traces import encode_protobuf, make_attribute, make_export, make_span

_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
_NUMBERS = st.integers(-(2**63), 2**63 - 1)
_VALUES: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.one_of(
        _TEXT.map(lambda text: {"stringValue": text}),
        st.booleans().map(lambda flag: {"boolValue": flag}),
        _NUMBERS.map(lambda number: {"intValue": str(number)}),
        st.floats(allow_nan=False, allow_infinity=False).map(lambda n: {"doubleValue": n}),
        st.builds(dict[str, Any]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda values: {"arrayValue": {"values": values}}),
        st.lists(st.tuples(_TEXT, inner), max_size=3).map(
            lambda pairs: {"kvlistValue": {"values": [{"key": k, "value": v} for k, v in pairs]}}
        ),
    ),
    max_leaves=8,
)


@given(st.lists(st.tuples(_TEXT, _VALUES), max_size=4), _TEXT)
def test_values_are_written_as_the_general_way_writes_them(
    attributes: list[tuple[str, dict[str, Any]]], message: str
) -> None:
    told = [{"key": key, "value": value} for key, value in attributes]
    given = make_span(1, 2, "a", {}, parent=9)
    given |= {"attributes": told, "status": {"code": 2, "message": message}}
    given["events"] = [{"timeUnixNano": "5", "name": "noted", "attributes": told}]
    given["links"] = [{"traceId": f"{3:032x}", "spanId": f"{4:016x}", "attributes": told}]
    given |= {"traceState": "a=b", "flags": 257, "droppedAttributesCount": 3}
    body = encode_protobuf(make_export([given]))
    ours = json.loads(build_document(parse_request(body, "protobuf", ServerLimits()).spans))
    assert encode_protobuf(ours) == body


def test_numbers_that_json_has_no_word_for_and_bytes() -> None:
    odd = [
        {"key": "nan", "value": {"doubleValue": "NaN"}},
        {"key": "most", "value": {"doubleValue": "-Infinity"}},
        {"key": "raw", "value": {"bytesValue": "AAECAw=="}},
    ]
    request = make_export([make_span(1, 2, "a", {}) | {"attributes": odd}])
    request["resourceSpans"][0]["schemaUrl"] = "https://opentelemetry.io/schemas/1.39.0"
    request["resourceSpans"][0]["scopeSpans"][0] |= {
        "schemaUrl": "https://opentelemetry.io/schemas/1.38.0",
        "scope": {"name": "a", "version": "2", "attributes": [make_attribute("b", "c")]},
    }
    body = encode_protobuf(request)
    ours = json.loads(build_document(parse_request(body, "protobuf", ServerLimits()).spans))
    general = MessageToDict(ExportTraceServiceRequest.FromString(encode_protobuf(ours)))
    assert general == MessageToDict(ExportTraceServiceRequest.FromString(body))
