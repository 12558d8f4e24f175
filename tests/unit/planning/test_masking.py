"""Hints change how fast an expression is, never what it finds."""

from __future__ import annotations

import pytest

from planproof.planning import step_builder, step_parts
from planproof.planning.masking import HintedPattern, compile_hinted

EXPRESSIONS = {
    name: value
    for module in (step_builder, step_parts)
    for name, value in vars(module).items()
    if isinstance(value, HintedPattern)
}
SENTENCES = (
    "Read the file",
    "Mail it IF NEEDED",
    "Where it is necessary, warn the user",
    "Do it when required, as desired, wherever appropriate or if applicable",
    "Stop here if you like",
    "If need be, ask",
    "Optionally restart; (optional) or [optional]",
    "Restart only when it is slow, only if it hangs",
    "Restart unless it runs, in case it stops, provided that it exists",
    "Repeat this for each of them, repeatedly, until it works",
    "Iterate and loop through the list, one by one and one at a time",
    "Wait as long as it takes, take them in turn and keep trying",
    "Continue to read every one for each file",
    "For all files, count the lines",
    "Fetch both in any order, in parallel, concurrently or at any time",
    "Regardless of the order, and the order does not matter",
    "Do both simultaneously, at the same time",
)


def test_there_are_expressions() -> None:
    assert len(EXPRESSIONS) == 5


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_hint_hides_no_match(name: str) -> None:
    expression = EXPRESSIONS[name]
    matched = 0
    for sentence in SENTENCES:
        for text in (sentence, sentence.upper(), f"First.\n{sentence}"):
            found, expected = expression.search(text), expression.pattern.search(text)
            assert (found and found.span()) == (expected and expected.span())
            matched += expected is not None
    assert matched


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_hint_occurs_in_the_expression(name: str) -> None:
    expression = EXPRESSIONS[name]
    assert all(hint in expression.pattern.pattern for hint in expression.hints)


def test_without_a_hint_nothing_is_looked_for() -> None:
    assert compile_hinted(".", "x").search("abc") is None
