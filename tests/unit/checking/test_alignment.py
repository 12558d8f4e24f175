"""The best explanation of a trace by a plan, for affinities given by hand."""

from __future__ import annotations

import pytest

from planproof.checking.alignment import Alignment, align, load_costs
from planproof.checking.similarity import Similarity
from tests.line_counts import measure_growth
from tests.trace_builders import Event, did, noted, said, thought
from tests.unit.checking.judge_cases import make_candidates, make_requirement

A, B, C = (
    did("alpha", "1", path="a.txt"),
    did("beta", "2", path="b.txt"),
    did("gamma", "3", path="c.txt"),
)
PLAN = ["Do alpha to a.txt", "Do beta to b.txt", "Do gamma to c.txt"]
GOOD, FAIR, POOR, BAD = 300, 30, -50, -600


def align_rows(plan: list[str], events: list[Event], fits: list[list[int]]) -> Alignment:
    """Align with given scores: `fits` has a row for each event and a column for each step."""
    rows = [list(row) for row in fits]
    return align(
        make_candidates(*events),
        [make_requirement(step) for step in plan],
        Similarity(rows, 0.0),
    )


DIAGONAL = [[GOOD, BAD, BAD], [BAD, GOOD, BAD], [BAD, BAD, GOOD]]


def test_each_event_goes_to_the_step_that_it_fits() -> None:
    found = align_rows(PLAN, [A, B, C], DIAGONAL)
    assert (found.assigned, found.unassigned, found.is_monotonic) == ([[0], [1], [2]], [], True)


def test_what_fits_nowhere_is_left_over() -> None:
    found = align_rows(PLAN[:1], [A, B], [[GOOD], [BAD]])
    assert (found.assigned, found.unassigned) == ([[0]], [1])


def test_another_order_must_explain_far_more() -> None:
    found = align_rows(PLAN, [C, B, A], DIAGONAL[::-1])
    assert (found.assigned, found.is_monotonic) == ([[2], [1], [0]], False)
    slight = [[FAIR, 0, 0], [0, 0, FAIR], [0, FAIR, 0]]
    assert align_rows(PLAN, [A, C, B], slight).is_monotonic


def test_of_actions_that_are_alike_nobody_can_say_which_was_meant() -> None:
    events = [did("poll", "1", job="a"), did("poll", "2", job="a")]
    plan = ["Poll the job", "Poll the job again"]
    assert align_rows(plan, events, [[BAD, GOOD], [GOOD, BAD]]).is_monotonic


@pytest.mark.parametrize(("margin", "left"), [(20, []), (-20, [1])])
def test_an_action_is_assigned_unless_leaving_it_over_costs_less(
    margin: int, left: list[int]
) -> None:
    score = margin - load_costs().unassigned_action
    events = [A, did("alpha", "9", at="a.txt")]
    assert align_rows(PLAN[:1], events, [[GOOD], [score]]).unassigned == left


# sharing


def test_a_step_without_events_shares_one_that_shows_it() -> None:
    found = align_rows(PLAN[:2], [A], [[GOOD, GOOD - 100]])
    assert (found.assigned, found.unassigned) == ([[0], [0]], [])
    assert align_rows(PLAN[:2], [A], [[GOOD, POOR]]).assigned == [[0], []]


def test_a_line_of_several_commands_need_show_a_step_less_plainly() -> None:
    line = did("run", command="do alpha a.txt && do beta b.txt")
    assert align_rows(PLAN[:2], [line], [[GOOD, POOR]]).assigned == [[0], [0]]
    assert align_rows(PLAN[:2], [line], [[GOOD, BAD]]).assigned == [[0], []]


def test_a_message_is_not_a_command_line() -> None:
    plan = ["Tell Ann of a.txt", "Tell Bo of b.txt"]
    assert align_rows(plan, [said("a.txt; b.txt")], [[GOOD, POOR]]).assigned == [[0], []]


def test_a_step_done_too_early_explains_more_in_another_order() -> None:
    fits = [[BAD, BAD, FAIR], [GOOD, BAD, BAD], [BAD, GOOD, BAD]]
    found = align_rows(PLAN, [C, A, B], fits)
    assert (found.assigned, found.is_monotonic) == ([[1], [2], [0]], False)
    fits[0][2] = BAD
    found = align_rows(PLAN, [C, A, B], fits)
    assert (found.assigned, found.is_monotonic) == ([[1], [2], []], True)


def test_a_missing_step_is_looked_for_outside_its_neighbours() -> None:
    fits = [[GOOD, BAD, FAIR], [BAD, GOOD, BAD], [BAD, GOOD, BAD]]
    found = align_rows(PLAN, [A, B, C], fits)
    assert (found.assigned, found.is_monotonic) == ([[0], [1, 2], [0]], True)
    fits[0][2] = 10
    assert align_rows(PLAN, [A, B, C], fits).assigned == [[0], [1, 2], []]


def test_an_unstarted_step_stays_after_the_one_before_it() -> None:
    fits = [[BAD, BAD, BAD, GOOD], [GOOD, BAD, BAD, BAD], [BAD, BAD, GOOD, BAD]]
    found = align_rows([*PLAN[:1], "Do delta to d.txt", *PLAN[1:]], [C, A, B], fits)
    assert (found.assigned, found.is_monotonic) == ([[1], [], [2], [0]], False)


def test_equal_calls_explain_no_other_order() -> None:
    poll, other = did("poll", "1", job="a"), did("poll", "2", job="b")
    plan = ["Poll the job", "Poll the job again"]
    crossed = [[BAD, GOOD], [GOOD, BAD]]
    assert align_rows(plan, [poll, poll], crossed).is_monotonic
    assert not align_rows(plan, [poll, other], crossed).is_monotonic


def test_without_events_nothing_is_explained() -> None:
    found = align_rows(PLAN, [], [])
    assert (found.assigned, found.unassigned) == ([[], [], []], [])


# who may execute what


@pytest.mark.parametrize(
    ("step", "event", "barred"),
    [
        pytest.param("Delete a.txt", said("a.txt is deleted."), True, id="a claim for an action"),
        pytest.param(
            "Delete a.txt", thought("a.txt is deleted."), True, id="a thought for an action"
        ),
        pytest.param("Delete a.txt", did("delete", path="a.txt"), False, id="an action"),
        pytest.param("Tell Ann of a.txt", said("a.txt, Ann!"), False, id="a message"),
        pytest.param(
            "Tell Ann of a.txt", did("read", path="a.txt"), True, id="an action for a message"
        ),
        pytest.param("Decide on a.txt", thought("a.txt it is."), False, id="a decision"),
        pytest.param("Delete a.txt", noted("todo", item="a.txt"), True, id="a list for an action"),
        pytest.param("Update the list a.txt", noted("todo", item="a.txt"), False, id="a list"),
        pytest.param(
            "Delete a.txt",
            {"kind": "observation", "text": "a.txt is gone"},
            False,
            id="a result whose call is not recorded",
        ),
    ],
)
def test_messages_do_not_match_actions_nor_actions_messages(
    step: str, event: Event, barred: bool
) -> None:
    ((fit,),) = align_rows([step], [event], [[GOOD]]).scores
    assert fit == (-100 if barred else GOOD)


def test_a_bad_fit_is_not_made_better() -> None:
    assert align_rows(["Delete a.txt"], [said("a.txt")], [[BAD]]).scores == [[BAD]]


def test_a_step_that_asks_for_a_repetition_wants_one() -> None:
    once, twice = did("poll", "1", job="a"), did("poll", "2", job="a")
    found = align_rows(["Poll the job again"], [once, twice], [[0], [0]])
    bonus = load_costs().repetition
    assert found.scores == [[-bonus], [bonus]]


def test_a_step_written_as_a_call_is_done_by_that_call() -> None:
    plan = ['alpha({"path": "a.txt"})']
    found = align_rows(plan, [A, did("Alpha", path="x"), B], [[BAD], [GOOD], [GOOD]])
    assert found.scores == [[400], [-150], [-900]]
    assert found.assigned[0][0] == 0


# unrelated actions


def test_an_unrelated_action_stays_unassigned() -> None:
    found = align_rows(["Ring the caretaker"], [did("x17")], [[GOOD]])
    assert (found.assigned, found.unassigned) == ([[]], [0])
    both = align_rows(
        ["Read a.txt"], [did("read", path="b.txt"), did("read", path="a.txt")], [[GOOD]] * 2
    )
    assert (both.assigned, both.unassigned) == ([[1]], [0])


def test_work_grows_linearly_with_the_steps_that_nothing_shows() -> None:
    found, step = make_candidates(A), make_requirement(PLAN[0])
    assert (
        measure_growth(
            lambda steps: align(found, [step] * steps, Similarity([[BAD] * steps], 0.0)), 200
        )
        < 2.2
    )
