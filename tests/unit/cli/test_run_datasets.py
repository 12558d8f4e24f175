"""`planproof run` over data sets of other people's making."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine
from tests.small_cases import FOLLOWED, IDLE, PLAN

FOREIGN: list[dict[str, Any]] = [
    {
        "key": case["id"],
        "meta": {"plan": PLAN, "turns": n},
        "run": {"spans": case["execution_trace"]},
    }
    for n, case in enumerate([FOLLOWED, IDLE])
]
MAPPED = ("plan=/meta/plan", "trace=/run/spans", "id=/key")


@pytest.fixture
def foreign(folder: Path) -> Path:
    path = folder / "foreign.json"
    path.write_text(json.dumps(FOREIGN), encoding="utf-8")
    return path


def _ids(out: str) -> list[tuple[str, float]]:
    verdicts = map(json.loads, out.splitlines())
    return [(verdict["id"], verdict["score"]) for verdict in verdicts]


@pytest.mark.parametrize(
    "mapped",
    [("--map", *MAPPED), tuple(word for pair in MAPPED for word in ("--map", pair))],
    ids=["one --map for all", "one for each"],
)
def test_fields_of_other_names_are_mapped(
    planproof: CommandLine, foreign: Path, mapped: tuple[str, ...]
) -> None:
    done = planproof("run", foreign.name, *mapped)
    assert (done.code, _ids(done.out)) == (0, [("followed", 1.0), ("idle", 0.0)])


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--where", "/meta/turns>=1"), ["idle"]),
        (("--where", "key=followed", "--where", "/meta/turns=1"), []),
        (("--limit", "1"), ["followed"]),
        (("--shard", "2/2"), ["idle"]),
        (("--sample", "1", "--seed", "3"), None),
    ],
)
def test_cases_are_chosen(
    planproof: CommandLine, foreign: Path, options: tuple[str, ...], ids: list[str] | None
) -> None:
    found = [id_ for id_, _ in _ids(planproof("run", foreign.name, *options, "--map", *MAPPED).out)]
    assert found == ids if ids is not None else len(found) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--map", "plna=/x"), "a case has no field `plna`"),
        (("--where", "=x"), "`=x` is not a valid condition"),
        (("--shard", "3/2"), "`3/2` is not a valid shard"),
        (("--engine", "ray"), "pip install 'planproof[ray]'"),
        (("--engine", "ray", "--max-cost", "1"), "--max-cost can't be enforced across workers"),
    ],
)
def test_errors_say_what_to_do_next(
    planproof: CommandLine,
    foreign: Path,
    options: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = planproof("run", foreign.name, *options)
    assert (done.code, message in done.err) == (2, True)
