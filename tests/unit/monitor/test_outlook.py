"""How it stands so far."""

from __future__ import annotations

from planproof.checking.rules import Rules
from planproof.core.trace import Event, Kind
from planproof.monitor.outlook import IncrementalJudge
from planproof.planning.plan_parser import parse_plan


def test_what_is_old_and_shows_nothing_is_forgotten() -> None:
    outlook = IncrementalJudge(parse_plan(["Read report-12.txt", "Delete draft-7.txt"]), Rules())
    read = Event(id="r", kind=Kind.ACTION, pointer="", name="read_file", text="report-12.txt")
    outlook.observe(read)
    for number in range(200):
        outlook.observe(
            Event(id=f"u{number}", kind=Kind.MESSAGE, pointer="", actor="user", text="Go.")
        )
    outlook.observe(Event(id="w", kind=Kind.ACTION, pointer="", name="wait"))
    known = [f"u{number}" for number in range(200) if outlook.is_retained(f"u{number}")]
    assert known == [f"u{number}" for number in range(137, 200)]
    assert outlook.is_retained("r")
    assert [step.number for step in outlook.next_steps] == ["2"]
