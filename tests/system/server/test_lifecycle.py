"""The server as it is started: a case in, a verdict out, and an end in good order."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from planproof.evaluation import evaluate
from planproof.runs.run_records import RunState
from planproof.runs.store.open_store import open_sql_store
from planproof.server.api import health, result_routes, run_routes, verdict_routes
from planproof.server.ingestion import otlp_routes
from planproof.server.pages import page_routes
from planproof.server.services import get_services
from tests.command_line import CommandLine
from tests.scripted_model import ScriptedModel
from tests.server_processes import get, post, run_server, stream
from tests.server_processes import make_settings as server_settings
from tests.small_cases import FOLLOWED, PLAN, TASK
from tests.timeouts import TIMEOUT_SECONDS, wait_until


def test_a_store_that_keeps_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = CommandLine(monkeypatch, capsys)("serve", "--store", "none", "--port", "0")
    assert done.code == 2
    assert "is not a database" in done.err


def test_a_server_for_others_needs_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = CommandLine(monkeypatch, capsys)
    done = run("serve", "--host", "0.0.0.0", "--port", "0", "--store", tmp_path / "runs.db")
    assert done.code == 2
    assert "planproof keys add" in done.err


ROUTERS = (health, otlp_routes, page_routes, result_routes, run_routes, verdict_routes)


def test_no_route_runs_in_a_pool_of_threads() -> None:
    """FastAPI calls plain functions in up to 40 threads, and each thread keeps memory."""

    def list_calls(dependant: Dependant) -> Iterator[Any]:
        yield dependant.call
        for needed in dependant.dependencies:
            yield from list_calls(needed)

    routes = [route for part in ROUTERS for route in part.router.routes]
    calls = {
        call
        for route in routes
        if isinstance(route, APIRoute)
        for call in list_calls(route.dependant)
    }
    assert get_services in calls
    assert [call for call in calls if not iscoroutinefunction(call)] == []


def test_keys_are_shown_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = CommandLine(monkeypatch, capsys)
    store = ("--store", tmp_path / "runs.db")
    made = run("keys", "add", "ci", "--role", "write", *store).out.strip()
    assert made.startswith("planproof_")
    again = run("keys", "add", "ci", *store)
    assert (again.code, again.out) == (2, "")
    listed = run("keys", "list", *store).out
    assert listed.split()[:2] == ["ci", "write"]
    assert made not in listed
    with run_server(tmp_path / "runs.db", "--demand-keys") as server:
        assert get(f"{server.url}/openapi.json").status_code == 401
        headers = {"Authorization": f"Bearer {made}"}
        assert get(f"{server.url}/openapi.json", headers=headers).status_code == 200
        assert server.end() == 0
    assert made not in "".join(server.told)
    assert run("keys", "remove", "ci", *store).code == 0
    assert run("keys", "remove", "ci", *store).code == 2
    assert run("keys", "add", "no name", *store).code == 2


def test_a_case_is_judged_as_elsewhere_and_logged_without_a_word_of_it(tmp_path: Path) -> None:
    with run_server(tmp_path / "runs.db") as server:
        answer = post(f"{server.url}/v1/verdicts", json=FOLLOWED)
        expected = evaluate(task=TASK, plan=PLAN, trace=FOLLOWED["execution_trace"], id="followed")
        assert answer.json() == json.loads(json.dumps(expected.full()))
        post(f"{server.url}/v1/verdicts", json={**FOLLOWED, "agent_plan": 7})
        get(f"{server.url}/v1/runs/report-12?q=report-12")
        assert server.end() == 0
    lines = [json.loads(line) for line in server.told if not line.startswith("planproof: ")]
    asked = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in asked] == [200, 422, 404]
    assert asked[0]["route"] == "/v1/verdicts"
    assert not any(word in "".join(server.told) for word in ("report-12", "Archive", "draft"))


def test_a_run_is_interrupted_in_good_order_and_can_be_gone_on_with(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    lines = "\n".join(
        json.dumps({**FOLLOWED, "id": f"c{number}", "user_task": f"Tidy up {number}."})
        for number in range(20_000)
    )
    with run_server(store) as server:
        begun = post(f"{server.url}/v1/runs?name=long", content=lines).json()
        with stream("GET", f"{server.url}{begun['events']}") as told:
            events = told.iter_lines()
            assert next(events) == "event: progress"
            # An open event stream does not block the shutdown.
            server.process.terminate()
            list(events)
        assert server.process.wait(TIMEOUT_SECONDS) == 0
    kept = open_sql_store(str(store))
    try:
        run = kept.find_run(begun["run"]["id"])
        assert run.state is RunState.INTERRUPTED
        assert run.cases < 20_000
    finally:
        kept.close()


def test_a_model_is_asked_where_one_is_configured_and_the_rules_can_be(tmp_path: Path) -> None:
    answer = json.dumps({"score": 0.25, "reason": "Step 2 is missing."})
    with ScriptedModel(lambda _: answer) as model:
        settings = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
        settings["PLANPROOF_CACHE"] = str(tmp_path / "answers.db")
        asking = ("--judge", "prompt", "--model", "openai:scripted")
        with run_server(tmp_path / "runs.db", *asking, environment=settings) as server:
            asked = post(f"{server.url}/v1/verdicts", json=FOLLOWED).json()
            ruled = post(f"{server.url}/v1/verdicts?judge=rules", json=FOLLOWED).json()
            begun = post(f"{server.url}/v1/runs", json=[FOLLOWED]).json()
            get(f"{server.url}{begun['events']}")
            kept = get(f"{server.url}/v1/runs/latest").json()
            model.latency = 1.0
            with ThreadPoolExecutor(1) as thread:
                other = {**FOLLOWED, "user_task": "Another."}
                late = thread.submit(post, f"{server.url}/v1/verdicts", json=other)
                wait_until(lambda: len(model.calls) >= 2)
                # Running requests are answered before the shutdown.
                assert server.end() == 0
                assert late.result().json()["score"] == 0.25
    assert (asked["score"], asked["judge"]["name"]) == (0.25, "prompt")
    assert (ruled["score"], ruled["judge"]["name"]) == (1.0, "rules")
    assert kept["run"]["judge"]["models"] == ["openai:scripted"]
    assert kept["summary"]["mean"] == 0.25


def test_small_responses_are_not_delayed(tmp_path: Path) -> None:
    from planproof.server.lifecycle import _open_listener  # pyright: ignore[reportPrivateUsage]

    with _open_listener(server_settings(tmp_path / "runs.db")) as listener:
        # Which is what asyncio looks at before it turns off that the system waits for more.
        assert listener.proto == socket.IPPROTO_TCP


def test_what_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "planproof.server.lifecycle", raising=False)
    monkeypatch.delitem(sys.modules, "planproof.server.connection_limits", raising=False)
    done = CommandLine(monkeypatch, capsys)("serve")
    assert done.code == 2
    assert "planproof[server]" in done.err
