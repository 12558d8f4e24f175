"""Texts in pieces: nothing is lost, doubled or invented, and what is quoted is there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planproof.reports.html.case_page import FindingQuote, TextSegment, mark_quotes

TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=300)


def words(piece: TextSegment) -> str:
    return piece if isinstance(piece, str) else "" if isinstance(piece, int) else str(piece[0])


@given(
    text=TEXTS,
    spans=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), max_size=5),
    room=st.integers(1, 200),
)
def test_pieces_are_the_text_but_for_what_they_count(
    text: str, spans: list[tuple[int, int]], room: int
) -> None:
    quotes = [FindingQuote(f"s{n}", text[at : at + size]) for n, (at, size) in enumerate(spans)]
    made = mark_quotes(text, quotes, max_characters=room, secrets=True)
    rest = text
    for piece in made.segments:
        if isinstance(piece, int):
            rest = rest[piece:]
        else:
            assert rest.startswith(words(piece))
            rest = rest[len(words(piece)) :]
    assert rest == ""
    for quote in quotes:
        marked = "".join(
            words(piece)
            for piece in made.segments
            if isinstance(piece, list) and quote.finding in piece[1]
        )
        assert marked == quote.words
        assert not quote.words or quote.finding in made.quoting_findings


@given(text=st.text(max_size=100), quote=st.text(max_size=20), room=st.integers(1, 100))
def test_any_text_can_be_shown(text: str, quote: str, room: int) -> None:
    made = mark_quotes(text, [FindingQuote("x0", quote)], max_characters=room, secrets=False)
    for piece in made.segments:
        words(piece).encode("utf-8")
