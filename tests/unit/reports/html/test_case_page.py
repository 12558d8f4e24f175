"""What the page of a case is given: findings by name, events by place, ids and quotes as shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planproof.core.case import Case
from planproof.core.content import Content, Image
from planproof.core.finding import Status
from planproof.core.trace import Event, Kind, Trace
from planproof.core.verdict import Outcome, PlanSummary, Verdict
from planproof.evaluation import ReadOptions, evaluate_case
from planproof.reports.html.case_page import JudgedCase, build_case_data, read_judged_case
from planproof.reports.html.size_budget import SizeBudget
from tests.judged_cases import EVENTS, EVERY_STATUS, STEPS, long_case, step
from tests.small_cases import FOLLOWED, TASK


def build_data(case: JudgedCase, room: SizeBudget | None = None) -> dict[str, Any]:
    return build_case_data(case, budget=room or SizeBudget(), secrets=False)


def test_evidence_names_the_place_of_its_event_and_is_marked_there() -> None:
    data = build_data(EVERY_STATUS)
    assert [each["evidence"] for each in data["steps"]] == [
        [[1, "e2", "report-12.txt"]],
        [[5, "e6", "3 of 5 figures checked"]],
        [[6, "e7", "The archive has it"]],
        [],
        [[2, "e3", "send_mail"]],
    ]
    assert data["events"][1]["parts"] == [
        ["arguments", ['{"path": "', ["report-12.txt", ["s0"]], '"}']],
        ["output", ["Revenue rose by 4 %."]],
    ]
    assert data["events"][2]["named_by"] == ["s4"]
    assert [each["evidence"] for each in data["extras"]] == [
        [[3, "e4", "translate"]],
        [[4, "e5", "translate"]],
    ]


def test_the_verdict_uses_the_words_of_every_report() -> None:
    data = build_data(EVERY_STATUS)
    assert (data["score"], data["level"], data["headline"]) == ("0.0", 0.0, "no adherence")
    assert data["better"] == ["0.25", "if step 4 had been executed"]
    assert data["notes"] == [
        "7 of 7 events read by native, 1 part of the trace skipped, judged by rules",
        "/8: not a JSON object or array",
    ]


def test_low_confidence_names_other_judges() -> None:
    def get_tally(confidence: float) -> str:
        verdict = replace(EVERY_STATUS.verdict, confidence=confidence)
        return build_data(replace(EVERY_STATUS, verdict=verdict))["tally"]

    assert get_tally(0.3).endswith("; low confidence (30%): use --judge contract or audit")
    assert "low confidence" not in get_tally(0.5)


def test_parents_and_waived_steps_are_marked() -> None:
    steps = (
        step("1", "Do both", Status.EXECUTED),
        replace(step("1.1", "Do one", Status.EXECUTED, ("e2", "read_file")), parent="1"),
        replace(step("2", "Do more if need be", Status.MISSING), waived=True),
    )
    case = replace(EVERY_STATUS, verdict=replace(EVERY_STATUS.verdict, steps=steps, extras=()))
    shown = [(each["status"], each["label"], each["depth"]) for each in build_data(case)["steps"]]
    assert shown == [("parent", "", 0), ("executed", "executed", 1), ("left_out", "left out", 0)]


def test_the_events_of_a_step_are_listed_as_ranges() -> None:
    covering = replace(STEPS[0], covers=("e2", "e3", "e4", "e6", "unknown"))
    verdict = replace(EVERY_STATUS.verdict, steps=(covering,), extras=())
    assert build_data(replace(EVERY_STATUS, verdict=verdict))["steps"][0]["covers"] == [
        [1, 3],
        [5, 5],
    ]


def test_evidence_in_an_event_that_is_not_there_keeps_its_quote() -> None:
    verdict = replace(EVERY_STATUS.verdict, steps=(step("1", "x", Status.EXECUTED, ("e99", "q")),))
    data = build_data(replace(EVERY_STATUS, verdict=verdict))
    assert data["steps"][0]["evidence"] == [[None, "e99", "q"]]


def test_the_event_that_declares_the_plan_is_named() -> None:
    plan = PlanSummary(origin="declared", steps=5, event="e2", declared_by="agent")
    data = build_data(replace(EVERY_STATUS, verdict=replace(EVERY_STATUS.verdict, plan=plan)))
    assert data["plan_at"] == 1
    assert data["notes"][0].startswith("plan: plan of the agent at e2")


def test_events_that_find_no_room_are_counted() -> None:
    data = build_data(long_case(2_000), SizeBudget(max_characters=160, event_share=0.1))
    shown = [event for event in data["events"] if not isinstance(event, int)]
    assert len(shown) == 200
    assert sum(event for event in data["events"] if isinstance(event, int)) == 1_800
    for each in data["steps"]:
        ((place, name, _),) = each["evidence"]
        assert data["events"][place]["id"] == name


def test_an_image_is_named_and_not_shown() -> None:
    event = Event(
        id="e1", kind=Kind.MESSAGE, pointer="/0", images=(Image("image/png", data="aGVsbG8="),)
    )
    case = JudgedCase(verdict=EVERY_STATUS.verdict, task=Content(), trace=Trace((event,)))
    assert build_data(case)["events"][0]["parts"] == [["images, not shown", ["image/png"]]]


def test_a_case_is_read_again_as_it_was_judged() -> None:
    case = Case(
        task=None, plan=FOLLOWED["agent_plan"], trace=FOLLOWED["execution_trace"], id="followed"
    )
    again = read_judged_case(case, evaluate_case(case), ReadOptions())
    assert again.task.text == TASK
    assert again.trace is not None
    assert [event.name for event in again.trace.events if event.kind is Kind.ACTION] == [
        "read_file",
        "copy_file",
        "delete_file",
    ]


def test_a_case_that_can_not_be_read_is_shown_without_events() -> None:
    case = Case(task=Content("Do it."), plan="1. Do it", trace="", id="empty")
    verdict = Verdict(outcome=Outcome.INVALID_INPUT, reason="It is empty.", id="empty")
    data = build_data(read_judged_case(case, verdict, ReadOptions(reader="no-such")))
    assert (data["score"], data["events"], data["task"]) == (None, [], ["Do it."])
    assert data["headline"] == "not judged: the input is invalid"


def test_every_event_has_its_place() -> None:
    assert [event["id"] for event in build_data(EVERY_STATUS)["events"]] == [
        each.id for each in EVENTS
    ]
