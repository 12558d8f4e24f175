"""Too much, too deep, too slow, too often: refused, in bounded memory, and others are served on."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import socket
import time
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.types import Message, Receive, Scope, Send

from planproof.runs.store.open_store import open_sql_store
from planproof.server.guard.api_keys import Keys, Role
from planproof.server.guard.body_limits import BodyLimits
from planproof.server.http_problems import RequestRefused
from planproof.server.server_settings import ServerLimits
from tests.server_processes import (
    ServerProcess,
    get,
    make_settings,
    open_client,
    post,
    run_limited_server,
)
from tests.small_cases import FOLLOWED
from tests.timeouts import TIMEOUT_SECONDS
from tests.virtual_time import VirtualTime

MEGABYTE = 1024 * 1024
LIMITS: dict[str, Any] = {
    "body_bytes": 2 * MEGABYTE,
    "data_set_bytes": 3 * MEGABYTE,
    "connections": 20,
}
PATIENT: dict[str, Any] = {"header_timeout": TIMEOUT_SECONDS, "body_timeout": TIMEOUT_SECONDS}
IMPATIENT: dict[str, Any] = {"header_timeout": 0.5, "body_timeout": 1.0}
"""For requests that must time out. Requests that must be answered go to a patient server."""
JSON = {"Content-Type": "application/json"}
POSTS = ("/v1/verdicts", "/v1/runs", "/v1/traces")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess, None, None]:
    store = tmp_path_factory.mktemp("limited") / "runs.db"
    with run_limited_server(store, **LIMITS, **PATIENT) as started:
        assert post(f"{started.url}/v1/verdicts", json=FOLLOWED).status_code == 200
        yield started


@pytest.fixture(scope="module")
def impatient_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[ServerProcess, None, None]:
    with run_limited_server(tmp_path_factory.mktemp("limited") / "runs.db", **IMPATIENT) as started:
        yield started
        assert get(f"{started.url}/healthz").status_code == 200


@pytest.fixture(autouse=True)
def _check_still_serving(server: ServerProcess) -> Generator[None, None, None]:
    yield
    assert get(f"{server.url}/healthz").status_code == 200


def _connect(server: ServerProcess) -> socket.socket:
    address = urlsplit(server.url)
    made = socket.create_connection((address.hostname or "", address.port or 0))
    made.settimeout(TIMEOUT_SECONDS)
    return made


def _read_all(connection: socket.socket) -> bytes:
    """Everything that comes until the other side hangs up."""
    received = b""
    while piece := connection.recv(65_536):
        received += piece
    return received


def _zeros(megabytes: int) -> Iterator[bytes]:
    for _ in range(megabytes):
        yield b"0" * MEGABYTE


def _bomb(megabytes: int) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        for piece in _zeros(megabytes):
            file.write(piece)
    return packed.getvalue()


@pytest.mark.parametrize("path", POSTS)
def test_a_body_that_is_too_large_is_refused_in_bounded_memory(
    server: ServerProcess, path: str
) -> None:
    before = server.most_memory()
    for content in (_zeros(64), b"0" * 4 * MEGABYTE):
        answer = post(f"{server.url}{path}", content=content, headers=JSON)
        assert answer.status_code == 413
        assert ("--max-data-set" if path == "/v1/runs" else "--max-body") in answer.text
    assert server.most_memory() - before < 24 * MEGABYTE


@pytest.mark.parametrize("path", POSTS)
def test_who_sends_too_much_before_they_listen_hears_so(server: ServerProcess, path: str) -> None:
    before = server.most_memory()
    with _connect(server) as connection:
        length = f"Content-Length: {40 * MEGABYTE}\r\nContent-Type: application/json"
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{length}\r\n\r\n".encode())
        for piece in _zeros(40):
            connection.sendall(piece)
        assert _read_all(connection).startswith(b"HTTP/1.1 413 ")
    assert server.most_memory() - before < 24 * MEGABYTE


@pytest.mark.parametrize("path", POSTS)
def test_a_bomb_is_refused_in_bounded_memory(server: ServerProcess, path: str) -> None:
    bomb = _bomb(256)
    assert len(bomb) < MEGABYTE
    before = server.most_memory()
    answer = post(f"{server.url}{path}", content=bomb, headers={**JSON, "Content-Encoding": "gzip"})
    assert answer.status_code == 413
    assert server.most_memory() - before < 24 * MEGABYTE


def test_a_packed_case_is_judged_and_a_broken_one_refused(server: ServerProcess) -> None:
    packed = gzip.compress(json.dumps(FOLLOWED).encode())
    url, headers = f"{server.url}/v1/verdicts", {"Content-Encoding": "gzip"}
    assert post(url, content=packed, headers=headers).status_code == 200
    members = gzip.compress(b" ") + packed
    assert post(url, content=members, headers=headers).status_code == 200
    assert post(url, content=packed[:-9], headers=headers).status_code == 400
    assert post(url, content=b"no gzip", headers=headers).status_code == 400
    other = post(url, content=packed, headers={"Content-Encoding": "br"})
    assert other.status_code == 415


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"user_task":"t","execution_trace":[['])
def test_what_is_nested_too_deeply_is_refused(server: ServerProcess, opening: bytes) -> None:
    body = opening + b"[" * 100_000 + b"]" * 100_000
    for path in ("/v1/verdicts", "/v1/traces"):
        answer = post(f"{server.url}{path}", content=body, headers=JSON)
        assert answer.status_code == 413
    metadata = json.loads("[" * 300 + "]" * 300)
    deep = post(f"{server.url}/v1/verdicts", json={**FOLLOWED, "metadata": {"a": metadata}})
    assert deep.status_code == 413


@pytest.mark.parametrize("path", ["/v1/verdicts", "/v1/traces"])
def test_a_multitude_of_values_is_refused_in_bounded_memory(tmp_path: Path, path: str) -> None:
    with run_limited_server(tmp_path / "runs.db") as started:
        assert post(f"{started.url}/v1/verdicts", json=FOLLOWED).status_code == 200
        before = started.most_memory()
        body = b'{"resourceSpans":[' + b"{}," * 10_000_000 + b"{}]}"
        answer = post(f"{started.url}{path}", content=body, headers=JSON)
        assert answer.status_code == 413
        assert "max_values" in answer.text
        # As objects they would take more than twenty times the size of the body.
        assert started.most_memory() - before < 6 * len(body)


def test_a_head_that_never_ends_is_not_waited_for(impatient_server: ServerProcess) -> None:
    with closing(_connect(impatient_server)) as silent, closing(_connect(impatient_server)) as slow:
        slow.sendall(b"POST /v1/verdicts HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert _read_all(silent) == b""
        assert _read_all(slow) == b""


def test_a_head_that_comes_letter_by_letter_is_not_waited_for(
    impatient_server: ServerProcess,
) -> None:
    with closing(_connect(impatient_server)) as dripping:
        # First a whole request, so that the connection is one that rested.
        dripping.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"200" in dripping.recv(65_536)
        with pytest.raises(ConnectionError):
            _send_slowly(dripping)


def test_a_body_that_nobody_reads_is_not_waited_for(impatient_server: ServerProcess) -> None:
    with closing(_connect(impatient_server)) as dripping:
        dripping.sendall(
            b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
        )
        with pytest.raises(ConnectionError):
            _send_slowly(dripping)


def _send_slowly(connection: socket.socket) -> None:
    """Send letter by letter, for longer than anybody should listen."""
    for _ in range(int(TIMEOUT_SECONDS / 0.05)):
        connection.sendall(b"X")
        time.sleep(0.05)


def test_a_body_that_comes_too_slowly_is_not_waited_for(impatient_server: ServerProcess) -> None:
    with closing(_connect(impatient_server)) as slow:
        slow.sendall(
            b"POST /v1/verdicts HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
        )
        assert b" 408 " in _read_all(slow).partition(b"\r\n")[0]


def test_who_says_nothing_makes_room_for_who_does(server: ServerProcess) -> None:
    silent = [_connect(server) for _ in range(30)]
    try:
        # More are held open than there may be, and somebody who asks is answered all the same.
        assert get(f"{server.url}/healthz").status_code == 200
    finally:
        for each in silent:
            each.close()


def test_a_request_beyond_the_limit_gets_retry_after_and_health_checks_are_answered(
    server: ServerProcess,
) -> None:
    head = b"POST /v1/verdicts HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"
    asking = [_connect(server) for _ in range(20)]
    try:
        for each in asking:
            each.sendall(head + b"Expect: 100-continue\r\n\r\n")
        for each in asking:
            assert b" 100 " in each.recv(1_000)
        for path in ("/v1/runs", "/", "/healthz/"):
            refused = get(f"{server.url}{path}")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        # Connections without a request give way, also those above the limit.
        silent = [_connect(server) for _ in range(20)]
        for path in ("/healthz", "/readyz"):
            assert get(f"{server.url}{path}").status_code == 200
        for each in silent:
            each.close()
    finally:
        for each in asking:
            each.close()


def test_connections_that_rest_after_a_response_make_room(server: ServerProcess) -> None:
    resting = [_connect(server) for _ in range(20)]
    try:
        for each in resting:
            each.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert b" 200 " in each.recv(65_536)
        assert get(f"{server.url}/v1/runs").status_code == 200
    finally:
        for each in resting:
            each.close()


@pytest.fixture(scope="module")
def keyed_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[tuple[ServerProcess, dict[str, str]], None, None]:
    """A server that requires keys and waits as long as it may; headers with a key for it."""
    store = tmp_path_factory.mktemp("keyed") / "runs.db"
    opened = open_sql_store(str(store))
    key = Keys(opened.database).add("writer", Role.WRITE)
    opened.close()
    patient = {**PATIENT, "keyless_timeout": TIMEOUT_SECONDS}
    with run_limited_server(store, require_keys=True, connections=20, **patient) as started:
        yield started, {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    "request_line",
    ["POST /sign-in", "POST /v1/verdicts", "GET /healthz", "POST /healthz", "GET /", "PUT /x"],
)
def test_bodies_without_a_key_leave_room_for_everybody_else(
    keyed_server: tuple[ServerProcess, dict[str, str]], request_line: str
) -> None:
    server, headers = keyed_server
    head = f"{request_line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\nk"
    slow = [_connect(server) for _ in range(60)]
    try:
        for each in slow:
            # Refused before it had sent everything.
            with suppress(ConnectionError):
                each.sendall(head.encode())
        assert get(f"{server.url}/healthz").status_code == 200
        assert get(f"{server.url}/v1/runs", headers=headers).status_code == 200
        answer = post(f"{server.url}/v1/verdicts", headers=headers, json=FOLLOWED)
        assert answer.status_code == 200
    finally:
        for each in slow:
            each.close()


def test_a_body_without_a_key_has_little_time(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    opened = open_sql_store(str(store))
    Keys(opened.database).add("writer", Role.WRITE)
    opened.close()
    with (
        run_limited_server(store, require_keys=True, **PATIENT, keyless_timeout=0.5) as started,
        closing(_connect(started)) as slow,
    ):
        slow.sendall(b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\nk")
        assert b" 408 " in _read_all(slow).partition(b"\r\n")[0]


def test_a_client_above_the_rate_limit_gets_retry_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long the requests take, no time passes between them.
    monkeypatch.setattr("planproof.server.guard.access.monotonic", VirtualTime())
    with open_client(make_settings(tmp_path / "runs.db", limits=ServerLimits(rate=3))) as client:
        answers = [client.get("/metrics") for _ in range(6)]
        # Health checks have a rate of their own, so that others can't use it up.
        checks = [client.get("/healthz") for _ in range(6)]
    for kind in (answers, checks):
        assert [answer.status_code for answer in kind[:3]] == [200, 200, 200]
        assert kind[-1].status_code == 429
        assert int(kind[-1].headers["retry-after"]) >= 1


@pytest.mark.parametrize(
    "headers",
    [
        {"content-encoding": "br", "content-length": "3"},
        {"content-encoding": "gzip", "content-length": "3"},
        {"content-length": "99999999999"},
    ],
)
@pytest.mark.parametrize("is_answered", [False, True])
def test_the_body_of_a_request_with_a_streamed_response(
    headers: dict[str, str], *, is_answered: bool
) -> None:
    """A stream reads the body after its response has started, when nothing can be refused."""
    received: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if is_answered:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        while not received or received[-1] == "http.request":
            received.append((await receive())["type"])

    async def receive() -> Message:
        return {"type": "http.request", "body": b"abc", "more_body": False}

    async def send(message: Message) -> None:
        assert message["type"] == "http.response.start"

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": "/live/events", "headers": raw}
    limited = BodyLimits(app, ServerLimits())
    if is_answered:
        asyncio.run(limited(scope, receive, send))
        assert received[-1] == "http.disconnect"
    else:
        with pytest.raises(RequestRefused):
            asyncio.run(limited(scope, receive, send))


def test_an_encoding_matters_only_for_a_body(tmp_path: Path) -> None:
    with open_client(make_settings(tmp_path / "runs.db")) as client:
        encoded = {"Content-Encoding": "br"}
        assert client.get("/assets/pages.css", headers=encoded).status_code == 200
        assert client.post("/v1/verdicts", headers=encoded, content=b"{}").status_code == 415


def test_bodies_that_take_all_the_room_are_refused(tmp_path: Path) -> None:
    with open_client(
        make_settings(tmp_path / "runs.db", limits=ServerLimits(in_flight=1000))
    ) as client:
        answer = client.post("/v1/verdicts", content=b" " * 100_000)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert client.post("/v1/verdicts", content=b"{}").status_code == 422
