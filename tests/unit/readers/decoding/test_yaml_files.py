"""YAML that people write: data only, with line and column of every error."""

from __future__ import annotations

import pytest
from msgspec import Struct

from planproof.errors import InvalidInput
from planproof.readers.decoding.yaml_files import YamlDocument


class _Item(Struct, forbid_unknown_fields=True):
    name: str
    count: int = 0


class _File(Struct, forbid_unknown_fields=True):
    items: list[_Item]
    flag: bool = False


def test_scalars_are_text_until_a_type_says_otherwise() -> None:
    text = "a: no\nb: 007\nc: 2.10\nd: ~\ne: 2026-01-02\nf: 'x'\n"
    assert YamlDocument(text, "f").value == {
        "a": "no",
        "b": "007",
        "c": "2.10",
        "d": "~",
        "e": "2026-01-02",
        "f": "x",
    }
    parsed = YamlDocument("items: [{name: no, count: 3}]\nflag: true\n", "f").convert(_File)
    assert parsed == _File([_Item("no", 3)], flag=True)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", "f", "is empty"),
        ("# only a comment\n", "f", "is empty"),
        ("a: 1\n---\nb: 2\n", "f, line 2, column 1", "more than one document"),
        ("a: [1\nb: 2\n", "f, line 2", "is not valid YAML"),
        ("a: 1\n\tb: 2\n", "f, line 2", "is not valid YAML"),
        ("a: &x 1\nb: *x\n", "f, line 1, column 4", "anchors, aliases and tags"),
        ("b: *x\n", "f, line 1, column 4", "anchors, aliases and tags"),
        ("a: !!python/object:os.system x\n", "f, line 1, column 4", "anchors, aliases and tags"),
        ("a: 1\nb: 2\na: 3\n", "f, line 3, column 1", "the key `a` occurs twice"),
        ("? [a]\n: b\n", "f, line 1, column 3", "a key must be text"),
        ("items:\n  - {name: x, count: y}\n", "f, line 2, column 15", "Expected `int`"),
        ("items:\n  - {name: x}\n  - {nam: x}\n", "f, line 3, column 6", "unknown field `nam`"),
        ("items: x\n", "f, line 1, column 1", "Expected `array`"),
        ("flag: true\n", "f, line 1, column 1", "missing required field `items`"),
        ("a: \x07\n", "f", "is not valid YAML"),
    ],
)
def test_every_error_says_where(text: str, where: str, what: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        YamlDocument(text, "f").convert(_File)
    assert (caught.value.where or "").startswith(where)
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a" * 1_000_001, "has 1,000,001 characters"),
        ("[" * 60 + "]" * 60, "more than 50 levels"),
        ("{a: " * 100_000, "more than 50 levels"),
        ("[" + "a," * 100_001 + "]", "100,000 values"),
    ],
    ids=["long", "deep", "deeper", "many"],
)
def test_a_file_can_not_be_too_large(text: str, what: str) -> None:
    with pytest.raises(InvalidInput, match=what):
        YamlDocument(text, "f")


def test_aliases_can_not_multiply() -> None:
    laughs = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(50))
    with pytest.raises(InvalidInput, match="anchors, aliases and tags"):
        YamlDocument(laughs, "f")


def test_an_error_at_an_unknown_path_is_that_of_its_parent() -> None:
    document = YamlDocument("a:\n  b: [1, 2]\n", "f")
    assert document.error("bad.", "$.a.b[1].c").where == "f, line 2, column 10"
    assert document.error("bad.", "$.x").where == "f, line 1, column 1"


def test_text_with_a_colon_may_be_inside_braces() -> None:
    document = YamlDocument("a:\n- {b: https://x.example/y, c: d:e}\n- [~]\n", "f", nulls=True)
    assert document.value == {"a": [{"b": "https://x.example/y", "c": "d:e"}, [None]]}
    assert document.locate(("a", 0, "c")) == "f, line 2, column 28"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("x: {b: c:d}\na: &x 1\n", "f, line 2, column 4", "anchors, aliases and tags"),
        ("x: {b: c:d}\na: *x\n", "f, line 2, column 4", "anchors, aliases and tags"),
        ("x: {b: c:d}\na: !x y\n", "f, line 2, column 4", "anchors, aliases and tags"),
        ("x: {b: c:d}\na: [1\nb: 2\n", "f, line 3, column 2", "is not valid YAML"),
        ("x: {b: c:d}\n---\nb: 2\n", "f, line 2, column 1", "more than one document"),
        ("x: {b: c:d, e: " + "[" * 60, "f", "more than 50 levels"),
        ("x: {b: c:d}\ny: " + "z" * 200_000, "f, line 1, column 9", "unexpected ':'"),
    ],
)
def test_the_same_holds_for_such_a_file(text: str, where: str, what: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        YamlDocument(text, "f")
    assert (caught.value.where or "").startswith(where)
    assert what in caught.value.what


def test_nulls_are_read_on_request() -> None:
    text = "a: null\nb: ~\nc:\nd: \"null\"\ne: ''\n"
    assert YamlDocument(text, "f", nulls=True).value == {
        "a": None,
        "b": None,
        "c": None,
        "d": "null",
        "e": "",
    }


def test_a_long_key_is_not_stored_once_per_value() -> None:
    # As text, the paths of these values would take gigabytes.
    text = f"? {'k' * 400_000}\n: [{'a,' * 90_000}]\n"
    assert YamlDocument(text, "f").locate(("k" * 400_000, 1)) == "f, line 2, column 6"
