"""Find quotes in a part of the source."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.core.content import Json
from planproof.core.quotes import QuotableTexts, is_quote_in, to_searchable_text

CALL = {"name": "search", "arguments": json.dumps({"query": 'say "é"\n twice', "n": 2})}


@pytest.mark.parametrize(
    ("quote", "value"),
    [
        pytest.param("two words", "in two words", id="in a text"),
        pytest.param("two words", "in two \n\t words", id="white space folded in the source"),
        pytest.param("two\n  words ", "in two words", id="white space folded in the quote"),
        pytest.param("search", CALL, id="in an object"),
        pytest.param('say "é" twice', CALL, id="escaped twice in the source"),
        pytest.param('{"query": "say', CALL, id="JSON inside JSON"),
        pytest.param('{"query":"say \\"é', CALL, id="escaped in the quote"),
        pytest.param("\\u00e9", "é", id="a code point in the quote"),
        pytest.param("😀 smile", json.dumps("😀 smile"), id="halves of one character"),
        pytest.param("😀", '"\\\\ud83d\\\\ude00"', id="halves of one character, escaped twice"),
        pytest.param('{"a": 1, "b": [2]}', '{"a":1,"b":[2]}', id="JSON written more widely"),
        pytest.param("C:\\new\\table", "in C:\\new\\table", id="backslashes of a path"),
        pytest.param("the begin … the end", "the begin of it and the end", id="an ellipsis"),
        pytest.param("the begin ... the end", "the begin of it and the end", id="three dots"),
        pytest.param("the begin [...] end", "the begin and the end", id="dots in brackets"),
        pytest.param("cd ... && ls", "run cd ... && ls", id="dots of the source"),
        pytest.param("…the end", "and the end", id="an ellipsis first"),
        pytest.param("wait… what", "wait… what", id="an ellipsis of the source"),
        pytest.param("null", None, id="nothing but null"),
        pytest.param("3.5", 3.5, id="a number"),
    ],
)
def test_a_quote_that_occurs(quote: str, value: Json) -> None:
    assert is_quote_in(quote, to_searchable_text(value))
    assert QuotableTexts(value).contains(quote, "")


@pytest.mark.parametrize(
    ("quote", "value"),
    [
        pytest.param("three words", "in two words", id="other words"),
        pytest.param("Two words", "in two words", id="another case"),
        pytest.param("twowords", "in two words", id="a space dropped"),
        pytest.param("the end … the begin", "the begin of it and the end", id="pieces exchanged"),
        pytest.param("the begin … no end", "the begin of it and the end", id="a piece made up"),
        pytest.param("", "anything", id="empty"),
        pytest.param("the begin ... no end", "the begin and the end", id="made up after dots"),
        pytest.param(" ... ", "anything at all", id="only dots"),
        pytest.param(" … ", "anything … at all", id="only an ellipsis"),
    ],
)
def test_a_quote_that_does_not(quote: str, value: Json) -> None:
    assert not is_quote_in(quote, to_searchable_text(value))
    assert not QuotableTexts(value).contains(quote, "")


# What normalizing changes, and what it does not; no sentence begins inside an escape or a code.
PIECES = st.sampled_from(
    [
        "a",
        "Bc",
        " ",
        "\n",
        "\t",
        '"',
        ":",
        ", ",
        "{",
        "]",
        "\x1b[31m",
        "[0m",
        "…",
        "...",
        "\\n",
        "\\",
        "é",
    ]
)


@given(st.lists(PIECES), st.lists(PIECES), st.lists(PIECES, min_size=1), st.integers(1, 9))
def test_a_quote_is_found_in_one_string_only_if_it_occurs(
    before: list[str], after: list[str], pieces: list[str], end: int
) -> None:
    cut = "".join(pieces).strip()[:end].rstrip()
    text = " ".join(["".join(before), "".join(pieces), "".join(after)])
    for value in (text, {"text": text}, {"arguments": [json.dumps({"text": text})]}):
        expected = is_quote_in(cut, to_searchable_text(value))
        assert QuotableTexts(value).contains(cut, "") == expected


def test_quotes_are_looked_up_by_pointer() -> None:
    texts = QuotableTexts("one\ntwo words\nthree")
    assert texts.contains("two words", "L2")
    assert texts.contains("two words three", "L2-3")
    assert texts.contains("words", "L2:5-9")
    assert not texts.contains("three", "L2")
    assert texts.get("L2-3") == "two words three"


def test_quotes_at_one_pointer_are_found_in_any_order() -> None:
    texts = QuotableTexts([{"text": "one [2] three… four"}])
    for quote in ("one", "four", "one", "[2]", "four", "three … four", "one"):
        assert texts.contains(quote, "/0"), quote
    for quote in ("five", "five", "four … one", "…"):
        assert not texts.contains(quote, "/0"), quote
