"""Answers of `POST /v1/traces`, as clients of OTLP/HTTP expect them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from starlette.testclient import TestClient

from planproof.errors import StoreFailed
from planproof.server.ingestion.received_spans import ReceivedSpan
from planproof.server.ingestion.span_inbox import Inbox
from tests.otlp_traces import (
    JSON,
    PROTOBUF,
    encode_protobuf,
    make_export,
    make_spans,
    make_tool_span,
)
from tests.server_processes import make_settings, open_client

BAD = make_tool_span(1, 9, "a") | {"spanId": "00" * 8}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("routes")
    with open_client(make_settings(folder / "runs.db")) as opened:
        yield opened


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", [JSON, PROTOBUF])
def test_what_is_taken_is_answered_in_the_form_of_the_request(
    client: TestClient, form: str, packed: bool
) -> None:
    request = make_export(make_spans(1))
    body = json.dumps(request).encode() if form == JSON else encode_protobuf(request)
    headers = {"Content-Type": form} | ({"Content-Encoding": "gzip"} if packed else {})
    body = gzip.compress(body) if packed else body
    answer = client.post("/v1/traces", content=body, headers=headers)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, form)
    assert answer.content == (b"{}" if form == JSON else b"")


def test_rejected_spans_are_reported_in_json(client: TestClient) -> None:
    answer = client.post("/v1/traces", json=make_export([BAD, *make_spans(2)]))
    assert answer.status_code == 200
    told = answer.json()["partialSuccess"]
    assert told == {
        "rejectedSpans": "1",
        "errorMessage": "a span whose spanId is not 16 hexadecimal digits",
    }


def test_rejected_spans_are_reported_in_protobuf(client: TestClient) -> None:
    body = encode_protobuf(make_export([BAD, BAD, *make_spans(3)]))
    answer = client.post("/v1/traces", content=body, headers={"Content-Type": PROTOBUF})
    assert answer.status_code == 200
    told = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (told.rejected_spans, told.error_message) == (2, "a span without an id of 8 bytes")


@pytest.mark.parametrize(
    ("body", "form", "status", "code"),
    [
        (b"{", JSON, 400, 3),
        (b"\xff", PROTOBUF, 400, 3),
        (b"", "text/plain", 415, 3),
    ],
)
def test_a_refusal_is_a_status_message(
    client: TestClient, body: bytes, form: str, status: int, code: int
) -> None:
    answer = client.post("/v1/traces", content=body, headers={"Content-Type": form})
    assert answer.status_code == status
    if form == PROTOBUF:
        assert answer.headers["Content-Type"] == PROTOBUF
        told = Status.FromString(answer.content)
        assert (told.code, bool(told.message)) == (code, True)
    else:
        assert answer.headers["Content-Type"] == JSON
        assert answer.json()["code"] == code


@pytest.mark.parametrize("form", [JSON, PROTOBUF])
def test_a_store_that_fails_says_when_to_come_again(
    client: TestClient, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(_: Inbox, __: list[ReceivedSpan]) -> int:
        raise StoreFailed("the store failed: no room.")

    monkeypatch.setattr(Inbox, "add_spans", failing)
    request = make_export(make_spans(4))
    body = json.dumps(request).encode() if form == JSON else encode_protobuf(request)
    answer = client.post("/v1/traces", content=body, headers={"Content-Type": form})
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    told = answer.json() if form == JSON else Status.FromString(answer.content)
    assert (told["code"] if isinstance(told, dict) else told.code) == 14
