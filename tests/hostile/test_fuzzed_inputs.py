"""Damaged inputs of every kind: a message or a verdict, in bounded time and memory, never a fault.

Inputs that once broke something are in `corpus`, named after their target.
"""

from __future__ import annotations

import json
import os
import resource
from contextlib import suppress
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import pytest

from planproof.errors import PlanproofError
from tests.hostile.commands import run_command
from tests.hostile.intensity import choose
from tests.hostile.mutations import encode, make_mutant
from tests.hostile.targets import list_targets
from tests.small_cases import FOLLOWED

CORPUS = Path(__file__).parent / "corpus"
IN_PROCESS = choose(400, 10_000)
BY_COMMAND = choose(8, 200)
SHARES = {"traces": 0.5, "plans": 0.12, "contracts": 0.12, "data sets": 0.08}
"""The share of inputs by target; the others share the rest."""
CPU_SECONDS = 10.0
MEMORY_BYTES = 2**30


def _try(name: str, data: bytes) -> None:
    target, _ = list_targets()[name]
    began = process_time()
    # Two targets take JSON values, and parse the input themselves.
    parsing = (json.JSONDecodeError, UnicodeDecodeError, RecursionError)
    with suppress(PlanproofError, *(parsing if name in {"verdicts", "catalogues"} else ())):
        target(data)
    assert process_time() - began < CPU_SECONDS


def _count_inputs(name: str) -> int:
    others = len(list_targets()) - len(SHARES)
    share = SHARES.get(name, (1 - sum(SHARES.values())) / others)
    return round(IN_PROCESS * share)


@pytest.mark.parametrize("name", list_targets())
def test_damaged_inputs_are_judged_or_refused(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, good = list_targets()[name]
    others = [encode(value) for value in good]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    caplog.set_level("WARNING", "planproof")
    for number in range(_count_inputs(name)):
        chance = Random(f"{name} {number}")
        data = make_mutant(chance.choice(good), others, chance)
        (tmp_path / "last").write_bytes(data)  # for the corpus, if it fails
        _try(name, data)
        # A reader that fails while it detects its format is skipped, with a warning.
        assert not caplog.messages
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert 1024 * grown < MEMORY_BYTES


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_inputs_that_broke_something_once(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", "planproof")
    _try(path.name.partition(".")[0].replace("-", " "), path.read_bytes())
    assert not caplog.messages


def _list_commands(folder: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Return commands that take a file of others, with the kind of input that it is."""
    case, trace = str(folder / "case.json"), str(folder / "trace.json")
    return [
        ("traces", ("judge", "--trace", "INPUT", "--plan", str(folder / "plan.md"))),
        ("traces", ("inspect", "INPUT")),
        ("traces", ("plan", "INPUT")),
        ("traces", ("profile", "suggest", "INPUT")),
        ("plans", ("judge", "--trace", trace, "--plan", "INPUT")),
        ("data sets", ("run", "INPUT", "--store", "none", "-o", os.devnull)),
        ("contracts", ("contract", "check", "INPUT")),
        ("contracts", ("judge", "--trace", trace, "--contract", "INPUT")),
        ("profiles", ("judge", case, "--profile", "INPUT")),
        ("verdicts", ("verify", "INPUT", case)),
    ]


@pytest.mark.parametrize("number", range(BY_COMMAND))
def test_commands_end_with_a_documented_exit_code(number: int, tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(FOLLOWED), encoding="utf-8")
    trace: Any = FOLLOWED["execution_trace"]
    (tmp_path / "trace.json").write_text(json.dumps(trace), encoding="utf-8")
    (tmp_path / "plan.md").write_text("\n".join(f"- {s}" for s in FOLLOWED["agent_plan"]))
    commands = _list_commands(tmp_path)
    name, words = commands[number % len(commands)]
    chance = Random(f"{name} by command {number}")
    good = list_targets()[name][1]
    suffix = {"contracts": ".yaml", "profiles": ".yaml", "data sets": ".jsonl"}.get(name, ".json")
    file = tmp_path / f"input{suffix}"
    file.write_bytes(make_mutant(chance.choice(good), [encode(value) for value in good], chance))
    done = run_command([str(file) if word == "INPUT" else word for word in words], tmp_path)
    assert done.cpu_seconds < CPU_SECONDS, words
    assert done.memory < MEMORY_BYTES, words
