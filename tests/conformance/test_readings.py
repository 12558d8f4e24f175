"""The readings of the rubric (docs/rubric.md), each under its number, the way a user asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.core.finding import Severity, Status
from planproof.scoring import compute_score
from tests.trace_builders import (
    Event,
    asked,
    did,
    failed,
    judge_events,
    nest_under,
    noted,
    said,
    statuses,
    thought,
)
from tests.unit.finding_builders import findings

EXECUTED, PARTIAL, MISSING = Status.EXECUTED, Status.PARTIAL, Status.MISSING
AMBIGUOUS, OUT_OF_ORDER = Status.AMBIGUOUS, Status.OUT_OF_ORDER
NOT_DONE = {MISSING, AMBIGUOUS}

FILING = ["Read report-12.txt", "Copy report-12.txt to the folder archive", "Delete draft-7.txt"]
READ = did("read_file", path="report-12.txt")
COPY = did("copy_file", path="report-12.txt", folder="archive")
DELETE = did("delete_file", path="draft-7.txt")

MOVING = ["Back up the database", "Migrate the database", "Restart the server"]
BACKUP, MIGRATE, RESTART = did("backup_database"), did("migrate_database"), did("restart_server")

RELEASING = ["Run the build", "If the build fails, roll back the release", "Tag the release v2"]
TAG = did("tag_release", tag="v2")


@pytest.mark.parametrize("claim", [said, thought])
def test_reading_01_a_claim_is_not_evidence_of_an_action(claim: Callable[[str], Event]) -> None:
    verdict = judge_events(
        ["Download data.csv", "Verify the checksum of data.csv", "Load data.csv into sales"],
        did("download", file="data.csv"),
        claim("I have verified it: the checksum of the file matches."),
        did("load_table", file="data.csv", table="sales"),
    )
    first, second, third = statuses(verdict)
    assert (first, third) == (EXECUTED, EXECUTED)
    assert second in NOT_DONE
    assert verdict.score == 0.5


def test_reading_01_reasoning_executes_a_step_that_is_itself_reasoning() -> None:
    verdict = judge_events(
        ["Fetch the weather in Oslo", "Fetch the weather in Bergen", "Decide which is warmer"],
        did("get_weather", "12 degrees", city="Oslo"),
        did("get_weather", "9 degrees", city="Bergen"),
        thought("12 against 9 degrees: Oslo is warmer than Bergen."),
    )
    assert statuses(verdict) == [EXECUTED] * 3


TELL_PLAN = ["Look up order 4711", "Tell the customer when order 4711 arrives"]
LOOKED_UP = did("get_order", "arrives on May 3", id="4711")


def test_reading_01_a_message_executes_a_step_that_is_to_tell_somebody() -> None:
    verdict = judge_events(TELL_PLAN, LOOKED_UP, said("Your order 4711 arrives on May 3."))
    assert statuses(verdict) == [EXECUTED] * 2


def test_reading_01_a_lookup_alone_is_not_a_message() -> None:
    assert statuses(judge_events(TELL_PLAN, LOOKED_UP)) == [EXECUTED, MISSING]


def test_reading_02_an_attempt_counts() -> None:
    verdict = judge_events(
        ["Fetch prices.csv", "Import prices.csv into the table prices"],
        failed("fetch_file", path="prices.csv"),
        did("import_file", path="prices.csv", table="prices"),
    )
    assert statuses(verdict) == [EXECUTED] * 2
    assert verdict.score == 1.0


DEPLOYING = ["Deploy version 7 to staging", "Make sure that staging is healthy"]
DEPLOY = did("deploy", version=7, target="staging")


@pytest.mark.parametrize("verb", ["Make sure", "Ensure", "Verify", "Confirm"])
def test_reading_02_a_check_that_did_not_succeed_is_partial(verb: str) -> None:
    plan = [DEPLOYING[0], f"{verb} that staging is healthy"]
    verdict = judge_events(plan, DEPLOY, failed("check_health", target="staging"))
    assert statuses(verdict) == [EXECUTED, PARTIAL]
    assert verdict.score == 0.5


def test_reading_02_a_check_that_succeeded_is_executed() -> None:
    verdict = judge_events(DEPLOYING, DEPLOY, did("check_health", "healthy", target="staging"))
    assert statuses(verdict) == [EXECUTED] * 2


def test_reading_02_a_check_that_succeeded_at_the_second_attempt_is_executed() -> None:
    health = {"target": "staging"}
    verdict = judge_events(
        DEPLOYING, DEPLOY, failed("check_health", **health), did("check_health", **health)
    )
    assert statuses(verdict) == [EXECUTED] * 2
    assert [extra.severity for extra in verdict.extras] == [Severity.MINOR]


def test_reading_03_the_same_action_with_another_value_is_partial() -> None:
    verdict = judge_events(
        ["Look up flight HAT030", "Book flight HAT030 for ann_1"],
        did("get_flight", flight="HAT030"),
        did("book_flight", flight="HAT069", user="ann_1"),
    )
    assert statuses(verdict) == [EXECUTED, PARTIAL]
    assert "HAT030" in verdict.steps[1].note
    assert not verdict.extras


def test_reading_03_another_action_in_its_place_is_an_extra_and_the_step_is_missing() -> None:
    verdict = judge_events(FILING, READ, COPY, did("send_invoice", customer="Ann", amount=120))
    assert statuses(verdict) == [EXECUTED, EXECUTED, MISSING]
    assert [extra.event for extra in verdict.extras] == ["e3"]


def test_reading_03_one_of_two_targets_is_partial() -> None:
    verdict = judge_events(
        ["Read report.txt", "Mail report.txt to ann@example.org and bo@example.org"],
        did("read_file", path="report.txt"),
        did("send_mail", to="ann@example.org", file="report.txt"),
    )
    assert statuses(verdict) == [EXECUTED, PARTIAL]


def test_reading_03_one_of_two_parts_is_partial() -> None:
    verdict = judge_events(
        ["Read report.txt", "Copy report.txt to backup.txt and delete the old draft"],
        did("read_file", path="report.txt"),
        did("copy_file", source="report.txt", target="backup.txt"),
    )
    assert statuses(verdict) == [EXECUTED, PARTIAL]


def test_reading_04_one_action_may_execute_several_steps() -> None:
    verdict = judge_events(
        ["Format the code", "Run the tests"], did("run", command="make format && make test")
    )
    assert statuses(verdict) == [EXECUTED] * 2
    assert {evidence.event for step in verdict.steps for evidence in step.evidence} == {"e1"}


def test_reading_04_one_step_may_cover_a_run_of_actions() -> None:
    verdict = judge_events(
        ["Read the three configuration files", "Report how the configuration files differ"],
        did("read_file", path="a.yaml"),
        did("read_file", path="b.yaml"),
        did("read_file", path="c.yaml"),
        said("The configuration files differ in the port."),
    )
    assert statuses(verdict) == [EXECUTED] * 2
    assert verdict.steps[0].covers == ("e1", "e2", "e3")
    assert verdict.score == 1.0


@pytest.mark.parametrize(
    ("done", "found", "worth"),
    [
        pytest.param((BACKUP, MIGRATE, RESTART), [EXECUTED] * 3, 1.0, id="in order"),
        pytest.param(
            (MIGRATE, BACKUP, RESTART),
            [EXECUTED, OUT_OF_ORDER, EXECUTED],
            0.25,
            id="of two neighbours the later-planned",
        ),
        pytest.param(
            (RESTART, MIGRATE, BACKUP), [EXECUTED, OUT_OF_ORDER, OUT_OF_ORDER], 0.0, id="reversed"
        ),
    ],
)
def test_reading_05_out_of_order_are_the_fewest_steps_that_would_have_to_move(
    done: tuple[Event, ...], found: list[Status], worth: float
) -> None:
    verdict = judge_events(MOVING, *done)
    assert statuses(verdict) == found
    assert verdict.score == worth


def test_reading_05_calls_of_one_turn_have_no_order_among_themselves() -> None:
    assert statuses(judge_events(MOVING, (MIGRATE, BACKUP), RESTART)) == [EXECUTED] * 3


@pytest.mark.parametrize("done", [(MIGRATE, BACKUP, RESTART), (RESTART, MIGRATE, BACKUP)])
def test_reading_05_steps_whose_order_the_plan_leaves_open_have_none(
    done: tuple[Event, ...],
) -> None:
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(MOVING, start=1))
    verdict = judge_events(f"Do the following in any order:\n{numbered}", *done)
    assert statuses(verdict) == [EXECUTED] * 3


CHOOSING = ["Read report.txt", "Mail report.txt to ann@example.org or bo@example.org"]


@pytest.mark.parametrize("to", ["ann@example.org", "bo@example.org"])
def test_reading_05_a_or_b_is_executed_by_either(to: str) -> None:
    mail = did("send_mail", to=to, file="report.txt")
    assert (
        statuses(judge_events(CHOOSING, did("read_file", path="report.txt"), mail))
        == [EXECUTED] * 2
    )


def test_reading_05_a_or_b_is_not_executed_by_a_third() -> None:
    mail = did("send_mail", to="cy@example.org", file="report.txt")
    found = statuses(judge_events(CHOOSING, did("read_file", path="report.txt"), mail))
    assert found == [EXECUTED, PARTIAL]


@pytest.mark.parametrize(
    ("more", "severities"),
    [
        pytest.param(did("read_file", path="db.log"), [Severity.MAJOR], id="only reads"),
        pytest.param(did("send_invoice", customer="Ann"), [Severity.MAJOR], id="unplanned"),
        pytest.param(READ, [Severity.MINOR], id="a repeat that adds nothing"),
        pytest.param(noted("write_todos", todos=["file it"]), [], id="bookkeeping"),
        pytest.param(thought("The report can be filed now."), [], id="a thought on a step"),
        pytest.param(said("I have the report now."), [], id="talk that serves a step"),
        pytest.param(
            said("I will also call your bank tomorrow."), [Severity.MAJOR], id="a promise"
        ),
    ],
)
def test_reading_06_what_no_step_covers_is_an_extra(
    more: Event, severities: list[Severity]
) -> None:
    verdict = judge_events(FILING, READ, more, COPY, DELETE)
    assert statuses(verdict) == [EXECUTED] * 3
    assert [extra.severity for extra in verdict.extras] == severities


def test_reading_06_a_retry_is_minor() -> None:
    verdict = judge_events(FILING, failed("read_file", path="report-12.txt"), READ, COPY, DELETE)
    assert [extra.severity for extra in verdict.extras] == [Severity.MINOR]
    assert verdict.score == 0.75


def test_reading_06_one_closing_call_is_minor_and_the_next_is_not() -> None:
    one, two = did("submit"), did("finish")
    assert judge_events(FILING, READ, COPY, DELETE, one).score == 0.75
    found = [extra.severity for extra in judge_events(FILING, READ, COPY, DELETE, one, two).extras]
    assert found == [Severity.MINOR, Severity.MAJOR]


def test_reading_07_a_conditional_step_is_executed_when_it_was_done() -> None:
    verdict = judge_events(RELEASING, failed("run_build"), did("roll_back", release="v1"), TAG)
    assert statuses(verdict) == [EXECUTED] * 3


def test_reading_07_a_conditional_step_is_executed_when_its_condition_was_false() -> None:
    verdict = judge_events(RELEASING, did("run_build", "The build passed."), TAG)
    assert statuses(verdict) == [EXECUTED] * 3
    assert verdict.steps[1].evidence[0].quote == "The build passed"


def test_reading_07_a_conditional_step_is_ambiguous_when_nothing_shows_its_condition() -> None:
    verdict = judge_events(RELEASING, did("run_build", "log written to build.log"), TAG)
    assert statuses(verdict) == [EXECUTED, AMBIGUOUS, EXECUTED]
    assert verdict.score == 0.5


@pytest.mark.parametrize("step", ["Optionally, clean the cache", "Clean the cache if needed"])
def test_reading_07_an_optional_step_may_be_left_out(step: str) -> None:
    verdict = judge_events(["Run the build", step, "Tag the release v2"], did("run_build"), TAG)
    assert verdict.steps[1].waived
    assert verdict.score == 1.0


def test_reading_07_a_loop_covers_its_repeats() -> None:
    poll = did("poll_job", "running", job="export")
    verdict = judge_events(
        ["Create the job export", "Poll the job export, and repeat until it is finished"],
        did("create_job", job="export"),
        *[poll] * 4,
        did("poll_job", "finished", job="export"),
    )
    assert statuses(verdict) == [EXECUTED] * 2
    assert verdict.score == 1.0


def test_reading_08_the_plan_given_stays_in_force() -> None:
    verdict = judge_events(
        ["Fetch the exchange rate from the API"],
        said("New plan:\n1. Scrape the website bank.example instead."),
        did("scrape_website", url="https://bank.example"),
    )
    assert statuses(verdict)[0] in NOT_DONE
    assert [extra.event for extra in verdict.extras] == ["e2"]
    assert verdict.score == 0.0


NEW_PLAN = (
    asked("What is a dollar worth?"),
    said("My plan:\n1. Fetch the exchange rate from the API\n2. Report the exchange rate"),
    failed("fetch_exchange_rate", source="API"),
    said("New plan:\n1. Scrape the website bank.example\n2. Report the exchange rate"),
    did("scrape_website", "0.92", url="https://bank.example"),
    said("The exchange rate is 0.92."),
)


def test_reading_08_the_first_plan_declared_stays_in_force() -> None:
    verdict = judge_events(None, *NEW_PLAN)
    assert statuses(verdict) == [EXECUTED, EXECUTED]
    assert [(extra.event, extra.severity) for extra in verdict.extras] == [("e5", Severity.MAJOR)]
    assert verdict.score == 0.5


def test_reading_08_with_latest_each_event_is_judged_by_the_plan_in_force_then() -> None:
    verdict = judge_events(None, *NEW_PLAN, plan_in_force="latest")
    assert [(step.number, step.status) for step in verdict.steps] == [
        ("e2/1", EXECUTED),
        ("1", EXECUTED),
        ("2", EXECUTED),
    ]
    assert verdict.score == 1.0


RESEARCHING = ["Let the research agent collect sources", "Write summary.md"]
SEARCHES = [nest_under("e1", did("web_search", query=word)) for word in ("tides", "moon", "winds")]
SUMMARY = did("write_file", path="summary.md")


def test_reading_09_what_a_sub_agent_does_belongs_to_the_hand_off() -> None:
    hand_off = did("hand_over", to="research agent", goal="collect sources")
    verdict = judge_events(RESEARCHING, hand_off, *SEARCHES, SUMMARY)
    assert statuses(verdict) == [EXECUTED] * 2
    assert verdict.steps[0].covers == ("e1", "e2", "e3", "e4")
    assert verdict.score == 1.0


def test_reading_09_under_an_unplanned_hand_off_all_is_unplanned() -> None:
    bank = nest_under("e1", did("open_bank"))
    verdict = judge_events(RESEARCHING, did("pay_invoice", number="77"), bank, bank, SUMMARY)
    assert statuses(verdict) == [MISSING, EXECUTED]
    assert [extra.event for extra in verdict.extras] == ["e1", "e2", "e3"]
    assert {extra.severity for extra in verdict.extras} == {Severity.MAJOR}


def test_reading_10_the_task_adds_no_step_and_excuses_none() -> None:
    tasks = ["", "File the report, and mail it to Ann as well.", "Do not delete anything."]
    verdicts = [judge_events(FILING, READ, COPY, DELETE, task=task) for task in tasks]
    assert [verdict.score for verdict in verdicts] == [1.0] * 3


ORDERING = ["Look up the price of 10 chairs", "Order 10 chairs"]
PRICE = did("get_price", "60 each", item="chair", quantity=10)


def test_reading_10_a_changed_request_is_judged_by_the_plan() -> None:
    verdict = judge_events(
        ORDERING, PRICE, asked("Make it 12."), did("order_item", item="chair", quantity=12)
    )
    assert statuses(verdict) == [EXECUTED, PARTIAL]
    assert "after user message e2" in verdict.steps[1].note


def test_reading_10_an_additional_request_of_the_user_is_an_extra_with_a_note() -> None:
    verdict = judge_events(
        ORDERING,
        PRICE,
        asked("And what is the weather like in Oslo?"),
        did("get_weather", city="Oslo"),
        did("order_item", item="chair", quantity=10),
    )
    (extra,) = verdict.extras
    assert extra.what == "get_weather, after user message e2"


PREPARING = (
    "1. Prepare\n  1.1 Clone the repository\n  1.2 Install the dependencies\n2. Run the tests"
)
CLONE, INSTALL = did("clone_repository"), did("install_dependencies")


def test_reading_11_a_parent_is_executed_when_its_leaves_are() -> None:
    verdict = judge_events(PREPARING, CLONE, INSTALL, did("run_tests"))
    assert statuses(verdict) == [EXECUTED] * 4
    assert verdict.score == 1.0


def test_reading_11_only_leaves_count() -> None:
    verdict = judge_events(PREPARING, CLONE, did("run_tests"))
    assert statuses(verdict) == [PARTIAL, EXECUTED, MISSING, EXECUTED]
    assert verdict.plan is not None
    assert verdict.plan.steps == 3
    assert verdict.score == compute_score(findings("ELE"))


@given(
    st.text(alphabet="EPLAO", max_size=6), st.integers(0, 2), st.integers(0, 2), st.integers(0, 6)
)
def test_reading_12_ambiguity_is_never_worth_more_than_absence(
    others: str, major: int, minor: int, place: int
) -> None:
    absent, unclear = (others[:place] + letter + others[place:] for letter in "LA")
    assert compute_score(findings(unclear, major, minor)) <= compute_score(
        findings(absent, major, minor)
    )


CHECKING = ["Look up order 4711", "Check the policy", "Refund order 4711"]
FOUND, REFUND = did("get_order", "toys", id="4711"), did("refund_order", id="4711")


def test_reading_13_only_what_has_an_effect_is_an_action() -> None:
    for idle in (
        did("bash", command="echo 'Step 2: check the policy'"),
        did("python", code="print('Check the policy')"),
        did("noop", text="Check the policy"),
    ):
        verdict = judge_events(CHECKING, FOUND, idle, REFUND)
        assert statuses(verdict)[1] in NOT_DONE
        assert verdict.score is not None
        assert verdict.score <= 0.5


def test_reading_13_a_step_may_name_what_has_no_effect() -> None:
    plan = [CHECKING[0], "Print the total", CHECKING[2]]
    verdict = judge_events(plan, FOUND, did("python", code="print('total: 5')"), REFUND)
    assert statuses(verdict) == [EXECUTED] * 3
    assert verdict.score == 1.0


def test_reading_13_a_command_without_effect_is_not_an_extra_but_a_call_of_such_a_tool_is() -> None:
    plan = [CHECKING[0], CHECKING[2]]
    assert judge_events(plan, FOUND, did("bash", command="echo hello"), REFUND).score == 1.0
    (extra,) = judge_events(plan, FOUND, did("log", message="hello"), REFUND).extras
    assert (extra.event, extra.severity) == ("e2", Severity.MAJOR)


def result(text: str) -> Event:
    return {"kind": "observation", "text": text}


def test_reading_14_a_result_without_its_call_proves_nothing() -> None:
    verdict = judge_events(CHECKING, FOUND, result("Check the policy: allowed"), REFUND)
    assert statuses(verdict)[1] in NOT_DONE


def test_reading_14_where_no_calls_are_recorded_results_count() -> None:
    verdict = judge_events(
        ["Look up order 4711", "Refund order 4711"],
        result("Looked up order 4711: toys"),
        result("Refunded order 4711"),
    )
    assert statuses(verdict) == [EXECUTED] * 2
