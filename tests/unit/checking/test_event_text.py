"""What is in a call."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.checking import event_text as calls
from planproof.checking.event_text import collect_strings, flatten_arguments, format_call
from planproof.core.trace import Event
from tests.replacement import replace
from tests.unit.checking.alignment_cases import call, says

NESTED: dict[str, Any] = {
    "path": "a.txt",
    "edits": [{"line": 3, "text": "x"}, ["y", None], "z"],
    "force": True,
    "note": "",
}


def test_arguments_become_lines_with_their_keys() -> None:
    assert format_call(call("write", path="a.txt", mode=None, line=3)) == "path: a.txt\nline: 3"


def test_arguments_inside_arguments_keep_their_order() -> None:
    assert format_call(call("edit", **NESTED)) == (
        "path: a.txt\nline: 3\ntext: x\nedits: y\nedits: z\nforce: True"
    )


def test_arguments_need_not_be_an_object() -> None:
    assert format_call(replace(call("run"), arguments=["ls", 5])) == "ls\n5"
    assert format_call(replace(call("run"), arguments="ls")) == "ls"


def test_the_text_of_a_call_comes_before_its_arguments() -> None:
    assert format_call(call("run", text="quickly", command="ls")) == "quickly\ncommand: ls"


def test_a_text_that_is_an_argument_is_not_said_twice() -> None:
    assert format_call(call("run", text="ls -l", command="ls -l")) == "command: ls -l"


def test_what_was_said_is_its_own_text() -> None:
    assert format_call(says("Done.")) == "Done."


def test_every_text_in_arguments_is_found() -> None:
    assert collect_strings(NESTED) == ["a.txt", "x", "y", "z", ""]
    assert collect_strings(None) == []


def test_deep_arguments_are_walked_through() -> None:
    deep: Any = "end"
    for _ in range(100_000):
        deep = [deep]
    assert collect_strings(deep) == ["end"]


def find_commands(event: Event) -> frozenset[str]:
    return calls.find_known_commands(event, flatten_arguments(event.arguments))


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        pytest.param("grep", {"grep"}, id="a word alone"),
        pytest.param("zebra", set[str](), id="an unknown word"),
        pytest.param("", set[str](), id="nothing"),
        pytest.param("sudo rm -r a | sort && wc -l", {"rm", "sort", "wc"}, id="a line of a shell"),
        pytest.param("echo $(cat a)", {"echo", "cat"}, id="a command in a command"),
        pytest.param("a = sorted(open(path))", {"sorted", "open"}, id="calls in code"),
        pytest.param(
            "SELECT a FROM b\nGROUP  BY a", {"select", "group_by"}, id="a query over two lines"
        ),
        pytest.param("# " + "x" * 200 + "\nrm a", {"rm"}, id="a long text"),
    ],
)
def test_known_commands_are_found(text: str, commands: set[str]) -> None:
    assert find_commands(call("zebra", command=text)) == commands
    assert find_commands(call("zebra", text=text)) == commands


def test_a_tool_may_be_a_known_command_itself() -> None:
    assert find_commands(call("Grep", pattern="x-1")) == {"grep"}
    assert find_commands(call(None)) == frozenset()
