"""A body for /v1/traces, whatever is in it, is taken or refused: the server never breaks on it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from planproof.core.json_values import is_list, is_object
from tests import server_processes
from tests.otlp_traces import JSON, PROTOBUF, encode_protobuf, make_export, make_spans

REQUEST = make_export(make_spans(1))
PACKED = encode_protobuf(REQUEST)
SAME_SERVER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Generator[TestClient, None, None]:
    store = tmp_path_factory.mktemp("otlp") / "runs.db"
    with server_processes.open_client(
        server_processes.make_settings(store, quiet_seconds=0.1)
    ) as made:
        yield made


def _post(client: TestClient, body: bytes, form: str, encoding: str | None = None) -> None:
    headers = {"Content-Type": form} | ({} if encoding is None else {"Content-Encoding": encoding})
    answer = client.post("/v1/traces", content=body, headers=headers)
    assert answer.status_code in {200, 400, 413, 415}, answer.text


@st.composite
def _damage(draw: st.DrawFn) -> bytes:
    """A good request of which some bytes were cut out, put in or changed."""
    body = bytearray(PACKED)
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(body)))
        end = min(len(body), start + draw(st.integers(0, 8)))
        body[start:end] = draw(st.binary(max_size=8))
    return bytes(body)


@st.composite
def _rewrite_field(draw: st.DrawFn) -> bytes:
    """A good request in JSON in which some values were replaced by others."""
    value: Any = json.loads(json.dumps(REQUEST))
    for _ in range(draw(st.integers(1, 4))):
        here = value
        while True:
            keys: list[Any] = [*here] if is_object(here) else [*range(len(here))]
            key = draw(st.sampled_from(keys))
            nested = is_object(here[key]) or is_list(here[key])
            if not (nested and here[key]) or draw(st.booleans()):
                break
            here = here[key]
        here[key] = draw(_ODD)
    return json.dumps(value).encode()


_ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@SAME_SERVER
@given(body=_damage() | st.binary(max_size=200))
def test_protocol_buffers(client: TestClient, body: bytes) -> None:
    _post(client, body, PROTOBUF)


@SAME_SERVER
@given(body=_rewrite_field() | st.binary(max_size=50))
def test_json(client: TestClient, body: bytes) -> None:
    _post(client, body, JSON)


@SAME_SERVER
@given(cut=st.integers(0, 400), body=_damage(), form=st.sampled_from([PROTOBUF, JSON, "text/html"]))
def test_gzip(client: TestClient, cut: int, body: bytes, form: str) -> None:
    _post(client, gzip.compress(body)[:cut], form, "gzip")


@pytest.mark.parametrize(("attributes", "rejected"), [(None, {}), (5, {"rejectedSpans": "4"})])
def test_spans_of_a_wrong_type_are_rejected(
    client: TestClient, attributes: Any, rejected: dict[str, Any]
) -> None:
    poisoned = make_export(make_spans(2))
    poisoned["resourceSpans"][0]["resource"] = {"attributes": attributes}
    both = {
        "resourceSpans": poisoned["resourceSpans"] + make_export(make_spans(3))["resourceSpans"]
    }
    answer = client.post("/v1/traces", json=both)
    assert answer.status_code == 200
    told = answer.json().get("partialSuccess", {})
    assert (told.pop("errorMessage", "") != "") is bool(rejected)
    assert told == rejected


def test_the_server_goes_on(client: TestClient) -> None:
    assert client.post("/v1/traces", json=REQUEST).status_code == 200
    assert client.get("/readyz").status_code == 200
