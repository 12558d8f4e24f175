"""The API: cases and data sets in, verdicts and runs out."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from planproof.evaluation import evaluate
from planproof.runs.run_records import RunState
from planproof.server.server_settings import ServerLimits
from tests.command_line import CommandLine
from tests.otlp_traces import make_export, make_spans
from tests.server_processes import make_settings, open_client
from tests.small_cases import FOLLOWED, IDLE, PLAN, PLANLESS

CASES: list[dict[str, Any]] = [
    FOLLOWED,
    {**IDLE, "id": "folder/idle", "metadata": {"team": "search"}},
    {**PLANLESS, "id": "planless"},
    {**IDLE, "id": "idle too", "user_task": "Another."},
]
LINES = "\n".join([*map(json.dumps, CASES), "{broken"])


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Generator[TestClient, None, None]:
    store = tmp_path_factory.mktemp("api") / "runs.db"
    with open_client(make_settings(store, limits=ServerLimits(runs=2))) as made:
        yield made


@pytest.fixture(scope="module")
def run(client: TestClient) -> str:
    """A run over all of them, which is over."""
    return _wait_for_run(
        client, client.post("/v1/runs", params={"name": "nightly", "tag": "a=b"}, content=LINES)
    )


def _wait_for_run(client: TestClient, answer: Any) -> str:
    assert answer.status_code == 202, answer.text
    begun = answer.json()
    told = client.get(begun["events"]).text
    assert told.count("event: over") == 1
    return begun["run"]["id"]


def _get(client: TestClient, path: str, **query: Any) -> Any:
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_case_is_judged(client: TestClient) -> None:
    answer = client.post("/v1/verdicts", json=FOLLOWED)
    expected = evaluate(
        task=FOLLOWED["user_task"], plan=PLAN, trace=FOLLOWED["execution_trace"], id="followed"
    )
    assert answer.json() == json.loads(json.dumps(expected.full()))
    unplanned = client.post("/v1/verdicts", json=PLANLESS).json()
    assert (unplanned["outcome"], unplanned["score"]) == ("no_plan", None)


@pytest.mark.parametrize(
    ("body", "status", "where"),
    [
        ("", 400, "body"),
        ("{broken", 400, "body"),
        ('{"a": 1e999}x', 400, "body"),
        (b"\xff", 400, "body"),
        ("[]", 422, "body"),
        ("{}", 422, "body"),
        (json.dumps({**FOLLOWED, "agent_plan": 7}), 422, "body#/agent_plan"),
        (json.dumps({**FOLLOWED, "execution_trace": None}), 422, "body#/execution_trace"),
    ],
)
def test_an_invalid_case_is_an_error(
    client: TestClient, body: str | bytes, status: int, where: str
) -> None:
    answer = client.post("/v1/verdicts", content=body)
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert (answer.status_code, told["status"], told["where"]) == (status, status, where)
    assert told["what"]
    assert told["advice"]


def test_halves_of_characters_and_nuls_come_back_as_they_were(client: TestClient) -> None:
    odd = {"odd": "\u0000 \ud800 é"}
    body = json.dumps({**FOLLOWED, "id": "a\u0000b", "metadata": odd})
    told = client.post("/v1/verdicts", content=body).json()
    assert (told["id"], told["metadata"]) == ("a\u0000b", odd)


def test_a_value_that_is_not_a_number_is_returned_as_text(client: TestClient) -> None:
    body = json.dumps({**FOLLOWED, "metadata": {"loss": float("nan"), "gain": -float("inf")}})
    told = client.post("/v1/verdicts", content=body)
    assert told.json()["metadata"] == {"loss": "NaN", "gain": "-Infinity"}


def test_an_unknown_judge_is_an_error(client: TestClient) -> None:
    answer = client.post("/v1/verdicts", params={"judge": "rulez"}, json=FOLLOWED)
    assert answer.status_code == 404
    assert "Did you mean `rules`?" in answer.json()["advice"]
    assert client.post("/v1/runs?judge=audit", content=LINES).status_code == 404


def test_a_run_is_kept_and_summed_up(client: TestClient, run: str) -> None:
    shown = _get(client, f"/v1/runs/{run}")
    assert (shown["run"]["state"], shown["run"]["cases"]) == ("finished", 5)
    assert (shown["run"]["source"], shown["run"]["tags"]) == ("nightly", {"a": "b"})
    assert shown["summary"]["unscored"] == {"invalid_input": 1, "no_plan": 1}
    assert _get(client, "/v1/runs/a=b")["run"]["id"] == run
    assert run in [each["id"] for each in _get(client, "/v1/runs", tag="a=b")["runs"]]
    assert _get(client, "/v1/runs", tag="a=c") == {"runs": [], "more": False}


def test_cases_and_verdicts_come_by_pages_and_filters(client: TestClient, run: str) -> None:
    path = f"/v1/runs/{run}/cases"
    every = _get(client, path)
    assert [case["id"] for case in every["cases"]] == [*(c["id"] for c in CASES), None]
    page = _get(client, path, first=1, most=2)
    assert (page["cases"], page["total"]) == (every["cases"][1:3], 5)
    broken = _get(client, path, outcome="invalid_input")
    assert [case["position"] for case in broken["cases"]] == [4]
    assert _get(client, path, level=0.0)["total"] == 2
    assert _get(client, path, words="IDLE")["total"] == 2
    last = _get(client, f"/v1/runs/{run}/verdicts", order="position", descending=True, most=1)
    assert last["verdicts"][0]["outcome"] == "invalid_input"


def test_a_case_can_be_taken_out_and_handed_in_again(client: TestClient, run: str) -> None:
    case = _get(client, f"/v1/runs/{run}/cases/folder/idle")
    assert (case["position"], case["metadata"]) == (1, {"team": "search"})
    again = client.post("/v1/verdicts", json=case).json()
    assert again == _get(client, f"/v1/runs/{run}/verdicts/folder/idle")
    assert _get(client, f"/v1/runs/{run}/cases/4")["execution_trace"] is None


def test_a_bare_trace_can_be_taken_out_and_handed_in_again(
    client: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    own = _wait_for_run(
        client, client.post("/v1/runs?name=traces", content=json.dumps(make_export(make_spans(1))))
    )
    case = _get(client, f"/v1/runs/{own}/cases/0")
    verdict = _get(client, f"/v1/runs/{own}/verdicts/0")
    assert (case["user_task"], verdict["score"]) == (None, 1.0)
    assert client.post("/v1/verdicts", json=case).json() == verdict
    for name, content in (("case.json", case), ("verdict.json", verdict)):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    planproof = CommandLine(monkeypatch, capsys)
    assert json.loads(planproof("judge", "case.json", "--format", "full").out) == verdict
    assert planproof("verify", "verdict.json", "case.json").code == 0


@pytest.mark.parametrize(
    "path",
    [
        "/v1/runs/none",
        "/v1/runs/none/cases",
        "/v1/runs/latest/cases/none",
        "/v1/runs/latest/verdicts/none",
        "/v1/compare?base=none",
        "/v1/compare?base=x=y",
    ],
)
def test_missing_resources_are_404(client: TestClient, run: str, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404, run
    assert answer.json()["advice"]
    assert "runs.db" not in answer.text


def test_two_runs_are_compared(client: TestClient, run: str) -> None:
    changed = [{**IDLE, "id": "followed"}, *CASES[1:]]
    later = _wait_for_run(
        client, client.post("/v1/runs?name=nightly", content="\n".join(map(json.dumps, changed)))
    )
    told = _get(client, "/v1/compare", base="previous", new=later)
    assert (told["base"]["id"], told["new"]["id"]) == (run, later)
    assert told["comparison"]["worse"] == 1


def test_a_data_set_without_a_case_is_refused(client: TestClient) -> None:
    before = _get(client, "/v1/runs")
    for body in ("", "\n \n", '"AAA"', "[[]]"):
        assert client.post("/v1/runs", content=body).status_code == 422
    assert client.post("/v1/runs?tag=none", content=LINES).status_code == 422
    assert _get(client, "/v1/runs") == before


def test_a_run_that_was_broken_off_goes_on(client: TestClient) -> None:
    app: Any = client.app
    first = _wait_for_run(client, client.post("/v1/runs?name=again", content=LINES))
    app.state.services.store.close_run(first, RunState.INTERRUPTED)
    assert (
        _wait_for_run(client, client.post("/v1/runs?name=again&resume=true", content=LINES))
        == first
    )
    other = client.post("/v1/runs?name=again&resume=true", content=LINES)
    assert _wait_for_run(client, other) != first


def test_figures_are_for_prometheus(client: TestClient, run: str) -> None:
    assert client.get(f"/v1/runs/{run}").status_code == 200
    told = client.get("/metrics").text
    assert 'planproof_verdicts_total{judge="rules",outcome="scored"}' in told, run
    assert 'route="/v1/runs/{run}"' in told
    assert "folder/idle" not in told


def test_a_case_that_is_nested_too_deeply_does_not_end_the_run(client: TestClient) -> None:
    nested = "[" * 700 + "]" * 700
    deep = json.dumps({**FOLLOWED, "execution_trace": "@"}).replace('"@"', nested)
    run = _wait_for_run(client, client.post("/v1/runs", content=f"{deep}\n{json.dumps(FOLLOWED)}"))
    outcomes = [case["outcome"] for case in _get(client, f"/v1/runs/{run}/cases")["cases"]]
    assert outcomes == ["invalid_input", "scored"]


def test_a_run_beyond_the_limit_is_refused_before_its_body_is_read(client: TestClient) -> None:
    app: Any = client.app
    runs = app.state.services.runs
    runs.reserve_slot()
    runs.reserve_slot()
    try:
        answer = client.post("/v1/runs", content=LINES)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    finally:
        runs.release_slot()
        runs.release_slot()
    _wait_for_run(client, client.post("/v1/runs", content=LINES))
