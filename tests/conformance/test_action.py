"""The GitHub Action: its steps, run one after the other as a runner would."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.doc_blocks import EXAMPLES, ROOT

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_GH = """#!/bin/sh
echo "$@" >> gh-arguments
case "$*" in
*--jq*) cat gh-found ;;
*) test ! -e gh-forbidden && cp planproof-comment.md gh-comment.md ;;
esac
"""


class Runner:
    """Runs the steps of the action in a folder, with inputs as a workflow gives them."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder = folder
        given = {name: str(told.get("default", "")) for name, told in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        self._context = {f"inputs.{name}": value for name, value in given.items()} | {
            "github.token": "t0ken",
            "github.ref_name": "feature",
            "github.repository": "owner/name",
            "github.event_name": "pull_request",
            "github.event.pull_request.number": "7",
        }

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        step = next(step for step in ACTION["runs"]["steps"] if step.get("name") == name)
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "gh").write_text(_GH, encoding="utf-8")
        (tools / "gh").chmod(stat.S_IRWXU)
        path = os.pathsep.join((str(tools), str(Path(sys.executable).parent), os.environ["PATH"]))
        outputs = self.folder / "outputs"
        outputs.touch()
        self._context |= {
            f"steps.judge.outputs.{name}": value
            for name, _, value in (
                line.partition("=") for line in outputs.read_text("utf-8").splitlines()
            )
        }
        settings = {key: self._filled(value) for key, value in step.get("env", {}).items()}
        return subprocess.run(
            # As GitHub runs `shell: bash`.
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={
                "PATH": path,
                "HOME": str(self.folder),
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(outputs),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                # The package is there already; that pip finds it is what is tried.
                "PIP_DRY_RUN": "1",
                "PIP_NO_DEPS": "1",
                "PIP_NO_BUILD_ISOLATION": "0",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                **settings,
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def _filled(self, value: str) -> str:
        filled = _EXPRESSION.sub(lambda found: self._context[found[1]], value)
        # A default may be an expression itself.
        return _EXPRESSION.sub(lambda found: self._context[found[1]], filled)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path / "work")
    (tmp_path / "work" / "gh-found").touch()
    return tmp_path / "work"


def test_the_version_of_the_action_is_installed(folder: Path) -> None:
    pytest.importorskip("pip", reason="this environment was made without pip")
    done = Runner(folder, extras="llm,mcp").run("Install")
    assert done.returncode == 0, done.stderr
    assert Runner(folder, extras="llm] ; no").run("Install").returncode != 0


def test_a_good_run_is_judged_reported_commented_and_passes(folder: Path) -> None:
    runner = Runner(folder, data="monday.jsonl", gate_options="--min-mean 0.8", base="branch=main")
    for step in ("Judge", "Report", "Comment", "Gate"):
        done = runner.run(step)
        assert done.returncode == 0, done.stderr
    assert len((folder / "planproof-verdicts.jsonl").read_text("utf-8").splitlines()) == 6
    assert (folder / "planproof-report.html").read_text("utf-8").startswith("<!doctype html>")
    comment = (folder / "gh-comment.md").read_text("utf-8")
    assert "There is no run branch=main to compare with." in comment
    assert comment == (folder / "summary.md").read_text("utf-8")
    asked, told = (folder / "gh-arguments").read_text("utf-8").strip().rsplit("\n", 1)
    assert asked.startswith("api --paginate repos/owner/name/issues/7/comments --jq")
    assert told == "api repos/owner/name/issues/7/comments -F body=@planproof-comment.md"


def test_the_last_comment_of_the_action_is_updated(folder: Path) -> None:
    (folder / "gh-found").write_text("12\n34\n", encoding="utf-8")
    (folder / "planproof-comment.md").write_text("new", encoding="utf-8")
    done = Runner(folder).run("Comment")
    assert (done.returncode, done.stdout) == (0, "")
    told = (folder / "gh-arguments").read_text("utf-8").strip().splitlines()[-1]
    assert told.startswith("api --method PATCH repos/owner/name/issues/comments/34 -F body=@")


def test_without_permission_to_comment_the_gate_still_decides(folder: Path) -> None:
    (folder / "gh-forbidden").touch()
    runner = Runner(folder, data="tuesday.jsonl", gate_options="--min-mean 1")
    for step in ("Judge", "Report", "Comment"):
        done = runner.run(step)
        assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("::warning::")
    assert runner.run("Gate").returncode == 1


def test_the_run_of_the_action_is_reported_not_the_latest(folder: Path) -> None:
    runner = Runner(folder, data="monday.jsonl", gate_options="--max-unscored 0")
    assert runner.run("Judge").returncode == 0
    # Somebody else, in the same store.
    (folder / "outputs").rename(folder / "kept")
    assert Runner(folder, data="tuesday.jsonl").run("Judge").returncode == 0
    (folder / "kept").rename(folder / "outputs")
    assert runner.run("Report").returncode == 0
    page = (folder / "planproof-report.html").read_text("utf-8")
    assert "monday.jsonl" in page
    assert "tuesday.jsonl" not in page


def test_a_run_that_got_worse_is_commented_before_it_fails(folder: Path) -> None:
    assert Runner(folder, data="monday.jsonl", tag="branch=main").run("Judge").returncode == 0
    runner = Runner(
        folder,
        data="tuesday.jsonl",
        judge="rules",
        run_options="--limit 5",
        base="branch=main",
        gate_options="--no-worse-than branch=main --max-unscored 1",
    )
    for step in ("Judge", "Report", "Comment"):
        done = runner.run(step)
        assert done.returncode == 0, done.stderr
    assert "worse" in (folder / "gh-comment.md").read_text("utf-8")
    assert runner.run("Gate").returncode == 1


def test_what_can_not_be_run_fails_at_once(folder: Path) -> None:
    done = Runner(folder, data="nowhere.jsonl").run("Judge")
    assert done.returncode == 2
    assert "nowhere.jsonl" in done.stderr


def test_no_text_of_a_workflow_is_put_into_a_script() -> None:
    # A branch name or an input would be run as part of the script.
    assert not [step for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")]
