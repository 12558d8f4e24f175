"""Whatever is given as a plan gives steps, or an error that says where."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planproof.core.plan import Plan
from planproof.errors import InvalidInput
from planproof.planning.masking import BLANK, mask_quotes
from planproof.planning.plan_parser import parse_plan
from planproof.planning.step_parts import split_required_parts

PIECES = st.sampled_from(
    [
        *("1. ", "2) ", "2.1 ", "- ", "* ", "[ ] ", "a. ", "Step 3: ", "Phase 1: ", "**", "\n"),
        *("\n\n", "  ", "\t", "```\n", "# Plan\n", "Note: ", "Notes:\n", "First, ", "then "),
        *(
            " and ",
            ", ",
            "; ",
            " or ",
            "if ",
            "(",
            "'",
            "“",
            '"',
            "list all files",
            "tell the user",
        ),
        *("in any order", "until ", "steps 1 to 3 ", "9999999", "\x00", "é", "\ud800"),
    ]
)
WRITTEN = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80)
FIELDS = st.sampled_from(
    [
        *("content", "step", "title", "description", "number", "id", "substeps", "plan", "steps"),
        *("tool", "arguments", "function", "name", "optional", "condition", "status", "1", "x"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WRITTEN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


def check(plan: Plan) -> None:
    numbers = [step.number for step in plan.steps]
    assert len(set(numbers)) == len(numbers)
    assert bool(plan.leaves) == bool(plan.steps)
    for place, step in enumerate(plan.steps):
        assert step.number
        assert step.text.strip()
        assert step.parts
        assert all(part.strip() for part in step.parts)
        assert len(step.choices) != 1
        assert step.parent is None or step.parent in numbers[:place]
        json.dumps([step.text, *step.parts]).encode()
        step.text.encode()


def parse(raw: Any) -> Plan | InvalidInput:
    try:
        return parse_plan(raw)
    except InvalidInput as error:
        return error


@given(WRITTEN)
def test_any_text_gives_steps(text: str) -> None:
    plan = parse(text)

    if isinstance(plan, Plan):
        check(plan)
    else:
        # Only text that is JSON can be of a wrong type.
        assert text.lstrip()[:1] in {"[", "{", '"', "`"}


@given(JSON)
def test_any_json_gives_steps_or_says_where(value: Any) -> None:
    plan = parse(value)

    if isinstance(plan, Plan):
        check(plan)
    else:
        assert plan.where


@given(st.lists(WRITTEN, min_size=1, max_size=10))
def test_a_list_of_texts_gives_a_step_an_item(items: list[str]) -> None:
    alone = [parse_plan([item]).steps for item in items]

    assert all(len(steps) <= 1 for steps in alone)
    assert len(parse_plan(items).steps) == sum(len(steps) for steps in alone)


@given(st.lists(st.from_regex(r"[A-Z][a-z]{2,8} the [a-z]{2,8}", fullmatch=True), max_size=9))
def test_numbered_lines_bullets_and_lists_give_the_same(texts: list[str]) -> None:
    listed = [(step.number, step.text) for step in parse_plan(texts).steps]
    numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
    bulleted = "\n".join(f"- [ ] {text}" for text in texts)

    assert listed == [(str(number), text) for number, text in enumerate(texts, start=1)]
    for raw in (numbered, bulleted, json.dumps({"steps": texts})):
        assert [(step.number, step.text) for step in parse_plan(raw).steps] == listed


@given(WRITTEN)
def test_parts_say_nothing_that_the_text_does_not(text: str) -> None:
    for part in split_required_parts(text):
        letters = iter(text)
        assert all(letter in letters for letter in part if not letter.isspace())


@given(WRITTEN)
def test_a_shield_is_as_long_as_the_text(text: str) -> None:
    assert len(mask_quotes(text)) == len(text)
    assert all(a in {b, BLANK} for a, b in zip(mask_quotes(text), text, strict=True))
