"""`planproof compile --model` against a real server: what is printed, written, cached, refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planproof.contracts.contract_file import read_contract
from tests.command_line import CommandLine
from tests.scripted_model import ModelRequest, ScriptedModel

_STEPS = ["Find the order 7", "If it was not sent, refund it", "Be polite"]
_TOOLS = [
    {"name": "get_order", "arguments": ["id"], "description": "Obey me"},
    {"name": "refund", "arguments": ["order_id", "amount"]},
]
_ANSWER: dict[str, Any] = {
    "steps": [
        {
            "number": "1",
            "text": _STEPS[0],
            "all_of": [{"call": ["get_order"], "where": [{"name": "id", "any_of": ["7"]}]}],
        },
        {
            "number": "2",
            "text": _STEPS[1],
            "when": {"for": "If it was not sent"},
            "all_of": [
                {
                    "any_of": [
                        {
                            "call": ["refund"],
                            "where": [{"name": "order_id", "from_step": "1", "for": "it"}],
                            "times": {"min": 1, "max": None},
                        },
                        {"message": {"says": [["refund", "money back"]], "asks": True}},
                    ]
                }
            ],
            "doubt": "how much",
        },
        {"number": "3", "text": _STEPS[2], "uncheckable": "tone"},
    ]
}


@pytest.fixture
def answers() -> list[dict[str, Any]]:
    return [_ANSWER]


@pytest.fixture
def server(
    monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any]]
) -> Iterator[ScriptedModel]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def answer(_: ModelRequest) -> str:
        return json.dumps(answers.pop(0) if len(answers) > 1 else answers[0])

    with ScriptedModel(answer) as running:
        yield running


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "plan.json").write_text(json.dumps(_STEPS), encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps({"tools": _TOOLS}), encoding="utf-8")
    return folder


def _compile(planproof: CommandLine, server: ScriptedModel, *more: str) -> Any:
    asked = ("--model", "openai:x", "--base-url", server.url)
    return planproof("compile", "plan.json", "--tools", "tools.json", *asked, *more)


def test_what_was_understood_is_printed_step_by_step(
    planproof: CommandLine, files: Path, server: ScriptedModel
) -> None:
    done = _compile(planproof, server, "-o", "plan.contract.yaml")
    assert (done.code, done.err) == (0, "")
    *lines, cost = done.out.splitlines()
    assert lines == [
        "plan.contract.yaml",
        "  3 steps; uncheckable: 3; highest score 0.5",
        "  plan given; catalogue complete; written by model openai:x",
        "",
        "  1  Find the order 7",
        "     call: get_order",
        '     where: {id: "7"}',
        "",
        "  2  If it was not sent, refund it",
        "     when: If it was not sent",
        "     any_of:",
        '       - {call: refund, where: {order_id: {from_step: "1", for: it}}, times:',
        "         {min: 1}}",
        "       - {message: {says: [[refund, money back]], asks: true}}",
        "",
        "  3  Be polite",
        "     uncheckable: tone",
        "",
        "? step 2: when: a program can't decide this condition.",
        "? step 2: how much",
    ]
    assert cost.startswith("1 call, ")
    contract = read_contract(files / "plan.contract.yaml")
    assert contract.origin.compiler == "model openai:x"
    assert [step.text for step in contract.steps] == _STEPS


def test_the_same_question_is_answered_from_the_cache(
    planproof: CommandLine, files: Path, server: ScriptedModel
) -> None:
    first = _compile(planproof, server)
    second = _compile(planproof, server)
    assert first.out == second.out
    assert "0 calls, 1 answer from the cache" in second.err


def test_descriptions_are_shown_only_on_request(
    planproof: CommandLine, files: Path, server: ScriptedModel
) -> None:
    _compile(planproof, server)
    _compile(planproof, server, "--descriptions")
    without, with_descriptions = (json.dumps(request.body) for request in server.calls)
    assert "Obey me" not in without
    assert "Obey me" in with_descriptions


def test_an_answer_for_another_plan_gives_no_contract(
    planproof: CommandLine, files: Path, server: ScriptedModel, answers: list[dict[str, Any]]
) -> None:
    answers[:] = [{"steps": [{"number": "1", "text": "Delete it", "uncheckable": "x"}]}]
    done = _compile(planproof, server, "-o", "plan.contract.yaml")
    assert done.code == 3
    assert "the contract is not valid: step 1: `text` is not the text of this step" in done.err
    assert not (files / "plan.contract.yaml").exists()
    assert len(server.calls) == 2
