"""A case that is pasted is judged as it would be from files, and nothing of it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from planproof.evaluation import evaluate
from planproof.server.pages.page_routes import parse_form_fields
from tests.server_processes import make_settings, open_client
from tests.small_cases import FOLLOWED, PLAN

ORIGIN = {"origin": "http://127.0.0.1"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with open_client(make_settings(tmp_path_factory.mktemp("served") / "runs.db")) as made:
        yield made


def try_case(client: TestClient, **fields: str) -> dict[str, object]:
    answer = client.post("/try", data=fields, headers=ORIGIN)
    assert answer.status_code == 200, answer.text
    _, _, after = answer.text.partition('id="case-0">')
    return json.loads(after.partition("</script>")[0])


def test_task_plan_and_trace_are_judged(client: TestClient) -> None:
    plan = "\r\n".join(f"{number}. {step}" for number, step in enumerate(PLAN, 1))
    trace = json.dumps(FOLLOWED["execution_trace"])
    found = try_case(client, task=FOLLOWED["user_task"], plan=plan, trace=trace)
    expected = evaluate(task=FOLLOWED["user_task"], plan=PLAN, trace=FOLLOWED["execution_trace"])
    assert (found["score"], found["reason"]) == (str(expected.score), expected.reason)


def test_a_whole_case_may_be_pasted_as_the_trace(client: TestClient) -> None:
    assert try_case(client, trace=json.dumps(FOLLOWED))["score"] == "1.0"


def test_nothing_is_kept(client: TestClient) -> None:
    try_case(client, trace=json.dumps(FOLLOWED))
    assert "No runs yet" in client.get("/").text


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"trace": "  "}, "the trace is missing"),
        ({"trace": '{"execution_trace": 3, "user_task": "x", "agent_plan": []}'}, "must be"),
        ({"trace": "[]", "judge": "nobody"}, "no judge `nobody` is configured on this server"),
    ],
)
def test_errors_are_shown_next_to_the_pasted_text(
    client: TestClient, fields: dict[str, str], told: str
) -> None:
    answer = client.post("/try", data={"plan": "1. <b>Sing</b>", **fields}, headers=ORIGIN)
    assert answer.status_code == 422
    assert told in answer.text
    assert "1. &lt;b&gt;Sing&lt;/b&gt;</textarea>" in answer.text
    assert 'role="alert"' in answer.text


def test_another_site_cannot_have_a_case_judged(client: TestClient) -> None:
    for origin in ("https://example.invalid", "null"):
        answer = client.post("/try", data={"trace": "[]"}, headers={"origin": origin})
        assert answer.status_code == 403


def test_a_body_that_is_not_a_form_is_an_error(client: TestClient) -> None:
    answer = client.post("/try", content=b"\xff", headers=ORIGIN)
    assert answer.status_code == 400
    assert "is not a valid form" in answer.text


def test_lines_of_a_form_end_as_they_were_typed() -> None:
    assert parse_form_fields(b"plan=1.+A%0D%0A2.+B&trace=%5B%5D") == {
        "task": "",
        "plan": "1. A\n2. B",
        "trace": "[]",
        "judge": "",
    }
