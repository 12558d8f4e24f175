from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding import json_parsing as parsing
from planproof.readers.decoding.source import Source


def sha(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def why(source: Source) -> list[tuple[str, str]]:
    return [(skipped.pointer, skipped.why) for skipped in source.skipped]


def test_json_is_digested_as_it_was_given_and_in_its_canonical_form() -> None:
    source = Source.from_text('{ "a" : [1, "é"] }\n')
    assert (source.form, source.document) == ("json", {"a": [1, "é"]})
    assert source.digest == sha('{ "a" : [1, "é"] }\n')
    assert source.canonical_digest == sha('{"a":[1,"\\u00e9"]}')


def test_a_value_and_a_file_of_it_are_the_same_source(tmp_path: Path) -> None:
    value = [{"role": "user", "content": "é \U0001f600"}]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
    read, given = Source.from_path(path), Source.from_value(value, name=str(path))
    assert read == given


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('[{"role": "user", "content": "hi"}]', "json"),
        ('{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("Thought: I go.\nAction: go", "text"),
        ('data: {"a": 1}\n\ndata: {"a": 2}\n', "jsonl"),
    ],
)
def test_a_string_that_contains_a_trace_is_parsed(text: str, form: str) -> None:
    plain, held = Source.from_text(text), Source.from_value(text)
    in_a_file = Source.from_text(json.dumps(text))
    assert plain == held == in_a_file
    assert plain.form == form


def test_json_lines_keep_their_line_numbers_and_name_the_broken_line() -> None:
    text = '{"a": 1}\n\n{"a": 2}\n{"a": 3, "b": "cut o'
    source = Source.from_text(text)
    assert source.document == ((1, {"a": 1}), (3, {"a": 2}))
    assert source.digest == sha(text)
    [(pointer, reason)] = why(source)
    assert pointer == "L4"
    assert "truncated or invalid JSON" in reason


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('{"a": 1}\n{"a": 2}\n', ((1, {"a": 1}), (2, {"a": 2}))),
        ('{"a": 1}\r\n{"a": 2}\r\n', ((1, {"a": 1}), (2, {"a": 2}))),
        ('{"a": [1,\n{"b": 2}\n{"c": 3}\n{"d": 4}', ((2, {"b": 2}), (3, {"c": 3}), (4, {"d": 4}))),
        # Joined, these would parse: the first line would swallow the others.
        (
            '{"a": [{}\n{"b": 2}\n{"c": 1}]}\n{"d": 4}\n{"e": 5}',
            ((2, {"b": 2}), (4, {"d": 4}), (5, {"e": 5})),
        ),
        ('{"a": 1}\n{"a": 1e999}', ((1, {"a": 1}), (2, {"a": "1e999"}))),
        ('{"a": 1}\n{"a": "\\ud800"}', ((1, {"a": 1}), (2, {"a": "\ufffd"}))),
    ],
)
def test_lines_are_parsed_each_for_itself(text: str, records: Any) -> None:
    assert Source.from_text(text).document == records


def test_a_line_that_is_not_an_object_is_named() -> None:
    assert why(Source.from_text('{"a": 1}\n{"a": 2}\n7\n')) == [
        ("L3", "not a JSON object or array")
    ]


def test_text_with_some_json_in_it_is_text() -> None:
    source = Source.from_text('{"a": 1} and more\nplain\nplain\n')
    assert (source.form, source.skipped) == ("text", ())


def test_lines_that_only_open_like_json_are_text() -> None:
    source = Source.from_text("[12:00] start\n[12:01] stop\n")
    assert (source.form, source.skipped) == ("text", ())


def test_indented_values_one_after_another_are_records() -> None:
    values: list[Any] = [{"a": [1, {"b": "}"}]}, [{"c": 2}], {"d": {}}]
    text = "\n".join(json.dumps(value, indent=4) for value in values)
    source = Source.from_text(f'{text}\nbye\n\n{{\n    "cut')
    assert source.form == "jsonl"
    assert source.document == ((1, values[0]), (9, values[1]), (14, values[2]))
    assert [(part.pointer, part.why) for part in source.skipped] == [
        ("L17", "text between JSON values, or truncated JSON")
    ]


@pytest.mark.parametrize(
    "text",
    ["Observation:\n{\n}\n{\n}\n", "{\n}\nso\nit\nis\nand\nthat\n", "[\nsic\n]\n"],
    ids=["begins with words", "more words than values", "no JSON"],
)
def test_text_with_indented_values_in_it_is_text(text: str) -> None:
    source = Source.from_text(text)
    assert (source.form, source.skipped) == ("text", ())


_RECORDS = [{"type": kind, "text": "x" * 40} for kind in ("start", "call", "end")]


def test_records_in_a_log_are_read_with_their_lines() -> None:
    log = "\n".join(
        f"[2026-01-01T10:00:0{n}Z] [INFO] {json.dumps(r)}" for n, r in enumerate(_RECORDS)
    )
    source = Source.from_text(f"# Log\n\n[2026-01-01T10:00:00Z] [INFO] start\n{log}\nbye\n")
    assert source.form == "jsonl"
    assert source.document == tuple(enumerate(_RECORDS, 4))
    assert [part.pointer for part in source.skipped] == ["L1", "L7"]


def test_indented_records_in_a_log_are_read_with_their_lines() -> None:
    log = "\n".join(f"[10:00] [INFO] {json.dumps(record, indent=2)}" for record in _RECORDS)
    source = Source.from_text(f"Log\n{log}\n[10:01] [INFO] bye\n")
    assert source.document == tuple(zip((2, 6, 10), _RECORDS, strict=True))
    assert source.raw_value == f"Log\n{log}\n[10:01] [INFO] bye\n"


@pytest.mark.parametrize(
    "text",
    [
        "Action: search\n" + 'Action Input: {"query": "the type of the plane", "limit": 5}\n' * 9,
        f"[10:00] [INFO] {json.dumps(_RECORDS[0])}\n" * 2,
        "a long line of other text, which is most of this log\n" * 20
        + f"[10:00] {json.dumps(_RECORDS[0])}\n" * 3,
    ],
    ids=["arguments", "two records", "a small part of the log"],
)
def test_a_log_with_a_little_json_is_text(text: str) -> None:
    assert Source.from_text(text).form == "text"


def test_the_name_of_a_stream_event_is_kept_beside_its_data() -> None:
    source = Source.from_text('event: end\ndata: {"x": 1}\n\n: ping\ndata: 5\ndata: [DONE]\n')
    assert source.document == ((2, {"x": 1, "event": "end"}), (5, 5))


@pytest.mark.parametrize("text", ["", "  \n\t\n", "\ufeff", '""', '"  "'])
def test_an_empty_source_is_an_error(text: str) -> None:
    with pytest.raises(InvalidInput, match="is empty"):
        Source.from_text(text, name="trace.json")


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "hi"}, {"role',
        '{\n  "messages": [\n    {"role": "user"\n',
        '{"a": 1,}',
    ],
)
def test_json_that_breaks_off_is_an_error_with_its_place(text: str) -> None:
    with pytest.raises(InvalidInput, match="is truncated or invalid JSON") as caught:
        Source.from_text(text, name="trace.json")
    assert "trace.json, line " in str(caught.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("héllo".encode(), "héllo"),
        (b"\xef\xbb\xbf" + "héllo".encode(), "héllo"),
        ("héllo".encode("utf-16"), "héllo"),
        (b"\xfe\xff" + "héllo".encode("utf-16-be"), "héllo"),
        ("héllo".encode("utf-32"), "héllo"),
        (b"a\x00b", "a\x00b"),
        ("شكرا جزيلا".encode(), "شكرا جزيلا"),
    ],
)
def test_bytes_are_decoded(data: bytes, text: str) -> None:
    assert Source.from_bytes(data).document == text


def test_invalid_utf_8_is_an_error_that_names_the_byte() -> None:
    with pytest.raises(InvalidInput, match="byte 4 is not valid UTF-8"):
        Source.from_bytes(b"abcd\xff", name="x")
    with pytest.raises(InvalidInput, match="byte 4 is not valid UTF-16"):
        Source.from_bytes(b"\xff\xfea\x00\x00", name="x")


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("depth", [201, 900, 10_000])
def test_deep_nesting_is_an_error(depth: int) -> None:
    with pytest.raises(InvalidInput, match="more than 200 levels deep"):
        Source.from_text(nested(depth))
    with pytest.raises(InvalidInput, match=r"line 2: is nested"):
        Source.from_text('{"a": 1}\n' + nested(depth) + '\n{"a": 1}')


def test_nesting_up_to_the_limit_is_read() -> None:
    assert Source.from_text(nested(200)).form == "json"
    assert Source.from_text("[" + ",".join([nested(100)] * 5) + "]").form == "json"


def test_a_value_nested_too_deeply_is_an_error() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidInput, match="levels deep"):
        Source.from_value(value)


@pytest.mark.parametrize("value", [{"a": {1, 2}}, [object()], {("a",): 1}])
def test_a_value_that_is_not_json_is_an_error(value: Any) -> None:
    with pytest.raises(InvalidInput, match="is not a JSON value"):
        Source.from_value(value)


def test_a_circular_value_is_an_error() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(InvalidInput, match="is not a JSON value"):
        Source.from_value(value)


@pytest.mark.parametrize(
    ("text", "document", "note"),
    [
        (
            '[NaN, NaN, {"a": 1}]',
            ["NaN", "NaN", {"a": 1}],
            "NaN is an invalid or too large number; read as text",
        ),
        ("[-Infinity]", ["-Infinity"], "-Infinity is an invalid or too large number; read as text"),
        ("[1e999, 1.5]", ["1e999", 1.5], "1e999 is an invalid or too large number; read as text"),
        ('["\\ud800x"]', ["\ufffdx"], "lone surrogates; read as U+FFFD"),
        ('["\\uDC00x"]', ["\ufffdx"], "lone surrogates; read as U+FFFD"),
        ('["\ud800x"]', ["\ufffdx"], "lone surrogates; read as U+FFFD"),
    ],
)
def test_what_json_does_not_allow_is_read_as_text_and_noted(
    text: str, document: Any, note: str
) -> None:
    source = Source.from_text(text)
    assert source.document == document
    assert why(source) == [("", note)]
    assert Source.from_value(document).digest == source.canonical_digest


def test_escaped_characters_beyond_the_first_plane_are_decoded() -> None:
    source = Source.from_text('["\\ud83d\\ude00", "\\\\ud800"]')
    assert source.document == ["\U0001f600", "\\ud800"]
    assert source.skipped == ()


def test_a_number_with_thousands_of_digits_is_read_as_text() -> None:
    source = Source.from_text(f"[{'1' * 5000}, 7]")
    assert source.document == ["1" * 5000, 7]
    assert "too large number" in source.skipped[0].why


def test_a_note_in_json_lines_names_its_line() -> None:
    assert why(Source.from_text('{"a": 1}\n{"a": NaN}')) == [
        ("L2", "NaN is an invalid or too large number; read as text")
    ]


@pytest.mark.parametrize("text", ["42", "null", "true", "NaN"])
def test_a_bare_json_value_is_json(text: str) -> None:
    assert Source.from_text(text).form == "json"


def test_a_long_line_of_text_is_text() -> None:
    assert Source.from_text("x" * 1_000_000).form == "text"


def test_limits_apply_to_bytes_and_files(tmp_path: Path) -> None:
    limits = Limits(bytes=10)
    with pytest.raises(InvalidInput, match="has 11 bytes, more than the limit of 10"):
        Source.from_bytes(b"x" * 11, limits=limits)
    path = tmp_path / "big"
    path.write_bytes(b"x" * 11)
    with pytest.raises(InvalidInput, match="more than the limit"):
        Source.from_path(path, limits=limits)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="can't be read: No such file"):
        Source.from_path(tmp_path / "none")
    with pytest.raises(InvalidInput, match="can't be read"):
        Source.from_path(Path("a\x00b"))
    with pytest.raises(InvalidInput, match="can't be read"):
        Source.from_path(tmp_path)


EACH = '{"a": [1, "x, y: [z] {"]}'
MANY = {
    "json": f"[{', '.join([EACH] * 40)}]",
    "lines": f"{EACH}\n" * 40,
    "lines with others between": f"{EACH}\n\n[]\n" * 40,
    "indented": '{\n "a": [1, 2]\n}\n' * 40,
    "a stream": f"data: {EACH}\n\n" * 40,
    "in a string": json.dumps(f"[{', '.join([EACH] * 40)}]"),
}


@pytest.mark.parametrize("name", MANY)
def test_too_many_values_are_an_error_before_they_are_objects(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Source.from_text(MANY[name], limits=Limits(values=500)).form in ("json", "jsonl")
    parsed: list[str] = []

    def parse(text: str) -> Any:
        parsed.append(text)
        return json.loads(text)

    monkeypatch.setattr(parsing, "parse_strict", parse)
    with pytest.raises(InvalidInput, match="contains more than 100 values and keys") as error:
        Source.from_text(MANY[name], name="f", limits=Limits(values=100))
    assert error.value.where == "f"
    assert "max_values" in (error.value.advice or "")
    assert all(text.startswith('"') for text in parsed)


def test_a_text_may_have_any_number_of_commas() -> None:
    text = "He came, saw: and went.\n" * 9 + "He came, saw: and went. " * 200
    assert Source.from_text(text, limits=Limits(values=10)).form == "text"


def test_the_lines_of_a_text_are_limited() -> None:
    text = "He came\n" * 10
    assert Source.from_text(text, limits=Limits(values=10)).form == "text"
    with pytest.raises(InvalidInput, match="has more than 9 lines"):
        Source.from_text(text, limits=Limits(values=9))


def test_limits_apply_to_values_as_to_texts() -> None:
    with pytest.raises(InvalidInput, match="contains more than 100 values"):
        Source.from_value([[]] * 100, limits=Limits(values=100))
