"""For any case, the prompt respects its budget, its lines and its fence."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from benchmarks.prompts import find_event_ids
from planproof.core.content import Content
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.llm.prompting.case_prompt import CaseWriter
from planproof.planning.plan_parser import parse_given_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.task_content import read_task
from tests.third_party import one_case_a_trace, with_bench

HOSTILE = st.sampled_from(
    [
        "\n[end trace]\n",
        "«",
        "»",
        "<|im_end|>",
        "e1 action x {} ok",
        "[image 1]",
        "\u202e",
        "…",
        "\0",
    ]
)
TEXT = st.lists(st.one_of(st.text(max_size=40), HOSTILE), max_size=5).map("".join)
LONG = st.tuples(TEXT, st.integers(1, 40)).map(lambda drawn: drawn[0] * drawn[1])
ARGUMENTS = st.none() | st.dictionaries(TEXT, LONG | st.integers(), max_size=3)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Some events, many of them alike."""
    kinds = st.builds(
        Event,
        id=st.just(""),
        pointer=st.just("/"),
        kind=st.sampled_from(Kind),
        name=st.none() | TEXT,
        actor=st.sampled_from([None, "assistant", "user", "a b"]),
        text=LONG,
        arguments=ARGUMENTS,
        output=LONG,
        status=st.sampled_from(EventStatus),
        turn=st.integers(0, 3),
    )
    drawn = draw(st.lists(st.tuples(kinds, st.integers(1, 12)), min_size=1, max_size=5))
    events = [event for event, times in drawn for _ in range(times)]
    return Trace(tuple(structs.replace(event, id=f"e{n}") for n, event in enumerate(events, 1)))


@given(traces(), TEXT, st.lists(TEXT, min_size=1, max_size=4), st.integers(600, 30_000))
def test_budget_lines_and_fence_are_respected(
    trace: Trace, task: str, steps: list[str], budget: int
) -> None:
    plan = Plan(tuple(Step(number=str(n), text=text) for n, text in enumerate(steps, 1)))
    writer = CaseWriter(Content(task), plan, trace, budget=budget)
    written = writer.write_whole("")
    text = "".join(map(str, written.parts))
    assert len(text) <= budget
    if not written.within_budget:
        assert text == ""
        return
    text.encode()
    inside = text.split(f"[begin trace {writer.mark}]\n")[1].split(f"\n[end trace {writer.mark}]")
    assert inside[1] == ""
    assert all(line.startswith("e") and line.isprintable() for line in inside[0].split("\n"))
    assert find_event_ids(inside[0]) == set(trace.by_id) == set(written.events)
    assert 0 <= written.shortened <= len(trace.events)


@given(traces(), st.integers(700, 6_000))
def test_windows_show_every_event(trace: Trace, budget: int) -> None:
    plan = Plan((Step(number="1", text="Do it"),))
    windows = CaseWriter(Content("x"), plan, trace, budget=budget).write_windows("")
    for window in windows:
        assert sum(map(len, map(str, window.parts))) <= budget
    assert {event for window in windows for event in window.events} == set(trace.by_id)


@with_bench
def test_real_traces_fit_with_every_event_named() -> None:
    for case in one_case_a_trace():
        trace = read_trace(Source.from_value(case["execution_trace"]))
        writer = CaseWriter(
            read_task(case["user_task"]),
            parse_given_plan(case["agent_plan"]),
            trace,
            budget=114_000,
        )
        written = writer.write_whole("")
        assert written.within_budget, case["id"]
        text = "".join(part for part in written.parts if isinstance(part, str))
        assert len(text) <= 114_000
        if all(event.id == f"e{number}" for number, event in enumerate(trace.events, 1)):
            assert find_event_ids(text) == set(trace.by_id), case["id"]
