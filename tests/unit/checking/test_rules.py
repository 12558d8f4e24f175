"""The embedded judge as a whole: what it rests on, order, sub-agents and sub-steps."""

from __future__ import annotations

import pytest

from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.finding import Status
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from tests.trace_builders import Event, asked, did, judge_events, nest_under, said, statuses
from tests.unit.checking.judge_cases import read

BUILT_IN = Vocabulary()


@pytest.mark.parametrize(
    "vocabulary",
    [
        BUILT_IN.with_declared(bookkeeping=frozenset({"jot"})),
        BUILT_IN.with_declared(closing=frozenset({"over"})),
        BUILT_IN.with_declared(aliases={"ring": "phone_call"}),
    ],
)
def test_the_fingerprint_changes_with_the_vocabulary(vocabulary: Vocabulary) -> None:
    assert Rules().fingerprint == Rules(BUILT_IN).fingerprint
    assert Rules(vocabulary).fingerprint != Rules().fingerprint


def test_an_alias_leads_from_the_word_of_a_step_to_a_tool() -> None:
    plan, trace = parse_plan(["Ring the caretaker"]), read(did("x17", arg="1"))
    known = Rules(BUILT_IN.with_declared(aliases={"Ring": "x17"}))
    assert Rules().judge(Content(), plan, trace).steps[0].status is Status.MISSING
    assert known.judge(Content(), plan, trace).steps[0].status is Status.EXECUTED


def test_a_declared_closing_tool_closes() -> None:
    plan, trace = parse_plan(["Read a.txt"]), read(did("read_file", path="a.txt"), did("over"))
    known = Rules(BUILT_IN.with_declared(closing=frozenset({"over"})))
    assert [extra.severity for extra in Rules().judge(Content(), plan, trace).extras] == ["major"]
    assert [extra.severity for extra in known.judge(Content(), plan, trace).extras] == ["minor"]


NESTED = """
1. Prepare
  1.1 Fetch
    1.1.1 Clone the repository
    1.1.2 Download data.csv
  1.2 Install the dependencies
2. Run the tests
"""
CLONE, DOWNLOAD = did("clone_repository"), did("download", file="data.csv")
INSTALL, TEST = did("install_dependencies"), did("run_tests")


def test_parents_are_executed_when_all_below_them_is() -> None:
    verdict = judge_events(NESTED, CLONE, DOWNLOAD, INSTALL, TEST)
    assert statuses(verdict) == [Status.EXECUTED] * 6
    prepare = verdict.steps[0]
    assert prepare.note == "derived from its sub-steps"
    assert [evidence.event for evidence in prepare.evidence] == ["e1", "e2", "e3"]


def test_parents_are_partial_when_some_below_them_is_missing() -> None:
    found = {
        step.number: step.status for step in judge_events(NESTED, DOWNLOAD, INSTALL, TEST).steps
    }
    assert found["1.1.1"] is Status.MISSING
    assert (found["1"], found["1.1"]) == (Status.PARTIAL, Status.PARTIAL)


def test_parents_are_missing_when_all_below_them_is() -> None:
    found = {step.number: step.status for step in judge_events(NESTED, INSTALL, TEST).steps}
    assert (found["1"], found["1.1"]) == (Status.PARTIAL, Status.MISSING)


def test_a_waived_sub_step_does_not_lower_its_parent() -> None:
    plan = "1. Prepare\n  1.1 Clone the repository\n  1.2 Optionally, clean up\n2. Run the tests"
    verdict = judge_events(plan, CLONE, TEST)
    assert verdict.steps[0].status is Status.EXECUTED
    assert verdict.score == 1.0


def test_what_a_sub_agent_and_its_own_helpers_do_is_covered_by_the_step() -> None:
    plan = ["Hand over to the research agent", "Write summary.md"]
    verdict = judge_events(
        plan,
        did("hand_over", to="research agent"),
        nest_under("e1", did("zig", a="1")),
        nest_under("e2", did("zag", b="2")),
        nest_under("e3", said("zigzag")),
        did("write_file", path="summary.md"),
    )
    assert verdict.steps[0].covers == ("e1", "e2", "e3", "e4")
    assert verdict.extras == ()


def test_the_note_on_a_deviation_says_that_the_user_spoke_before_it() -> None:
    plan = ["Read a.txt", "Delete b.txt", "Copy c.txt"]
    read_it, delete = did("read_file", path="a.txt"), did("delete_file", path="b.txt")
    copy = did("copy_file", path="c.txt")
    moved = judge_events(plan, read_it, asked("First the copy!"), copy, delete).steps[2]
    assert (moved.status, moved.note) == (Status.OUT_OF_ORDER, "after user message e2")
    other = did("delete_file", path="d.txt")
    partial = judge_events(plan, read_it, asked("No, d.txt!"), other, copy).steps[1]
    assert partial.note == "value “b.txt” not found in any call of this step; after user message e2"
    assert judge_events(plan, read_it, asked("Go on."), delete, copy).steps[1].note == ""


def test_the_task_has_no_say() -> None:
    plan, trace = parse_plan(["Read a.txt"]), read(did("read_file", path="a.txt"))
    one, other = (Rules().judge(Content(text), plan, trace) for text in ("", "Delete a.txt!"))
    assert one == other


def by(actor: str, text: str) -> Event:
    return {**said(text), "actor": actor}


def test_an_agent_without_tools_acts_by_speaking() -> None:
    plan = ["Coder: run the tests", "The Peer Reviewer verifies the fix"]
    tests = {**did("run_tests"), "actor": "coder"}
    approval = by("PeerReviewer", "I verified the fix.")
    verdict = judge_events(plan, tests, by("Coder", "The tests pass."), approval)
    assert statuses(verdict)[1] is Status.EXECUTED
    # The only speaker has no such excuse, and neither has somebody else.
    alone = judge_events(["The assistant restarts the server"], said("I restart the server."))
    assert statuses(alone) == [Status.AMBIGUOUS]
    # What a speaker is called is no name of an agent elsewhere in a step.
    server = by("server", "The server is restarted.")
    restart = judge_events(["Run the tests", "Restart the server"], tests, server)
    assert statuses(restart)[1] is not Status.EXECUTED
    booked = ["Coder: run the tests", "The Peer Reviewer books the room for the review"]
    booking = judge_events(booked, tests, by("PeerReviewer", "I booked the room for the review."))
    assert statuses(booking)[1] is not Status.EXECUTED
    other = judge_events(plan, tests, by("Coder", "I verified the fix."))
    assert statuses(other)[1] is not Status.EXECUTED


def test_to_open_something_may_be_to_create_it() -> None:
    ticket = did("create_ticket", title="Outage")
    assert statuses(judge_events(["Open a ticket for the outage"], ticket)) == [Status.EXECUTED]
    look = judge_events(["Look at the ticket of the outage"], ticket)
    assert statuses(look) != [Status.EXECUTED]


def test_a_call_that_ends_the_run_tells_what_it_says() -> None:
    plan = ["Look up the team of the pitcher", "Answer with the name of the team"]
    search = did("search", "New York Yankees", query="team of the pitcher")
    done = {"kind": "action", "name": "finish", "text": "New York Yankees"}
    assert judge_events(plan, search, done).score == 1.0


def test_the_first_round_of_a_loop_repeats_nothing() -> None:
    plan = ["Poll the job export, and repeat until it is finished"]
    assert judge_events(plan, did("poll_job", "finished", job="export")).score == 1.0
