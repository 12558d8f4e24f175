"""Parts of the profile language, each on the smallest profile that has it."""

from __future__ import annotations

import json
from typing import Any

from planproof.core.pointer import resolve
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.profile_reader import ProfileReader, parse_profile

HEAD = """planproof: profile/1
name: mine
title: A format of mine
form: jsonl
detect: {some: {kind: {exists: true}}}
"""


def read(rules: str, *records: Any, head: str = HEAD) -> Trace:
    reader = ProfileReader(parse_profile(head + rules, name="mine.yaml"))
    source = Source.from_value(list(records))
    assert reader.sniff(source)
    return reader.read(source)


def test_a_pattern_takes_a_part_of_a_value() -> None:
    rules = """rules:
  - call: {name: "kind ~ tool-{name}", output: out, exit_code: "out ~ exit {n:number}"}
"""
    trace = read(rules, {"kind": "tool-ls", "out": "a\nexit 2"}, {"kind": "text"})
    assert [(event.name, event.status.value) for event in trace.events] == [("ls", "error")]
    assert [part.why for part in trace.skipped] == ["a call without a name"]


def test_a_text_that_is_said_again_is_skipped_once_it_was_said() -> None:
    rules = "rules: [{message: {text: text, once: true}}]"
    trace = read(rules, *[{"kind": "a", "text": text} for text in ("hi", "ho", "hi")])
    assert [event.text for event in trace.events] == ["hi", "ho"]
    assert [(part.pointer, part.why) for part in trace.skipped] == [
        ("/2/text", "repeats an earlier text")
    ]


def test_a_text_in_pieces_is_one_event_whose_pointer_covers_them() -> None:
    rules = """rules:
  - {when: {kind: delta}, reasoning: {text: text, chunks: true}}
  - {when: {kind: call}, call: {name: text}}
"""
    records = [
        {"kind": kind, "text": text}
        for kind, text in (
            ("delta", "I"),
            ("delta", " "),
            ("delta", "look"),
            ("call", "ls"),
            ("delta", "Done"),
        )
    ]
    source = Source.from_text("\n".join(map(json.dumps, records)))
    trace = ProfileReader(parse_profile(HEAD + rules, name="mine.yaml")).read(source)
    assert [(event.text, event.pointer) for event in trace.events] == [
        ("I look", "L1-3/text"),
        ("", "L4"),
        ("Done", "L5/text"),
    ]
    assert resolve(source.document, "L1-3/text") == "I look"
    assert len(read(rules, *records).events) == 4


def test_a_result_without_a_call_is_an_action_if_the_profile_names_it() -> None:
    rules = """rules:
  - {when: {kind: call}, call: {name: name}}
  - {when: {kind: ran}, result: {output: out, call: name}}
"""
    trace = read(
        rules,
        {"kind": "call", "name": "list_dir"},
        {"kind": "ran", "name": "LIST", "out": "a"},
        {"kind": "ran", "name": "VIEW", "out": "b"},
    )
    assert [(event.name, event.output) for event in trace.events] == [
        ("list_dir", "a"),
        ("VIEW", "b"),
    ]


def test_ids_of_results_do_not_count_if_the_calls_have_none() -> None:
    rules = """rules:
  - {when: {kind: call}, call: {name: name, id: id}}
  - {when: {kind: ran}, result: {output: out, id: id}}
"""
    trace = read(rules, {"kind": "call", "name": "ls"}, {"kind": "ran", "id": "t1", "out": "a"})
    assert [(event.name, event.output) for event in trace.events] == [("ls", "a")]


def test_arguments_may_be_json_in_texts() -> None:
    rules = "rules: [{call: {name: kind, arguments: args.@json-values}}]"
    args = {"path": '"/tmp"', "depth": "2", "text": "plain", "flag": True}
    trace = read(rules, {"kind": "ls", "args": args})
    assert trace.events[0].arguments == {"path": "/tmp", "depth": 2, "text": "plain", "flag": True}


def test_one_of_the_values_at_a_path_with_a_star_must_meet_a_condition() -> None:
    rules = """rules:
  - {when: {"parts.*.type": tool}, ignore: has a tool}
  - {message: kind}
"""
    tools, texts = [{"type": "text"}, {"type": "tool"}], [{"type": "text"}]
    trace = read(rules, {"kind": "a", "parts": tools}, {"kind": "b", "parts": texts}, {"kind": "c"})
    assert [event.text for event in trace.events] == ["b", "c"]


def test_json_lines_may_be_one_line_or_the_records_of_an_object() -> None:
    rules = "rules: [{message: text}]\n"
    reader = ProfileReader(parse_profile(HEAD + rules, name="mine.yaml"))
    single = reader.read(Source.from_value({"kind": "a", "text": "hi"}))
    assert [event.pointer for event in single.events] == ["/text"]
    reader = ProfileReader(parse_profile(f"{HEAD}{rules}records: log.*\n", name="mine.yaml"))
    source = Source.from_value({"log": [{"kind": "a", "text": "hi"}]})
    assert reader.sniff(source)
    assert [event.pointer for event in reader.read(source).events] == ["/log/0/text"]
