"""The monitor, event by event: what it tells, when, and how it stops an agent."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from planproof import InvalidInput, Monitor, evaluate
from planproof.core.finding import Severity
from planproof.core.trace import Event, Kind
from planproof.core.vocabulary import Vocabulary
from planproof.monitor import Certainty, Deviation, DeviationKind, OffPlan
from planproof.monitor.plan_monitor import RaiseOn
from tests.trace_builders import asked, did, failed, noted, said, thought

PLAN = [
    "Read the file report-12.txt",
    "Copy report-12.txt to the folder archive",
    "Delete the file draft-7.txt",
]
READ = did("read_file", "12 lines", path="report-12.txt")
COPY = did("copy_file", "copied", path="report-12.txt", folder="archive")
DELETE = did("delete_file", "deleted", path="draft-7.txt")
PIZZA = did("order_pizza", "on its way", size="large")
CAKE = did("bake_cake", "in the oven", size="large")
CALLS = ['read({"path": "a"})', 'write({"path": "b"})']


def observe_events(plan: list[str], *events: dict[str, Any]) -> tuple[Monitor, list[Deviation]]:
    monitor = Monitor(plan)
    return monitor, [deviation for event in events for deviation in monitor.observe(event)]


def expected(monitor: Monitor) -> list[str]:
    return [step.number for step in monitor.next_steps]


def test_a_plan_that_is_followed_raises_no_alarm() -> None:
    monitor, told = observe_events(PLAN, asked("Go."), READ, thought("Next."), COPY, DELETE)
    assert told == []
    assert monitor.ceiling == 1.0
    assert monitor.finish().score == 1.0
    assert monitor.next_steps == ()


def test_the_steps_that_may_come_next() -> None:
    monitor = Monitor([*PLAN[:1], "Optionally, rename report-12.txt", *PLAN[1:]])
    assert expected(monitor) == ["1"]
    monitor.observe(READ)
    assert expected(monitor) == ["2", "3"]
    monitor.observe(COPY)
    assert expected(monitor) == ["4"]


def test_steps_in_any_order_are_expected_until_they_are_done() -> None:
    monitor = Monitor(f"Do these in any order:\n- {PLAN[0]}\n- {PLAN[2]}")
    assert len(monitor.next_steps) == 2
    monitor.observe(DELETE)
    assert [step.text for step in monitor.next_steps] == [PLAN[0]]


def test_a_call_that_no_step_can_cover_is_proven_at_once() -> None:
    monitor, told = observe_events(PLAN, READ, PIZZA)
    assert told == [
        Deviation(
            certainty=Certainty.PROVEN,
            kind=DeviationKind.EXTRA,
            severity=Severity.MAJOR,
            event="e2",
            step=None,
            why="no step can cover the call to order_pizza",
        )
    ]
    assert (monitor.ceiling, monitor.deviations) == (0.5, tuple(told))
    monitor.observe(did("buy_ticket", "bought", to="Lima"))
    assert monitor.ceiling == 0.25


def test_a_call_again_and_a_closing_call_are_minor_at_best() -> None:
    monitor, told = observe_events(PLAN, PIZZA, PIZZA, did("submit"))
    assert [deviation.severity for deviation in told] == ["major", "minor", "minor"]
    assert monitor.ceiling == 0.5
    assert observe_events(PLAN, did("submit"))[0].ceiling == 0.75
    assert (
        observe_events(PLAN, failed("ping", host="a"), did("ping", host="a"))[1][1].severity
        == "minor"
    )


def test_what_a_step_in_between_must_precede() -> None:
    monitor, told = observe_events(CALLS, did("write", path="b"))
    assert [(d.certainty, d.kind, d.event, d.step) for d in told[:1]] == [
        ("proven", "out_of_order", "e1", "1")
    ]
    assert monitor.ceiling == 0.5
    assert observe_events(CALLS, {**did("write", path="b"), "turn": 1})[0].ceiling == 1.0


def test_a_passed_step_is_suspected_until_it_is_made_up_for() -> None:
    monitor, told = observe_events(PLAN, READ, DELETE)
    assert [(d.certainty, d.kind, d.step) for d in told] == [("suspected", "missing", "2")]
    assert monitor.ceiling == 1.0
    (too_early,) = monitor.observe(COPY)
    assert (too_early.kind, too_early.event) == ("out_of_order", "e2")
    assert monitor.deviations == (too_early,)


def test_a_running_step_is_not_suspected() -> None:
    monitor, told = observe_events(
        ["Read a.txt and b.txt", PLAN[2]], did("read", "1", path="a.txt")
    )
    assert told == []
    assert expected(monitor) == ["1", "2"]
    (partial,) = monitor.observe(DELETE)
    assert (partial.kind, partial.step) == ("partial", "1")


def test_a_suspicion_is_reported_once() -> None:
    monitor, told = observe_events(PLAN, READ, DELETE, thought("Well."), said("Done."))
    assert len(told) == 1
    assert len(monitor.deviations) == 1


@pytest.mark.parametrize(("parent", "extras"), [("p", 2), ("r", 1)])
def test_sub_agents_share_the_lot_of_the_hand_off(parent: str, extras: int) -> None:
    child = {**did("buy_ticket", "bought", to="Lima"), "parent": parent}
    begun = ({**READ, "id": "r"}, {**PIZZA, "id": "p"}, child)
    monitor, told = observe_events(PLAN, *begun, COPY, DELETE)
    assert [d.certainty for d in told] == ["proven"] * extras
    assert monitor.finish().score == monitor.ceiling == (0.25 if extras == 2 else 0.5)


def test_bookkeeping_is_not_an_extra() -> None:
    vocabulary = Vocabulary().with_declared(bookkeeping=frozenset({"order_pizza"}))
    monitor = Monitor(PLAN, vocabulary=vocabulary)
    assert monitor.observe(PIZZA) == monitor.observe(noted("write_todos", todos=[])) == ()
    assert monitor.ceiling == 1.0


def test_events_may_be_nouns() -> None:
    monitor = Monitor(PLAN, task="Tidy up.")
    event = Event(id="x1", kind=Kind.ACTION, pointer="/7", name="order_pizza", output="ok")
    (deviation,) = monitor.observe(event)
    assert deviation.event == "x1"
    native = {"events": [{"id": "x1", "kind": "action", "name": "order_pizza", "output": "ok"}]}
    assert monitor.finish().brief() == evaluate(task="Tidy up.", plan=PLAN, trace=native).brief()


def test_the_result_of_a_call_may_come_later() -> None:
    monitor = Monitor(PLAN)
    (suspected,) = monitor.observe({"id": "a", **CAKE, "output": ""}, pending=True)
    assert suspected.certainty is Certainty.SUSPECTED
    assert monitor.ceiling == 1.0
    (proven,) = monitor.observe({"id": "a", **CAKE})
    assert proven.certainty is Certainty.PROVEN
    assert (monitor.ceiling, monitor.deviations) == (0.5, (proven,))


@pytest.mark.parametrize(("plan", "event"), [(PLAN, PIZZA), (CALLS, CAKE)])
def test_what_its_result_can_not_change_is_proven_before_it_comes(
    plan: list[str], event: dict[str, Any]
) -> None:
    monitor = Monitor(plan)
    (proven,) = monitor.observe({"id": "a", **event, "output": ""}, pending=True)
    assert proven.certainty is Certainty.PROVEN
    assert monitor.observe({"id": "a", **event}) == ()
    assert monitor.ceiling == 0.5


@pytest.mark.parametrize(
    ("again", "message"),
    [
        ({**READ, "id": "e1"}, "was already observed"),
        ({**READ, "id": "p", "name": "other"}, "may only add"),
        ({"kind": "nonsense"}, "Invalid enum value 'nonsense'"),
        ("text", "must be an object"),
    ],
)
def test_invalid_events_and_results_are_refused(again: Any, message: str) -> None:
    monitor = Monitor(PLAN)
    monitor.observe(READ)
    monitor.observe({**READ, "id": "p"}, pending=True)
    with pytest.raises(InvalidInput, match=message):
        monitor.observe(again)


@pytest.mark.parametrize("plan", [[], ""])
def test_a_plan_without_steps_is_refused(plan: Any) -> None:
    with pytest.raises(InvalidInput, match="no steps"):
        Monitor(plan)


def test_a_callback_hears_every_deviation() -> None:
    heard: list[Deviation] = []
    monitor = Monitor(PLAN, on_deviation=heard.append)
    told = [deviation for event in (READ, PIZZA, DELETE) for deviation in monitor.observe(event)]
    assert heard == told != []


@pytest.mark.parametrize(
    ("raise_on", "stopped_at"), [("minor", 1), ("major", 2), ("proven", 3), (None, None)]
)
def test_the_agent_is_stopped(raise_on: RaiseOn | None, stopped_at: int | None) -> None:
    events = [READ, did("submit"), DELETE, PIZZA, COPY]
    monitor = Monitor(PLAN, raise_on=raise_on)
    stopped = None
    for place, event in enumerate(events):
        try:
            monitor.observe(event)
        except OffPlan as stop:
            stopped = place, pickle.loads(pickle.dumps(stop)).deviations == stop.deviations
            break
    assert stopped == (None if stopped_at is None else (stopped_at, True))
    # What made it stop has been taken in.
    taken = events if stopped_at is None else events[: stopped_at + 1]
    assert monitor.finish() == evaluate(plan=PLAN, trace={"events": taken})


def test_a_long_run_is_not_judged_from_its_beginning_each_time() -> None:
    monitor = Monitor(PLAN)
    monitor.observe(READ)
    for number in range(300):
        monitor.observe(did("look_up_weather", "fine", place="x" * number))
    assert sum(d.kind is DeviationKind.EXTRA for d in monitor.deviations) == 300
    assert expected(monitor) == ["2"]
    told = monitor.observe(DELETE)
    assert [(d.kind, d.step) for d in told] == [("missing", "2")]
