"""Typed values of contracts: no input raises, work grows linearly, quotes are verbatim."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.contracts import python_values, shell_syntax, shell_values
from planproof.contracts.condition_check import check_condition, describe_condition
from planproof.contracts.date_values import check_date
from planproof.contracts.number_values import read_numbers
from planproof.contracts.path_values import check_path
from planproof.contracts.python_values import check_call, parse_python
from planproof.contracts.shell_values import check_command, parse_shell
from planproof.contracts.sql_values import parse_sql
from planproof.contracts.text_values import contains_text, contains_words, fold_text
from planproof.contracts.url_values import check_url
from planproof.contracts.value_check import matches_glob
from planproof.core.contract import Condition, SqlCondition, Truth
from tests.line_counts import measure_growth

_TEXTS = st.text(max_size=40)
_NUMBERS = st.none() | st.floats(allow_nan=False)
_CONDITIONS = st.builds(
    Condition,
    any_of=st.lists(_TEXTS, max_size=2).map(tuple),
    equals=st.none() | _TEXTS,
    glob=st.none() | st.text("a*?b", max_size=8),
    number=_NUMBERS,
    min=_NUMBERS,
    date=st.none() | st.sampled_from(["--03-12", "2026", "x"]) | _TEXTS,
    path=st.none() | _TEXTS,
    url=st.none() | _TEXTS,
    program=st.lists(_TEXTS, max_size=1).map(tuple),
    argument=st.lists(_TEXTS, max_size=1).map(tuple),
    calls=st.lists(_TEXTS, max_size=1).map(tuple),
    sql=st.none() | st.builds(SqlCondition, verb=st.none() | _TEXTS),
    any_value=st.booleans(),
    not_=st.lists(_TEXTS, max_size=1).map(tuple),
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)
_SHELL_WORDS = (
    "ls rm echo 'a\u00e9' \"$X\" $(ls) ` ; && || | & > >> < <<E <<'E' \nE\n ( ) { } [ ] [[ ]] "
    "if then else elif fi for in do done while case esac f() f x=1 ${X} \\ # ! bash -c ssh host "
    "docker exec db find -exec \\; eval sudo xargs cat tee -- --help exit set -e \n \r\n \t"
).split(" ")
_SHELL = st.lists(st.sampled_from(_SHELL_WORDS) | st.characters(), max_size=25).map(" ".join)
_PYTHON_PARTS = (
    *(
        "def f():",
        "f()",
        "a.b('c')",
        "import a as b",
        "if False:",
        "else:",
        "\n",
        "\n    ",
        "x",
        "=",
    ),
    *(
        "'é'",
        "print('x')",
        "#",
        "'''",
        "(",
        ")",
        "[",
        "]",
        "f'{x}'",
        "+",
        "!ls",
        "%%bash",
        "return",
    ),
    *("class A:", "try:", "except:", "pass", "lambda:", "exit()", "and", "not", "1"),
)
_PYTHON = st.lists(st.sampled_from(_PYTHON_PARTS), max_size=25).map(" ".join)
_SQL = st.lists(
    st.sampled_from(
        "select * from a where b = 1 ; ' \" ` [ ] ( ) , insert into values update set delete drop "
        "table with as union -- /* */ \n begin rollback explain \\d case when end join on".split(
            " "
        )
    ),
    max_size=20,
).map(" ".join)


@given(_CONDITIONS, _VALUES | _SHELL | _PYTHON | _SQL)
def test_every_condition_has_a_result_for_every_value(condition: Condition, value: Any) -> None:
    assert check_condition(condition, value) in set(Truth)
    assert isinstance(describe_condition(condition), str)


@given(_SHELL, _CONDITIONS)
def test_shell_commands_are_slices_of_their_text(text: str, condition: Condition) -> None:
    for command in parse_shell(text).commands:
        assert command.text in text
        assert check_command(condition, command) in set(Truth)


@given(_PYTHON, _CONDITIONS)
def test_python_calls_are_slices_of_their_text(text: str, condition: Condition) -> None:
    for call in parse_python(text).calls:
        assert call.text in text
        assert check_call(condition, call) in set(Truth)


@given(_SQL)
def test_sql_statements_are_slices_of_their_text(text: str) -> None:
    for statement in parse_sql(text).statements:
        assert statement.text in text


@given(st.text(max_size=30))
def test_a_text_contains_itself(text: str) -> None:
    assert contains_text(text, text) is bool(fold_text(text).strip())


@given(st.text("ab-", max_size=6), st.text("ab -", max_size=12))
def test_adding_words_around_a_text_changes_nothing(needle: str, text: str) -> None:
    assert not contains_text(needle, text) or contains_text(needle, f"x {text} y")


@given(_CONDITIONS, _TEXTS, _VALUES)
def test_adding_an_alternative_never_makes_a_match_a_mismatch(
    condition: Condition, further: str, value: Any
) -> None:
    if condition.any_of:
        more = Condition(any_of=(*condition.any_of, further))
        before = check_condition(Condition(any_of=condition.any_of), value)
        assert before is not Truth.MATCH or check_condition(more, value) is Truth.MATCH


_UNITS = [
    "a ",
    "a-",
    "1,",
    "1.",
    "1/",
    "12 March ",
    "a@",
    "x.com/",
    "../",
    "%41",
    "one ",
    "[",
    "é ",
]
_WORKS: dict[str, Callable[[str], object]] = {
    "text": partial(contains_text, "a a b"),
    "address": partial(contains_text, "a@b.c"),
    "words": partial(contains_words, "a b"),
    "number": read_numbers,
    "date": partial(check_date, "--03-12"),
    "path": partial(check_path, "a/b"),
    "url": partial(check_url, "x.com/a"),
    "glob": partial(matches_glob, "*a?b*a?c*"),
}


@pytest.mark.parametrize("unit", _UNITS)
@pytest.mark.parametrize("name", _WORKS)
def test_work_grows_linearly(name: str, unit: str) -> None:
    assert measure_growth(lambda times: _WORKS[name](unit * times), 400) < 2.6


_SHELL_UNITS = [
    "a; ",
    "a && ",
    "a | ",
    "( a ) ; ",
    "X=$X$X; ",
    "cat <<A\nb\nA\n",
    "a $(b) ",
    "f() { a; }\n",
]


@pytest.mark.parametrize("unit", [*_SHELL_UNITS, "bash -c 'a' ; ", "a 'b' \"$c\" > d\n", "<<A "])
def test_work_on_shell_text_grows_linearly(unit: str) -> None:
    parse = shell_values.parse_shell
    assert measure_growth(lambda times: parse(unit * times + f"# {'x' * 2_000}"), 60) < 2.6


@pytest.mark.parametrize("start", ["a ", "a | head ", "sudo -u x ", "find . -exec ", "ssh a "])
def test_work_on_a_long_command_grows_linearly(start: str) -> None:
    parse = shell_values.parse_shell
    assert measure_growth(lambda times: parse(start + "b " * times + " " * 2_000), 200) < 2.6


@pytest.mark.parametrize(
    "unit", ["f()\n", "x = 'a'\nf(x)\n", "if a: f()\n", "def f(): g()\n", "f(a.b.c)\n"]
)
def test_work_on_python_code_grows_linearly(unit: str) -> None:
    parse = python_values.parse_python
    assert measure_growth(lambda times: parse(unit * times + f"# {'x' * 4_000}"), 60) < 2.6


@pytest.mark.parametrize("unit", ["(", ")", "<<A\n", "${", "a|", "$[", "'", "`", "\0", "((a", "|&"])
def test_hostile_shell_text_is_refused_before_it_is_parsed(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise AssertionError

    monkeypatch.setattr(shell_syntax, "_load_language", refuse)
    assert not parse_shell(unit * 5_000).is_complete
