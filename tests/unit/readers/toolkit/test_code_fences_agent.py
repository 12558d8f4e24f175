from __future__ import annotations

import pytest

from planproof.readers.toolkit.code_fences import split_facts_and_plan, split_thought_and_code


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Thought: x\nCode:\n```py\ngo()\n```<end_code>", ("Thought: x", "go()")),
        ("Thought: x\n```py\ngo()\n```<end_code>", ("Thought: x", "go()")),
        ("Thought: x\n<code>\ngo()\n</code>", ("Thought: x", "go()")),
        ("Thought: x\n<code>\ngo()\n", ("Thought: x", "go()")),
        ('{"thought": "x", "code": "go()"}', ("x", "go()")),
        ('{"code": "go()"}', ("", "go()")),
        ("See:\n```py\ngo()\n```", None),
        ("<code> </code>", None),
        ('{"code": 7}', None),
        ("The code is done.", None),
        ("Code:\n```py\ngo()", None),
    ],
)
def test_what_is_thought_and_what_is_run(text: str, found: tuple[str, str] | None) -> None:
    assert split_thought_and_code(text) == found


@pytest.mark.parametrize(
    ("text", "facts", "plan"),
    [
        ("1. Go.\n2. Come.\n<end_plan>", "", "1. Go.\n2. Come."),
        (
            "## 1. Facts survey\nnone\n\n## 2. Plan\n1. Go.",
            "## 1. Facts survey\nnone",
            "## 2. Plan\n1. Go.",
        ),
        (
            "### 1. Updated facts\nx\n### **Updated plan:**\n- y",
            "### 1. Updated facts\nx",
            "### **Updated plan:**\n- y",
        ),
        ("Facts: x\n2. Plan:\n1. Go.\n```", "Facts: x", "2. Plan:\n1. Go."),
        (
            "1. Find the facts.\n2. Plan the trip with them.",
            "",
            "1. Find the facts.\n2. Plan the trip with them.",
        ),
        ("## Plan\n1. Go.", "", "## Plan\n1. Go."),
    ],
)
def test_facts_before_a_plan(text: str, facts: str, plan: str) -> None:
    assert split_facts_and_plan(text) == (facts, plan)
