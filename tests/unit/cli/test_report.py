"""`planproof report`: a run of the store as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from planproof.runs.store.open_store import open_store
from tests.command_line import CommandLine
from tests.judged_cases import EVERY_STATUS, demo_case, store_run


@pytest.fixture(autouse=True)
def stored_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANPROOF_STORE", raising=False)
    store = open_store()
    store_run(store, [demo_case("followed"), EVERY_STATUS])
    store.close()


def test_the_latest_run_is_drawn(planproof: CommandLine, folder: Path) -> None:
    done = planproof("report")
    assert (done.code, done.out) == (0, "")
    assert done.err == "report.html: 2 cases of 20260101-030000-abc123\n"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count('type="application/json"') == 3
    assert "report-12" in page
    assert not list(folder.glob("*.partial"))


def test_a_run_is_named_and_printed(planproof: CommandLine) -> None:
    done = planproof("report", "20260101", "-o", "-")
    assert done.code == 0
    assert done.out.startswith("<!doctype html>")
    assert done.err == ""


def test_an_unknown_run_leaves_no_file(planproof: CommandLine, folder: Path) -> None:
    done = planproof("report", "1999", "-o", "new.html")
    assert done.code == 2
    assert "1999" in done.err
    assert not list(folder.glob("new.html*"))
