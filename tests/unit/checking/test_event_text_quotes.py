"""The piece of an event that is quoted."""

from __future__ import annotations

import pytest

from planproof.checking.event_text import cite
from planproof.contracts.terms import extract_terms
from tests.trace_builders import Event, did, said
from tests.unit.checking.judge_cases import read

HAND_OFF: Event = {"kind": "action", "name": "Researcher", "actor": "Manager"}


@pytest.mark.parametrize(
    ("event", "wanted", "quote"),
    [
        pytest.param(
            did("send_mail", to="ann@example.org", text="The invoice is attached"),
            "invoice",
            "The invoice is attached",
            id="the argument with most of the words",
        ),
        pytest.param(did("get_weather", city="Oslo"), "weather", "get_weather", id="the tool"),
        pytest.param(said("Hello. Your order is on its way."), "order", "Your order is on its way.",
            id="the sentence",
        ),
        pytest.param(did("poll", "running\nexport finished"), "finished", "export finished",
            id="a line of the output where the call says nothing of it",
        ),
        pytest.param(HAND_OFF, "anything", "Researcher", id="a hand-off without words"),
        pytest.param({**HAND_OFF, "text": "Find sources."}, "x", "Find sources.", id="a hand-off"),
        pytest.param(said(" \n "), "anything", "", id="nothing"),
    ],
)  # fmt: skip
def test_the_relevant_part_is_quoted(event: Event, wanted: str, quote: str) -> None:
    (only,) = read(event).events
    assert cite(only, extract_terms(wanted)).quote == quote


def test_a_quote_from_the_output_points_to_it() -> None:
    (only,) = read(did("poll", "export finished")).events
    assert cite(only, extract_terms("finished")).pointer == "/events/0/output"
    assert cite(only, extract_terms("poll")).pointer == "/events/0"


def test_a_long_piece_is_cut() -> None:
    (only,) = read(said("word " * 100)).events
    assert len(cite(only, frozenset()).quote) < 121
