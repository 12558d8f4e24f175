"""What steps ask for."""

from __future__ import annotations

from planproof.checking.requirements import WrittenCall, compile_steps
from planproof.core.plan import Plan, Step
from planproof.core.vocabulary import Vocabulary
from tests.unit.checking.alignment_cases import make_requirements


def test_only_the_steps_that_count_make_demands() -> None:
    steps = (
        Step(number="1", text="Clean up"),
        Step(number="1.1", text="Delete a.txt", parent="1"),
    )
    (demand,) = compile_steps(Plan(steps), Vocabulary())
    assert demand.step.number == "1.1"


def test_a_demand_knows_what_it_is_to_be_done_by() -> None:
    tell, think, delete = make_requirements("Tell the user", "Decide on one", "Delete a.txt")
    assert (tell.accepts_message, tell.accepts_reasoning, tell.requires_action) == (
        True,
        False,
        False,
    )
    assert (think.accepts_message, think.accepts_reasoning) == (False, True)
    assert (delete.accepts_message, delete.accepts_reasoning, delete.requires_action) == (
        False,
        False,
        True,
    )
    assert tell.parts[0].accepts_text
    assert not delete.parts[0].accepts_text


def test_a_demand_may_ask_for_a_repetition() -> None:
    once, again = make_requirements("Run the tests", "Run the tests again")
    assert not once.is_repetition
    assert again.is_repetition


def test_values_belong_to_the_part_that_names_them() -> None:
    step = Step(
        number="1",
        text="Read a.txt and delete b.txt (both in /tmp)",
        parts=("Read a.txt", "delete b.txt"),
    )
    (demand,) = compile_steps(Plan((step,)), Vocabulary())
    first, second = ([item.text for item in part.literals] for part in demand.parts)
    assert first == ["a.txt", "/tmp"]
    assert second == ["b.txt"]
    assert [item.text for item in demand.literals] == ["a.txt", "/tmp", "b.txt"]


def test_a_word_may_be_declared_to_mean_a_tool() -> None:
    plan = Plan((Step(number="1", text="Ring Ann"),))
    (plain,) = compile_steps(plan, Vocabulary())
    (declared,) = compile_steps(plan, Vocabulary(aliases={"Ring": "phone_call", "knock": "door"}))
    assert "phone_call" not in plain.folded_text
    assert declared.folded_text == "ring ann phone_call"
    assert "phone" in {word.text for word in declared.words}


def test_a_step_may_be_written_as_a_call() -> None:
    call, not_json, words = make_requirements(
        'Get_Order({"id": 5})', "get_order({id})", "Get the order"
    )
    assert call.call == WrittenCall("get_order", {"id": 5})
    assert not_json.call is None
    assert words.call is None


def test_what_follows_a_step_in_the_same_item_is_left_out() -> None:
    (demand,) = make_requirements("Write a.txt\n\nNote: b.txt is not needed")
    assert [item.text for item in demand.literals] == ["a.txt"]
    assert demand.folded_text == "write a.txt"


def test_the_same_step_is_read_once() -> None:
    assert make_requirements("Write a.txt")[0] is make_requirements("Write a.txt")[0]


def test_a_step_for_a_tool_takes_an_action() -> None:
    seen, asked = make_requirements(
        "Use the visualizer tool to inspect it", "Ask the search_agent for it"
    )
    assert (seen.accepts_reasoning, seen.requires_action) == (False, True)
    assert (asked.accepts_message, asked.message_only, asked.requires_action) == (
        False,
        False,
        True,
    )


def test_the_subject_is_who_gets_the_work() -> None:
    steps = ("**WebSurfer**: search", "Assistant will sum up", "Search the web", "We will search")
    assert [demand.subject for demand in make_requirements(*steps)] == [
        "websurfer",
        "assistant",
        "",
        "",
    ]
