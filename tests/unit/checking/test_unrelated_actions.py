"""Actions that were put under a step whose text does not cover them."""

from __future__ import annotations

import pytest

from planproof.checking.unrelated_actions import remove_unrelated_actions
from tests.trace_builders import Event, did, failed, said
from tests.unit.checking.judge_cases import make_candidates, make_requirement


def find_unrelated(step: str, *events: Event) -> list[int]:
    """The events that do not belong under the step, by their place."""
    run = list(range(len(events)))
    found = remove_unrelated_actions(make_candidates(*events), [make_requirement(step)], [run])
    assert sorted([*run, *(index for _, index in found)]) == list(range(len(events)))
    return sorted(index for _, index in found)


PRICE = did("get_price", "60", item="chair")
LOG = did("read_file", "...", path="app.log")
POLL = did("poll_job", "running", job="export")


@pytest.mark.parametrize(
    ("step", "events", "found"),
    [
        pytest.param("Read app.log", [LOG], [], id="covered"),
        # other actions
        pytest.param("Ring the caretaker", [did("x17")], [0], id="nothing in common"),
        pytest.param("Ring the caretaker", [said("Ring, ring!")], [], id="words are no action"),
        pytest.param("Review the hotel", [did("get_rooms")], [], id="the action type alone"),
        pytest.param(
            "Look up the price of the chair",
            [PRICE, did("get_weather", city="Oslo")],
            [1],
            id="the action type where another action has the object",
        ),
        pytest.param("Ring the caretaker", [did("x17", "caretaker rings")], [], id="an answer"),
        pytest.param(
            "Ring the old caretaker of the house",
            [did("x17", "The house was sold.")],
            [0],
            id="a single word in what came back",
        ),
        pytest.param("Ring 0815", [did("x17", number="0815")], [], id="the value"),
        # other values
        pytest.param(
            "Read app.log", [LOG, did("read_file", "...", path="db.log")], [1], id="another file"
        ),
        pytest.param(
            "Read app.log", [did("list_files", "...", path="app/"), LOG], [], id="another tool"
        ),
        pytest.param(
            "Read app.log and all other logs",
            [LOG, did("read_file", "...", path="db.log")],
            [],
            id="an open end",
        ),
        pytest.param(
            "Read the log of Oslo", [did("read_log", "..."), did("read_log")], [], id="no value"
        ),
        pytest.param(
            "Order 2 chairs",
            [did("order_chair", "...", number=2), did("order_chair", "!", number=7)],
            [],
            id="one digit tells little",
        ),
        # repeats
        pytest.param("Read app.log", [LOG, LOG], [1], id="the same again"),
        pytest.param("Read app.log twice", [LOG, LOG], [], id="asked for"),
        pytest.param(
            "Poll the job export", [POLL, {**POLL, "output": "done"}], [], id="something new"
        ),
        pytest.param("Poll the job, repeat until it is done", [POLL, POLL], [], id="a loop"),
        pytest.param("Click next", [did("click", "", at="next")] * 2, [], id="unrecorded outputs"),
        pytest.param(
            "Read app.log", [failed("read_file", "Error", path="app.log"), LOG], [1], id="a retry"
        ),
    ],
)  # fmt: skip
def test_what_the_text_of_a_step_does_not_cover(
    step: str, events: list[Event], found: list[int]
) -> None:
    assert find_unrelated(step, *events) == found


def test_an_unrelated_action_is_removed_from_its_own_step_only() -> None:
    runs = [[0, 1], [1]]
    log, other = LOG, did("read_file", "...", path="db.log")
    plan = [make_requirement("Read app.log"), make_requirement("Read db.log")]
    assert remove_unrelated_actions(make_candidates(log, other), plan, runs) == [(0, 1)]
    assert runs == [[0], [1]]


def test_what_is_done_when_all_is_said_does_not_serve_the_saying() -> None:
    before, after = did("get_order", "60", order="A-1"), did("get_order", "70", order="A-2")
    events = make_candidates(before, said("Which of the orders do you mean?"), after)
    plan = [make_requirement("Ask which of the orders applies"), make_requirement("Say goodbye")]

    assert remove_unrelated_actions(events, plan, [[0, 1, 2], []]) == [(0, 2)]


def test_a_tool_that_the_step_names_may_come_after_the_words() -> None:
    events = make_candidates(
        said("It is not enough."), did("calculate", "74", expression="348 - 274")
    )
    plan = [
        make_requirement("Say so and offer other ways, then calculate"),
        make_requirement("Say goodbye"),
    ]

    assert remove_unrelated_actions(events, plan, [[0, 1], []]) == []
