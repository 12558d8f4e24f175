"""How much a page shows: all of a case, and less of each where there are many."""

from __future__ import annotations

from planproof.core.trace import Event, Kind
from planproof.reports.html.size_budget import SizeBudget


def events(count: int) -> list[Event]:
    return [Event(id=f"e{n}", kind=Kind.ACTION, pointer=f"/{n}") for n in range(1, count + 1)]


def select_events(room: SizeBudget, count: int, *named: str) -> list[str | int]:
    return [
        each if isinstance(each, int) else each.id
        for each in room.select_events(events(count), set(named))
    ]


def test_a_single_case_is_shown_whole() -> None:
    room = SizeBudget.for_event_count(5_000)
    assert room.event_share == 1
    assert len(select_events(room, 5_000)) == 5_000


def test_texts_get_shorter_the_more_events_there_are_but_never_vanish() -> None:
    rooms = [
        SizeBudget.for_event_count(count).max_characters
        for count in (0, 1, 1_000, 100_000, 10_000_000)
    ]
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[0] == rooms[1] > rooms[3] > rooms[4] >= 160


def test_a_million_events_are_counted_where_they_are_not_shown() -> None:
    room = SizeBudget.for_event_count(1_000_000)
    given = select_events(room, 1_000, "e500", "e900")
    assert [each for each in given if isinstance(each, int)] == [301, 399, 100]
    assert {"e500", "e900", "e198"} <= set(given)
    assert "e199" not in given
    total = sum(each if isinstance(each, int) else 1 for each in given)
    assert total == 1_000


def test_a_short_case_is_shown_whole_among_a_million() -> None:
    assert select_events(SizeBudget.for_event_count(10_000_000), 5) == [
        "e1",
        "e2",
        "e3",
        "e4",
        "e5",
    ]
