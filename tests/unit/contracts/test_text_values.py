"""Texts in texts: whole words, with case, width and punctuation folded."""

from __future__ import annotations

import pytest

from planproof.contracts.text_values import (
    contains_text,
    contains_words,
    fold_text,
    strip_code_fence,
)


@pytest.mark.parametrize(
    ("needle", "text"),
    [
        ("Lisbon", "lisbon, PT"),
        ("company card", "company_card"),
        ("company card", "the Company-Card!"),
        ("Lis\u200bbon", "ＬＩＳＢＯＮ"),
        ("anna@x.com", "to: <Anna@X.com>, bob"),
        ("anna@x.com", "Write to anna@x.com."),
        ("ORD-7", '{"id": "ord-7"}'),
        ("ORD-7", "order:ORD-7"),
        ("ORD-7", "https://shop.example/orders/ORD-7/items"),
        ("12", "page 12, please"),
        ("12", "/orders/12"),
        ("1200.50", "$1,200.5"),
        ("1,200", "1200"),
        ("12:30", "at 12:30"),
        ("iPhone 15 Pro", "an iphone  15 pro max"),
        ("https://x.com/a", "see https://x.com/a."),
        ("/etc/passwd", "cat /etc/passwd"),
        ("C++", "c++ code"),
        ("!!", "wow!!"),
        ("北京", "我在北京市"),
        ("007", "agent 007"),
        ("ORD-7", "ORD-7's items"),
        ("ORD-7", "https://x.com/?id=ORD-7&x=1"),
        ("customer", "the customer's order"),
    ],
)
def test_a_text_is_found(needle: str, text: str) -> None:
    assert contains_text(needle, text)


@pytest.mark.parametrize(
    ("needle", "text"),
    [
        ("anna@x.com", "anna@x.com.evil.org"),
        ("anna@x.com", "joanna@x.com"),
        ("anna@x.com", "evil.org/anna@x.com"),
        ("12", "112"),
        ("12", "12.5"),
        ("12", "-12"),
        ("12", "12:30"),
        ("12", "2024-03-12"),
        ("12", "12/03/2024"),
        ("ORD-7", "ORD-77"),
        ("ORD-7", "ORD-7-B"),
        ("ORD-7", "XORD-7"),
        ("007", "7"),
        ("7", "007"),
        ("iPhone 15 Pro", "an iphone 155 pro"),
        ("https://x.com/a", "https://x.com/a/b"),
        ("report.csv", "report.csv.bak"),
        ("art", "a party"),
        ("company card", "card of the company"),
        ("refund", "refunded"),
        ("", "anything"),
        (" ", "any thing"),
        ("Lisbon", ""),
    ],
)
def test_a_text_is_not_found(needle: str, text: str) -> None:
    assert not contains_text(needle, text)


@pytest.mark.parametrize(
    ("alternative", "sentence", "found"),
    [
        ("refund", "Your order was refunded.", True),
        ("refunded", "We will send the refunds", True),
        ("sold out", "It's sold out!", True),
        ("sold out", "It was sold without", False),
        ("order 12", "Orders 12 and 13", True),
        ("order 12", "Order 112", False),
        ("unavailable", "available", False),
    ],
)
def test_word_forms_are_found_in_sentences(alternative: str, sentence: str, found: bool) -> None:
    assert contains_words(alternative, sentence) is found


def test_folding_drops_case_width_and_invisible_characters() -> None:
    assert fold_text("ＳＴＲＡẞＥ\u00ad\ufeff") == "strasse"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```bash\nls\n```", "ls\n"),
        ("```\nls\nrm x```", "ls\nrm x"),
        ("ls ```x```", "ls ```x```"),
        ("```bash\nls\n```\nand\n```bash\nrm x\n```", "```bash\nls\n```\nand\n```bash\nrm x\n```"),
        ("```", "```"),
    ],
)
def test_code_in_a_fence(text: str, code: str) -> None:
    assert strip_code_fence(text) == code
