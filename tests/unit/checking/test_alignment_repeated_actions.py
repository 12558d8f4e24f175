"""Actions that do what another did."""

from __future__ import annotations

from planproof.checking.alignment import find_repeats
from planproof.core.trace import Event
from tests.unit.checking.alignment_cases import call, make_candidates, says


def repeats(*events: Event) -> list[tuple[bool, bool]]:
    """For each event whether it repeats one, and whether it was repeated."""
    found = find_repeats(make_candidates(*events))
    return [(at in found.repeat_indices, at in found.original_indices) for at in range(len(events))]


def test_a_call_like_one_before_repeats_it() -> None:
    again = call("search", query="cheap flights to Rome")
    other = call("search", query="weather tomorrow morning")
    assert repeats(again, other, again) == [(False, True), (False, False), (True, False)]


def test_a_call_of_another_tool_repeats_nothing() -> None:
    assert not any(any(pair) for pair in repeats(call("read", path="a"), call("write", path="a")))


def test_the_look_back_is_limited() -> None:
    between = [call("search", query=f"zebra{n}") for n in range(20)]
    again = call("search", query="cheap flights to Rome")
    assert repeats(again, *between, again)[-1] == (False, False)
    assert repeats(again, *between[1:], again)[-1] == (True, False)


def test_words_repeat_nothing() -> None:
    assert repeats(says("The same."), says("The same.")) == [(False, False)] * 2
