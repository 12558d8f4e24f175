from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.call_markup import split_segments


def calls(text: str) -> list[tuple[str, Any, str]]:
    found = [part.call for part in split_segments(text) if part.call is not None]
    return [(call.name, call.arguments, call.text) for call in found]


CALLS: list[Any] = [
    (
        "<function=bash>\n<parameter=command>\nls -la\n</parameter>\n</function>",
        ("bash", {"command": "ls -la"}, ""),
    ),
    (
        '<invoke name="edit"><parameter name="path">a.py</parameter></invoke>',
        ("edit", {"path": "a.py"}, ""),
    ),
    (
        '<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>',
        ("search", {"q": "x"}, ""),
    ),
    ("<execute_bash>\nls\n</execute_bash>", ("bash", None, "ls")),
    ("<execute_ipython>\n1 + 1\n</execute_ipython>", ("ipython", None, "1 + 1")),
    ("<execute>\nprint(1)\n</execute>", ("python", None, "print(1)")),
    ("<run_code>print(1)</run_code>", ("python", None, "print(1)")),
    ("<execute>\nprint(1)", ("python", None, "print(1)")),
    ("<function=finish></function>", ("finish", {}, "")),
    (
        "<function=edit><parameter=path>a.py<parameter=text>x</function>",
        ("edit", {"path": "a.py", "text": "x"}, ""),
    ),
    (
        "<read_file>\n<path>a.py</path>\n<task_progress>\n- [ ] Go\n</task_progress>\n</read_file>",
        ("read_file", {"path": "a.py"}, ""),
    ),
    (
        "<write_to_file><path>a.html</path><content>\n<content>x</content>\n</content></write_to_file>",
        ("write_to_file", {"path": "a.html", "content": "<content>x</content>"}, ""),
    ),
    ("<execute_command>\nls\n</execute_command>", ("execute_command", None, "ls")),
    ("<list_files>\n<path>src", ("list_files", {"path": "src"}, "")),
    (
        'Thought: hm\nAction: search\nAction Input: {"q": "x"}',
        ("search", {"q": "x"}, ""),
    ),
    ("Action: search\nAction Input: cats", ("search", None, "cats")),
    ("Thought: hm\nAction: search[cats]", ("search", None, "cats")),
    ('Thought: hm\nAction: search({"q": 1})', ("search", {"q": 1}, "")),
    (
        'Thought: hm\nAction: {"name": "search", "args": {"q": 1}}',
        ("search", {"q": 1}, ""),
    ),
    ("Thought: hm\nAction: ```sh\nls\n```", ("sh", None, "ls")),
    ("Thought: hm\nAction: ```lisp\n(car x)", ("lisp", None, "(car x)")),
    ("Thought: hm\nAction: ```x```", ("```x```", None, "```x```")),
    ("**Thought 1:** hm\n**Action 1:** go north now", ("go", None, "go north now")),
]


@pytest.mark.parametrize(("text", "call"), CALLS)
def test_a_call_in_a_text(text: str, call: tuple[str, Any, str]) -> None:
    assert calls(text) == [call]


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b > c",
        "plain",
        "",
        "Action: none of this is a call",
        "The Action was good.",
        "<tool_call>not json</tool_call>",
        "<tool_call>[1]</tool_call>",
        '<tool_call>{"name": "cut off"',
        "Thought: hm\nAction:",
        "Observation: it rains",
    ],
)
def test_a_text_without_a_call_is_one_stretch(text: str) -> None:
    assert not calls(text)


def test_the_prose_around_calls_and_results_is_kept() -> None:
    text = "I look.\n<execute>ls</execute>\n<observation>a.txt</observation>\nFound."
    found = split_segments(text)
    assert [text[part.start : part.end].strip() for part in found] == [
        "I look.",
        "<execute>ls</execute>",
        "",
        "a.txt",
        "Found.",
    ]
    assert [part.kind for part in found] == ["prose", "call", "prose", "result", "prose"]


def test_labels_cut_a_text_into_thoughts_calls_and_results() -> None:
    text = (
        "Question\nThought: hm\nAction: search\nAction Input: cats\nObservation: a cat\n"
        "Final Answer: cats"
    )
    found = split_segments(text)
    assert [text[part.start : part.end].strip() for part in found] == [
        "Question",
        "hm",
        "Action: search\nAction Input: cats",
        "a cat",
        "cats",
    ]
    assert [part.kind for part in found] == ["prose", "thought", "call", "result", "answer"]


def test_a_tag_inside_a_call_is_part_of_the_call() -> None:
    text = "<function=write><parameter=text><execute>ls</execute></parameter></function>"
    assert calls(text) == [("write", {"text": "<execute>ls</execute>"}, "")]


def test_only_the_last_of_several_openings_is_closed() -> None:
    text = '<tool_call><tool_call>{"name": "a", "args": {}}</tool_call>'
    assert calls(text) == [("a", {}, "")]


def test_an_input_without_an_action_is_prose() -> None:
    text = "Thought: hm\nAction: a\nObservation: b\nAction Input: c"
    assert [text[part.start : part.end].strip() for part in split_segments(text)][-1] == "c"
