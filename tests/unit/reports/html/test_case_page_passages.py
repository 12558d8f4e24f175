"""Texts of events in pieces: masked, cut, with what is quoted marked."""

from __future__ import annotations

import time

import pytest

from planproof.reports.html.case_page import FindingQuote, MarkedText, find_quote_spans, mark_quotes
from planproof.reports.plain_text import MASK


def mark_text(text: str, *words: str, room: int = 1_000, secrets: bool = False) -> MarkedText:
    quotes = [FindingQuote(f"s{place}", quote) for place, quote in enumerate(words)]
    return mark_quotes(text, quotes, max_characters=room, secrets=secrets)


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("b c", "a b c d", ["b c"]),
        ("b c", "a b\n  c d", ["b\n  c"]),
        ('{"a":1}', '{\n  "a": 1\n}', ['{\n  "a": 1\n}']),
        (r"say \"hi\"", 'say "hi" now', ['say "hi']),
        (r"one\ntwo", "one\ntwo", ["one\ntwo"]),
        ("begin … end", "begin the middle end", ["begin", "end"]),
        ("B C", "a b c", []),
        ("begin … elsewhere", "begin end", []),
        ("", "text", []),
        ("…", "text", []),
    ],
)
def test_a_quote_is_found_as_evidence_is_checked(words: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_quote_spans(words, text)] == found


def test_quotes_are_marked_with_the_findings_that_give_them() -> None:
    made_ = mark_text("one two three four", "two three", "three four", "five")
    assert made_.segments == [
        "one ",
        ["two ", ["s0"]],
        ["three", ["s0", "s1"]],
        [" four", ["s1"]],
    ]
    assert made_.quoting_findings == {"s0", "s1"}


def test_a_long_text_keeps_its_beginning_and_what_is_quoted() -> None:
    text = f"{'a' * 500}needle{'b' * 494}"
    assert mark_text(text, "needle", room=40).segments == [
        "a" * 40,
        450,
        "a" * 10,
        ["needle", ["s0"]],
        "b" * 10,
        484,
    ]
    assert mark_text(text, room=40).segments == ["a" * 40, 960]


def test_secrets_are_masked_and_so_are_quotes_out_of_them() -> None:
    text = "login password: hunter2hunter2 done"
    masked = mark_text(text, "hunter2", "done")
    assert masked.segments == [f"login password: {MASK} ", ["done", ["s1"]]]
    assert masked.redacted_findings == {"s0"}
    shown = mark_text(text, "hunter2hunter2", secrets=True)
    assert shown.segments == ["login password: ", ["hunter2hunter2", ["s0"]], " done"]
    assert shown.redacted_findings == set()


def test_no_cut_shows_a_part_of_a_secret() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "k3y" * 1_000 + "\n-----END PRIVATE KEY-----"
    for room in (10, 100, 1_000):
        pieces = mark_text(f"x {key} needle", "needle", room=room).segments
        assert "k3y" not in str(pieces)
        assert "k3y" not in str(mark_text(f"x {key}", room=room).segments)


def test_what_can_not_be_shown_is_escaped_and_lines_are_kept() -> None:
    assert mark_text("a\r\n\tb\x00\ud800\u202e").segments == ["a\\x0d\n\tb\\x00\\ud800\\u202e"]


def test_a_megabyte_takes_no_longer_than_its_length() -> None:
    text = '\\n" ' * 300_000
    began = time.process_time()
    mark_text(text, "nowhere to be found")
    assert time.process_time() - began < 10
