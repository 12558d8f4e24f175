"""The values that a step names, and whether a text holds them."""

from __future__ import annotations

import pytest

from planproof.contracts.values import Literal, LiteralKind, TextIndex, extract_literals, fold
from tests.line_counts import measure_growth


def list_literals(text: str) -> list[tuple[str, str]]:
    return [(literal.kind.value, literal.text) for literal in extract_literals(text)]


def only(text: str) -> Literal:
    (literal,) = extract_literals(text)
    return literal


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ('write "two words" there', [("quoted", "two words")]),
        ("run `ls -l` there", [("quoted", "ls -l")]),
        ("say \u2018so\u2019 and \u201cno\u201d", [("quoted", "so"), ("quoted", "no")]),
        ("open https://example.org/a.", [("path", "https://example.org/a")]),
        ("write to ann@example.org", [("identifier", "ann@example.org")]),
        ("on 2024-05-20", [("date", "2024-05-20")]),
        ("on May 20", [("date", "May 20")]),
        ("on the 3rd June 2024", [("date", "3rd June 2024")]),
        ("read src/app.py", [("path", "src/app.py")]),
        ("read notes.md", [("path", "notes.md")]),
        ("read ~/notes/today", [("path", "~/notes/today")]),
        ("read /etc", [("path", "/etc")]),
        ("and/or", []),
        ("cancel order #W123", [("identifier", "#W123")]),
        ("set max_size", [("identifier", "max_size")]),
        ("call getOrder", [("identifier", "getOrder")]),
        ("the SQL", []),
        ("sort without LIMIT", []),
        ("version 1.2.3", [("identifier", "1.2.3")]),
        ("pay $1,200.50 now", [("number", "$1,200.50")]),
        ("fly to New York's airport", [("name", "New York")]),
        ("Fly now", []),
        ('say "  " twice', []),
    ],
)
def test_values_are_found_in_a_step(text: str, literals: list[tuple[str, str]]) -> None:
    assert list_literals(text) == literals


def test_values_are_in_text_order() -> None:
    assert [text for _, text in list_literals("take 3 from a.txt for Ann")] == ["3", "a.txt", "Ann"]


def test_what_is_taken_for_one_sort_is_not_taken_for_another() -> None:
    assert list_literals('write "5 May 2024"') == [("quoted", "5 May 2024")]


@pytest.mark.parametrize(
    ("step", "text", "held"),
    [
        ("take 4", "page 4 of 9", True),
        ("take 4", "page 14", False),
        ("take 4", "page 4a", True),
        ("pay 1,200", "amount: 1200", True),
        ("take A-12b", "order a-12b", True),
        ("say 'so it is'", "So  it\nis", True),
        ("on May 5", "2024-05-05", True),
        ("on May 5", "may 15", False),
        ("on May 5, 2024", "5th of may", True),
        ("on 5 May 2024", "on 05/05/2024", True),
        ("on 12 March", "depart: 20260312", True),
        ("on 12 March", "depart: 20260313", False),
        ("on 2 March", "on 12 March", False),
        ("on 5 June 2026", "on 5 June 2027", False),
        ("on 12 \u017feptember", "on 12 September", True),
        ("write to ana@x.com", "to: juliana@x.com", False),
        ("read out.md", "path: /tmp/out.md", True),
        ("look up order A-1042", "order: A-1043", False),
        ("go to San Diego", "city: san francisco", False),
        ("go to Chicago", "to ORD", True),
        ("ask Daniel", "to: daniela", False),
        ("compute the RMSF", "computeRMSF", True),
        ("go to Lisbon", "city: LIS", True),
        ("ship it to Germany", "country: DEU", True),
        ("file it in Texas", "state: TX", True),
        ("go to Chicago", "to ordinary", False),
        ("ask the Canadians", "a canadian", True),
        ("ask the Canadians", "a cat", False),
    ],
)
def test_a_text_contains_a_value_in_other_forms(step: str, text: str, *, held: bool) -> None:
    assert only(step).occurs_in(fold(text)) is held


def test_folding_makes_case_space_and_quotes_alike() -> None:
    assert fold(" It\u2019s\n\u201cA\u201d  \u2018b\u2019 ") == "it's \"a\" 'b'"


def test_a_value_is_looked_for_in_many_texts_at_once() -> None:
    texts = TextIndex(["a-1 and a-1", "", "none", "x a-1"])
    assert texts.find_indices(only("take A-1b or nothing")) == []
    assert texts.find_indices(Literal(LiteralKind.IDENTIFIER, "A-1", ("a-1",))) == [0, 3]


def test_many_texts_contain_the_numbers_of_each() -> None:
    lines = ["4", "14", "4.5", "a4", "44 4", ""]
    number = Literal(LiteralKind.NUMBER, "4", ("4",))
    alone = [index for index, line in enumerate(lines) if number.occurs_in(line)]
    assert TextIndex(lines).find_indices(number) == alone == [0, 2, 3, 4]


def test_nothing_is_found_across_two_texts() -> None:
    assert not TextIndex(["so it", "is"]).find_indices(only("say 'so it is'"))


@pytest.mark.parametrize("text", ["3 to 7 June", "3-7 June", "June 3 to 7", "between 3 and 7 June"])
def test_a_range_of_days_is_two_dates(text: str) -> None:
    first, last = extract_literals(f"Search flights {text}")
    assert (first.kind, first.text) == (LiteralKind.DATE, "3 June")
    assert first.occurs_in("out: 2026-06-03")
    assert last.occurs_in("back: 2026-06-07")


def test_a_price_limit_is_not_a_value() -> None:
    assert extract_literals("book one that costs at most 300 EUR") == ()
    assert extract_literals("book one under $300") == ()
    assert [value.text for value in extract_literals("pay $300")] == ["$300"]
    assert [value.text for value in extract_literals("take more than 3 of them")] == ["3"]


@pytest.mark.parametrize("unit", ["1 2 3 ", "Step 1:", '"ab" ', "a1-", "Ab ", "/a.py "])
def test_work_grows_linearly_with_the_values_of_a_text(unit: str) -> None:
    assert measure_growth(lambda times: extract_literals(unit * times), 200) < 2.5


def test_an_identifier_has_a_digit_or_another_mark_of_its_own() -> None:
    # To look for the digit in all that follows takes time quadratic in the length of the text.
    values = [literal.text for literal in extract_literals("the " + "a-" * 60 + "1 part")]
    assert values
    assert all("1" in value for value in values)


def test_a_number_has_at_most_twelve_groups_of_thousands() -> None:
    assert list_literals("pay 1,000,000.50 now") == [("number", "1,000,000.50")]
    assert list_literals("pay 1" + ",000" * 13 + " now") == [("number", "000" + ",000" * 12)]
