from __future__ import annotations

from pathlib import Path

import pytest

from planproof.core.model import Usage
from planproof.llm.answer_cache import AnswerCache
from tests.command_line import CommandLine


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PLANPROOF_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_info_counts_and_clear_removes(planproof: CommandLine, path: Path) -> None:
    cache = AnswerCache(path)
    cache.store("k", "{}", model="openai:x", usage=Usage(calls=1, cost=1.5))
    cache.close()

    told = planproof("cache", "info")
    cleared = planproof("cache", "clear")
    after = planproof("cache", "info")

    assert told.code == cleared.code == after.code == 0
    assert told.out.startswith(
        f"{path}\n1 answer, 0.0 MB, which cost 1.50 dollars\n  openai:x  1\n"
    )
    assert "removed" in cleared.out
    assert "0 answers" in after.out


def test_a_file_of_another_kind_is_an_error(planproof: CommandLine, path: Path) -> None:
    path.write_text("these are my notes, and no database at all")

    done = planproof("cache", "clear")

    assert done.code == 2
    assert "PLANPROOF_CACHE" in done.err
    assert path.exists()
