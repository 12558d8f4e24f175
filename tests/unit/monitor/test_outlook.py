"""How it stands so far."""

from __future__ import annotations

from planproof.checking.rules import Rules
from planproof.core.trace import Event, Kind
from planproof.monitor.outlook import Outlook
from planproof.planning.plan_parser import parse_plan


def test_what_is_old_and_shows_nothing_is_forgotten() -> None:
    outlook = Outlook(parse_plan(["Read report-12.txt", "Delete draft-7.txt"]), Rules())
    read = Event(id="r", kind=Kind.ACTION, pointer="", name="read_file", text="report-12.txt")
    outlook.see(read)
    for number in range(200):
        outlook.see(Event(id=f"u{number}", kind=Kind.MESSAGE, pointer="", actor="user", text="Go."))
    outlook.see(Event(id="w", kind=Kind.ACTION, pointer="", name="wait"))
    known = [f"u{number}" for number in range(200) if outlook.knows(f"u{number}")]
    assert known == [f"u{number}" for number in range(137, 200)]
    assert outlook.knows("r")
    assert [step.number for step in outlook.expected] == ["2"]
