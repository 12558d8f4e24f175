"""`planproof compile` without a model: the steps are listed, and nothing is stated yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planproof.contracts.contract_file import read_contract
from planproof.core.catalogue import Catalogue, Tool
from tests.command_line import CommandLine
from tests.own_format import PROFILE, TRACE

_PLAN = "1. Archive report 12\n2. Mail it to Ann\n"


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "plan.md").write_text(_PLAN, encoding="utf-8")
    (folder / "p.yaml").write_text(PROFILE, encoding="utf-8")
    (folder / "run.jsonl").write_text(TRACE, encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps([{"name": "archive"}]), encoding="utf-8")
    return folder


def test_without_a_model_the_contract_is_a_skeleton(planproof: CommandLine, files: Path) -> None:
    done = planproof("compile", "plan.md", "-o", "plan.contract.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Nothing is stated yet")
    contract = read_contract(files / "plan.contract.yaml")
    assert [(step.text, step.uncheckable) for step in contract.steps] == [
        ("Archive report 12", "not stated yet"),
        ("Mail it to Ann", "not stated yet"),
    ]
    printed = planproof("compile", "-", stdin=_PLAN.encode())
    assert printed.out == (files / "plan.contract.yaml").read_text(encoding="utf-8")
    assert printed.err.startswith("Nothing is stated yet")


def test_an_existing_contract_is_not_replaced_by_accident(
    planproof: CommandLine, files: Path
) -> None:
    edited = files / "plan.contract.yaml"
    edited.write_text("# edited by hand", encoding="utf-8")
    done = planproof("compile", "plan.md", "-o", edited.name)
    assert done.code == 2
    assert "plan.contract.yaml: already exists" in done.err
    assert "--force" in done.err
    assert edited.read_text(encoding="utf-8") == "# edited by hand"
    assert planproof("compile", "plan.md", "-o", edited.name, "--force").code == 0
    assert read_contract(edited).steps


def test_tools_are_read_from_a_file_or_collected_from_traces(
    planproof: CommandLine, files: Path
) -> None:
    assert planproof("compile", "plan.md", "--tools", "tools.json", "-o", "a.yaml").code == 0
    given = read_contract(files / "a.yaml").origin
    assert given.catalogue == "complete"
    assert given.catalogue_digest == Catalogue((Tool("archive"),)).digest
    done = planproof("compile", "plan.md", "--data", "run.jsonl", "--profile", "p.yaml")
    assert done.code == 0
    observed = Catalogue((Tool("archive_report", ("report",)), Tool("send_mail", ("to", "report"))))
    assert "catalogue: observed" in done.out
    assert observed.digest in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan.md", "--tools", "tools.json", "--data", "run.jsonl"), "can't be combined"),
        (("none.md",), "none.md: can't be read"),
        (("plan.md", "--tools", "none.json"), "none.json: can't be read"),
        (("plan.md", "--tools", "p.yaml"), "p.yaml: contains no tool definitions"),
        (("-",), "standard input: no steps found"),
        (("bad.json",), "bad.json#/0: The step has no text"),
    ],
)
def test_bad_input_is_explained(
    planproof: CommandLine, files: Path, arguments: tuple[str, ...], said: str
) -> None:
    (files / "bad.json").write_text('[{"content": null}]', encoding="utf-8")
    done = planproof("compile", *arguments)
    assert done.code == 2
    assert said in done.err


def test_traces_that_cannot_be_read_are_counted(planproof: CommandLine, files: Path) -> None:
    (files / "runs").mkdir()
    (files / "runs" / "a.jsonl").write_text(TRACE, encoding="utf-8")
    (files / "runs" / "b.json").write_text('{"cut', encoding="utf-8")
    done = planproof("compile", "plan.md", "--data", "runs", "--profile", "p.yaml")
    assert done.code == 0
    assert "planproof: 1 traces could not be read" in done.err
    (files / "runs" / "a.jsonl").unlink()
    failed = planproof("compile", "plan.md", "--data", "runs")
    assert failed.code == 2


def test_the_notice_without_a_model_fits_80_columns(planproof: CommandLine, folder: Path) -> None:
    (folder / "short.md").write_text("1. Read the report\n2. Send it\n", encoding="utf-8")
    notice = planproof("compile", "short.md", "-o", "short.yaml").out
    assert notice.startswith("Nothing is stated yet: ")
    assert all(len(line) <= 80 for line in notice.splitlines())
