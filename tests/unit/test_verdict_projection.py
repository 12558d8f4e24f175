"""The record of what `rules` decides: a change is found, named and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planproof.core.finding import Evidence, Extra, Severity, Status, StepFinding
from planproof.core.verdict import Outcome, Verdict
from scripts import parallel_verdicts
from scripts.doc_blocks import ROOT
from scripts.golden_cases import derive_plans, generate_golden_cases
from scripts.parallel_verdicts import judge_all, project_verdict
from scripts.verdict_projection import compute_digest, main, serialize_projection
from tests.golden_files import GOLDENS
from tests.small_bench import v2_case, write_bench

VERDICT = Verdict(
    outcome=Outcome.SCORED,
    reason="Words that may change.",
    score=0.5,
    steps=(
        StepFinding(
            number="1",
            text="Look it up",
            status=Status.PARTIAL,
            confidence=0.12345678,
            evidence=(Evidence("e2", "/1", "get"),),
            covers=("e2", "e3"),
            note="Words that may change.",
        ),
    ),
    extras=(
        Extra(
            event="e4",
            pointer="/3",
            quote="rm",
            what="x",
            severity=Severity.MAJOR,
            confidence=2 / 3,
        ),
    ),
)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout beside a bench of three cases, of which one is in another split."""
    cases = [v2_case("t1", "faithful"), v2_case("t1", "missing"), v2_case("h", "missing", "hand")]
    monkeypatch.setenv("PLANPROOF_BENCH", str(write_bench(tmp_path / "bench", cases)))
    return tmp_path / "checkout"


def run(checkout: Path, *arguments: str) -> int:
    return main([*arguments, "--jobs", "1"], root=checkout)


def change_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every verdict have another score than before."""
    before = project_verdict

    def changed(verdict: Verdict) -> dict[str, Any]:
        return {**before(verdict), "score": 0.123}

    monkeypatch.setattr(parallel_verdicts, "project_verdict", changed)


def test_a_projection_has_what_was_decided_and_no_words() -> None:
    assert project_verdict(VERDICT) == {
        "outcome": "scored",
        "score": 0.5,
        "steps": [
            {
                "number": "1",
                "status": "partial",
                "confidence": 0.123457,
                "evidence": [["e2", "/1", "get"]],
                "covers": ["e2", "e3"],
            }
        ],
        "extras": [
            {
                "event": "e4",
                "pointer": "/3",
                "quote": "rm",
                "severity": "major",
                "confidence": 0.666667,
            }
        ],
    }


def test_the_digest_is_the_same_on_every_machine() -> None:
    turned = dict(reversed(project_verdict(VERDICT).items()))
    assert (
        compute_digest(serialize_projection(turned))
        == compute_digest(serialize_projection(project_verdict(VERDICT)))
        == "1142fca51ed6"
    )


def test_verdicts_as_recorded_pass(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(checkout, "record") == 0
    assert run(checkout, "check") == 0
    printed = capsys.readouterr().out
    assert "train: 2 cases recorded" in printed
    assert "train: 2 cases as recorded" in printed
    assert "bench: skipped" in printed
    lines = (checkout / "tests/projection/train.txt").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["t1::faithful", "t1::missing"]


def test_only_the_train_split_is_ever_read(checkout: Path) -> None:
    run(checkout, "record")
    run(checkout, "check", "--diff")
    asked = (checkout.parent / "bench/v2/asked.txt").read_text().split()
    assert set(asked) == {"train"}
    written = [file.read_text() for file in checkout.rglob("*.*") if file.is_file()]
    assert written
    assert not [text for text in written if "h::missing" in text]


def test_a_changed_verdict_is_named_and_shown(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(checkout, "record")
    change_scores(monkeypatch)
    capsys.readouterr()
    assert run(checkout, "check", "--diff", "t1::missing") == 1
    printed = capsys.readouterr().out
    assert "train: 2 cases, 2 changed" in printed
    assert "changed t1::faithful  1.0 -> 0.123" in printed
    assert "--- t1::missing (recorded)\n+++ t1::missing (now)" in printed
    assert "--- t1::faithful" not in printed
    assert '-"score": 0.5' in printed.replace("- ", "-")
    assert '+"score": 0.123' in printed.replace("+ ", "+")
    assert "make projection-record" in printed
    # The recorded text is still there: a second look shows the same.
    assert run(checkout, "check", "--diff", "t1::missing") == 1
    assert capsys.readouterr().out == printed


def test_texts_of_a_record_made_elsewhere_are_kept_by_the_first_check(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(checkout, "record")
    texts = checkout / ".projection/train.jsonl"
    texts.unlink()
    with monkeypatch.context() as changing:
        change_scores(changing)
        assert run(checkout, "check", "--diff") == 1
        assert "t1::missing: the recorded text is not on this machine" in capsys.readouterr().out
    assert run(checkout, "check") == 0
    change_scores(monkeypatch)
    run(checkout, "check", "--diff")
    assert "--- t1::missing (recorded)" in capsys.readouterr().out


def test_many_changes_are_summed_up(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        v2_case(f"t{number}", kind) for number in range(15) for kind in ("faithful", "missing")
    ]
    write_bench(checkout.parent / "bench", cases)
    run(checkout, "record")
    change_scores(monkeypatch)
    assert run(checkout, "check") == 1
    printed = capsys.readouterr().out
    assert "... and 10 more changed" in printed
    assert "15 x 1.0 -> 0.123" in printed
    assert "15 x 0.5 -> 0.123" in printed


def test_new_cases_and_missing_ones_fail(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(checkout, "record")
    write_bench(checkout.parent / "bench", [v2_case("t1", "missing"), v2_case("t2", "missing")])
    assert run(checkout, "check") == 1
    printed = capsys.readouterr().out
    assert "train: 2 cases, 1 new, 1 gone" in printed
    assert "new     t2::missing" in printed
    assert "gone    t1::faithful" in printed


def test_without_a_bench_the_goldens_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANPROOF_BENCH", str(tmp_path / "nowhere"))
    golden = tmp_path / "examples/one"
    golden.mkdir(parents=True)
    example = GOLDENS[0]
    (golden / example.file.name).write_bytes(example.file.read_bytes())
    (golden / "expected.json").write_text(json.dumps(example.expected))
    assert run(tmp_path, "record") == 0
    assert run(tmp_path, "check") == 0
    assert "train: skipped" in capsys.readouterr().out
    recorded = (tmp_path / "tests/projection/goldens.txt").read_text()
    assert "examples/one::reversed" in recorded
    assert not (tmp_path / "tests/projection/train.txt").exists()


def test_what_can_not_be_read_has_an_outcome_too() -> None:
    found = judge_all([{"id": "x", "user_task": "", "agent_plan": 5, "execution_trace": []}])
    assert found["x"] == {"outcome": "invalid_input", "score": None, "steps": [], "extras": []}


def test_two_cases_can_not_share_an_id() -> None:
    case = v2_case("t1", "missing")
    with pytest.raises(ValueError, match="an id that another case has"):
        judge_all([case, case], jobs=1)


def test_every_golden_is_judged_by_several_plans() -> None:
    ids = [record["id"] for record in generate_golden_cases(ROOT)]
    assert len(ids) == len(set(ids))
    for golden in GOLDENS:
        own = [id_ for id_ in ids if f"/{golden.name}::" in id_]
        assert len(own) >= (6 if golden.expected["actions"] else 1)
        assert any(id_.endswith("::declared") for id_ in own) == bool(golden.expected["plan"])
    assert any(id_.startswith("docs/examples/case.json") for id_ in ids)


def test_derived_plans_are_followed_turned_round_shortened_and_extended() -> None:
    actions = [{"name": "get_order", "holds": "A-1"}, {"name": "refund", "holds": "38.5"}]
    plans = derive_plans(actions)
    calls = ["Call get_order with A-1", "Call refund with 38.5"]
    assert plans["calls"] == calls
    assert plans["reversed"] == calls[::-1]
    assert plans["every-other"] == calls[:1]
    assert plans["names"] == ["Get order.", "Refund."]
    assert [step for step in plans["one-more"] if step not in calls] == [plans["one-more"][1]]
    assert derive_plans([]).keys() == {"one-more", "abstract"}
