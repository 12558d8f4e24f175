"""Deviations that are withdrawn, because they are more probably an unrecognised paraphrase."""

from __future__ import annotations

import pytest

from planproof.checking import confidence, withdrawal
from planproof.checking.fitted_values import load_fitted_values
from planproof.checking.similarity_analysis import Analysis, analyze
from planproof.checking.withdrawal import DeviationRater
from planproof.core.finding import Severity, Status
from planproof.core.verdict import Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.planning.plan_parser import parse_plan
from tests.line_counts import measure_growth
from tests.trace_builders import Event, did, failed, judge_events, noted, said
from tests.unit.checking.judge_cases import read

PARAPHRASED = ["Look at the bill", "Strike the gala for clients", "Say goodbye"]
OPEN = did("get_invoice", id="7")
DELETE = did("remove_event", name="client evening")
MAIL = did("send_mail", to="ann@a.org")
BYE = said("Goodbye!")


@pytest.fixture(autouse=True)
def _weights(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every deviation the confidence that a test asks for, by default a low one."""
    wanted = getattr(request, "param", 0.01)
    rated = frozenset(load_fitted_values("reported_from"))
    estimate = confidence.estimate_confidence

    def rate(finding_type: str, features: dict[str, float]) -> float:
        return wanted if finding_type in rated else estimate(finding_type, features)

    monkeypatch.setattr(withdrawal, "estimate_confidence", rate)


def analyse(plan: list[str], *events: Event) -> Analysis:
    return analyze(parse_plan(plan), read(*events), Vocabulary())


def statuses(verdict: Verdict) -> list[Status]:
    return [step.status for step in verdict.steps]


PARTLY = ["Look at the bill of Ann", "Strike the gala for clients", "Say goodbye"]


def test_a_doubtful_deviation_is_executed_by_the_events_it_had() -> None:
    first = judge_events(PARTLY, OPEN, DELETE, BYE).steps[0]
    assert (first.status, first.note) == (Status.EXECUTED, "")
    assert first.covers == ("e1",)
    assert first.evidence[0].event == "e1"
    assert first.confidence == 0.99


@pytest.mark.parametrize("_weights", [0.99], indirect=True)
def test_a_probable_deviation_is_reported_with_its_confidence() -> None:
    first = judge_events(PARTLY, OPEN, DELETE, BYE).steps[0]
    assert (first.status, first.confidence) == (Status.PARTIAL, 0.99)


def test_without_a_free_event_nothing_is_withdrawn() -> None:
    verdict = judge_events(PARAPHRASED, OPEN, BYE)
    assert verdict.steps[1].status is Status.MISSING


def test_a_path_that_no_call_has_and_an_unrelated_action_are_not_withdrawn() -> None:
    plan = ["Read report-12.txt", "Delete draft-7.txt"]
    read_file, delete = (
        did("read_file", path="report-12.txt"),
        did("delete_file", path="draft-8.txt"),
    )
    verdict = judge_events(plan, read_file, did("buy_milk", litres=2), delete)
    assert statuses(verdict) == [Status.EXECUTED, Status.PARTIAL]
    assert [extra.severity for extra in verdict.extras] == [Severity.MAJOR]


def test_another_date_than_planned_is_not_withdrawn() -> None:
    plan = ["Cancel the booking of 12 March", "Say goodbye"]
    first, *_ = judge_events(plan, did("cancel_booking", date="2026-03-14"), BYE).steps
    assert first.status is Status.PARTIAL
    first, *_ = judge_events(plan, did("cancel_booking", date="2026-03-12"), BYE).steps
    assert first.status is Status.EXECUTED


def test_another_number_than_planned_is_not_withdrawn() -> None:
    plan = ["Pay 40 EUR for the gala", "Say goodbye"]
    first, *_ = judge_events(plan, did("pay_gala", amount=45), BYE).steps
    assert first.status is Status.PARTIAL


def test_a_thought_is_no_evidence_of_an_action() -> None:
    think = noted("think", thought="strike the gala for clients")
    assert judge_events(PARAPHRASED, OPEN, think, BYE).steps[1].status is not Status.EXECUTED


def test_where_the_plan_uses_the_words_of_the_trace_no_missing_step_is_withdrawn() -> None:
    plan = ["Read report-12.txt", "Sort the lines", "Delete draft-7.txt", "Rename notes.txt"]
    events = [
        did("read_file", path="report-12.txt"),
        did("check_words", path="notes.txt"),
        did("delete_file", path="draft-7.txt"),
        did("rename_file", path="notes.txt"),
    ]
    assert analyse(plan, *events).alignment.lexical_overlap > 0.36
    assert judge_events(plan, *events).steps[1].status is Status.MISSING


def test_a_claim_is_never_the_event_that_shows_an_action() -> None:
    claim = said("The evening for clients is struck.")
    verdict = judge_events(PARAPHRASED, OPEN, claim, BYE)
    assert verdict.steps[1].status is not Status.EXECUTED


@pytest.mark.parametrize(
    ("step", "event"),
    [
        ("Verify the checksum", failed("verify_checksum")),
        ('pay({"amount": 1})', did("pay", amount=2)),
        ("If it rains, close the roof", did("look_up_weather", "It is dry or not.")),
    ],
)
def test_what_a_rule_decides_is_not_rated(step: str, event: Event) -> None:
    analysis = analyse([step], event)
    rater = DeviationRater(analysis)
    assert not rater.is_rated(0, analysis.step_findings[0])


def test_a_doubtful_extra_belongs_to_the_step_being_worked_on() -> None:
    plan = ["Look at the bill of the client for the party", "Say goodbye"]
    verdict = judge_events(plan, did("get_bill", id="7"), did("open_ledger", id="9"), BYE)
    assert not verdict.extras
    assert [step.covers for step in verdict.steps] == [("e1", "e2"), ("e3",)]


def test_an_action_without_anything_in_common_remains_extra() -> None:
    plan = ["Look at the bill of the client", "Say goodbye"]
    verdict = judge_events(plan, OPEN, did("zip_archive", level=9), BYE)
    assert [extra.event for extra in verdict.extras] == ["e2"]


def test_work_grows_linearly_with_the_deviations() -> None:
    def judge(count: int) -> None:
        plan = [f"Strike gala {n * 7919}" for n in range(8)]
        judge_events(plan, *[did("remove_event", name=f"evening {n}") for n in range(count)])

    judge(1)
    assert measure_growth(judge, 100) < 2.4


def test_evidence_and_covers_stay_in_the_order_of_events() -> None:
    clients = [did("get_client", id=str(n)) for n in range(3)]
    (step,) = judge_events(["Look at the bill of the client in the ledger"], *clients, OPEN).steps
    assert list(step.covers) == sorted(step.covers)
    assert [item.event for item in step.evidence] == sorted(i.event for i in step.evidence)
