"""Code that does not parse as it is: what is meant is read, the rest is unknown."""

from __future__ import annotations

import pytest

from planproof.contracts.python_values import check_calls, parse_python
from planproof.core.contract import Truth


def list_calls(text: str) -> list[str]:
    return [call.written for call in parse_python(text).calls if call.is_executed]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("print 'total', total\nsend(total)", ["print", "send"]),
        ("try:\n  a()\nexcept IOError, e:\n  raise Failed, 'x'", ["a", "Failed"]),
        ('import os\\nos.remove(\\"a.txt\\")', ["os.remove"]),
        ("This removes it:\n```python\nimport os\nos.remove('a')\n```\nDone.", ["os.remove"]),
        ("Two parts\n```\na()\n```\nand\n```py\nb()\n```", ["a", "b"]),
        ("%time frame = load('a.csv')\nshow(frame)", ["load", "show"]),
        ("%%time\nload('a.csv')", ["load"]),
        ("%%writefile job.py\nwipe()", ["open"]),
        ("if ready:\n    !ls\n    run()", ["os.system", "run"]),
    ],
)
def test_code_that_is_meant_is_read(text: str, names: list[str]) -> None:
    assert list_calls(text) == names
    assert parse_python(text).is_complete


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import pandas as pd\nframe = pd.read_csv('a.csv')\nframe.plot(", ["pd.read_csv"]),
        ("x = (1\ny = compute(3)\nz = store(y)", ["compute", "store"]),
        ("def f(:\n    send()\ng()\nh()", ["g", "h"]),
        ("if x:\n    a()\nelse:\n    b()\n)\nc()", ["a", "b", "c"]),
        ("try:\n    a()\nfinally:\n    b()\nx = = 1", ["a", "b"]),
        ("@cached\ndef f():\n    a()\nf()\nb()\nx = = 1", ["a", "b"]),
    ],
)
def test_statements_that_parse_are_kept(text: str, names: list[str]) -> None:
    code = parse_python(text)
    assert list_calls(text) == names
    assert not code.is_complete
    assert check_calls(("other",), code) is Truth.UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        'x = load("""\nwipe()\n""" oops\ny = 1',
        "don't x = '''\nwipe()\n'''",
        "x = 1\n# wipe()\ny = = 2",
        "x = 1\n'''\nwipe()\n'''\ny = = 2",
        "x = 1\ntext = 'wipe()'\ny = = 2",
        "x = 1\nprint('wipe()')\ny = = 2",
        "x = 1\nif False:\n    wipe()\ny = = 2",
        "x = 1\ndef f():\n    wipe()\ny = = 2",
        "First I think about it,\nthen I may call\nwipe()\nor leave it.",
        "%%javascript\nwipe()",
        "%%writefile job.py\nwipe()",
        "Text\n```javascript\nwipe()\n```",
        "Text\n```python\n# wipe()\nx = 1\n```",
        "x = '''\nwipe()\n",
        'x = f("\\"""")\ny = """\nwipe()\n"""\nz = = 1',
    ],
)
def test_texts_comments_and_prose_never_run(text: str) -> None:
    code = parse_python(text)
    assert "wipe" not in list_calls(text)
    assert "wipe" not in code.effective_text
    assert check_calls(("wipe",), code) is not Truth.MATCH


@pytest.mark.parametrize(
    "text",
    [
        "foo(\n" * 20_000,
        "x = 'a\n" * 10_000,
        "print a" + " " * 90_000 + "(",
        "``` " + " " * 90_000 + "x",
        "```\n" * 20_000 + "(",
        "if x:\n" * 1_999,
        "x = 1\n" * 1_999 + "(",
        "except a" + " " * 90_000 + ", b:",
    ],
    ids=range(8),
)
def test_recovery_is_bounded(text: str) -> None:
    assert not parse_python(text).is_complete
