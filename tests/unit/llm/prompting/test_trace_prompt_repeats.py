"""Runs of alike events on one line."""

from __future__ import annotations

import pytest

from planproof.core.content import Image
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.llm.prompting.trace_prompt import (
    GROUP_DETAIL_LEVELS,
    format_id_ranges,
    group_similar_events,
    write_group_line,
)
from tests.images import PNG
from tests.replacement import replace
from tests.unit.llm.prompting.event_builders import did, event_writer, said


def lines(*events: Event, detail: int = 0) -> list[str]:
    writer = event_writer(*events)
    return [
        write_group_line(run, detail, writer).text
        for run in group_similar_events(Trace(events), writer)
    ]


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        ("e1 e2 e3", "e1-e3"),
        ("e1 e3 e4", "e1 e3-e4"),
        ("e9 e10 e12", "e9-e10 e12"),
        ("s1 e2", "s1 e2"),
        ("e01 e02", "e01 e02"),
        ("a b", "a b"),
        ("", ""),
    ],
)
def test_ids_that_follow_one_another_are_a_range(ids: str, written: str) -> None:
    assert " ".join(format_id_ranges(ids.split())) == written


def test_differences_are_listed_in_the_order_of_the_ids() -> None:
    pages = [did(n, "read_page", report="r7", page=n) for n in (1, 2, 3)]
    assert lines(*pages) == [
        'e1-e3 (3 alike) action read_page {"report":"r7","page":⟨1 ¦ 2 ¦ 3⟩} ok'
    ]


def test_alternating_repeats_are_listed_where_they_begin() -> None:
    events = [
        event
        for n in (1, 3, 5)
        for event in (did(n, "look", at=n), said(n + 1, "Fine.", kind=Kind.REASONING))
    ]
    assert lines(*events) == [
        'e1 e3 e5 (3 alike) action look {"at":⟨1 ¦ 3 ¦ 5⟩} ok',
        "e2 e4 e6 (3 alike) reasoning «Fine.»",
    ]


def test_failures_within_a_run_are_named() -> None:
    good = [did(n, "ping") for n in (1, 2, 3, 4)]
    good[2] = replace(good[2], status=EventStatus.ERROR)
    assert lines(*good) == ["e1-e4 (4 alike) action ping {} 1 error, 3 ok (e3)"]


def test_other_tools_other_arguments_and_images_keep_events_apart() -> None:
    image = Image("image/png", data=PNG)
    events = [
        did(1, "look", at=1),
        did(2, "look", up=1),
        did(3, "see", at=1),
        replace(did(4, "look", at=1), images=(image,)),
        did(5, "look", at=2),
    ]
    assert [line.split(" ")[0] for line in lines(*events)] == ["e1", "e2", "e3", "e4"]


@pytest.mark.parametrize("detail", range(len(GROUP_DETAIL_LEVELS)))
def test_a_long_run_shows_its_first_and_its_last(detail: int) -> None:
    events = [did(n, "write", "result", text=f"{n} {'x' * 30} {n}") for n in range(1, 60)]
    (line,) = lines(*events, detail=detail)
    assert line.startswith("e1-e59 (59 alike) action write ")
    assert len(line) < 3 * GROUP_DETAIL_LEVELS[detail] + 100
    assert "[+" in line
    if detail < 2:
        assert "59⟩" in line or '59"⟩' in line
