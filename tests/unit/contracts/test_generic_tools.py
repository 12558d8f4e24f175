"""Tools whose name does not say which action a call is."""

from __future__ import annotations

import pytest

from planproof.contracts.generic_tools import find_language, is_generic


@pytest.mark.parametrize(
    ("tool", "argument", "language"),
    [
        ("bash", "command", "shell"),
        ("Bash", "cmd", "shell"),
        ("runInTerminal", "command", "shell"),
        ("mcp__host__run_shell_command", "command", "shell"),
        ("functions.exec_command", "cmd", "shell"),
        ("Terminal Execute", "*", "shell"),
        ("python", "*", "python"),
        ("IPython", "code", "python"),
        ("python-repl", "query", "python"),
        ("execute_code", "code", "python"),
        ("sql_db_query", "query", "sql"),
        ("executor", "bash_command", "shell"),
        ("warehouse", "sql", "sql"),
        ("sandbox", "pythonCode", "python"),
    ],
)
def test_an_argument_holds_a_language(tool: str, argument: str, language: str) -> None:
    assert find_language(tool, argument) == language


@pytest.mark.parametrize(
    ("tool", "argument"),
    [
        ("bash", "timeout"),
        ("search", "query"),
        ("run_tests", "command"),
        ("send_message", "text"),
        ("click", "element"),
        ("bash" * 10_000, "command"),
        ("", ""),
    ],
)
def test_another_argument_does_not(tool: str, argument: str) -> None:
    assert find_language(tool, argument) is None


@pytest.mark.parametrize(
    "tool", ["bash", "python3", "execute_sql", "http.GET", "browser.click", "Click", "left_click"]
)
def test_a_generic_tool_is_one_whatever_its_spelling(tool: str) -> None:
    assert is_generic(tool)


@pytest.mark.parametrize(
    "tool",
    [
        "search",
        "get_order",
        "read_file",
        "click_through_rate",
        "screenshot",
        "visit_page",
        "go",
        "",
    ],
)
def test_a_tool_with_one_purpose_is_not(tool: str) -> None:
    assert not is_generic(tool)
