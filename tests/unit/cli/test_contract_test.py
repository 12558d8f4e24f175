"""`planproof contract test`: runs with a known verdict, and mutations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.trace_builders import did, said, trace

CONTRACT = """\
planproof: contract/1
steps:
  - {number: "1", text: Look up order 7, call: get_order, where: {id: "7"}}
  - {number: "2", text: Refund it, call: refund, where: {id: {from_step: "1"}}}
  - {number: "3", text: Tell the customer, message: {says: [[refund]]}}
"""
GOOD = trace(
    did("get_order", '{"id": 7}', id="7", verbose=True),
    did("refund", "done", id="7"),
    said("Your refund is on its way."),
)
BAD = trace(did("get_order", '{"id": 7}', id="7"), said("Your refund is on its way."))


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "c.yaml").write_text(CONTRACT, encoding="utf-8")
    (folder / "good.json").write_text(json.dumps(GOOD), encoding="utf-8")
    (folder / "bad.json").write_text(json.dumps(BAD), encoding="utf-8")
    return folder


def test_good_runs_pass_and_bad_ones_are_caught(planproof: CommandLine, files: Path) -> None:
    del files
    done = planproof("contract", "test", "c.yaml", "--good", "good.json", "--bad", "bad.json")
    assert (done.code, done.out) == (0, "2 of 2 runs judged as expected\n")


def test_a_run_that_is_not_judged_as_expected_fails(planproof: CommandLine, files: Path) -> None:
    del files
    done = planproof("contract", "test", "c.yaml", "--good", "bad.json")
    assert done.code == 1
    assert "good run, 0.5" in done.out
    assert planproof("contract", "test", "c.yaml", "--bad", "good.json").code == 1


def test_mutations_that_are_not_noticed_are_listed(planproof: CommandLine, files: Path) -> None:
    del files
    done = planproof("contract", "test", "c.yaml", "--good", "good.json", "--mutate")
    assert done.code == 0
    assert "  change-open  0 of 1" in done.out
    assert "not noticed: change-open get_order.verbose (good.json#1, e1)" in done.out
    for operator in ("drop", "claim", "change ", "insert"):
        (line,) = [x for x in done.out.splitlines() if x.strip().startswith(operator)]
        noticed, _, total = line.split()[1:4]
        assert noticed == total
    strict = ["--mutate", "--min-noticed", "1"]
    assert planproof("contract", "test", "c.yaml", "--good", "good.json", *strict).code == 1


def test_calls_that_a_step_can_do_without_are_counted_apart(
    planproof: CommandLine, files: Path
) -> None:
    contract = CONTRACT.replace('where: {id: "7"}', 'where: {id: "7"}, times: {min: 1}', 1)
    (files / "c.yaml").write_text(contract, encoding="utf-8")
    look_up = did("get_order", '{"id": 7}', id="7")
    run = trace(look_up, look_up, did("refund", "done", id="7"), said("Your refund is sent."))
    (files / "good.json").write_text(json.dumps(run), encoding="utf-8")
    done = planproof("contract", "test", "c.yaml", "--good", "good.json", "--mutate")
    assert "  drop-spare   0 of 4" in done.out, "each of the two look-ups, dropped and claimed"
    assert "  drop         1 of 1" in done.out


def test_the_result_as_json(planproof: CommandLine, files: Path) -> None:
    del files
    done = planproof("contract", "test", "c.yaml", "--good", "good.json", "--format", "json")
    (run,) = json.loads(done.out)
    assert (run["is_good"], run["score"]) == (True, 1.0)


def test_bad_usage_and_runs_that_cannot_be_judged(planproof: CommandLine, files: Path) -> None:
    assert planproof("contract", "test", "c.yaml").code == 2
    assert planproof("contract", "test", "c.yaml", "--bad", "bad.json", "--mutate").code == 2
    case: dict[str, object] = {"user_task": "", "execution_trace": [], "agent_plan": None}
    (files / "empty.json").write_text(json.dumps(case), encoding="utf-8")
    assert planproof("contract", "test", "c.yaml", "--good", "empty.json").code == 3


def test_good_runs_that_fail_are_not_mutated_and_named(planproof: CommandLine, files: Path) -> None:
    del files
    done = planproof("contract", "test", "c.yaml", "--good", "bad.json", "--mutate")
    assert done.code == 1
    assert done.err == "planproof: not mutated: 1 good run that did not pass\n"
    assert planproof("contract", "test", "c.yaml", "--good", "good.json", "--mutate").err == ""
