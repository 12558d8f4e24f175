"""The status of a step, read off the events that explain it."""

from __future__ import annotations

import pytest

from planproof.checking.alignment import Alignment
from planproof.checking.step_status import judge_step
from planproof.core.finding import Status, StepFinding
from tests.line_counts import measure_growth
from tests.trace_builders import Event, did, failed, noted, said, thought
from tests.unit.checking.judge_cases import make_candidates, make_requirement

FAIR = 50
NONE: list[list[int]] = [[], [], []]


def finding(step: str, *events: Event, runs: list[list[int]] | None = None) -> StepFinding:
    """On a step that all of the events explain; or on the middle one of these runs."""
    found = make_candidates(*events)
    explained = runs or [[], list(range(len(found))), []]
    fits = [[FAIR] * len(explained) for _ in found]
    explanation = Alignment(explained, [], fits, is_monotonic=True)
    actors = frozenset(unit.signature.actor for unit in found)
    return judge_step(1, make_requirement(step), explanation, found, actors)


@pytest.mark.parametrize(
    ("step", "event", "status"),
    [
        ("Delete draft-7.txt", did("delete_file", path="draft-7.txt"), Status.EXECUTED),
        ("Delete draft-7.txt", failed("delete_file", path="draft-7.txt"), Status.EXECUTED),
        ("Delete draft-7.txt", did("delete_file", path="draft-8.txt"), Status.PARTIAL),
        ("Delete draft-7.txt", said("draft-7.txt is deleted."), Status.AMBIGUOUS),
        ("Delete draft-7.txt", thought("draft-7.txt is deleted."), Status.AMBIGUOUS),
        ("Delete draft-7.txt", noted("write_todos", done="draft-7.txt"), Status.AMBIGUOUS),
        ("Tell Ann that it is done", said("It is done, Ann."), Status.EXECUTED),
        ("Decide which city is warmer", thought("Oslo is the warmer city."), Status.EXECUTED),
        ("Compare the two prices", thought("30 is less than 40."), Status.EXECUTED),
        ("Update the plan", noted("update_plan", step="2"), Status.EXECUTED),
        ("Call write_todos with the steps", noted("write_todos", todos=["a"]), Status.EXECUTED),
        ("Ask Ann which city she means", thought("Oslo is the warmer city."), Status.AMBIGUOUS),
        # what is to be secured
        ("Verify the checksum", thought("The checksum is right."), Status.AMBIGUOUS),
        ("Verify the checksum", did("verify_checksum"), Status.EXECUTED),
        ("Verify the checksum", failed("verify_checksum"), Status.PARTIAL),
        ("Deploy the site and make sure that it runs", failed("deploy"), Status.PARTIAL),
        ("Verify that a bad login fails", failed("try_login", user="x"), Status.EXECUTED),
        ("Confirm the date with the user", said("Is May 3 the right date?"), Status.EXECUTED),
    ],
)
def test_the_status_of_a_step_with_one_event(step: str, event: Event, status: Status) -> None:
    assert finding(step, event).status is status


def test_a_check_is_secured_by_its_last_attempt() -> None:
    events = failed("verify_checksum"), did("verify_checksum", "right")
    assert finding("Verify the checksum", *events).status is Status.EXECUTED
    assert finding("Verify the checksum", *events[::-1]).status is Status.PARTIAL


def test_a_retry_beside_the_run_counts_for_a_check() -> None:
    events = did("download"), failed("verify_checksum"), did("verify_checksum", "right")
    assert finding("Verify the checksum", *events, runs=[[0], [1], []]).status is Status.EXECUTED


def test_the_note_says_what_is_lacking() -> None:
    deviation = finding("Mail a.txt and b.txt", did("send_mail", file="c.txt"))
    assert deviation.note == "values “a.txt” and “b.txt” not found in any call of this step"


def test_a_value_in_an_event_beside_that_no_step_claims_will_do() -> None:
    events = did("open_mail"), did("attach", file="a.txt"), did("send_mail"), did("log_out")
    assert finding("Mail a.txt", *events, runs=[[0], [2], []]).status is Status.EXECUTED
    assert finding("Mail a.txt", *events, runs=[[0, 1], [2], []]).status is Status.PARTIAL


def test_without_events_a_step_is_missing() -> None:
    deviation = finding("Delete draft-7.txt", did("read_file"), runs=[[0], [], []])
    assert (deviation.status, deviation.evidence, deviation.covers) == (Status.MISSING, (), ())


@pytest.mark.parametrize(
    ("runs", "status"),
    [
        pytest.param([[0], [], [2]], Status.EXECUTED, id="refuted when it is due"),
        pytest.param([[1], [], [2]], Status.EXECUTED, id="refuted where the step before began"),
        pytest.param([[2], [], []], Status.AMBIGUOUS, id="refuted long before"),
        pytest.param([[], [], [0]], Status.AMBIGUOUS, id="refuted only afterwards"),
        pytest.param(NONE, Status.EXECUTED, id="no other step began"),
    ],
)
def test_a_condition_is_looked_at_when_the_step_is_due(
    runs: list[list[int]], status: Status
) -> None:
    events = did("prepare"), did("run_build", "The build passed."), did("tag")
    assert finding("If the build fails, roll back", *events, runs=runs).status is status


def test_an_optional_step_left_out_is_waived_and_one_that_was_done_is_not() -> None:
    step, events = "Optionally, clean the cache", (did("build"), did("clean_cache"))
    assert finding(step, *events, runs=[[0], [], []]).waived
    assert not finding(step, *events, runs=[[0], [1], []]).waived


def test_at_most_three_events_are_cited_and_all_are_covered() -> None:
    found = finding("Read the pages", *[did("read_page", page=n) for n in range(7)])
    assert len(found.evidence) == 3
    assert found.covers == tuple(f"e{n}" for n in range(1, 8))


def test_passages_of_one_message_are_one_event() -> None:
    long = said("\n".join(f"Part {n} of the report on the sales. " * 12 for n in range(3)))
    found = finding("Report the sales", long)
    assert found.covers == ("e1",)
    assert len(found.evidence) == 1


def test_work_grows_linearly_with_the_steps_that_nothing_shows() -> None:
    needed, found = make_requirement("If it rains, close the roof"), make_candidates(did("look_up"))

    def judge(steps: int) -> None:
        explanation = Alignment([[]] * steps, [0], [[FAIR] * steps], is_monotonic=True)
        for step in range(steps):
            judge_step(step, needed, explanation, found, frozenset())

    assert measure_growth(judge, 200) < 2.2
