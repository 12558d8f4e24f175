from __future__ import annotations

from typing import Any

import pytest

from planproof.checking.effects import Effect, analyze_effect, names_any, only_prints
from planproof.checking.event_text import flatten_arguments
from tests.unit.checking.alignment_cases import call


def effect(name: str, *, text: str = "", **arguments: Any) -> Effect | None:
    made = call(name, text=text, **arguments)
    return analyze_effect(made, flatten_arguments(made.arguments))


@pytest.mark.parametrize(
    "command",
    [
        'echo "Check the policy"',
        "printf 'Check the policy'",
        "# check the policy",
        "true # check the policy",
        ": check the policy",
        "check_policy --help",
        "sudo check_policy --version",
        "check_policy --order 7 --dry-run",
        "false && check_policy --order 7",
        "true || check_policy",
        "if false; then check_policy; fi",
        "while false; do check_policy; done",
        'echo "check the policy" > /dev/null',
        'echo "check the policy" >&2',
        'echo "check the policy" | cat',
        "bash -c 'echo check the policy'",
        "sh -c \"bash -c 'true check the policy'\"",
        "python3 -c \"print('check the policy')\"",
        "cat <<EOF\ncheck the policy\nEOF",
        "echo check; echo the; echo policy",
        "echo 'check `the policy`'",
        ": 'check `the policy`'",
        "echo \"check\"' `the policy`'",
        "STEP='check `the policy`'",
        "exit 0; check_policy",
        "which check_policy",
        "man check_policy",
        "logger 'check the policy'",
        "bash -n -c 'check_policy'",
        '"echo" check the policy',
        "\\echo check the policy",
        "{ echo check the policy; }",
        "nice -n 5 echo check the policy",
        "sudo -u root echo check the policy",
        "echo check the policy | wc -c",
        "cat <<< 'check the policy'",
        "STEP='check the policy'",
        "test 'check the policy'",
        "! true && check_policy",
        "check_policy --dry-run=client",
        "echo check the policy #" + "x" * 30_000,
        'echo "check the policy',
    ],
)
@pytest.mark.parametrize("key", ["command", "cmd", "Command", "shell_command", "commandLine"])
def test_a_command_that_does_nothing(command: str, key: str) -> None:
    found = effect("run", **{key: command})
    assert found is not None
    assert found.is_idle


@pytest.mark.parametrize(
    "code",
    [
        "# check the policy",
        "print('Check the policy')",
        "print('Check the policy', 'of the order')",
        "message = 'Check the policy'\nprint(message)",
        "print(f'Check the policy of {order}')",
        "print('Check ' + 'the policy')",
        '"""Check the policy"""',
        "if False:\n    check_policy()",
        "import logging\nlogging.info('check the policy')",
        "import sys\nsys.stdout.write('check the policy')",
        "pass  # check the policy",
        "!echo check the policy",
        'console.log("check the policy");',
        "if 0: check_policy()",
        "False and check_policy()",
        "x = ['check the policy']\nprint(x)",
        "print('check the policy'.upper())",
        "_logger.critical('check the policy')",
        "echo 'check the policy'",
    ],
)
def test_code_that_does_nothing(code: str) -> None:
    for found in (effect("python", code=code), effect("ipython", text=code)):
        assert found is not None
        assert found.is_idle


@pytest.mark.parametrize(
    "name",
    ["noop", "no_op", "log", "Log", "log_message", "note", "take_note", "mcp__x__noop", "print"],
)
def test_a_tool_without_an_effect_word(name: str) -> None:
    found = effect(name, text="Check the policy")
    assert found is not None
    assert found.is_idle


@pytest.mark.parametrize(
    "name", ["log_in", "add_note", "write_log", "print_label", "trace_order", "login", "passport"]
)
def test_a_tool_with_an_effect_word(name: str) -> None:
    assert effect(name, text="Check the policy") is None


@pytest.mark.parametrize(
    "command",
    [
        "check_policy --order 7",
        'echo "Check the policy" > notes.txt',
        'echo "Check the policy" | tee notes.txt',
        "git commit -m 'fix #12'",
        "curl 'http://localhost/#top'",
        "cat > notes.txt <<EOF\ncheck\nEOF",
        "python3 -c \"import os; os.remove('x')\"",
        "grep -n 'true' config.ini",
    ],
)
def test_all_of_a_command_counts(command: str) -> None:
    assert effect("bash", command=command) is None


@pytest.mark.parametrize(
    "code",
    [
        "print(check_policy('A-7'))",
        "total = 2 + 3\nprint(total)",
        "path = 'data.csv'\nprint(read(path))",
        "def check_policy():\n    return 1",
        "open('notes.txt').read()",
    ],
)
def test_all_of_a_program_counts(code: str) -> None:
    assert effect("python", code=code) is None


@pytest.mark.parametrize(
    ("name", "given", "left"),
    [
        ("bash", 'echo "check the policy"; ls -l', "ls -l"),
        ("bash", "false && check_policy || ls", "ls"),
        ("bash", "ls -l # check the policy", "ls -l"),
        ("bash", "if false; then check_policy; else ls; fi", "else ls ;"),
        ("bash", "if [ ! -f a ]; then\n  exit 1\nfi\nmake # all", "if [ ! -f a ] ; exit 1 make"),
        ("bash", "cat > a.sh <<'EOF'\nexit 0\nEOF\nls # all", "cat > a.sh <<'EOF' ls exit 0"),
        ("bash", "test -f cfg || false && ls # x", "ls"),
        ("bash", "helm upgrade prod --version 4.1.0 # x", "helm upgrade prod --version 4.1.0"),
        ("bash", 'echo "done: $(rm -rf build)"', "rm -rf build"),
        ("python", "x = 1 + 1  # check the policy", "x = 1 + 1"),
        ("python", "print('check the policy', f(1))", "print( , f(1))"),
        ("python", "# überprüfe\nf('é')  # check", "f('é')"),
    ],
)
def test_what_is_left_of_a_call(name: str, given: str, left: str) -> None:
    found = effect(name, command=given) if name == "bash" else effect(name, code=given)
    assert found is not None
    assert not found.is_idle
    [(_, value)] = found.leaves
    assert isinstance(value, str)
    assert " ".join(value.split()) == left


def test_a_command_given_as_words_of_its_own() -> None:
    idle = effect("shell", command=["bash", "-lc", "echo check the policy"], timeout=5)
    assert idle is not None
    assert idle.is_idle
    assert effect("shell", command=["bash", "-lc", "check_policy"]) is None


@pytest.mark.parametrize(
    ("step", "named"),
    [
        ("print the total", True),
        ("compute the total and print it", True),
        ("use `echo` for it", True),
        ("run echo hello", True),
        ("hand over the prints", False),
        ("show the help of git", True),
        ("check which version it is", True),
        ("do a dry run of the migration", True),
        ("check the policy", False),
    ],
)
def test_a_step_names_a_program_or_a_flag(step: str, named: bool) -> None:
    names = frozenset({"echo", "print", "--help", "--version", "--dry-run"})
    assert names_any(step, names) is named


def test_other_arguments_of_a_tool_that_runs_code_are_not_code() -> None:
    assert effect("execute_python_file", filename="test.py") is None
    assert effect("python", input="print('check the policy')") is not None


def test_text_that_is_not_code_is_unchanged() -> None:
    assert effect("send_message", text="echo: # true", body="print('x')") is None


def test_long_and_odd_code_is_bounded() -> None:
    for odd in ("(" * 5_000, "\x00# x", "'" * 9_999 + "#", "echo " + "$(" * 3_000, "<<A\n" * 4_000):
        effect("bash", command=odd)
        effect("python", code=odd)


@pytest.mark.parametrize(
    "command",
    [
        ": > audit.log",
        "true > /etc/passwd",
        "if false || true; then rm -rf data; fi",
        "echo 'root' | cat > /etc/passwd",
        'echo "$(rm -rf data)"',
        "echo `rm -rf data`",
        'true "$(rm -rf data)"',
        'X="$(rm -rf data)" # x',
        "cat <<EOF\n$(rm -rf data)\nEOF",
        "rm -rf data --help",
        "bash wipe.sh --help",
        "false && rm -rf data",
    ],
)
def test_what_may_do_more_than_print_is_never_passed_over(command: str) -> None:
    assert not only_prints(call("bash", command=command))
    assert only_prints(call("bash", command="echo all is well; true"))


@pytest.mark.parametrize("code", ["settings.ALLOW_ALL = True  # x", "import wipe  # x", "f()  # x"])
def test_a_program_that_may_do_more_than_print_is_never_passed_over(code: str) -> None:
    assert not only_prints(call("python", code=code))
    assert only_prints(call("python", code="import sys\nprint('all is well')"))


@pytest.mark.parametrize(
    "code",
    [
        "s = 'a\u2028b'\n运行('检查')  # 检查政策\n运行()\n",
        "import os\n\x0c运行('检查')  # 检查政策\n运行()\n",
        "print(" + "+".join(["'a'"] * 990) + ")",
        "# ü c   \r''' f'{x}' \n\n\\+ \r\n \x1c''' #",
        "print(1if n else 2)  # rows",
        "\ud800 # x",
    ],
)
def test_odd_programs_break_nothing(code: str) -> None:
    effect("python", code=code)
    effect("bash", command=code)
