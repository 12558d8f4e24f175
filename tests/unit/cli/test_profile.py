"""`planproof profile`: suggest, test, list and show."""

from __future__ import annotations

from pathlib import Path

import pytest

from planproof.readers.profile_files import read_built_in_text
from planproof.readers.profile_reader import load_built_in_profiles
from tests.command_line import CommandLine
from tests.own_format import PROFILE, TRACE


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "p.yaml").write_text(PROFILE, encoding="utf-8")
    (folder / "run.jsonl").write_text(TRACE, encoding="utf-8")
    return folder


def test_a_suggested_profile_reads_the_trace(planproof: CommandLine, files: Path) -> None:
    done = planproof("profile", "suggest", "run.jsonl", "-o", "own.yaml")
    assert (done.code, done.out) == (0, "")
    assert done.err == "own.yaml: reads 2 calls, 2 results, 2 messages\n"
    tested = planproof("profile", "test", "own.yaml", "run.jsonl", "--calls", "2")
    assert tested.code == 0
    assert "read by run" in planproof("inspect", "run.jsonl", "--profile", "own.yaml").out
    printed = planproof("profile", "suggest", "run.jsonl", "--name", "mine").out
    assert "\nname: mine\n" in printed


def test_a_profile_that_reads_what_it_should_passes(planproof: CommandLine, files: Path) -> None:
    done = planproof(
        *("profile", "test", "p.yaml", "run.jsonl"),
        *("--calls", "2", "--results", "2", "--messages", "2"),
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "run.jsonl by the profile shop-bot",
        "  read      2 calls, 2 results, 2 messages",
        "  unread    0 records",
        "events",
        "  e1   L1/t       message   user: Archive report 12 and mail it to Ann.",
        '  e2   L2         action    assistant: archive_report {"report": 12}',
        "       L3/t       result    archived",
        '  e3   L4         action    assistant: send_mail {"to": "Ann", "report": 12}',
        "       L5/t       result    sent",
        "  e4   L6/t       message   assistant: Report 12 is archived and on its way to …",
    ]


@pytest.mark.parametrize(
    ("old", "new", "options", "failure"),
    [
        ("", "", ("--calls", "3"), "✗ calls: 2 read, 3 expected"),
        ("", "", ("--results", "0"), "✗ results: 2 read, 0 expected"),
        ("k: do}\n    call", "k: act}\n    call", (), "✗ less than half of the records were read"),
        ("some: {k: do}", "some: {k: never}", (), "✗ `detect` does not recognise the trace"),
    ],
    ids=["calls", "results", "unread", "detect"],
)
def test_a_profile_that_reads_something_else_fails(
    planproof: CommandLine, files: Path, old: str, new: str, options: tuple[str, ...], failure: str
) -> None:
    (files / "p.yaml").write_text(PROFILE.replace(old, new), encoding="utf-8")
    done = planproof("profile", "test", "p.yaml", "run.jsonl", *options)
    assert done.code == 1
    assert failure in done.out


def test_skipped_records_are_counted_with_their_first_place(
    planproof: CommandLine, files: Path
) -> None:
    (files / "p.yaml").write_text(PROFILE.replace("k: say", "k: tell"), encoding="utf-8")
    done = planproof("profile", "test", "p.yaml", "run.jsonl")
    assert done.code == 0
    assert "     1  no rule of the profile fits records with the keys k, t, first at L6" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_an_error_in_a_profile_names_line_and_column(planproof: CommandLine, files: Path) -> None:
    (files / "p.yaml").write_text(PROFILE.replace("user: t", "usr: t"), encoding="utf-8")
    done = planproof("profile", "test", "p.yaml", "run.jsonl")
    assert done.code == 2
    assert "p.yaml, line 10, column 5" in done.err


def test_profiles_are_listed_and_shown(planproof: CommandLine, files: Path) -> None:
    listed = planproof("profile", "list", "--profile", "p.yaml").out.splitlines()
    assert listed[0].split() == ["shop-bot", "yours:", "Sessions", "of", "the", "shop", "bot"]
    names = [line.split()[0] for line in listed[1:] if not line.startswith(" ")]
    assert names == list(load_built_in_profiles())
    assert all(len(line) <= 80 for line in listed)
    assert planproof("profile", "show", "gemini-cli").out == read_built_in_text("gemini-cli")
    unknown = planproof("profile", "show", "gemini-cly")
    assert unknown.code == 2
    assert "Did you mean `gemini-cli`?" in unknown.err
