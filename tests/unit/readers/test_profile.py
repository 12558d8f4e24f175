"""Profiles: errors with line and column, and profiles that are hostile."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.trace import Kind
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.profile_files import read_built_in_text
from planproof.readers.profile_reader import ProfileReader, load_built_in_profiles, parse_profile
from tests.line_counts import measure_growth
from tests.own_format import PROFILE, TRACE

HEAD = "planproof: profile/1\nname: x\ntitle: X\n"
JSON = HEAD + "detect: {every: {a: {exists: true}}}\n"
TEXT = HEAD + "form: text\ndetect: {lines: ['A: {t}']}\n"


def _reader(text: str) -> ProfileReader:
    return ProfileReader(parse_profile(text, name="p.yaml"))


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("name: x\n", "line 1, column 1", "missing required field `planproof`"),
        (PROFILE.replace("profile/1", "profile/2"), "line 1, column 1", "Invalid enum value"),
        (PROFILE.replace("rules:", "rulez:"), "line 8, column 1", "unknown field `rulez`"),
        (PROFILE.replace("user: t", "usr: t"), "line 10, column 5", "unknown field `usr`"),
        (PROFILE.replace("id: n}", "ids: n}"), "line 14, column", "unknown field `ids`"),
        (PROFILE.replace("exists: true", "exists: maybe"), "line 6, column", "Expected"),
        (PROFILE.replace("form: jsonl", "form: xml"), "line 4, column 1", "Invalid enum value"),
        (PROFILE.replace("user: t", "user: a..b"), "line 1, column 1", "is not a valid path"),
        (JSON, "line 1, column 1", "a profile for JSON needs `rules`"),
        (TEXT, "line 1, column 1", "a profile for text needs `blocks`"),
        (HEAD + "detect: {}\nrules: [{user: t}]\n", "line 4, column 1", "has no condition"),
        (TEXT + "blocks: [{line: '{t}', user: t}]\n", "line 1, column 1", "matches every line"),
        (TEXT + "blocks: [{line: 'A: {t:int}', user: t}]\n", "line 1", "not a type of a field"),
        (TEXT + "blocks: [{user: t}]\n", "line 6, column 10", "missing required field `line`"),
        (JSON + "rules: [{call: {name: [a, [b]]}}]\n", "line 5", "Expected"),
    ],
)
def test_an_error_names_line_and_column(text: str, where: str, what: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_profile(text, name="p.yaml")
    assert (caught.value.where or "").startswith(f"p.yaml, {where}")
    assert what in caught.value.what


def test_ten_thousand_rules_are_read_and_the_last_applies() -> None:
    rules = "".join(f"  - {{when: {{a: v{n}}}, message: t}}\n" for n in range(10_000))
    reader = _reader(f"{JSON}rules:\n{rules}  - {{when: {{a: last}}, user: t}}\n")
    trace = reader.read(Source.from_value([{"a": "last", "t": "hi"}]))
    assert [(event.actor, event.text) for event in trace.events] == [("user", "hi")]


def test_more_rules_than_fit_are_refused() -> None:
    rules = "".join(f"  - {{when: {{a: v{n}}}, message: t}}\n" for n in range(20_000))
    with pytest.raises(InvalidInput, match="100,000 values"):
        parse_profile(f"{JSON}rules:\n{rules}", name="p.yaml")


def test_rules_inside_rules_are_limited() -> None:
    nested = "{rules: [" * 40 + "{user: t}" + "]}" * 40
    with pytest.raises(InvalidInput, match="more than 50 levels"):
        parse_profile(f"{JSON}rules: [{nested}]\n", name="p.yaml")
    allowed = "{rules: [" * 20 + "{user: t}" + "]}" * 20
    trace = _reader(f"{JSON}rules: [{allowed}]\n").read(Source.from_value([{"a": 1, "t": "hi"}]))
    assert trace.events[0].text == "hi"


def test_a_rule_that_fits_everything_reads_each_record_once() -> None:
    reader = _reader(f"{JSON}rules: [{{message: t}}]\n")
    trace = reader.read(Source.from_value([{"a": 1, "t": "x"}, {"b": 1}, 7, "s"]))
    assert [event.text for event in trace.events] == ["x"]
    assert [part.pointer for part in trace.skipped] == ["/1", "/2", "/3"]


def test_blocks_that_begin_on_every_line_keep_their_order() -> None:
    reader = _reader(TEXT + "blocks: [{line: '{a} {b}', message: b}]\n")
    trace = reader.read(Source.from_text("one two\nthree four\n", name="t"))
    assert [(event.pointer, event.text) for event in trace.events] == [
        ("L1", "two"),
        ("L2", "four"),
    ]


def test_a_profile_does_not_claim_what_it_should_not() -> None:
    reader = _reader(PROFILE)
    assert reader.sniff(Source.from_text(TRACE, name="t"))
    others: list[Any] = [[], {}, [[]], [{}], "plain", TRACE.replace('"k"', '"z"')]
    for value in others:
        assert reader.sniff(Source.from_value(value)) is False


@pytest.mark.parametrize("name", load_built_in_profiles())
def test_a_built_in_profile_says_what_it_reads(name: str) -> None:
    profile = load_built_in_profiles()[name]
    assert parse_profile(read_built_in_text(name), name=name) == profile
    assert profile.title
    assert profile.name == name


def test_reading_records_grows_with_their_number() -> None:
    reader = _reader(PROFILE)

    def read(size: int) -> None:
        source = Source("t", "jsonl", tuple(enumerate(map(json.loads, TRACE.splitlines() * size))))
        assert len(reader.read(source).events) >= size

    assert measure_growth(read, 50) < 2.2


@pytest.mark.parametrize(
    "line", ["A: x", "x" * 50, "A: " * 20, "{", "\x1b[31mA: red\x1b[0m"], ids=range(5)
)
def test_reading_lines_grows_with_their_number(line: str) -> None:
    reader = _reader(
        TEXT + "blocks: [{line: ['A: {t}', '{a}: {b}: {t}'], until: END, message: t}]\n"
    )

    def read(size: int) -> None:
        reader.read(Source("t", "text", f"{line}\n" * size))

    assert measure_growth(read, 100) < 2.2


def test_colours_are_no_part_of_a_text() -> None:
    reader = _reader(TEXT + "blocks: [{line: 'A: {t}', message: t}]\n")
    source = Source.from_text("\x1b[1;31mA: red\x1b[0m\nmore\n", name="t")
    assert reader.sniff(source)
    (event,) = reader.read(source).events
    assert (event.kind, event.text, event.pointer) == (Kind.MESSAGE, "red\nmore", "L1-2")


def test_a_record_that_a_later_one_replaces_is_counted() -> None:
    profile = """
planproof: profile/1
name: items
title: Items
form: jsonl
detect: {every: {id: {exists: true}}}
repeats: {key: id}
rules: [{call: {name: tool, id: id, output: result}}]
"""
    lines = [{"id": "a", "tool": "ls"}, {"id": "a", "tool": "ls", "result": "x.txt"}]
    trace = _reader(profile).read(Source.from_text("\n".join(map(json.dumps, lines)) + "\n"))
    assert [(event.name, event.output) for event in trace.events] == [("ls", "x.txt")]
    assert [(part.pointer, part.why) for part in trace.skipped] == [
        ("L1", "replaced by a later record with the same key")
    ]
