"""For any trace, a located plan is in the event that it names."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from planproof.core.trace import Event, Kind, Trace
from planproof.planning.find_plan import find_declared_plan
from planproof.planning.plan_search import explain_missing_plan, summarize_plan
from planproof.planning.plan_timeline import build_timeline, normalize_text

_PIECES = st.sampled_from(
    [
        "Here is my plan:\n", "Follow these steps:\n", "## Plan\n",
        "1. ", "2. ", "3. ", "- ", "[ ] ",
        "[x] ", "Read the file", "run the tests", "then ", "Finally, ",
        "\n", "\n\n", "   ", "```\n",
        '{"steps": ["a", "b"]}', "You can ", ": ", ". ", "**", "Step 1: ", "é", "\x00", "<plan>\n",
    ]
)  # fmt: skip
_TEXTS = st.lists(_PIECES, max_size=14).map("".join)
_LISTS = st.lists(st.one_of(_TEXTS, st.fixed_dictionaries({"content": _TEXTS})), max_size=4)


@st.composite
def _traces(draw: st.DrawFn) -> Trace:
    events: list[Event] = []
    for number in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(list(Kind)))
        held = draw(_LISTS) if kind in {Kind.BOOKKEEPING, Kind.ACTION} else None
        events.append(
            Event(
                id=f"e{number}",
                kind=kind,
                pointer=f"/{number}",
                name=draw(st.sampled_from(["plan", "TodoWrite", "ExitPlanMode", "read", None])),
                actor=draw(st.sampled_from(["user", "assistant", "planner", None])),
                text=draw(_TEXTS),
                arguments=None if held is None else {"todos": held},
                turn=draw(st.integers(0, 3)),
                parent=draw(st.sampled_from([None, None, "e0"])),
            )
        )
    return Trace(tuple(events))


@given(_traces())
def test_a_located_plan_is_in_its_event(trace: Trace) -> None:
    located = find_declared_plan(trace)
    declared = located.declaration
    if declared is None:
        assert explain_missing_plan(located)
        return
    event = trace.by_id[declared.event]
    assert event.parent is None
    assert declared.plan.steps
    said = normalize_text(f"{event.text} {json.dumps(event.arguments, ensure_ascii=False)}")
    for step in declared.plan.steps:
        assert all(word in said for word in normalize_text(step.text).split())
    assert summarize_plan(declared.plan, located).event == event.id
    assert event.id not in build_timeline(trace, located, "first").trace.by_id


@given(_traces())
def test_the_same_trace_gives_the_same_plan(trace: Trace) -> None:
    assert find_declared_plan(trace) == find_declared_plan(trace)
