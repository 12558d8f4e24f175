"""Answers that were written beforehand, for as many cases as there are."""

from __future__ import annotations

from typing import Any

from tests.scripted_model.faults import Good
from tests.scripted_model.request import ModelRequest


def answer_from_book(book: dict[str, Any]) -> Good:
    """Answers as a book has them: a JSON object.

    It has them by the words that stand behind its `mark` in what is asked, as many letters of them
    as `letters` says, and then by the fields that the answer is to have; and one for everything
    `else`.
    """
    answers: dict[str, dict[str, str]] = book["answers"]
    mark, letters, otherwise = str(book["mark"]), int(book["letters"]), str(book["else"])

    def good(asked: ModelRequest) -> str:
        _, _, behind = asked.text.partition(mark)
        form = "+".join(sorted((asked.schema or {}).get("properties", {})))
        return answers.get(behind[:letters], {}).get(form, otherwise)

    return good
