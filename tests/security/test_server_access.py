"""With keys on, nobody is answered without one; without keys, no foreign site is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from planproof.runs.store import database
from planproof.runs.store.open_store import open_sql_store
from planproof.server.guard import access
from planproof.server.guard.api_keys import Keys, Role
from tests.server_processes import make_settings, open_client
from tests.small_cases import FOLLOWED

OPEN = {"/healthz", "/readyz"}


@dataclass(frozen=True, slots=True)
class GuardedServer:
    client: TestClient
    read: str
    write: str
    store: Path
    pauses: list[float]

    def ask(self, method: str, path: str, key: str | None = None, **how: Any) -> Any:
        headers = how.pop("headers", {})
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return self.client.request(method, path, headers=headers, follow_redirects=False, **how)


@pytest.fixture(scope="module")
def guarded_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Generator[GuardedServer, None, None]:
    store = tmp_path_factory.mktemp("guarded") / "runs.db"
    opened = open_sql_store(str(store))
    keys = Keys(opened.database)
    read, write = keys.add("reader", Role.READ), keys.add("writer", Role.WRITE)
    opened.close()
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "sleep", pause)
        with open_client(make_settings(store, host="0.0.0.0")) as client:
            yield GuardedServer(client, read, write, store, pauses)


def _routes(guarded: GuardedServer) -> list[tuple[str, str]]:
    """Every method and path that is served, with something in the place of parameters."""
    app: Any = guarded.client.app
    return [
        (method, (context.path or "").replace("{", "").replace("}", ""))
        for context in iter_route_contexts(app.routes)
        for method in context.methods or {"GET"}
    ]


def test_no_route_but_health_answers_without_a_key(guarded_server: GuardedServer) -> None:
    routes = _routes(guarded_server)
    assert ("POST", "/v1/verdicts") in routes
    for method, path in [*routes, ("GET", "/nowhere"), ("POST", "/sign-in"), ("GET", "/sign-in")]:
        answer = guarded_server.ask(method, path)
        if path in OPEN:
            assert answer.status_code == 200, path
        else:
            assert answer.status_code == 401, (method, path)
            assert "planproof_session" not in answer.headers.get("set-cookie", "")


def test_the_description_says_where_a_key_is_needed(guarded_server: GuardedServer) -> None:
    described = guarded_server.ask("GET", "/openapi.json", guarded_server.read).json()
    assert described["security"] == [{"key": []}]
    assert described["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    open_to_all = {
        path
        for path, methods in described["paths"].items()
        for operation in methods.values()
        if operation.get("security") == []
    }
    assert open_to_all == OPEN


def test_who_has_a_read_key_can_read_and_nothing_else(guarded_server: GuardedServer) -> None:
    assert guarded_server.ask("GET", "/metrics", guarded_server.read).status_code == 200
    for method, path in _routes(guarded_server):
        if method not in {"GET", "HEAD", "OPTIONS"}:
            assert guarded_server.ask(method, path, guarded_server.read).status_code == 403, (
                method,
                path,
            )
    assert (
        guarded_server.ask("POST", "/v1/verdicts", guarded_server.write, json=FOLLOWED).status_code
        == 200
    )


def test_a_read_only_key_is_refused_on_a_page(
    guarded_server: GuardedServer,
) -> None:
    page = guarded_server.ask(
        "POST", "/try", guarded_server.read, headers={"Accept": "text/html,*/*;q=0.8"}
    )
    assert page.status_code == 403
    assert page.headers["content-type"].startswith("text/html")
    assert "the key `reader` is read-only." in page.text
    assert 'action="./sign-out"' in page.text
    deeper = guarded_server.ask(
        "POST", "/a/b", guarded_server.read, headers={"Accept": "text/html"}
    )
    assert 'action="../sign-out"' in deeper.text


@pytest.mark.parametrize("key", [None, "read"])
def test_a_path_that_is_all_slashes_makes_no_page_many_times_its_length(
    guarded_server: GuardedServer, key: str | None
) -> None:
    path = "/a" * 20_000
    known = None if key is None else guarded_server.read
    page = guarded_server.ask("GET", path, known, headers={"Accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")
    assert len(page.text) < 3 * len(path)


def test_a_wrong_key_is_answered_later_each_time(guarded_server: GuardedServer) -> None:
    guarded_server.pauses.clear()
    for _ in range(3):
        answer = guarded_server.ask("GET", "/metrics", "planproof_wrong")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    first, second, third = guarded_server.pauses
    assert 0 < first < second < third
    assert guarded_server.ask("GET", "/metrics", guarded_server.read).status_code == 200
    assert len(guarded_server.pauses) == 3  # who has the right key does not wait for who has not


def test_a_page_is_signed_in_to_with_a_key(guarded_server: GuardedServer) -> None:
    page = guarded_server.ask("GET", "/metrics?a=%22%3E", headers={"Accept": "text/html"})
    assert page.status_code == 401
    assert 'action="./sign-in"' in page.text
    assert '">"' not in page.text
    filled = {"key": guarded_server.read, "to": "/metrics"}
    signed = guarded_server.ask("POST", "/sign-in", data=filled)
    assert (signed.status_code, signed.headers["location"]) == (303, "./metrics")
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert guarded_server.read not in cookie
    guarded_server.client.cookies.clear()
    session = {"Cookie": cookie.partition(";")[0]}
    assert guarded_server.ask("GET", "/metrics", headers=dict(session)).status_code == 200
    assert guarded_server.ask("POST", "/v1/verdicts", headers=dict(session)).status_code == 403
    assert guarded_server.ask("POST", "/sign-out", headers=dict(session)).status_code == 303
    assert guarded_server.ask("GET", "/metrics", headers=dict(session)).status_code == 401


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example", ""])
def test_signing_in_leads_nowhere_else(guarded_server: GuardedServer, to: str) -> None:
    signed = guarded_server.ask("POST", "/sign-in", data={"key": guarded_server.read, "to": to})
    assert signed.headers["location"] == "./"
    guarded_server.client.cookies.clear()


def test_a_key_that_was_removed_is_good_for_nothing(
    guarded_server: GuardedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_sql_store(str(guarded_server.store))
    keys = Keys(opened.database)
    made = keys.add("leaver", Role.READ)
    monkeypatch.setattr("planproof.server.guard.api_keys._CACHE_SECONDS", 0.0)
    assert guarded_server.ask("GET", "/metrics", made).status_code == 200
    keys.remove("leaver")
    opened.close()
    assert guarded_server.ask("GET", "/metrics", made).status_code == 401


def test_keys_are_in_no_file_of_the_store(guarded_server: GuardedServer) -> None:
    kept = b"".join(path.read_bytes() for path in guarded_server.store.parent.iterdir())
    for key in (guarded_server.read, guarded_server.write):
        assert key.encode() not in kept
        assert key.removeprefix("planproof_").encode() not in kept


def test_keys_are_in_no_log_and_no_error(
    guarded_server: GuardedServer, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = "planproof_mistyped_key"
    with caplog.at_level(0):
        told = [
            guarded_server.ask("GET", "/nowhere", guarded_server.read).text,
            guarded_server.ask("POST", "/v1/verdicts", guarded_server.read).text,
            guarded_server.ask("GET", "/metrics", wrong).text,
            guarded_server.ask("POST", "/sign-in", data={"key": wrong}).text,
            guarded_server.ask("GET", "/metrics", guarded_server.write).text,
        ]
    told += [json.dumps(record.__dict__, default=str) for record in caplog.records]
    assert len(told) > 5
    for words in told:
        assert not any(key in words for key in (guarded_server.read, guarded_server.write, wrong))


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Generator[TestClient, None, None]:
    with open_client(make_settings(tmp_path_factory.mktemp("open") / "runs.db")) as client:
        yield client


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "evil.example:7526"},
        {"Host": "127.0.0.1:7526@evil.example"},
        {"Host": "127.0.0.1@evil.example"},
        {"Host": "[::1]@evil.example"},
        {"Host": "[::1].evil.example"},
        {"Host": "127.0.0.1:port"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://["},
        {"Origin": "//127.0.0.1"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_what_another_site_sends_is_refused(
    open_server: TestClient, headers: dict[str, str]
) -> None:
    answer = open_server.post("/v1/verdicts", json=FOLLOWED, headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "localhost:7526"},
        {"Host": "[::1]:7526"},
        {"Host": "127.0.0.1:7526", "Origin": "http://127.0.0.1:7526"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
    ],
)
def test_what_this_machine_sends_is_answered(
    open_server: TestClient, headers: dict[str, str]
) -> None:
    answer = open_server.post("/v1/verdicts", json=FOLLOWED, headers=headers)
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_a_link_from_another_site_can_be_followed_but_not_framed(open_server: TestClient) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert open_server.get("/metrics", headers=followed).status_code == 200
    framed = {**followed, "Sec-Fetch-Dest": "iframe"}
    assert open_server.get("/metrics", headers=framed).status_code == 403


def test_every_response_has_security_headers(open_server: TestClient) -> None:
    for path in ("/healthz", "/nowhere", "/openapi.json"):
        headers = open_server.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_a_missing_store_is_an_error_without_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "kept" / "runs.db"
    opened = open_sql_store(str(store))
    Keys(opened.database).add("reader", Role.READ)
    opened.close()
    with open_client(make_settings(store, require_keys=True)) as client:
        store.rename(tmp_path / "elsewhere.db")
        for path, key in (("/readyz", None), ("/v1/runs", "planproof_any")):
            headers = {} if key is None else {"Authorization": f"Bearer {key}"}
            answer = client.get(path, headers=headers)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
            assert "runs.db" not in answer.text
    assert "Traceback" not in capsys.readouterr().err


def test_a_server_is_not_ready_when_its_store_takes_nothing(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    with open_client(make_settings(store)) as client:
        with closing(sqlite3.connect(store)) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON servers"
                " BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
            )
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").status_code == 503
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("DROP TRIGGER full")
        assert client.get("/readyz").status_code == 200


def test_a_server_is_not_ready_when_the_disk_is_nearly_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_client(make_settings(tmp_path / "runs.db")) as client:

        def measure_disk(_: Path) -> SimpleNamespace:
            return SimpleNamespace(free=1_000_000)

        monkeypatch.setattr(database, "disk_usage", measure_disk)
        answer = client.get("/readyz")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "runs.db" not in answer.text
