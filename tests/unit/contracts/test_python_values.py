"""Python code, parsed into the calls that run."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.contracts.python_values import (
    UNKNOWN_VALUE,
    CodeCall,
    check_call,
    check_calls,
    find_shell_text,
    parse_python,
)
from planproof.core.contract import Condition, SqlCondition, Truth

MATCH, MISMATCH, UNKNOWN = Truth.MATCH, Truth.MISMATCH, Truth.UNKNOWN


def list_calls(text: str, *, executed: bool = True) -> list[str]:
    return [call.name for call in parse_python(text).calls if call.is_executed is executed]


def only(text: str) -> CodeCall:
    (call,) = parse_python(text).calls
    return call


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("f(1)", ["f"]),
        ("a.b.c()", ["a.b.c"]),
        ("f(g(h(1)))", ["f", "g", "h"]),
        ("import pandas as pd\npd.read_csv('a')", ["pandas.read_csv"]),
        (
            "from os import path as p, remove\np.join('a'); remove('a')",
            ["os.path.join", "os.remove"],
        ),
        ("from . import x\nx.f()", ["..x.f"]),
        ("import a.b\na.b.f()", ["a.b.f"]),
        (
            "import requests\ns = requests.Session()\ns.get(u)",
            ["requests.Session", "requests.Session.get"],
        ),
        ("with open('a') as f:\n    f.read()", ["open", "open.read"]),
        ("import x\nx.a('b').c()", ["x.a.c", "x.a"]),
        ("'a'.join(x)", ["join"]),
        ("fs[0]()", [""]),
        ("def f():\n    g()\nf()", ["g"]),
        ("class A:\n    def m(self):\n        g()\nA().m()", ["g"]),
        ("class A:\n    def __init__(self):\n        g()\nA()", ["g"]),
        ("async def f():\n    await g()\nimport asyncio\nasyncio.run(f())", ["g", "asyncio.run"]),
        ("def f():\n    g()\nmap(f, x)", ["g", "map"]),
        ("if __name__ == '__main__':\n    g()", ["g"]),
        ("[g(x) for x in y]", ["g"]),
        ("@app.get('/')\ndef f(): g()", ["app.get"]),
        ("!ls -l\n%pip install x\n%matplotlib inline\nf()", ["os.system", "os.system", "f"]),
        ("%%bash\nls\n", ["os.system"]),
        (" f()", ["f"]),
        ("```python\nf()\n```", ["f"]),
        ("def refund(): pass\nrefund()", []),
        ("x = 1", []),
        ("", []),
    ],
)
def test_calls_are_found(text: str, names: list[str]) -> None:
    assert list_calls(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "if False:\n    g()",
        "if 0: g()",
        "if not True: g()",
        "if 1 == 2: g()",
        "while False: g()",
        "while True: pass\ng()",
        "False and g()",
        "True or g()",
        "x = 1 if True else g()",
        "for x in []: g()",
        "try:\n    pass\nexcept E:\n    g()",
        "def f():\n    g()",
        "def f():\n    f()\n    g()",
        "def f():\n    return 1\n    g()\nf()",
        "class A:\n    def m(self): g()",
        "raise SystemExit\ng()",
        "assert False\ng()",
        "exit()\ng()",
        "import sys\nsys.exit(0)\ng()",
        "if TYPE_CHECKING:\n    g()",
    ],
)
def test_calls_that_never_run(text: str) -> None:
    assert "g" in list_calls(text, executed=False)
    assert "g" not in list_calls(text)
    assert check_calls(("g",), parse_python(text)) is MISMATCH


@pytest.mark.parametrize(
    "text",
    [
        "if x: exit()\ng()",
        "while True:\n    break\ng()",
        "try:\n    f()\nexcept E:\n    g()",
        "def f():\n    return 1\nf()\ng()",
        "x and g()",
        "True and g()",
        "lambda: g()",
    ],
)
def test_calls_that_may_run(text: str) -> None:
    assert "g" in list_calls(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f('a')", "a"),
        ("f(-1)", -1),
        ("f(True)", True),
        ("f(['a', x])", ["a", UNKNOWN_VALUE]),
        ("f({'a': 1, b: 2})", {"a": 1, "1": 2}),
        ("x = 'a'\nf(x)", "a"),
        ("x = 'a'\nf(f'{x}/b')", "a/b"),
        ("x = 'a'\nf(x + 'b' + x)", "aba"),
        ("from pathlib import Path\np = Path('a') / 'b'\nf(p)", "a/b"),
        ("import os\nf(os.path.join('a', 'b'))", "a/b"),
        ("x = 'a'\nx = 'b'\nf(x)", UNKNOWN_VALUE),
        ("def h(x):\n    f(x)\nx = 'a'\nh(1)", UNKNOWN_VALUE),
        ("for x in y: f(x)", UNKNOWN_VALUE),
        ("f(y)", UNKNOWN_VALUE),
        ("f(y())", UNKNOWN_VALUE),
        ("f(b'a')", UNKNOWN_VALUE),
        ("f(*y)", UNKNOWN_VALUE),
        ("f(f'{y:>3}')", UNKNOWN_VALUE),
        ("f(1 + 2)", UNKNOWN_VALUE),
        ("x = x2\nx2 = x\nf(x)", UNKNOWN_VALUE),
    ],
)
def test_literal_arguments(text: str, value: Any) -> None:
    (call,) = (call for call in parse_python(text).calls if call.name == "f")
    assert call.positional == (value,)


def test_keywords_receivers_and_quotes() -> None:
    text = "from pathlib import Path\nPath('a.txt').write_text(  'é', encoding=e, **k)  # x"
    call = parse_python(text).calls[0]
    assert call.name == "pathlib.Path.write_text"
    assert call.written == "Path.write_text"
    assert call.keywords == {"encoding": UNKNOWN_VALUE, "**": UNKNOWN_VALUE}
    assert call.receiver == "a.txt"
    assert call.text == "Path('a.txt').write_text(  'é', encoding=e, **k)"


@pytest.mark.parametrize(
    ("text", "effective"),
    [
        ("# refund()", ""),
        ("print('refund()')", ""),
        ("print('a', f'{x}')", ""),
        ("s = 'refund'\nprint(s)", ""),
        ("'''refund'''", ""),
        ("def f(): refund()", ""),
        ("if False: refund()", ""),
        ("import logging\nlogging.info('refund')", ""),
        ("print('a'.upper())", ""),
        ("pass", ""),
        ("f()  # refund", "f()"),
        ("'''doc'''\nf('a')", "f('a')"),
        ("print(f())", "print(f())"),
        ("x = 'a'\nf(x)", "x = 'a'\nf(x)"),
        ("import wipe", "import wipe"),
        ("x = 2 + 3", "x = 2 + 3"),
        ("!ls", "!ls"),
    ],
)
def test_effective_text(text: str, effective: str) -> None:
    code = parse_python(text)
    assert code.effective_text.strip() == effective
    assert code.is_complete


@pytest.mark.parametrize(
    "text",
    [
        "def (",
        "exec(x)",
        "eval('f()')",
        "a" * 200_000,
        "x = " + "(" * 500,
        "\0",
        "\ud800",
        "-" * 9999,
    ],
)
def test_what_can_not_be_read_is_incomplete(text: str) -> None:
    code = parse_python(text)
    assert not code.is_complete
    assert check_calls(("g",), code) is UNKNOWN


def test_values_do_not_grow_without_limit() -> None:
    lines = ["x0 = 'aaaaaaaa'", *(f"x{n + 1} = x{n} + x{n}" for n in range(60)), "f(x60)"]
    assert only("\n".join(lines)).positional == (UNKNOWN_VALUE,)
    lines = ["x0 = [1]", *(f"x{n + 1} = [x{n}, x{n}]" for n in range(60)), "f(x60)"]
    assert only("\n".join(lines)).positional == ([UNKNOWN_VALUE, UNKNOWN_VALUE],)


@pytest.mark.parametrize(
    ("wanted", "text", "truth"),
    [
        ("f", "f()", MATCH),
        ("f()", "f()", MATCH),
        ("f", "a.f()", MATCH),
        ("f", "ff()", MISMATCH),
        ("pandas.read_csv", "import pandas as pd\npd.read_csv(1)", MATCH),
        ("pd.read_csv", "import pandas as pd\npd.read_csv(1)", MATCH),
        ("tl.umap", "import scanpy as sc\nsc.tl.umap(1)", MATCH),
        ("pl.umap", "import scanpy as sc\nsc.tl.umap(1)", MISMATCH),
        ("pandas.read_csv", "from pandas import read_csv\nread_csv(1)", MATCH),
        ("pandas.read_csv", "import polars\npolars.read_csv(1)", MISMATCH),
        ("requests.get", "import requests\ns = requests.Session()\ns.get(1)", MATCH),
        (
            "pandas.DataFrame.to_csv",
            "import pandas as pd\nd = pd.read_csv(1)\nd.to_csv(2)",
            UNKNOWN,
        ),
        ("requests.get", "d.get(1)", MISMATCH),
        ("openai.chat.create", "client.chat.create(1)", UNKNOWN),
        ("f", "fs[0]()", UNKNOWN),
    ],
)
def test_names_of_calls_are_compared(wanted: str, text: str, truth: Truth) -> None:
    assert check_calls((wanted,), parse_python(text)) is truth


@pytest.mark.parametrize(
    ("condition", "text", "truth"),
    [
        (Condition(calls=("f",), any_of=("a.csv",)), "f('a.csv')", MATCH),
        (Condition(any_of=("a.csv",)), "f(x='a.csv')", MATCH),
        (Condition(any_of=("a.csv",)), "f(['b', {'c': 'a.csv'}])", MATCH),
        (Condition(any_of=("a.csv",)), "'a.csv'.f()", MATCH),
        (Condition(any_of=("a.csv",)), "f('b.csv')", MISMATCH),
        (Condition(any_of=("a.csv",)), "f('b.csv', x)", UNKNOWN),
        (Condition(number=3), "f('b', 3)", MATCH),
        (Condition(not_=("b",)), "f('a', 'b')", MISMATCH),
        (Condition(any_of=("a",), not_=("b",)), "f('a', 'b')", MISMATCH),
        (Condition(not_=("b",)), "f('a', x)", UNKNOWN),
        (Condition(calls=("f",)), "if 0: f()", MISMATCH),
        (Condition(program=("f",)), "f()", MISMATCH),
        (Condition(sql=SqlCondition(verb="delete")), "f('delete from a')", MATCH),
        (Condition(sql=SqlCondition(verb="delete")), "f('select 1 from a')", MISMATCH),
        (Condition(sql=SqlCondition(verb="delete")), "f('delete')", MISMATCH),
        (Condition(sql=SqlCondition(verb="delete")), "f(x)", UNKNOWN),
        (Condition(any_value=True), "f()", MATCH),
    ],
)
def test_conditions_on_a_call(condition: Condition, text: str, truth: Truth) -> None:
    assert check_call(condition, only(text)) is truth


@pytest.mark.parametrize(
    ("text", "neutral"),
    [
        ("len(x)", True),
        ("import json\njson.loads(x)", True),
        ("from json import loads\nloads(x)", True),
        ("open(x)", False),
        ("f(x)", False),
        ("x.len()", False),
        ("from shop import len\nlen(x)", False),
        ("import sys\nsys.exit()", False),
        ("import os\nos.remove(x)", False),
    ],
)
def test_neutral_calls(text: str, neutral: bool) -> None:
    assert only(text).is_neutral is neutral


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import os\nos.system('ls -l')", "ls -l"),
        ("import subprocess\nsubprocess.run(['ls', 'a b'])", "ls 'a b'"),
        ("import subprocess\nsubprocess.run(args='ls', shell=True)", "ls"),
        ("import subprocess\nsubprocess.run(['ls', x])", None),
        ("import os\nos.system(x)", None),
        ("run('ls')", None),
        ("!ls -l", "ls -l"),
    ],
)
def test_shell_commands_of_python(text: str, line: str | None) -> None:
    assert find_shell_text(only(text)) == line
