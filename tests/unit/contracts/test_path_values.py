"""File paths, compared by their parts."""

from __future__ import annotations

import pytest

from planproof.contracts.path_values import check_path
from planproof.core.contract import Truth


@pytest.mark.parametrize(
    ("wanted", "value", "truth"),
    [
        ("src/app.py", "src/app.py", Truth.MATCH),
        ("src/app.py", "./src/../src//app.py", Truth.MATCH),
        ("src/app.py", "/repo/src/app.py", Truth.MATCH),
        ("src/app.py", "'src/app.py'", Truth.MATCH),
        ("src/app.py", "cat src/app.py", Truth.MATCH),
        ("src/app.py", "--file=src/app.py --check", Truth.MATCH),
        ("src/app.py", "src/app.pyc", Truth.MISMATCH),
        ("src/app.py", "mysrc/app.py", Truth.MISMATCH),
        ("app.py", "myapp.py", Truth.MISMATCH),
        ("/repo/src/app.py", "src/app.py", Truth.UNKNOWN),
        ("/repo/src/app.py", "cat src/app.py", Truth.UNKNOWN),
        ("/etc/passwd", "/tmp/etc/passwd", Truth.MISMATCH),
        ("/etc/passwd", "/tmp/../etc/passwd", Truth.MATCH),
        ("../a", "../a", Truth.MATCH),
        ("../a", "../../a", Truth.MISMATCH),
        ("C:\\Data\\a.txt", "c:/data/a.txt", Truth.MATCH),
        ("~/notes", "$HOME/notes", Truth.MATCH),
        ("/a/b", "file:///a/b", Truth.MATCH),
        ("/", "/", Truth.MATCH),
        ("", "", Truth.MISMATCH),
        ("", "x", Truth.MISMATCH),
        ("a", "", Truth.MISMATCH),
    ],
)
def test_paths_are_compared(wanted: str, value: str, truth: Truth) -> None:
    assert check_path(wanted, value) is truth
