"""Judges that ask a model, from the command line, against a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.audit_models import answer_audit, honest
from tests.command_line import CommandLine
from tests.scripted_model import HttpError, ModelRequest, ScriptedModel
from tests.small_cases import FOLLOWED, IDLE, PLANLESS

PROMPTED = {"score": 0.5, "reason": "Step 2 is missing."}


def _answer(asked: ModelRequest) -> str:
    prompted = "score" in (asked.schema or {}).get("properties", {})
    return json.dumps(PROMPTED) if prompted else answer_audit(asked, FOLLOWED, honest)


def _refuse_key(_: ModelRequest) -> HttpError:
    return HttpError(401, "that key is not known")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ScriptedModel]:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("PLANPROOF_CACHE", str(tmp_path / "answers.sqlite3"))
    with ScriptedModel(_answer) as running:
        yield running


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "case.json"
    path.write_text(json.dumps(FOLLOWED), encoding="utf-8")
    return path


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(("judge", "score"), [("audit", 1.0), ("prompt", 0.5), ("cascade", 1.0)])
def test_a_case_is_judged(
    planproof: CommandLine,
    server: ScriptedModel,
    case: Path,
    provider: str,
    judge: str,
    score: float,
) -> None:
    url = server.url if provider == "openai" else server.root
    asked = ("--model", f"{provider}:x", "--base-url", url)
    done = planproof("judge", case, "--judge", judge, *asked, "--format", "full")
    verdict = json.loads(done.out)
    assert (done.code, verdict["score"], verdict["judge"]["models"]) == (
        0,
        score,
        [f"{provider}:x"],
    )
    assert verify(verdict, Source.from_value(FOLLOWED["execution_trace"])) == ()
    brief = planproof("judge", case, "--judge", judge, *asked, "--format", "json")
    assert set(json.loads(brief.out)) == {"score", "reason"}
    # The answers were kept: one about the trace, and for most judges one about the plan.
    assert len(server.calls) == 1 + (judge != "prompt")


def test_with_a_model_and_no_judge_it_is_the_audit(
    planproof: CommandLine, server: ScriptedModel, case: Path
) -> None:
    asked = ("--model", "openai:x", "--model", "openai:y", "--base-url", server.url, "--no-cache")
    shown = planproof("judge", case, *asked, "--samples", "2")
    assert "judged by audit" in shown.out
    assert "openai:y: 1.0" in shown.out
    assert "samples: 1.0, 1.0; 100% agree" in shown.out
    assert len(server.calls) == 8  # two models, two samples: each asks about the plan too


def test_a_failure_is_reported_with_its_cause(
    planproof: CommandLine, server: ScriptedModel, case: Path
) -> None:
    server.behaviour = _refuse_key
    done = planproof("judge", case, "--model", "openai:x", "--base-url", server.url)
    assert done.code == 3
    assert "unauthorized: HTTP 401: that key is not known" in " ".join(done.out.split())


@pytest.mark.parametrize("judge", ["prompt", "audit", "cascade"])
def test_what_would_be_asked_is_shown_and_nobody_asked(
    planproof: CommandLine, case: Path, judge: str
) -> None:
    done = planproof("judge", case, "--judge", judge, "--show-prompt")
    assert done.code == 0
    assert "report-12.txt" in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--judge", "audit"), "needs a model"),
        (("--judge", "rules", "--model", "openai:x"), "uses no model"),
        (("--judge", "rules", "--show-prompt"), "does not use a model"),
        (("--judge", "audit", "--show-prompt", "--template", "case.json"), "requires --judge"),
    ],
)
def test_what_does_not_go_together(
    planproof: CommandLine, case: Path, options: tuple[str, ...], message: str
) -> None:
    done = planproof("judge", case, *options)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_a_dry_run_counts_and_asks_nobody(
    planproof: CommandLine, server: ScriptedModel, case: Path
) -> None:
    data = case.with_name("cases.jsonl")
    data.write_text("\n".join(map(json.dumps, (FOLLOWED, IDLE, PLANLESS))), encoding="utf-8")
    done = planproof("run", data, "--judge", "audit", "--model", "openai:x", "--dry-run")
    assert done.out.startswith("3 cases, 3 calls\n")
    assert "input tokens" in done.out
    assert "1 case can't be judged" in done.out
    assert server.calls == []


def test_a_run_says_what_was_asked(
    planproof: CommandLine, server: ScriptedModel, case: Path
) -> None:
    data = case.with_name("cases.jsonl")
    lines = [json.dumps({**FOLLOWED, "id": str(n), "user_task": f"Task {n}"}) for n in range(12)]
    data.write_text("\n".join([*lines, "{broken"]), encoding="utf-8")
    options = ("--model", "openai:x", "--base-url", server.url, "--concurrency", "3")
    done = planproof("run", data, *options)
    verdicts = [json.loads(line) for line in done.out.splitlines()]
    assert [verdict["id"] for verdict in verdicts] == [*map(str, range(12)), None]
    assert "model usage: 13 calls" in done.err  # one of them about the plan that all cases have
    assert server.most_at_once <= 3
    again = planproof("run", data, *options)
    assert "12 already judged" in again.err
    elsewhere = planproof("run", data, *options, "--store", "none")
    assert "model usage: 0 calls, 13 answers from the cache" in elsewhere.err
    assert len(server.calls) == 13
