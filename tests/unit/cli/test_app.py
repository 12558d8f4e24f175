"""What the commands have in common, and the small ones."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from planproof import evaluation
from planproof.cli import main
from planproof.cli.exit_codes import INTERRUPTED
from planproof.extensions import list_names
from planproof.readers.recognition import list_readers
from tests.command_line import CommandLine

COMMANDS = (
    *("judge", "run", "runs", "show", "compare", "gate", "verify", "inspect", "demo"),
    *("readers", "judges", "mcp"),
)


def test_the_demo_shows_three_cases(planproof: CommandLine) -> None:
    done = planproof("demo")
    assert done.code == 0
    assert done.err == ""
    for title in ("1 of 3.", "2 of 3.", "3 of 3.", "perfect adherence"):
        assert title in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_readers_and_judges_are_listed(planproof: CommandLine) -> None:
    listed = planproof("readers").out
    assert [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")] == [
        *list_readers()
    ]
    assert "native" in listed
    assert all(len(line) <= 80 for line in listed.splitlines())
    assert planproof("judges").out.split() == [*list_names("judges")]


def test_the_version(planproof: CommandLine) -> None:
    assert planproof("--version").out.startswith("planproof 0.")


def test_an_interrupt_while_commands_are_loaded_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(name: str, *arguments: Any) -> object:
        if name == "planproof.cli.app":
            raise KeyboardInterrupt
        return load(name, *arguments)

    load = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == INTERRUPTED
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(planproof: CommandLine, command: str) -> None:
    done = planproof(command, "--help")
    assert done.code == 0
    assert f"planproof {command}" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert command in planproof("--help").out


def test_an_internal_error_is_reported_without_a_traceback(
    planproof: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(evaluation, "judge_case", faulty)
    done = planproof("judge", "case.json")
    assert done.code == 3
    assert "internal error: ZeroDivisionError: of all things (test_app.py, line" in done.err
    assert "please report it" in done.err


def test_an_interrupt_exits_with_130(
    planproof: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "judge_case", interrupted)
    done = planproof("judge", "case.json")
    assert (done.code, done.err) == (130, "planproof: interrupted\n")


@pytest.mark.parametrize("place", ["planproof.cli.app.app", "typer.main.get_command"])
def test_an_interrupt_before_the_command_has_started(
    place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == ""


def test_an_extra_that_is_missing_is_named(
    planproof: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.delitem(sys.modules, "planproof.integrations.mcp.mcp_server", raising=False)
    done = planproof("mcp")
    assert done.code == 2
    assert "pip install 'planproof[mcp]'" in done.err
    nowhere = planproof("mcp", "--folder", "nowhere")
    assert (nowhere.code, "not a folder" in nowhere.err) == (2, True)


@pytest.mark.parametrize("command", ["", "compile", "contract test", "judge", "run", "verify"])
def test_help_fits_a_terminal_of_80_columns(planproof: CommandLine, command: str) -> None:
    shown = planproof(*command.split(), "--help").out
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_an_error_is_wrapped_for_a_terminal_and_one_line_in_a_log(
    planproof: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("judge", "--trace", "case.json", "--contract", f"{'long-' * 12}name.yaml")
    in_log = planproof(*arguments).err
    assert len(in_log.splitlines()[0]) > 80
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    wrapped = planproof(*arguments).err
    assert wrapped.split() == in_log.split()
    assert max(map(len, wrapped.splitlines())) <= 80
