"""Extra actions and their severity."""

from __future__ import annotations

import pytest

from planproof.core.finding import Extra, Severity
from tests.trace_builders import Event, asked, did, failed, judge_events, nest_under, said, thought

PLAN = ["Read report-12.txt", "Delete draft-7.txt"]
READ = did("read_file", path="report-12.txt")
DELETE = did("delete_file", path="draft-7.txt")
MILK = did("buy_milk", litres=2)
MINOR, MAJOR = Severity.MINOR, Severity.MAJOR


def extras(*events: Event | tuple[Event, ...], plan: list[str] = PLAN) -> tuple[Extra, ...]:
    return judge_events(plan, *events).extras


def severities(*events: Event | tuple[Event, ...]) -> list[Severity]:
    return [extra.severity for extra in extras(*events)]


@pytest.mark.parametrize(
    ("events", "found"),
    [
        pytest.param([READ, DELETE], [], id="nothing"),
        pytest.param([READ, MILK, DELETE], [MAJOR], id="unplanned"),
        pytest.param([READ, MILK, MILK, DELETE], [MAJOR, MINOR], id="unplanned, and repeated"),
        pytest.param([READ, DELETE, READ], [MINOR], id="a planned one repeated later"),
        pytest.param(
            [READ, failed("buy_milk", litres=2), did("buy_milk", litres=2, fat=3), DELETE],
            [MAJOR, MINOR],
            id="a retry with other words",
        ),
        pytest.param([READ, DELETE, did("submit")], [MINOR], id="a closing call"),
        pytest.param([READ, DELETE, did("submit"), did("done")], [MINOR, MAJOR], id="two of them"),
        pytest.param(
            [did("submit"), READ, DELETE], [MINOR], id="a closing call at the wrong place"
        ),
    ],
)
def test_how_grave_an_extra_is(events: list[Event], found: list[Severity]) -> None:
    assert severities(*events) == found


def test_an_extra_names_its_tool_and_quotes_its_event() -> None:
    (extra,) = extras(READ, did("web_search", query="cheap milk"), DELETE)
    assert (extra.event, extra.what, extra.pointer) == ("e2", "web_search", "/events/1")
    assert extra.quote in ("cheap milk", "web_search")
    assert 0.0 <= extra.confidence <= 1.0


def test_an_action_without_a_name_is_an_extra_too() -> None:
    (extra,) = extras(READ, {"kind": "action", "text": "zzz"}, DELETE)
    assert (extra.what, extra.quote) == ("action", "zzz")


def test_what_a_sub_agent_does_shares_the_lot_of_the_hand_off() -> None:
    closing = nest_under("e1", did("submit"))
    assert severities(MILK, closing, READ, DELETE) == [MAJOR, MAJOR]
    assert severities(did("submit"), nest_under("e1", MILK), READ, DELETE) == [MINOR, MINOR]


@pytest.mark.parametrize("parent", [said("One moment."), thought("Hm."), asked("Milk, please.")])
def test_an_action_below_a_non_action_counts_on_its_own(parent: Event) -> None:
    assert severities(parent, READ, DELETE, nest_under("e1", MILK)) == [MAJOR]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I will also call your bank tomorrow.", True),
        ("I've also ordered flowers.", True),
        ("I al\u017fo ordered flowers.", True),
        ("In add\u0131tion, I ordered flowers.", True),
        ("In addition, we booked a table.", True),
        ("I also deleted the old draft.", False),
        ("I will call your bank tomorrow.", False),
    ],
)
def test_what_is_said_of_further_undertakings(text: str, found: bool) -> None:
    for words in (said(f"All is well. {text}"), thought(f"All is well. {text}")):
        extra = extras(READ, DELETE, words)
        assert bool(extra) is found
        assert not found or text in extra[0].quote


def test_an_undertaking_in_a_message_that_a_step_asks_for_is_part_of_it() -> None:
    told = said("The report is read. I will also call your bank.")
    assert extras(READ, told, plan=[PLAN[0], "Tell the user about the report"]) == ()


def test_an_extra_notes_that_the_user_spoke_before_it() -> None:
    (extra,) = extras(READ, asked("We are out of milk!"), MILK, DELETE)
    assert extra.what == "buy_milk, after user message e2"
