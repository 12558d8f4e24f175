"""Bodies of OTLP that nobody should send: each is answered, and never by a fault of the server."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select
from starlette.testclient import TestClient

from planproof.runs.store.open_store import open_sql_store
from planproof.runs.store.schema import traces
from tests.otlp_traces import JSON, PROTOBUF, encode_protobuf, make_export, make_spans
from tests.server_processes import make_settings, open_client
from tests.timeouts import wait_until

_ANSWERS = {200, 400, 413, 415}
_TYPES = st.sampled_from([JSON, PROTOBUF, "application/json;charset=utf-16", "text/plain", ""])
_GOOD = make_export(make_spans(1))
_BODIES = {JSON: json.dumps(_GOOD).encode(), PROTOBUF: encode_protobuf(_GOOD)}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzzed") / "runs.db"


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[TestClient]:
    with open_client(make_settings(store, quiet_seconds=0.0, oldest_seconds=0.0)) as client:
        yield client


def _answer(server: TestClient, body: bytes, content_type: str, *, packed: bool = False) -> int:
    headers = {"Content-Type": content_type} | ({"Content-Encoding": "gzip"} if packed else {})
    return server.post("/v1/traces", content=body, headers=headers).status_code


@given(st.binary(max_size=300), _TYPES, st.booleans())
def test_any_bytes(server: TestClient, body: bytes, content_type: str, packed: bool) -> None:
    assert _answer(server, body, content_type, packed=packed) in _ANSWERS


@given(st.sampled_from([JSON, PROTOBUF]), st.integers(0, 2**32), st.booleans())
def test_good_bodies_that_were_damaged(
    server: TestClient, content_type: str, seed: int, packed: bool
) -> None:
    chance = Random(seed)
    body = bytearray(_BODIES[content_type])
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(body))
        if chance.random() < 0.5:
            body[place] = chance.randrange(256)
        else:
            del body[place : place + chance.randint(1, 40)]
    data = gzip.compress(bytes(body)) if packed else bytes(body)
    assert _answer(server, data, content_type, packed=packed) in _ANSWERS


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.just(f"{1:032x}"),
        st.just(f"{1:016x}"),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=10,
)
_NAMES = (
    "traceId spanId parentSpanId name startTimeUnixNano endTimeUnixNano attributes events links "
    "status kind"
).split()
_PARTS = ("resourceSpans", "resource", "scopeSpans", "scope", "spans")


@given(st.data())
def test_good_bodies_with_anything_in_the_place_of_a_part(
    server: TestClient, data: st.DataObject
) -> None:
    body = json.loads(_BODIES[JSON])
    resource = body["resourceSpans"][0]
    scope = resource["scopeSpans"][0]
    name = data.draw(st.sampled_from([*_NAMES, *_PARTS]))
    holder = next((part for part in (body, resource, scope) if name in part), scope["spans"][0])
    holder[name] = data.draw(_JSON)
    assert _answer(server, json.dumps(body).encode(), JSON) in _ANSWERS


def test_all_that_was_taken_in_is_judged(server: TestClient, store: Path) -> None:
    assert _answer(server, _BODIES[JSON], JSON) == 200
    with closing(open_sql_store(str(store))) as opened:

        def none_is_due() -> bool:
            with opened.database.begin_read() as connection:
                due = select(func.count()).where(traces.c.due.is_not(None))
                return connection.scalar(due) == 0

        wait_until(none_is_due)
        assert sum(run.cases for run in opened.list_runs()) >= 1
