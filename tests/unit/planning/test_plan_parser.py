"""Plans of every common shape, read into numbered steps."""
# ruff: noqa: E501 - a table reads best with one row a line

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.plan import Plan, Step
from planproof.errors import InvalidInput
from planproof.planning.plan_parser import parse_plan

Expected = list[tuple[str, str]]


def steps(raw: Any) -> Expected:
    return [(step.number, step.text) for step in parse_plan(raw).steps]


AB = [("1", "Search it"), ("2", "Write it")]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param("1. Search it\n2. Write it", id="1."),
        pytest.param("1) Search it\n2) Write it", id="1)"),
        pytest.param("(1) Search it\n(2) Write it", id="(1)"),
        pytest.param("[1] Search it\n[2] Write it", id="[1]"),
        pytest.param("1: Search it\n2: Write it", id="1:"),
        pytest.param("1 - Search it\n2 - Write it", id="1 -"),
        pytest.param("Step 1: Search it\nStep 2: Write it", id="Step 1:"),
        pytest.param("STEP 1 - Search it\nSTEP 2 - Write it", id="STEP 1 -"),
        pytest.param("**1.** Search it\n**2.** Write it", id="bold number"),
        pytest.param("**Step 1:** Search it\n**Step 2:** Write it", id="bold step"),
        pytest.param("**1. Search it**\n**2. Write it**", id="bold line"),
        pytest.param("### 1. Search it\n### 2. Write it", id="headings"),
        pytest.param("> 1. Search it\n> 2. Write it", id="quoted lines"),
        pytest.param("1. [ ] Search it\n2. [✓] Write it", id="numbered boxes"),
        pytest.param("- Search it\n- Write it", id="bullets"),
        pytest.param("* Search it\n* Write it", id="stars"),
        pytest.param("• Search it\n• Write it", id="dots"),
        pytest.param("- [ ] Search it\n- [x] Write it", id="boxes"),
        pytest.param("☐ Search it\n☑ Write it", id="ticks"),
        pytest.param("[ ] Search it\n[x] Write it", id="bare boxes"),
        pytest.param("- 1. Search it\n- 2. Write it", id="bulleted numbers"),
        pytest.param("Search it\nWrite it", id="lines"),
        pytest.param("My plan:\n\nSearch it\nWrite it", id="lines after a heading"),
        pytest.param("Here is the plan:\n1. Search it\n2. Write it", id="an introduction"),
        pytest.param("# Plan\n\n1. Search it\n\n2. Write it\n", id="blank lines"),
        pytest.param("1. Search it\n\nIt is fast.\n\n2. Write it\n\nDone!", id="remarks"),
        pytest.param("1. Search it\n2. Write it\n\nHere's the command:\n```\n1. ls\n```", id="code after"),
        pytest.param("1. Search it\n2. Write it\nHere are the queries:\n1. SELECT\n2. DROP", id="a second list"),
        pytest.param("1. Search it\n2. Write it\n\nIn short, this is it.\n\n1. Seek\n2. Note", id="told again"),
        pytest.param("1. Search it\n2. Write it\n\nNotes:\n- be quick", id="notes"),
        pytest.param("## Facts\n1. It is Monday\n## Plan\n1. Search it\n2. Write it", id="facts first"),
        pytest.param("Known:\n- a\n- b\n\nPlan:\n- Search it\n- Write it", id="another list first"),
        pytest.param("1. Search it\n2. Write it\n\nThat is all.\n\n- x\n- y", id="bullets after prose"),
        pytest.param("- goal: win\n\n1. Search it\n2. Write it", id="bullets before numbers"),
        pytest.param("1. Search it\n2. Write it\n\n## Success criteria\n1. It is found", id="criteria after"),
        pytest.param("### Look\n1. Search it\n### Tell\n1. Write it", id="sections, each numbered from 1"),
        pytest.param(["Search it", "Write it"], id="list of texts"),
        pytest.param(("Search it", "Write it"), id="tuple of texts"),
        pytest.param(["1. Search it", "2. Write it"], id="list of numbered texts"),
        pytest.param(["- [ ] Search it", "- [x] Write it"], id="list of boxes"),
        pytest.param(["- 1. Search it", "- 2. Write it"], id="list of bulleted numbers"),
        pytest.param([{"content": "Search it", "status": "pending"}, {"content": "Write it"}], id="todos"),
        pytest.param([{"step": 1, "description": "Search it"}, {"step": 2, "description": "Write it"}], id="step and description"),
        pytest.param([{"step": "Search it"}, {"step": "Write it"}], id="step is the text"),
        pytest.param([{"id": "1", "task": "Search it"}, {"id": "2", "task": "Write it"}], id="id and task"),
        pytest.param([{"step_number": 1.0, "action": "Search it"}, {"step_number": 2.0, "action": "Write it"}], id="float numbers"),
        pytest.param([{"id": "0ae1-77bc-91", "title": "Search it"}, {"id": "x", "title": "Write it"}], id="ids that are no numbers"),
        pytest.param([{"id": True, "name": "Search it"}, {"id": 10**400, "name": "Write it"}], id="ids of odd types"),
        pytest.param([{"id": 1, "name": "Search it"}, {"id": 1, "name": "Write it"}], id="numbers that repeat"),
        pytest.param([{"title": "Search it", "description": "Search it"}, {"text": "Write it"}], id="title told twice"),
        pytest.param([{"content": [{"type": "text", "text": "Search it"}]}, {"content": "Write it"}], id="content parts"),
        pytest.param([{"1": "Search it"}, {"2": "Write it"}], id="one key each"),
        pytest.param({"1": "Search it", "2": "Write it"}, id="numbers are keys"),
        pytest.param({"plan": {"1": "Search it", "2": "Write it"}}, id="numbers are keys under plan"),
        pytest.param({"step_1": "Search it", "step_2": {"text": "Write it"}}, id="step names are keys"),
        pytest.param({"plan": ["Search it", "Write it"]}, id="under plan"),
        pytest.param({"title": "P", "plan": {"steps": ["Search it", "Write it"]}}, id="under plan and steps"),
        pytest.param({"plan": "1. Search it\n2. Write it"}, id="text under plan"),
        pytest.param({"text": "1. Search it\n2. Write it"}, id="text under text"),
        pytest.param({"name": "TodoWrite", "input": {"todos": [{"content": "Search it"}, {"content": "Write it"}]}}, id="a tool call"),
        pytest.param({"function": {"name": "plan", "arguments": '{"steps": ["Search it", "Write it"]}'}}, id="a call with JSON text"),
        pytest.param('["Search it", "Write it"]', id="JSON text"),
        pytest.param('{"todos": [{"content": "Search it"}, {"content": "Write it"}]}', id="JSON object as text"),
        pytest.param(json.dumps(json.dumps(["Search it", "Write it"])), id="JSON text in JSON text"),
        pytest.param('```json\n["Search it", "Write it"]\n```', id="fenced JSON"),
        pytest.param(["Search it", "", " - ", "Write it"], id="empty items"),
    ],
)  # fmt: skip
def test_two_steps_in_every_shape(raw: Any) -> None:
    assert steps(raw) == AB


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param("0. a b\n1. c d", [("0", "a b"), ("1", "c d")], id="zero-based"),
        pytest.param(["3. a", "4. b"], [("3", "a"), ("4", "b")], id="numbers as printed"),
        pytest.param(["3. a", "b"], [("1", "3. a"), ("2", "b")], id="not all numbered"),
        pytest.param(["1. a", "1. b"], [("1", "1. a"), ("2", "1. b")], id="numbers that repeat"),
        pytest.param(["3.5 GB or more", "x"], [("1", "3.5 GB or more"), ("2", "x")], id="a decimal"),
        pytest.param("1. a\n2. b\n2.1 c\n2.2 d", [("1", "a"), ("2", "b"), ("2.1", "c"), ("2.2", "d")], id="2.1"),
        pytest.param("1. a\n   1.1. b\n      1.1.1. c\n2. d", [("1", "a"), ("1.1", "b"), ("1.1.1", "c"), ("2", "d")], id="1.1.1"),
        pytest.param("1. a\n   a. b\n   b) c\n2. d", [("1", "a"), ("1a", "b"), ("1b", "c"), ("2", "d")], id="letters"),
        pytest.param("1. a\n   - b\n   - c\n2. d", [("1", "a"), ("1.1", "b"), ("1.2", "c"), ("2", "d")], id="indented bullets"),
        pytest.param("1. a\n- b\n- c\n2. d", [("1", "a"), ("1.1", "b"), ("1.2", "c"), ("2", "d")], id="bullets under a number"),
        pytest.param("- a\n\t- b\n- c", [("1", "a"), ("1.1", "b"), ("2", "c")], id="tabs"),
        pytest.param("- a\n  1. b\n  2. c\n- d", [("1", "a"), ("1.1", "b"), ("1.2", "c"), ("2", "d")], id="numbers under bullets"),
        pytest.param("Phase 1: P\n1. a\n2. b\nPhase 2: Q\n1. c", [("1", "P"), ("1.1", "a"), ("1.2", "b"), ("2", "Q"), ("2.1", "c")], id="phases"),
        pytest.param("1. a\n   - b\n1.1 c", [("1", "a"), ("1.1", "b"), ("1.2", "c")], id="numbers that would repeat"),
        pytest.param("1. a\n3.1 b", [("1", "a"), ("3.1", "b")], id="3.1 without 3"),
        pytest.param(" 9. a\n10. b", [("9", "a"), ("10", "b")], id="right-aligned"),
        pytest.param("1. a\n  2. b\n3. c", [("1", "a"), ("2", "b"), ("3", "c")], id="ragged"),
        pytest.param("1. a\n   more\n2. b", [("1", "a\n   more"), ("2", "b")], id="a line that goes on"),
        pytest.param("1. a\nmore\n2. b", [("1", "a\nmore"), ("2", "b")], id="a line that goes on, not indented"),
        pytest.param("1. a\n   ```\n   1. x\n   ```\n2. b", [("1", "a\n   ```\n   1. x\n   ```"), ("2", "b")], id="code inside"),
        pytest.param("1. a\n2.\n3. c", [("1", "a"), ("3", "c")], id="a number without words"),
        pytest.param("1. Title\nexplained:\n- a", [("1", "Title\nexplained:"), ("1.1", "a")], id="a line that goes on to bullets"),
        pytest.param(["1. a", "2. b", "2.1 c"], [("1", "a"), ("2", "b"), ("2.1", "c")], id="2.1 in a list"),
        pytest.param([{"text": "a", "substeps": ["b", {"text": "c", "children": [{"text": "d"}]}]}], [("1", "a"), ("1.1", "b"), ("1.2", "c"), ("1.2.1", "d")], id="substeps"),
        pytest.param([{"id": 7, "text": "a", "steps": [{"id": "7.1", "text": "b"}]}], [("7", "a"), ("7.1", "b")], id="substeps with numbers"),
        pytest.param([{"text": "", "substeps": ["b"]}], [("1", "b")], id="substeps of nothing"),
        pytest.param([{"text": "a", "substeps": None}], [("1", "a")], id="no substeps"),
        pytest.param([{"text": "a", "substeps": [""]}], [("1", "a")], id="substeps without words"),
        pytest.param([{"id": "1.1", "text": "a"}, {"id": "1", "text": "b", "steps": ["c"]}], [("1", "a"), ("2", "b"), ("2.1", "c")], id="numbers that meet"),
        pytest.param({"1": "a", "1.1": "b"}, [("1", "a"), ("1.1", "b")], id="keys that refine"),
        pytest.param({"task": "Do it"}, [("1", "Do it")], id="one step"),
        pytest.param([{"title": "Look", "details": "at all"}], [("1", "Look: at all")], id="title and details"),
        pytest.param([{"name": "get", "arguments": {"a": 1}}], [("1", 'get({"a": 1})')], id="a call"),
        pytest.param([{"tool": "get", "input": "x"}], [("1", "get(x)")], id="a tool"),
        pytest.param([{"tool": "get"}], [("1", "get()")], id="a tool alone"),
        pytest.param([{"function": {"name": "get", "arguments": "{}"}}], [("1", "get({})")], id="a function"),
        pytest.param([{"step": "Look up", "tool": "get", "args": [1]}], [("1", "Look up: get([1])")], id="words and a call"),
        pytest.param([{"action": {"name": "get", "args": 1}}], [("1", "get(1)")], id="an action that is a call"),
        pytest.param([{"search": "the price"}], [("1", "search: the price")], id="a field that is a word"),
        pytest.param("I will first call a_tool, then I will stop it.", [("1", "I will first call a_tool"), ("2", "then I will stop it.")], id="then"),
        pytest.param("First, look it up. Then write it; finally, send it.", [("1", "First, look it up."), ("2", "Then write it"), ("3", "finally, send it.")], id="First, then, finally"),
        pytest.param("First, look it up, then the rest.", [("1", "First, look it up, then the rest.")], id="then something"),
        pytest.param("Look it up. This is quick. Write it.", [("1", "Look it up. This is quick."), ("2", "Write it.")], id="sentences"),
        pytest.param("We begin with words.\nFirst, look it up.\nThen write it.", [("1", "First, look it up."), ("2", "Then write it.")], id="lines of prose"),
        pytest.param("Read code.py", [("1", "Read code.py")], id="one order"),
        pytest.param("Buscar el precio", [("1", "Buscar el precio")], id="another language"),
        pytest.param("Das Eine suchen\nDas Andere finden", [("1", "Das Eine suchen"), ("2", "Das Andere finden")], id="lines of another language"),
        pytest.param("A long story " * 9 + ".\nAnother of them " * 9, [("1", ("A long story " * 9 + ".\nAnother of them " * 9).replace("\n", " ").strip())], id="just prose"),
        pytest.param(["\ud83d\ude00 smile", "\ud800 half"], [("1", "😀 smile"), ("2", "\ufffd half")], id="half characters"),
    ],
)  # fmt: skip
def test_numbers_and_texts(raw: Any, expected: Expected) -> None:
    read = steps(raw)

    assert [(number, " ".join(text.split())) for number, text in read] == [
        (number, " ".join(text.split())) for number, text in expected
    ]


def test_refinements_know_what_they_refine() -> None:
    plan = parse_plan("1. a\n2. b\n   2.1 c\n   2.2 d\n      - e\n3. f")

    assert [(step.number, step.parent) for step in plan.steps] == [
        ("1", None),
        ("2", None),
        ("2.1", "2"),
        ("2.2", "2"),
        ("2.2.1", "2.2"),
        ("3", None),
    ]
    assert [step.number for step in plan.leaves] == ["1", "2.1", "2.2.1", "3"]


@pytest.mark.parametrize(
    "raw",
    [None, "", "  \n ", [], {}, (), "[]", "none", "N/A", "No plan.", "I don't have a plan.",
     "Here is the plan:", "---", "There is no plan for this.", {"plan": None}, {"steps": []},
     {"plan": ""}, ["", "--"], "```\n```", "Here's what I know."],
)  # fmt: skip
def test_nothing_planned_gives_no_steps(raw: Any) -> None:
    assert parse_plan(raw) == Plan(())


def test_a_plan_stays_what_it_is() -> None:
    plan = Plan((Step(number="1", text="a"),))

    assert parse_plan(plan) is plan


@pytest.mark.parametrize(
    ("raw", "where"),
    [
        (3, "plan"),
        (True, "plan"),
        (1.5, "plan"),
        ({"foo": 1}, "plan"),
        ({"plan": {"foo": 1}}, "plan"),
        (["a", None], "/1"),
        (["a", 2], "/1"),
        (["a", ["b"]], "/1"),
        ([{"foo": 1}], "/0"),
        ({"plan": ["a", {"content": 5}]}, "/plan/1/content"),
        ([{"content": [1]}], "/0/content"),
        ([{"text": "a", "substeps": 5}], "/0/substeps"),
        ([{"text": "a", "substeps": ["b", 5]}], "/0/substeps/1"),
        ({"a/b": 1, "steps": [1]}, "/steps/0"),
        (object(), "plan"),
        ("[" * 100_000, "plan"),
        ([{"number": 10**400, "text": 1}], "/0/text"),
        ({"function": {"arguments": 3}}, "plan"),
        ({"plan": {"steps": 3}}, "plan"),
    ],
)
def test_wrong_types_are_named_by_their_place(raw: Any, where: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_plan(raw)

    assert caught.value.where == where


def test_what_is_indented_deeper_than_anybody_reads_is_text() -> None:
    plan = parse_plan("\n".join(f"{' ' * depth}- item {depth}" for depth in range(20)))

    assert len(plan.steps) == 12
    assert plan.steps[-1].text.endswith("item 19")


@pytest.mark.parametrize("key", ["substeps", "plan"])
def test_a_plan_can_be_too_deep(key: str) -> None:
    nested: Any = ["a"]
    for _ in range(60):
        nested = [{"text": "a", key: nested}] if key == "substeps" else {key: nested}

    with pytest.raises(InvalidInput, match="nested more than 40 levels deep"):
        parse_plan(nested)


@pytest.mark.parametrize(
    ("raw", "free"),
    [
        ("Do these in any order:\n- fetch a\n- fetch b", ["1", "2"]),
        ("1. fetch a\n2. fetch b\n\nThe order does not matter.", ["1", "2"]),
        ("1. fetch a\n2. fetch b\n3. add\n\nSteps 1 and 2 can run in parallel.", ["1", "2"]),
        ("Steps 2 to 4 may come in any order:\n1. a\n2. b\n3. c\n4. d", ["2", "3", "4"]),
        ("1. In any order:\n   - fetch a\n   - fetch b\n2. add", ["1.1", "1.2"]),
        ("1. fetch a\n2. In parallel, fetch b\n3. add", ["2"]),
        ("1. fetch a\n2. fetch b (at any time)\n3. add", ["2"]),
        ("1. fetch a\n2. fetch b in parallel with step 1", ["1", "2"]),
        ("1. fetch a\n2. run the linter in parallel", ["2"]),
        ("1. fetch a and b in parallel\n2. add", []),
        ("Do not run these in parallel:\n1. a\n2. b", []),
        ("1. find the cards that were banned at the same time as it\n2. add", []),
        ([{"text": "a", "parallel": True}, {"text": "b", "order": "any"}, "c"], ["1", "2"]),
        ({"description": "In no particular order", "steps": ["a", "b"]}, ["1", "2"]),
    ],
)
def test_steps_whose_place_is_left_open(raw: Any, free: list[str]) -> None:
    leaves = parse_plan(raw).leaves

    assert [step.number for step in leaves if step.free_order] == free


def test_fields_that_say_when() -> None:
    plan = parse_plan(
        [
            {"text": "a", "condition": "it fails"},
            {"text": "b", "optional": True},
            {"text": "c", "required": False},
            {"text": "d", "if": ""},
        ]
    )

    assert [step.condition for step in plan.steps] == ["it fails", None, None, None]
    assert [step.optional for step in plan.steps] == [False, True, True, False]
