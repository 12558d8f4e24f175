"""How near an event is to the plan: by the stems of its words, however they are written."""

from __future__ import annotations

import pytest

from planproof.llm.prompting.event_lines import PlanTerms
from planproof.planning.plan_parser import parse_plan
from tests.unit.llm.prompting.event_builders import did, said

INFLECTED = [
    ("cry", "cries"),
    ("hope", "hoping"),
    ("study", "studied"),
    ("lie", "lying"),
    ("die", "dying"),
    ("tie", "tying"),
    ("sky", "skies"),
    ("size", "sized"),
    ("possible", "possibility"),
    ("order", "getOrders"),
]


@pytest.mark.parametrize(("planned", "written"), INFLECTED)
def test_a_word_is_found_in_another_form(planned: str, written: str) -> None:
    terms = PlanTerms(parse_plan([f"The {planned}."]))
    assert terms.count_shared_terms(said(1, f"Now {written} 12 times"), "") == 1


def test_other_words_and_numbers_are_not_near() -> None:
    terms = PlanTerms(parse_plan(["Send invoice 4711 to the customer."]))
    assert (
        terms.count_shared_terms(said(1, "Sense 4711 inventions of custom"), "") == 1
    )  # custom, customer
    assert terms.count_shared_terms(said(2, "4711"), "") == 0


def test_an_output_may_match_the_plan_where_the_call_does_not() -> None:
    terms = PlanTerms(parse_plan(["Send invoice 4711 to the customer by courier."]))
    call = did(1, "send", output="The invoice is with the courier.")
    assert terms.is_output_relevant(call, '{"number":4711}')
    assert not terms.is_output_relevant(call, '{"invoice":4711,"by":"courier"}')
    assert not terms.is_output_relevant(did(2, "send", output="The invoice is out."), "")
