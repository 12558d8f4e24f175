from __future__ import annotations

from typing import Any

import pytest

from planproof.readers.toolkit.text_actions import (
    add_element_target,
    is_command_transcript,
    split_commands,
    split_segments,
)
from planproof.readers.toolkit.tool_calls import ToolCall


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
    ("Thought: hm\nAction: ```x```", ("x", None, "x")),
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


VARIANTS: list[Any] = [
    ("Action: reset\nObservation: a shop", ("reset", None, "reset")),
    ("Act 1: Search[Oslo]\nObs 1: a town", ("Search", None, "Oslo")),
    ("THOUGHT: hm\nACTION: go to shelf 1", ("go", None, "go to shelf 1")),
    ("Thought 1\nhm\n\nAction 1\n<search>Oslo </search>\n", ("search", None, "Oslo")),
    ("Thought: hm\nAction: Click [33]", ("Click", {"element": "33"}, "")),
    (
        "Thought: hm\nAction: Type [2]; green tea",
        ("Type", {"element": "2", "text": "green tea"}, ""),
    ),
    ("Thought: hm\nAction: ANSWER; it is green", ("ANSWER", None, "it is green")),
    ("Thought: hm\nAction: ```click('12')```", ("click", {"element": "12"}, "")),
    (
        'Thought: hm\nAction:\n```json\n{"action": "search", "action_input": {"q": 1}}\n```',
        ("search", {"q": 1}, ""),
    ),
    (
        "<think>hm</think>\n<action>\nfill('a51', 'Oslo')\n</action>",
        ("fill", {"element": "a51", "text": "Oslo"}, ""),
    ),
    ("So I will do ```click [1234]```", ("click", {"element": "1234"}, "")),
    (
        "type [164] [green tea] [1]",
        ("type", {"element": "164", "text": "green tea"}, ""),
    ),
    ("action:\nclick('a51')", ("click", {"element": "a51"}, "")),
    ("action:\nscroll(0, 200)", ("scroll", None, "0, 200")),
    ("goto [https://example.com]", ("goto", None, "https://example.com")),
    ("click[Buy Now]", ("click", None, "Buy Now")),
    ("> take mug 1 from shelf 2", ("take", None, "take mug 1 from shelf 2")),
    ("THOUGHT: hm\n\n```mswea_bash_command\nls\n```", ("bash", None, "ls")),
    ('Tool call: get_order({"id": 7})', ("get_order", {"id": 7}, "")),
    ('[tool] get_order {"id": 7}', ("get_order", {"id": 7}, "")),
    ("tool_call: get_order(7)", ("get_order", None, "7")),
    ('I ask.\nCalling tool `get_order` with arguments: {"id": 7}', ("get_order", {"id": 7}, "")),
]


@pytest.mark.parametrize(("text", "call"), VARIANTS)
def test_variants_of_written_calls(text: str, call: tuple[str, Any, str]) -> None:
    assert calls(text) == [call]


LOOSE_OBJECTS: list[Any] = [
    (
        'Action: ```json\n{"action": "search", "action_input": {"q": "x"}}```\nLet us see.',
        ("search", {"q": "x"}, ""),
    ),
    (
        "Action:\n```\n{'action': 'search', 'action_input': {'q': None}}\n```",
        ("search", {"q": None}, ""),
    ),
    (
        'Action:\n```json\n{"action": "search", "action_input": {"q": "x',
        ("search", None, '{"action": "search", "action_input": {"q": "x'),
    ),
    (
        'Action: {"action": "Final Answer", "action_input": "the "one" here"}',
        ("Final Answer", None, '{"action": "Final Answer", "action_input": "the "one" here"}'),
    ),
]


@pytest.mark.parametrize(("text", "call"), LOOSE_OBJECTS)
def test_an_action_that_is_an_object_but_not_valid_json(
    text: str, call: tuple[str, Any, str]
) -> None:
    assert calls(f"Thought: look it up\n{text}") == [call]


def test_an_object_that_names_no_tool_is_not_a_call() -> None:
    assert calls('Thought: hm\nAction: ```json\n{"answer": "x"}``` as said') == []


@pytest.mark.parametrize(
    "text",
    [
        "list[int]",
        "Use ```list[int]``` here",
        "Action: Review (urgent)",
        "Action: call the client (today)",
        "> a quotation, not a command",
        "```bash\nls\n```",
        "The tool call failed (again).",
        "See the docs; they help",
        '{"type": "text"}',
        "Run `click(x)` in your own code (or don't)",
    ],
)
def test_prose_that_only_resembles_a_call(text: str) -> None:
    assert not calls(text)


def test_a_thought_in_brackets_is_a_thought() -> None:
    text = "Action: think[I search.]\nObservation: OK.\n\nAction: search[tea]\nObservation: three"
    found = split_segments(text)
    assert [part.kind for part in found] == ["thought", "call", "result"]


def test_results_of_call_lines() -> None:
    text = "I look.\nTool call: f({})\nTool result: 5\n\nSo it is 5."
    found = split_segments(text)
    assert [part.kind for part in found] == ["prose", "call", "result", "prose"]
    assert text[found[2].start : found[2].end] == "5"


GAME = (
    " think: To solve the task, I look for a mug.\nOK.\n> go to desk 1\nOn the desk 1, you see a "
    "mug 1.\nIt is old.\n> take mug 1 from desk 1\nYou pick up the mug 1.\n>\n\n\n go to shelf 1\n"
    "You arrive.\n>\n"
)


def test_a_transcript_of_commands() -> None:
    assert is_command_transcript(GAME)
    found = split_commands(GAME)
    assert [part.kind for part in found] == ["thought", *["call", "result"] * 3]
    texts = [part.call.text for part in found if part.call is not None]
    assert texts == ["go to desk 1", "take mug 1 from desk 1", "go to shelf 1"]
    assert GAME[found[2].start : found[2].end].endswith("It is old.")
    assert not is_command_transcript("He said:\n> go home\n\n> take it or leave it\n\nI did.")


@pytest.mark.parametrize(
    ("listing", "target"),
    [
        ('[2]: <input> "Search";\t[5]: "EN", "Language";', {"@label": "Search", "@role": "input"}),
        (
            "[1] link 'Home'\n[2] button 'Search', clickable",
            {"@label": "Search", "@role": "button"},
        ),
        (
            "URL: https://a.b/c\n[2]<button>Go</button>",
            {"@label": "Go", "@role": "button", "@url": "https://a.b/c"},
        ),
        ('[12]: "Other"', {}),
        ("[2]: ;", {}),
    ],
)
def test_elements_are_described_by_the_observation(listing: str, target: dict[str, str]) -> None:
    call = ToolCall("click", {"element": "2"})
    add_element_target(call, listing)
    assert call.arguments == {"element": "2"} | ({"@target": target} if target else {})
