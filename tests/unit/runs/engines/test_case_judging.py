"""The fingerprint of a run: what a verdict rests on, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from planproof.core.limits import Limits
from planproof.core.vocabulary import Vocabulary
from planproof.llm.judge_registry import find_judge
from planproof.runs.engines import case_judging as judging
from planproof.runs.engines.case_judging import CaseEvaluator
from tests.own_format import make_reader

RULES = find_judge()


def test_the_same_judging_has_the_same_fingerprint() -> None:
    assert CaseEvaluator(RULES).fingerprint == CaseEvaluator(find_judge()).fingerprint


@pytest.mark.parametrize(
    "other",
    [
        CaseEvaluator(RULES, reader="general"),
        CaseEvaluator(RULES, limits=Limits(bytes=10)),
        CaseEvaluator(RULES, profiles=(make_reader(),)),
        CaseEvaluator(
            find_judge(vocabulary=Vocabulary().with_declared(closing=frozenset({"bye"})))
        ),
    ],
    ids=["reader", "limits", "profiles", "vocabulary"],
)
def test_what_a_verdict_rests_on_changes_the_fingerprint(other: CaseEvaluator) -> None:
    assert other.fingerprint != CaseEvaluator(RULES).fingerprint


def test_the_program_is_a_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "readers/native.py",
        "runs/engines/case_judging.py",
        "cli/run.py",
        "checking/weights.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    monkeypatch.setattr(judging, "__file__", str(tmp_path / "runs" / "engines" / "case_judging.py"))

    def seen() -> str:
        judging._hash_program.cache_clear()  # pyright: ignore[reportPrivateUsage]
        return CaseEvaluator(RULES).fingerprint

    try:
        before = seen()
        (tmp_path / "cli" / "run.py").write_text("2")
        assert seen() == before
        (tmp_path / "checking" / "weights.json").write_text("2")
        changed = seen()
        assert changed != before
        (tmp_path / "readers" / "other.py").write_text("1")
        assert seen() not in {before, changed}
    finally:
        judging._hash_program.cache_clear()  # pyright: ignore[reportPrivateUsage]
