"""Words to compare."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from planproof.contracts import terms
from planproof.contracts.terms import (
    TOKEN_TERMS,
    collect_terms,
    detect_other_language,
    extract_terms,
    extract_words,
    load_command_terms,
    split_identifier,
    split_tokens,
    stem,
    stem_token,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("Read report_12, twice!", ["Read", "report", "12", "twice"], id="ASCII"),
        pytest.param("Zürich–“Köln”_2", ["Zürich", "Köln", "2"], id="other letters and dashes"),
        pytest.param("half \ud800 a character", ["half", "a", "character"], id="half a character"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_tokens_are_runs_of_letters_and_digits(text: str, tokens: list[str]) -> None:
    assert sorted(split_tokens(text)) == sorted(tokens)


@pytest.mark.parametrize(
    ("token", "stems"),
    [
        pytest.param("orders", ("order",), id="a word"),
        pytest.param("getOrderDetails", ("getorderdetail", "get", "order", "detail"), id="camel"),
        pytest.param("HTTPServer", ("httpserver", "http", "server"), id="capitals, then a word"),
        pytest.param("HAT057", ("hat057",), id="a code stays whole"),
        pytest.param("Q4", ("4",), id="too short for a code"),
        pytest.param("007", ("007",), id="a number"),
        pytest.param("the", (), id="a stopword"),
        pytest.param("x", (), id="a single letter"),
    ],
)
def test_a_token_has_the_stems_of_its_pieces(token: str, stems: tuple[str, ...]) -> None:
    assert stem_token(token) == stems


def test_words_that_mean_the_same_share_a_concept() -> None:
    assert extract_terms("remove") & extract_terms("delete")


def test_a_phrase_has_a_concept() -> None:
    assert "~cancel" in extract_terms("call off the trip")
    assert "~cancel" not in extract_terms("call the trip off")


def test_tokens_one_by_one_make_no_phrase() -> None:
    assert "~cancel" not in collect_terms(["call", "off"])


def test_terms_come_on_top_of_others() -> None:
    assert {"order", "else"} <= collect_terms(["orders"], frozenset({"else"}))


def test_what_is_known_of_tokens_is_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terms, "_MAX_CACHE_SIZE", 10)
    for number in range(100):
        assert f"ab{number}" in TOKEN_TERMS[f"ab{number}"]
    assert len(TOKEN_TERMS) <= 10


def test_the_words_of_a_step_leave_out_how_it_is_said() -> None:
    assert [word.text for word in extract_words("Then tell them to open the invoices")] == [
        "open",
        "invoic",
    ]


def test_a_step_that_only_says_how_keeps_its_words() -> None:
    assert [word.text for word in extract_words("Begin again")] == ["begin"]


def test_a_phrase_of_a_step_is_one_word() -> None:
    words = {word.text: word for word in extract_words("Call off the call")}
    assert words["call off"].stems == ("call", "off")
    assert "~cancel" in words["call off"].concepts
    assert words["call"].stems == ("call",)


def test_a_command_is_known_by_what_it_does() -> None:
    assert {"search", "find"} <= load_command_terms()["grep"]


def test_the_pieces_of_a_name_keep_their_order() -> None:
    assert split_identifier("mcp__getOrder-details2") == ["mcp", "get", "order", "details", "2"]


def test_threads_do_not_mix_up_stems() -> None:
    words = ["relational", "customers", "generalizations"] * 200
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(stem, words)) == ["relat", "custom", "general"] * 200


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Suche Flüge nach Berlin und buche den günstigsten für den Kunden.", "German"),
        ("Chercher les vols et réserver le moins cher pour le client.", "French"),
        ("Busca los vuelos y reserva el más barato para el cliente.", "Spanish"),
        ("检查订单并退款给客户然后发送邮件", "a script other than Latin"),
        ("Search for flights from Lisbon to Berlin and book the cheapest.", None),
        ("Read the report on la casa de papel en Madrid and send it to the user.", None),
        ("grep -rn foo src; git commit -m 'x'", None),
        ("und", None),
        ("", None),
    ],
)
def test_a_text_in_another_language_is_detected(text: str, language: str | None) -> None:
    assert detect_other_language(text) == language
