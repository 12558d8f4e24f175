"""Paths and conditions of profiles."""

from __future__ import annotations

from typing import Any

import pytest

from planproof.core.pointer import resolve
from planproof.errors import InvalidInput
from planproof.readers.toolkit.profile_paths import (
    CompiledCondition,
    Node,
    Test,
    classify_value,
    parse_path,
)

RECORD: dict[str, Any] = {
    "type": "call",
    "n": 3,
    "ok": True,
    "none": None,
    "a.b": {"c~/d": "deep"},
    "list": [{"t": "one"}, {"t": "two"}, "three"],
    "by_id": {"x": {"t": 1}, "y": {"t": 2}},
    "body": '{"inner": {"text": "hidden", "items": [1, 2]}}',
    "broken": '{"inner": ',
}
WHOLE = Node(RECORD, "")


@pytest.mark.parametrize(
    ("path", "values", "pointers"),
    [
        ("type", ["call"], ["/type"]),
        ('"a.b".c~/d', ["deep"], ["/a.b/c~0~1d"]),
        ("list.*.t", ["one", "two"], ["/list/0/t", "/list/1/t"]),
        ("list.1.t", ["two"], ["/list/1/t"]),
        ("list.7.t", [], []),
        ("by_id.*.t", [1, 2], ["/by_id/x/t", "/by_id/y/t"]),
        ("by_id.*.@key", ["x", "y"], ["/by_id/x", "/by_id/y"]),
        ("body.@json.inner.text", ["hidden"], ["/body"]),
        ("body.@json.inner.items.*", [1, 2], ["/body", "/body"]),
        ("broken.@json.inner", [], []),
        ("by_id.@json.x.t", [1], ["/by_id/x/t"]),
        ("none", [None], ["/none"]),
        ("type.more", [], []),
        (".", [RECORD], [""]),
    ],
)
def test_a_path_leads_to_values_and_their_pointers(
    path: str, values: list[Any], pointers: list[str]
) -> None:
    found = list(parse_path(path).every(WHOLE, WHOLE))
    assert [node.value for node in found] == values
    assert [node.pointer for node in found] == pointers
    assert all(resolve(RECORD, pointer) is not None or path == "none" for pointer in pointers)
    first = parse_path(path).first(WHOLE, WHOLE)
    assert (first.value if first else None) == (values[0] if values else None)


def test_a_path_can_begin_at_the_whole_record() -> None:
    inner = Node(RECORD["list"][0], "/list/0")
    assert parse_path("^type").first(inner, WHOLE) == Node("call", "/type", "type")
    assert parse_path("^").first(inner, WHOLE) == WHOLE
    assert parse_path("t").first(inner, WHOLE) == Node("one", "/list/0/t", "t")


@pytest.mark.parametrize("path", ["a..b", 'a."b', 'a"b"', '"a""b"', 'a.""', '"'])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="is not a valid path"):
        parse_path(path)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({}, True),
        ({"type": "call"}, True),
        ({"type": ("command", "call")}, True),
        ({"type": "result"}, False),
        ({"n": "3"}, True),
        ({"ok": "true"}, True),
        ({"absent": "x"}, False),
        ({"type": Test(exists=True), "absent": Test(exists=False)}, True),
        ({"type": Test(exists=False)}, False),
        ({"none": Test(exists=True, kind="null")}, True),
        ({"list": Test(kind="list"), "by_id": Test(kind="object")}, True),
        ({"n": Test(kind="number"), "ok": Test(kind="flag")}, True),
        ({"n": Test(kind="text")}, False),
        ({"type": Test(starts="ca", ends=("x", "ll"), contains="al")}, True),
        ({"type": Test(starts=("x", "y"))}, False),
        ({"type": Test(ends="x")}, False),
        ({"type": Test(contains="x")}, False),
        ({"type": Test(not_=("result",)), "absent": Test(not_="x")}, True),
        ({"type": Test(not_="call")}, False),
        ({"absent": Test(starts="x")}, False),
    ],
)
def test_a_condition_holds_if_all_of_it_does(condition: dict[str, Any], holds: bool) -> None:
    assert CompiledCondition(condition).holds(WHOLE, WHOLE) is holds


def test_every_value_has_a_kind() -> None:
    values: list[Any] = [None, "x", True, 1.5, [], {}]
    kinds = [classify_value(value) for value in values]
    assert kinds == ["null", "text", "flag", "number", "list", "object"]
