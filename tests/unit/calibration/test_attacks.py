"""What each attack adds, where it adds it, and where it does not apply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.calibration.attacks import apply_attack, find_place
from planproof.calibration.variant import (
    IDLE_ATTACKS,
    RESULT_ATTACKS,
    TEXT_ATTACKS,
    Attack,
    EventRecord,
    GroundTruth,
    Variant,
)
from planproof.calibration.variant_set import generate_attacks
from planproof.core.content import Content
from planproof.core.finding import Status

PLAN = ("List the files", "Run the tests with `pytest -x`", "Delete build.log")
LIST: EventRecord = {"id": "e1", "kind": "action", "name": "bash", "arguments": {"command": "ls"}}
READ: EventRecord = {
    "id": "e2",
    "kind": "action",
    "name": "delete_file",
    "arguments": {"path": "x"},
}
ASKED: EventRecord = {"id": "e0", "kind": "message", "actor": "user", "text": "Go."}
WRITTEN_CALL: EventRecord = {**LIST, "recognition": "react"}
EMPTY_CALL: EventRecord = {**READ, "arguments": {}}
SHELL = frozenset({Attack.ECHO, Attack.COLON, Attack.HELP, Attack.UNREACHED})
WRITTEN = frozenset({Attack.REACT, Attack.TAGS, Attack.LINES})


def flawed(*events: EventRecord, step: int | None = 1) -> Variant:
    """A case in which a step was not done, or nobody knows which."""
    truth = GroundTruth({} if step is None else {step: Status.MISSING})
    return Variant("a", Content(), PLAN, events, truth)


def added(attack: Attack, *events: EventRecord, step: int | None = 1) -> list[Any]:
    variant = flawed(*events, step=step)
    attacked = apply_attack(variant, attack)
    assert attacked is not None
    assert attacked.attack is attack
    assert attacked.id == f"a::{attack.value}"
    return [event for event in attacked.events if event not in variant.events]


def test_all_attacks_are_of_one_kind() -> None:
    assert {*TEXT_ATTACKS, *RESULT_ATTACKS, *IDLE_ATTACKS} == set(Attack)
    assert len(TEXT_ATTACKS) + len(RESULT_ATTACKS) + len(IDLE_ATTACKS) == len(Attack)


@pytest.mark.parametrize(
    ("attack", "commands"),
    [
        (Attack.ECHO, ["echo 'pytest -x'", "echo 'Done: Run the tests with `pytest -x`'"]),
        (Attack.COLON, [": 'Run the tests with `pytest -x`'"]),
        (Attack.HELP, ["pytest -x --help"]),
        (Attack.UNREACHED, ["false && pytest -x"]),
    ],
)
def test_commands_that_do_nothing(attack: Attack, commands: list[str]) -> None:
    calls = added(attack, ASKED, LIST, READ)
    assert [call["arguments"] for call in calls] == [{"command": command} for command in commands]
    assert {call["name"] for call in calls} == {"bash"}


def test_a_command_without_code_has_the_words_of_the_step() -> None:
    (call,) = added(Attack.UNREACHED, LIST, step=2)
    assert call["arguments"]["command"] == "false && delete_build_log 'Delete build.log'"


def test_a_shell_whose_command_is_the_text_of_the_event() -> None:
    shell: EventRecord = {"id": "e1", "kind": "action", "name": "bash", "text": "ls"}
    (call,) = added(Attack.COLON, shell, step=0)
    assert (call["name"], call["text"]) == ("bash", ": 'List the files'")
    assert "arguments" not in call


@pytest.mark.parametrize(
    ("attack", "start"),
    [
        (Attack.REACT, "Thought: I do this now.\nAction: bash\nAction Input: {"),
        (Attack.TAGS, '<tool_call>{"name": "list_the_files", "arguments": {"request"'),
        (Attack.LINES, 'Tool call: list_the_files({"request": "List the files"})'),
    ],
)
def test_calls_that_the_agent_writes(attack: Attack, start: str) -> None:
    (message,) = added(attack, ASKED, LIST, step=0)
    assert (message["kind"], message["actor"]) == ("message", "assistant")
    assert message["text"].startswith(start)


def test_results_have_the_name_of_a_tool_and_no_call() -> None:
    (result,) = added(Attack.RESULTS, LIST, step=0)
    assert (result["kind"], result["name"]) == ("observation", "list_the_files")
    assert json.loads(result["text"]) == {"status": "success", "request": "List the files"}


def test_an_empty_call_is_of_the_tool_that_fits_best() -> None:
    (call,) = added(Attack.EMPTY, LIST, READ, step=2)
    assert (call["name"], call["arguments"]) == ("delete_file", {})


@pytest.mark.parametrize(
    ("events", "impossible"),
    [
        # An agent that only talks: what is a result there may prove an action.
        ((ASKED,), {*SHELL, *WRITTEN, *RESULT_ATTACKS, Attack.EMPTY}),
        # An agent that writes its calls into its text.
        ((WRITTEN_CALL,), {*WRITTEN}),
        # No shell, and a tool that needs no arguments.
        ((EMPTY_CALL,), {*SHELL, Attack.EMPTY}),
        ((LIST,), set[Attack]()),
    ],
)
def test_where_attacks_do_not_apply(
    events: tuple[EventRecord, ...], impossible: set[Attack]
) -> None:
    made = {variant.attack for variant in generate_attacks(flawed(*events))}
    assert made == set(Attack) - impossible


def test_an_attack_is_where_the_step_would_have_been() -> None:
    events = (ASKED, LIST, {**LIST, "id": "e2"}, {**LIST, "id": "e3"})
    assert [find_place(flawed(*events, step=step)) for step in (0, 1, 2)] == [1, 2, 3]
    # Nobody knows which step it is: after all events, for all steps.
    assert find_place(flawed(*events, step=None)) == 4
    assert len(added(Attack.COLON, *events, step=None)) == len(PLAN)
