"""Hostile text is shown, on one line, as what it is."""

from __future__ import annotations

import pytest

from planproof.reports.plain_text import to_one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\r\n and\ta tab", "two lines and a tab"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("bell\x07 nul\x00 del\x7f", r"bell\x07 nul\x00 del\x7f"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("lone \ud800 surrogate", r"lone \ud800 surrogate"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("שלום עולם", "שלום עולם"),
        ("👩\u200d🔬 می\u200cخواهم", "👩\u200d🔬 می\u200cخواهم"),
        ("日本語", "日本語"),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert to_one_line(text) == shown
