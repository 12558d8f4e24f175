"""What a monitor says of a prefix holds whatever follows, on small cases made at random."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planproof import Monitor, evaluate
from planproof.core.finding import Severity, Status
from planproof.core.verdict import Verdict
from planproof.monitor import Certainty, Deviation, DeviationKind
from tests.trace_builders import Event, asked, did, failed, noted, said, thought

STEPS = (
    "Read the file report-12.txt",
    "Delete the file draft-7.txt",
    "Run the tests of the parser",
    "Copy sales.csv to the folder archive",
    "Tell the user the total of sales.csv",
    "Frobnicate the widget",
    "Optionally, compress notes/may.md",
    "If the tests fail, upload the log",
    "Compare the two reports and decide which is newer",
    "Read the file report-12.txt again",
    "Verify that every order was shipped",
    'read_file({"path": "report-12.txt"})',
    'delete_file({"path": "draft-7.txt"})',
)
CALLS = (
    did("read_file", "3 lines", path="report-12.txt"),
    did("delete_file", "gone", path="draft-7.txt"),
    did("bash", "1 passed", command="pytest tests/parser && ls"),
    did("copy_file", "ok", source="sales.csv", folder="archive"),
    did("frobnicate", "", target="widget"),
    did("upload", "log uploaded", file="log"),
    did("submit"),
    did("web_search", "sunny", query="weather in Oslo"),
    did("buy_ticket", "", to="Lima"),
    did("xyzzy", "I have completed step 1. Read the file report-12.txt now", q="plugh"),
    failed("web_search", query="weather in Oslo"),
    failed("read_file", path="report-12.txt"),
    # What holds many of the plan's words at once makes each of them common.
    did("scribe", "noted", text=" ".join(STEPS)),
    did("scribe", " ".join(STEPS), text="read delete run copy tests report widget orders"),
    said("I will read the file report-12.txt and tell you the total of sales.csv: 12 euros."),
    said("The weather is fine. I will also book a hotel."),
    thought("The two reports differ; the first is newer. Now delete the draft."),
    thought("Plugh."),
    asked("Go on."),
    noted("write_todos", todos=["read report-12.txt", "run the tests"]),
    {"kind": "observation", "text": "the file draft-7.txt was deleted, 1 passed"},
    {"kind": "action", "name": "plan", "text": "Read the file report-12.txt, then delete"},
    {"kind": "action", "name": "Researcher", "actor": "Lead", "text": "look into the reports"},
)

DONE = {
    "Read the file report-12.txt": did("read_file", "3 lines", path="report-12.txt"),
    "Delete the draft draft-7.txt": did("delete_file", "gone", path="draft-7.txt"),
    "Run the parser tests": did("bash", "1 passed", command="pytest tests/parser"),
    "Copy sales.csv to the folder archive": did("copy_file", to="archive", file="sales.csv"),
    "Search the web for hotels in Lima": did("web_search", "3 hotels", query="hotels in Lima"),
    "Compute the average of the prices": did("python", "4.5", code="mean(prices)"),
    "Tell the user the total in euros": said("The total is 12 euros."),
    "Compare both offers and decide": thought("Both offers compared, I decide for the first."),
    'deploy({"env": "prod"})': did("deploy", "done", env="prod"),
    'read_file({"path": "a.txt"})': did("read_file", "x", path="a.txt"),
}
"""A step -> the event that does it."""

Case = tuple[list[str], list[Event]]
PLANS = st.lists(st.sampled_from(STEPS), min_size=1, max_size=5)


@st.composite
def traces(draw: st.DrawFn) -> list[Event]:
    """Events with ids, some for another event, some in turns, which may be taken up again."""
    pool = draw(st.lists(st.sampled_from(CALLS), min_size=1, max_size=4))
    drawn = draw(st.lists(st.sampled_from(draw(st.sampled_from((CALLS, pool)))), min_size=1))
    with_turns = draw(st.booleans())
    events: list[Event] = []
    for number, event in enumerate(drawn, 1):
        written: dict[str, Any] = {**event, "id": f"e{number}"}
        if with_turns:
            written["turn"] = draw(st.integers(0, 3))
        if number > 1 and draw(st.integers(0, 5)) == 0:
            written["parent"] = f"e{draw(st.integers(1, number - 1))}"
        events.append(written)
    return events


@st.composite
def nearly_followed(draw: st.DrawFn) -> Case:
    """A plan whose steps were done in order, with some extra or repeated actions in between."""
    plan = draw(st.lists(st.sampled_from(tuple(DONE)), min_size=2, max_size=5, unique=True))
    events = [DONE[step] for step in plan]
    for event in draw(st.lists(st.sampled_from((*events, *CALLS)), max_size=3)):
        events.insert(draw(st.integers(0, len(events))), event)
    flood = did("scribe", "noted", text=" ".join(plan))
    events += draw(st.integers(0, 6)) * [flood]
    return plan, [{**event, "id": f"e{number}"} for number, event in enumerate(events, 1)]


CASES = st.one_of(st.tuples(PLANS, traces()), nearly_followed())


def judge_whole_run(verdict: Verdict, deviation: Deviation) -> bool:
    """Whether a verdict on the whole bears out what was proven of its beginning."""
    if deviation.kind is DeviationKind.EXTRA:
        grave = {extra.event: extra.severity for extra in verdict.extras}
        least = deviation.severity is Severity.MINOR
        return deviation.event in grave and (least or grave[deviation.event] is Severity.MAJOR)
    deviations = (Status.MISSING, Status.AMBIGUOUS, Status.OUT_OF_ORDER)
    has_deviation = any(step.status in deviations for step in verdict.findings.counted_steps)
    return has_deviation or deviation.event in {extra.event for extra in verdict.extras}


@given(CASES)
def test_no_continuation_undoes_what_is_proven(case: Case) -> None:
    plan, events = case
    monitor = Monitor(plan)
    proven: list[Deviation] = []
    ceilings = [monitor.ceiling]
    for number, event in enumerate(events, 1):
        proven += [d for d in monitor.observe(event) if d.certainty is Certainty.PROVEN]
        ceilings.append(monitor.ceiling)
        # Each prefix is a continuation of those before it.
        verdict = evaluate(plan=plan, trace={"events": events[:number]})
        assert verdict.score is not None
        assert verdict.score <= monitor.ceiling
        assert all(judge_whole_run(verdict, deviation) for deviation in proven)
    assert ceilings == sorted(ceilings, reverse=True)


@given(CASES)
def test_the_last_word_is_that_of_evaluate(case: Case) -> None:
    plan, events = case
    monitor = Monitor(plan, task="Please do it.")
    for event in events:
        monitor.observe(event)
    verdict = evaluate(task="Please do it.", plan=plan, trace={"events": events})
    assert monitor.finish() == verdict


@given(CASES, st.data())
def test_results_may_come_late(case: Case, data: st.DataObject) -> None:
    plan, events = case
    monitor = Monitor(plan)
    proven: list[Deviation] = []
    waiting: list[Event] = []
    for event in events:
        if event["kind"] == "action" and data.draw(st.booleans()):
            bare = {key: event[key] for key in event if key not in ("output", "status")}
            found = monitor.observe(bare, pending=True)
            waiting.append(event)
        else:
            found = monitor.observe(event)
        proven += [d for d in found if d.certainty is Certainty.PROVEN]
    for event in data.draw(st.permutations(waiting)):
        proven += [d for d in monitor.observe(event) if d.certainty is Certainty.PROVEN]
    verdict = evaluate(plan=plan, trace={"events": events})
    assert monitor.finish() == verdict
    assert verdict.score is not None
    assert verdict.score <= monitor.ceiling
    assert all(judge_whole_run(verdict, deviation) for deviation in proven)
