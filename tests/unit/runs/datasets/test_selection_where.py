"""`--where`: one row a condition and a record."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.errors import InvalidInput
from planproof.runs.datasets.selection import parse_condition

RECORD: dict[str, Any] = {
    "team": "search",
    "n": 10,
    "share": 0.5,
    "code": "007",
    "digits": "12",
    "yes": True,
    "none": None,
    "tags": ["a", 2],
    "meta": {"a/b": "x", "model": "m-1"},
    "text": '{"kind": "refund"}',
    "a=b": 1,
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("team=search", True),
        ("team==search", True),
        (" team = search ", True),
        ("team=Search", False),
        ("team=", False),
        ("team!=search", False),
        ("team!=ads", True),
        ("nowhere!=x", True),
        ("nowhere=x", False),
        ("nowhere=null", True),
        ("none=null", True),
        ("team", True),
        ("none", False),
        ("nowhere", False),
        ("n=10", True),
        ("n=10.0", True),
        ("n>9", True),
        ("n>10", False),
        ("n>=10", True),
        ("n<=9.5", False),
        ("share<1", True),
        ("team>n", True),
        ("team>9", False),
        ("n>a", False),
        ("nowhere<5", False),
        ("code=007", True),
        ("code=7", False),
        ("digits=12", True),
        ("yes=true", True),
        ("yes=1", False),
        ("n=true", False),
        ("team~ear", True),
        ("team~x", False),
        ("tags~a", True),
        ("tags~2", True),
        ("tags~b", False),
        ("n~1", False),
        ("/meta/model=m-1", True),
        ("/meta/a~1b=x", True),
        ("/meta/model ~ 1", True),
        ("/meta/model/x=1", False),
        ("/tags/1=2", True),
        ("/text/kind=refund", True),
        ("/text/x/kind=refund", False),
        ("team=[1]", False),
    ],
)
def test_a_condition_is_true_or_false(condition: str, holds: bool) -> None:
    assert parse_condition(condition).matches(RECORD) is holds


@pytest.mark.parametrize("record", [None, 7, [1], "text"])
def test_a_record_without_fields_has_none(record: Any) -> None:
    assert not parse_condition("team=search").matches(record)
    assert parse_condition("team!=search").matches(record)


@pytest.mark.parametrize("text", ["", "=x", "!team", "<5", "~"])
def test_an_invalid_condition_is_an_error(text: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"is not a valid condition. Write FIELD=VALUE"
    ) as caught:
        parse_condition(text)
    assert caught.value.where == "--where"
