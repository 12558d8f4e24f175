"""Action types of steps and of events."""

from __future__ import annotations

import pytest

from planproof.checking.action_types import classify_event, classify_message, classify_step_parts
from planproof.core.plan import Step
from planproof.core.trace import Event, Kind
from tests.replacement import replace
from tests.unit.checking.alignment_cases import call, says, thinks

NONE: frozenset[str] = frozenset()


def classify_step(text: str) -> frozenset[str]:
    (action_types,) = classify_step_parts(Step(number="1", text=text))
    return action_types


@pytest.mark.parametrize(
    ("text", "action_type"),
    [
        pytest.param("Cancel the order", "remove", id="the verb stands first"),
        pytest.param("Then I will cancel the order", "remove", id="after a preamble"),
        pytest.param("If it rains, cancel the trip", "remove", id="after a condition"),
        pytest.param("Have the manager cancel it", "delegate", id="somebody is to do it"),
        pytest.param("Call off the trip", "remove", id="a verb of two words"),
        pytest.param("Zebras cancel", "remove", id="a second word"),
        pytest.param("Zebras and yaks cancel", "remove", id="a verb further on"),
        pytest.param("Zebras, yaks, gnus and elks cancel", "remove", id="a verb at the end"),
    ],
)
def test_a_step_has_the_action_type_of_its_verb(text: str, action_type: str) -> None:
    assert action_type in classify_step(text)


@pytest.mark.parametrize(
    ("text", "action_types"),
    [
        ("The user knows the new date", {"tell"}),
        ("Finally, the customer has been told the price", {"tell"}),
        ("The caller is asked for the code", {"ask"}),
    ],
)
def test_what_somebody_knows_in_the_end_was_said(text: str, action_types: set[str]) -> None:
    assert classify_step(text) == action_types


def test_what_somebody_has_in_the_end_was_not_only_said() -> None:
    assert "transact" in classify_step("The customer has a refund")


def test_words_that_are_not_verbs_have_no_action_type() -> None:
    assert classify_step("Zebras") == NONE


def test_each_part_of_a_step_asks_for_its_own() -> None:
    step = Step(number="1", text="Delete it and write it", parts=("Delete it", "write it"))
    removing, writing = classify_step_parts(step)
    assert "remove" in removing
    assert "write" in writing


def classify(event: Event, *commands: str, closing: bool = False) -> frozenset[str]:
    return classify_event(event, frozenset(commands), closing=closing)


def test_whatever_is_called_is_run() -> None:
    assert classify(call("zebra")) == {"run"}
    assert classify(call(None)) == {"run"}


def test_the_first_verb_of_a_tool_says_what_it_does() -> None:
    assert "lookup" in classify(call("get_order"))
    assert "transact" not in classify(call("get_order"))


def test_commands_add_what_they_do() -> None:
    assert "remove" in classify(call("bash"), "rm")


def test_a_closing_call_finishes_and_reports() -> None:
    assert {"finish", "tell"} <= classify(call("submit"), closing=True)


def test_an_agent_who_turns_to_another_delegates() -> None:
    turned = replace(call("WebSurfer"), actor="Orchestrator")
    assert {"delegate", "ask"} <= classify(turned)
    assert "ask" not in classify(replace(turned, arguments={"page": 1}))
    assert "ask" not in classify(replace(turned, actor=None))
    assert "ask" not in classify(replace(turned, name="web_surfer"))


@pytest.mark.parametrize(
    ("text", "action_types"),
    [
        pytest.param("Done.", {"tell", "think"}, id="it tells"),
        pytest.param("Which one?", {"tell", "think", "ask", "delegate"}, id="it asks"),
        pytest.param("TERMINATE", {"tell", "think", "finish"}, id="it ends"),
        pytest.param(
            "Which one? TERMINATE", {"tell", "think", "ask", "delegate", "finish"}, id="both"
        ),
        pytest.param("Why? " + "x" * 900, {"tell", "think", "ask", "delegate"}, id="at the head"),
        pytest.param("x" * 900 + " why?", {"tell", "think", "ask", "delegate"}, id="at the end"),
        pytest.param("x" * 900 + "? " + "x" * 900, {"tell", "think"}, id="in the middle"),
    ],
)
def test_a_message_may_ask_or_end(text: str, action_types: set[str]) -> None:
    assert classify_message(text) == action_types == classify(says(text))


def test_other_kinds_are_what_they_are() -> None:
    assert classify(thinks("so")) == {"think", "plan", "tell"}
    assert "plan" in classify(replace(call("todo"), kind=Kind.BOOKKEEPING))
    assert "lookup" in classify(replace(call("x"), kind=Kind.OBSERVATION))
