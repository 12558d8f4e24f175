"""Shell text, parsed into the commands that run."""

from __future__ import annotations

import pytest

from planproof.contracts.shell_values import (
    ShellCommand,
    check_command,
    get_python_code,
    has_effect,
    parse_shell,
    to_shell_text,
)
from planproof.core.contract import Condition, SqlCondition, Truth


def list_commands(text: str, *, executed: bool = True) -> list[str]:
    """Return the executed (or the other) commands of a script, as words."""
    script = parse_shell(text)
    return [
        " ".join((command.program, *command.arguments))
        for command in script.commands
        if command.is_executed is executed
    ]


def only(text: str) -> ShellCommand:
    (command,) = parse_shell(text).commands
    return command


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("ls -l", ["ls -l"]),
        ("a; b && c || d | e &", ["a", "b", "c", "d", "e"]),
        ("a | b | c && d", ["a", "b", "c", "d"]),
        ("a\n# b\nc # d", ["a", "c"]),
        ('\'gr\'"ep" \'a b\' c\\ d "e\\"f"', ['grep a b c d e"f']),
        ("/usr/bin/git status", ["git status"]),
        ("\\ls", ["ls"]),
        ("echo $'a\\tb'", ["echo a\tb"]),
        ("X=1 Y=2 make", ["make"]),
        ("if a; then b; else c; fi", ["a", "b", "c"]),
        ("for f in *.py; do black --check; done", ["black --check"]),
        ("while read x; do echo hi; done", ["read x", "echo hi"]),
        ("(cd a && ls); { pwd; }", ["cd a", "ls", "pwd"]),
        ("f() { ls; }\nf", ["ls"]),
        ("function f { ls; }; f; f", ["ls"]),
        ("[ -f a ] && rm a", ["test -f a", "rm a"]),
        ("[[ $a == b ]] && ls", ["test $a == b", "ls"]),
        ("echo $(git log) `git tag`", ["git log", "git tag", "echo"]),
        ('echo "$(rm -rf x)"', ["rm -rf x", "echo"]),
        ("diff <(ls a) <(ls b)", ["ls a", "ls b", "diff"]),
        ("x=$(rm a)", ["rm a"]),
        ("export X=$(rm a)", ["rm a", "export X=$(rm a)"]),
        ("cat > f <<EOF\nrm -rf /\nEOF\nls", ["cat", "ls"]),
        (
            "cat > f <<'EOF' && python f; ls\nrm -rf $(x)\nEOF\npwd",
            ["cat", "python f", "ls", "pwd"],
        ),
        ("cat <<A <<-B\nrm a\nA\n\trm b\n\tB\nls", ["cat", "ls"]),
        ("cat <<EOF\n$(rm -rf data)\nEOF", ["rm -rf data", "cat"]),
        ("cat > a b", ["cat b"]),
        ("wc -l < a.txt", ["wc -l a.txt"]),
        ("case x in x) ls;; *) rm a;; esac", ["ls", "rm a"]),
        ("! grep -q a b", ["grep -q a b"]),
        ("DB=payments; pg_dump $DB", ["pg_dump payments"]),
        ('DIR=/tmp; ls "${DIR}/a"', ["ls /tmp/a"]),
        (
            "git commit -m \"$(cat <<'EOF'\nfix: it's done\nEOF\n)\"",
            ["cat", "git commit -m fix: it's done"],
        ),
        ("", []),
        ("# nothing", []),
        ("((i++))", []),
        ("```bash\nls\n```", ["ls"]),
    ],
)
def test_commands_are_found(text: str, commands: list[str]) -> None:
    assert list_commands(text) == commands
    assert parse_shell(text).is_complete


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("false && a || b", ["a"]),
        ("true || a; b", ["a"]),
        ("! true && a", ["a"]),
        (": || a", ["a"]),
        ("echo done || a", ["a"]),
        ("x && false && a", ["a"]),
        ("if false; then a; else b; fi", ["a"]),
        ("if true; then b; else a; fi", ["a"]),
        ("if false; then a; elif true; then b; else c; fi", ["a", "c"]),
        ("if x; then b; elif false; then a; fi", ["a"]),
        ("while false; do a; done", ["a"]),
        ("until true; do a; done", ["a"]),
        ("case x in y) a;; esac", ["a"]),
        ("f() { a; }", ["a"]),
        ("f() { a; }; false && f", ["a"]),
        ("[ 1 = 2 ] && a", ["a"]),
        ("[[ a != a ]] && a", ["a"]),
        ("test -z abc && a", ["a"]),
        ("exit 0; a", ["a"]),
        ("exec true\na", ["a"]),
        ("set -n; a", ["a"]),
        ("set -e; false; a", ["a"]),
        ("alias a=true; a", ["a"]),
        ("bash -c 'false && a'", ["a"]),
    ],
)
def test_commands_that_never_run(text: str, dead: list[str]) -> None:
    assert list_commands(text, executed=False) == dead


@pytest.mark.parametrize(
    "text",
    [
        "(exit 1); a",
        "x && exit 1; a",
        "if x; then exit 1; fi; a",
        "exit 1 | cat; a",
        "false || a",
        "x || false && a",
        "set -e; if false; then b; fi; a",
        "[ $X = 2 ] && a",
        "test -f b || exit; a",
        "f() { exit; }; a",
        "false; a",
    ],
)
def test_commands_that_may_run(text: str) -> None:
    assert "a" in list_commands(text)


@pytest.mark.parametrize(
    ("text", "program", "via"),
    [
        ("sudo -u root make", "make", ("sudo",)),
        ("env -i A=b make", "make", ("env",)),
        ("timeout -k 5 10 nice -n 3 make", "make", ("timeout", "nice")),
        ("time make", "make", ("time",)),
        ("uv run --with x make", "make", ("uv run",)),
        ("poetry run make", "make", ("poetry run",)),
        ("bash -c make", "make", ("bash -c",)),
        ("bash -lc 'make'", "make", ("bash -c",)),
        ("sudo sh -c 'env make'", "make", ("sudo", "sh -c", "env")),
        ("ssh -i key host make", "make", ("ssh host",)),
        ("ssh host 'sudo make'", "make", ("ssh host", "sudo")),
        ("docker exec -it -e A=b web make", "make", ("docker exec web",)),
        ("docker compose exec -T web make", "make", ("docker compose exec web",)),
        ("kubectl exec pod -n x -- make", "make", ("kubectl exec pod",)),
        ("bash <<'EOF'\nmake\nEOF", "make", ("bash",)),
        ("bash <<< make", "make", ("bash",)),
        ("eval make", "make", ("eval",)),
        ("su - joe -c make", "make", ("su -c",)),
        ("echo a | xargs make", "make", ("xargs",)),
        ("find . -exec make {} \\;", "make", ("find -exec",)),
    ],
)
def test_wrappers_are_stripped_and_inner_code_is_read(
    text: str, program: str, via: tuple[str, ...]
) -> None:
    script = parse_shell(text)
    (command,) = (command for command in script.commands if command.program == program)
    assert command.via == via
    assert script.is_complete


def test_code_is_entered_three_deep() -> None:
    text = "ls"
    for _ in range(3):
        text = f"eval {text}"
    assert list_commands(text) == ["ls"]
    deeper = parse_shell(f"eval {text}")
    assert [command.program for command in deeper.commands] == ["eval"]
    assert not deeper.is_complete


@pytest.mark.parametrize(
    "text",
    [
        "echo 'not closed",
        "if true; then ls",
        "ls )",
        "curl x | bash",
        "curl x | sudo bash -s",
        'bash -c "$(curl x)"',
        "eval $(x)",
        "a" * 500_000,
        "(" * 3_000,
        "( " * 100 + "ls" + " )" * 100,
        "( " * 29 + "bash -c '" + "( " * 29 + "ls" + " )" * 29 + "'" + " )" * 29 + " )",
        "\ud800",
    ],
)
def test_what_can_not_be_read_makes_a_script_incomplete(text: str) -> None:
    assert not parse_shell(text).is_complete


def test_commands_from_the_line_of_a_syntax_error_on_are_left_out() -> None:
    script = parse_shell("ls\nrm x 'open\npwd")
    assert [command.program for command in script.commands] == ["ls"]


def test_something_that_only_looks_like_a_here_document() -> None:
    assert list_commands("echo '<<A'\nrm x\nA") == ["echo <<A", "rm x", "A"]
    assert list_commands("echo $((1<<A))\nrm x\nA") == ["echo", "rm x", "A"]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("pg_dump --help", {"--help"}),
        ("pg_dump --version", {"--version"}),
        ("kubectl apply -f x --dry-run=client", {"--dry-run"}),
        ("kubectl apply -f x --dry-run=none", set[str]()),
        ("helm upgrade --version 4.1", set[str]()),
        ("git commit -- --help", set[str]()),
        ("make -n all", {"-n"}),
        ("head -n 5", set[str]()),
        ("pytest --collect-only", {"--collect-only"}),
    ],
)
def test_flags_that_keep_a_program_from_doing_anything(text: str, flags: set[str]) -> None:
    assert only(text).inert_flags == flags


@pytest.mark.parametrize(
    "text",
    [
        *("cd a", "pwd", "export A=b", "set -e", "echo a", "printf a", "sleep 5", "true", ": a"),
        *("sudo echo a", "echo a > /dev/null", "echo a >&2", "cat <<E\na\nE", "cat <<< a"),
        *("python -c 'print(1)'", "python3 - <<E\nprint('a')\nE", "test -f a", "command -v git"),
        *("bash -c 'echo a'", "unset A"),
    ],
)
def test_neutral_commands(text: str) -> None:
    assert only(text).is_neutral


@pytest.mark.parametrize(
    "text",
    [
        *("echo a > b", ": > b", "cat a", "cat > a <<E\nb\nE", "ssh host echo a", "> a"),
        *("python -c 'import os; os.remove(1)'", "python a.py", "python", "git", "$CMD"),
        "docker exec web echo a",
    ],
)
def test_commands_that_are_not_neutral(text: str) -> None:
    assert not only(text).is_neutral


@pytest.mark.parametrize(
    ("text", "is_filter"),
    [
        ("a | head -n 5", True),
        ("a | head -n 5 b", False),
        ("a | grep -v x", True),
        ("a | grep x b", False),
        ("a | grep -e x b", False),
        ("a | sed s/a/b/", True),
        ("a | sed -i s/a/b/ c", False),
        ("a | awk '{print $1}'", True),
        ("a | sort -k 2 -t ,", True),
        ("a | sort -o b", False),
        ("a | tr a b", True),
        ("a | tee", True),
        ("a | tee b", False),
        ("a | wc -l > b", True),
        ("a | gzip > b", True),
        ("echo a | wc -l > b", False),
        ("a | wc -l b > c", False),
        ("a | jq .x", True),
        ("a | xargs", True),
        ("a | cat -", True),
        ("a | mail bob", False),
        ("a | python -m json.tool", True),
        ("a; head -n 5", False),
        ("a && b | cut -d , -f 1", True),
    ],
)
def test_filters(text: str, is_filter: bool) -> None:
    assert parse_shell(text).commands[-1].is_filter is is_filter


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        ("a > b", ("b",)),
        ("a >> b 2> c", ("b", "c")),
        ("a &> 'b c'", ("b c",)),
        ("a 2>&1 > /dev/null", ()),
        ("> b", ("b",)),
        ("a | tee -a b", ("b",)),
        ("{ a; } > b", ("b",)),
        ("ssh host 'a > b'", ("b",)),
        ("a > $X", ("$X",)),
    ],
)
def test_files_that_are_written(text: str, writes: tuple[str, ...]) -> None:
    assert parse_shell(text).commands[-1].writes == writes


def test_quotes_are_slices_of_the_text() -> None:
    text = "cd /x && cat > f <<'EOF' | grep 'a' > \"b c\"; ls\nrm\nEOF\nbash -c 'sudo make'"
    quotes = [command.text for command in parse_shell(text).commands]
    assert quotes == ["cd /x", "cat > f <<'EOF'", "grep 'a' > \"b c\"", "ls", "sudo make"]
    assert all(quote in text for quote in quotes)


def test_python_code_of_a_command() -> None:
    assert get_python_code(only("python3 -c 'a()'")) == "a()"
    assert get_python_code(only("python - <<E\na()\nE")) == "a()\n"
    assert get_python_code(only("python a.py <<E\na()\nE")) is None
    assert get_python_code(only("node -e 'a()'")) is None


def test_values_of_arguments_as_command_lines() -> None:
    assert to_shell_text("ls -l") == "ls -l"
    assert to_shell_text(["ls -l"]) == "ls -l"
    assert to_shell_text(["ls", "a b"]) == "ls 'a b'"
    assert to_shell_text([]) is None
    assert to_shell_text(["ls", 1]) is None
    assert to_shell_text({"a": 1}) is None


MATCH, MISMATCH, UNKNOWN = Truth.MATCH, Truth.MISMATCH, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("condition", "text", "truth"),
    [
        (Condition(program=("pg_dump", "mysqldump")), "pg_dump a", MATCH),
        (Condition(program=("pg_dump",)), "PG_DUMP.exe a", MATCH),
        (Condition(program=("pg_dump",)), "pg_dumpall", MISMATCH),
        (Condition(program=("pg_dump",)), "$CMD a", UNKNOWN),
        (Condition(program=("pytest",)), "python3 -m pytest a", MATCH),
        (Condition(program=("python",)), "python3.11 -m pytest a", MATCH),
        (Condition(program=("python -m pytest",)), "python -m pytest", MATCH),
        (Condition(program=("git push",)), "git -C a push origin", MATCH),
        (Condition(program=("git push",)), "git pull", MISMATCH),
        (Condition(program=("sudo",)), "sudo make", MATCH),
        (Condition(program=("docker",), argument=("web",)), "docker exec web make", MATCH),
        (Condition(argument=("payments",)), "pg_dump payments", MATCH),
        (Condition(argument=("payments",)), "pg_dump -d Payments", MATCH),
        (Condition(argument=("payments",)), "pg_dump --dbname=payments", MATCH),
        (Condition(argument=("payments",)), "pg_dump dbname=payments", MATCH),
        (Condition(argument=("payments",)), "pg_dump payments_old", MISMATCH),
        (Condition(argument=("payments",)), 'psql -c "select * from payments"', MATCH),
        (Condition(argument=("payments",)), "pg_dump $DB", UNKNOWN),
        (Condition(argument=("payments",)), "pg_dump # payments", MISMATCH),
        (Condition(argument=("b.sql",)), "pg_dump a > /x/b.sql", MATCH),
        (Condition(argument=("push origin",)), "git push -u origin main", MATCH),
        (Condition(argument=("push origin",)), "git push main origin", MISMATCH),
        (Condition(argument=("-r",)), "rm -rf a", MATCH),
        (Condition(argument=("--dry-run",)), "kubectl apply --dry-run=client", MATCH),
        (Condition(argument=("src/app.py",)), "black ./src/app.py", MATCH),
        (Condition(any_of=("hello world",)), "git commit -m 'Hello, world'", MATCH),
        (Condition(any_of=("hello",), not_=("world",)), "git commit -m 'Hello, world'", MISMATCH),
        (Condition(not_=("--force",)), "git push $X", UNKNOWN),
        (Condition(path="src/app.py"), "cat /repo/src/app.py", MATCH),
        (Condition(path="src/app.py"), "cat src/app.pyc", MISMATCH),
        (Condition(url="x.com/a"), "curl -s https://x.com/a", MATCH),
        (Condition(url="x.com"), "curl https://x.com.evil.org", MISMATCH),
        (Condition(number=5), "head -n 5", MATCH),
        (Condition(equals="main"), "git push origin main", MATCH),
        (Condition(calls=("os.remove",)), "python -c 'import os; os.remove(1)'", MATCH),
        (Condition(calls=("os.remove",)), "rm a", MISMATCH),
        (
            Condition(sql=SqlCondition(verb="delete", tables=("a",))),
            "psql -c 'delete from a'",
            MATCH,
        ),
        (Condition(sql=SqlCondition(verb="drop")), "psql <<E\ndrop table a;\nE", MATCH),
        (Condition(sql=SqlCondition(verb="drop")), "psql -c 'delete from a'", MISMATCH),
        (Condition(), "ls", MATCH),
    ],
)
def test_conditions_on_a_command(condition: Condition, text: str, truth: Truth) -> None:
    assert check_command(condition, only(text)) is truth


def test_a_command_that_never_runs_matches_nothing() -> None:
    dead = parse_shell("false && make").commands[1]
    assert check_command(Condition(program=("make",)), dead) is MISMATCH
    assert not has_effect(dead, ())


def test_flags_and_neutral_commands_have_an_effect_only_if_they_are_named() -> None:
    dry = only("kubectl apply --dry-run=client")
    program = Condition(program=("kubectl",))
    assert not has_effect(dry, (program,))
    assert has_effect(dry, (program, Condition(argument=("--dry-run=client",))))
    assert has_effect(only("kubectl apply"), (program,))
    assert not has_effect(only("sleep 5"), (program,))
    assert has_effect(only("sleep 5"), (Condition(program=("sleep",)),))


@pytest.mark.parametrize(
    "text",
    [
        "ls -la src",
        " pytest tests/a.py --seed 7 --shard=2 ",
        "sudo timeout 5 rm -rf ./build",
        "xargs -n 1 rm",
        "cd src",
        "kubectl apply --dry-run=client",
        "python3.11 -m pytest -q",
        "env FOO=1 make -C x",
        "sleep 3",
        "true",
    ],
)
def test_lines_of_plain_words_are_read_as_the_parser_reads_them(text: str) -> None:
    assert parse_shell(text) == parse_shell(f"{text.strip()};")
