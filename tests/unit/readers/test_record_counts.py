"""How much of a source was read: what is not understood, and what is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from planproof.core.trace import Event, Kind, RecordCounts, SkippedPart, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.native import serialize_trace
from planproof.readers.record_counts import (
    count_unread_characters,
    explain_not_understood,
    find_unread_records,
)
from tests.unit.readers.samples import ALL, read


def _chat(*messages: str) -> list[dict[str, str]]:
    """A chat in which a user and an assistant take turns."""
    roles = ("user", "assistant") * len(messages)
    return [{"role": role, "content": text} for role, text in zip(roles, messages, strict=False)]


def _lines(*values: Any) -> str:
    return "\n".join(json.dumps(value) for value in values)


COMMAND = "I look first.\n\n```shell_action\nls -l\n```"
CALL = {"name": "shell", "arguments": {"command": "ls -l"}}

UNREAD: dict[str, Any] = {
    "prose": "We met on Monday. Ann wrote the report, and Bob sent it to the bank.",
    "prose under a label": "User: Ann\n\nWe met on Monday. Bob sent the report to the bank.",
    "a table": "time,tool,argument\n10:01,search,flights\n10:02,book,LIS\n",
    "XML": '<run><step tool="search" query="flights"/><step tool="book" city="LIS"/></run>',
    "XML with results": '<run><do tool="search"/><observation>3 flights</observation></run>',
    "a chat in Markdown": "# chat of 2026-05-01\n\n#### Rename the docs\n\nI rename them.\n\n"
    "notes.md\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n",
    "a chat in Markdown that mentions a system": "# chat\n\n#### It crashes\n\nSystem:\n"
    "    python: 3.12\n\nI change one line.\n\nsetup.py\n```\n<<<<<<< SEARCH\n=======\n```\n",
    "log lines": "2026-05-01 10:00:01 INFO agent: search flights to LIS\n"
    "2026-05-01 10:00:02 INFO agent: book flight TP123\n"
    "2026-05-01 10:00:03 WARNING agent: no seat left\n",
    "log lines of an unknown form": "[10:00:01] (search) flights to LIS\n[10:00:02] (book) TP123\n",
    "log records in JSON": _lines(
        {"name": "agent.core", "level": "INFO", "message": "Calling search for flights"},
        {"name": "agent.core", "level": "INFO", "message": "Calling book for TP123"},
    ),
    "printed calls": "User: Book it\n"
    "Assistant: [FunctionCall(id='1', arguments='{}', name='book')]\nAssistant: Done.\n",
    "code that a program answers": _chat(
        "Clean up.",
        COMMAND,
        "<exit_code>0</exit_code>\na.txt",
        COMMAND,
        "<exit_code>0</exit_code>\n",
        "Done.",
    ),
    "items of a stream": _lines(
        {"type": "item.done", "item": {"type": "reasoning", "text": "I look around."}},
        {"type": "item.done", "item": {"type": "command_run", "line": "ls -l", "out": "a.txt"}},
        {"type": "item.done", "item": {"type": "file_edit", "diff": "- old line\n+ new line"}},
        {"type": "item.done", "item": {"type": "agent_note", "note": "It is all done."}},
    ),
    "calls beside the message": {
        "steps": [
            {"source": "user", "message": "List the files"},
            {"source": "agent", "message": "I list them.", "calls": [CALL]},
            {"source": "agent", "message": "There is one."},
        ]
    },
    "calls among the parts": [
        *_chat("List the files"),
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "text": "I list them."},
                {"type": "tool-shell", "state": "done", "given": {"command": "ls"}},
                {"type": "text", "text": "There is one file."},
            ],
        },
    ],
    "commands that look like messages": _lines(
        {"source": "user", "type": "input", "content": "List the files"},
        {"source": "model", "type": "RUN_COMMAND", "content": "Output: a.txt and b.txt"},
        {"source": "model", "type": "answer", "content": "There are two."},
    ),
    "nothing recognised": {"history": [{"chosen": {"click": {"at": "the first link"}}}]},
    "text in a field": {"problem": "put a mug on the desk", "trace": "> go to desk 1\nOK."},
}

READ: dict[str, Any] = {
    "a chat in which the agent only talks": _chat("Book it.", "I booked it and paid."),
    "turns in which the agent only talks": "User: Book it.\nAssistant: I booked it and paid.\n",
    "code that a person answers": _chat(
        "How do I list files?", "So:\n\n```sh\nls -l\n```", "Thanks, that worked.", "Good."
    ),
    "code that a person answers with code": _chat(
        "Mend my page.", "```html\n<p>a</p>\n```", "<div>\nIt is still wrong.", "I see."
    ),
    "code that nobody answers": _chat("Write a loop.", "```python\nfor x in y: ...\n```"),
    "thoughts and actions": "Thought: look\nAction: search[flights]\nObservation: 3\n"
    "Thought: I know enough now.\nFinal Answer: There are three.\nHave a good day.\nBye.\n",
    "a log with thoughts": "2026-05-01 10:00:01 | INFO | a.b:run:1 - Thoughts: I look first\n"
    "2026-05-01 10:00:02 | INFO | a.b:run:2 - saved state\n"
    "2026-05-01 10:00:03 | INFO | a.b:run:2 - saved state again\n",
    "the same run in two places": {
        "messages": [
            *_chat("List the files"),
            {"role": "assistant", "tool_calls": [CALL], "speaker": "a"},
        ],
        "copy": [{"said": "List the files"}, CALL],
    },
    "records of the program between those of the agent": _lines(
        {"type": "session.start", "id": "7", "time": 1},
        {"kind_of": "step", "number": 1},
        {"kind_of": "step", "number": 2},
        {"kind_of": "step", "number": 3},
        {"role": "user", "speaker": "u", "content": "List the files"},
        {"role": "assistant", "speaker": "a", "content": "I list the files."},
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_was_not_read_is_not_understood(name: str) -> None:
    trace = read(UNREAD[name])
    why = explain_not_understood(trace)
    assert why is not None
    assert f"`{trace.reader}`" in why
    assert "`planproof inspect FILE`" in why
    assert "`--reader`" in why


@pytest.mark.parametrize("name", READ)
def test_what_was_read_is_understood(name: str) -> None:
    assert explain_not_understood(read(READ[name])) is None


@pytest.mark.parametrize("name", ALL)
def test_every_shape_that_is_read_is_understood(name: str) -> None:
    assert explain_not_understood(read(ALL[name])) is None


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_given_as_events_is_taken_as_it_is(name: str) -> None:
    given = serialize_trace(replace(read(UNREAD[name]), record_counts=None))
    assert explain_not_understood(read_trace(Source.from_value(given))) is None


@pytest.mark.parametrize("value", [[], {}, {"messages": []}])
def test_an_empty_trace_has_no_events_and_is_understood(value: Any) -> None:
    trace = read(value)
    assert trace.events == ()
    assert explain_not_understood(trace) is None


@pytest.mark.parametrize(
    ("counted", "understood"),
    [
        (RecordCounts(records=0, read=0), True),
        (RecordCounts(records=2, read=1), True),
        (RecordCounts(records=3, read=1), False),
        (RecordCounts(records=3, read=3, calls=2, calls_read=1), True),
        (RecordCounts(records=3, read=3, calls=1, calls_read=0), False),
    ],
)
def test_half_of_the_records_and_of_the_calls_must_be_read(
    counted: RecordCounts, understood: bool
) -> None:
    assert counted.is_understood is understood
    assert (explain_not_understood(Trace((), record_counts=counted)) is None) is understood


def test_the_reason_counts() -> None:
    why = explain_not_understood(read(UNREAD["items of a stream"])) or ""
    assert "it read only 1 of 4 agent records and 0 of 1 calls, so" in why
    why = explain_not_understood(read(UNREAD["code that a program answers"])) or ""
    assert "it read only 0 of 2 calls, so" in why


def test_a_reader_that_reads_nothing_of_a_source_did_not_understand_it() -> None:
    why = explain_not_understood(read(_chat("a b", "c d"), reader="openhands")) or ""
    assert "`openhands`: it recognised no records" in why


@pytest.mark.parametrize("document", ["Just some prose.", [1] * 9, [{"a": 1}] * 9])
@pytest.mark.parametrize("reader", [None, "openai-messages", "swe-agent", "general"])
def test_a_source_with_content_is_not_called_empty(document: Any, reader: str | None) -> None:
    trace = read_trace(Source.from_value(document), reader=reader)
    assert explain_not_understood(trace) is not None


@pytest.mark.parametrize(
    ("document", "unread"),
    [
        ("Question: x\nThought: y\nAction: f\nAction Input: {}\nObservation: z\n", 0),
        ([{"role": "user", "content": "a b"}, {"role": "assistant", "content": "c d"}], 0),
        ([{"role": "user", "content": "a b"}, {"note": "twelve chars", "n": ["and four"]}], 20),
    ],
)
def test_characters_that_became_no_event_are_counted(document: Any, unread: int) -> None:
    source = Source.from_value(document)
    assert count_unread_characters(source, read_trace(source)) == unread


def test_what_repeats_other_parts_is_not_unread() -> None:
    source = Source.from_value([{"text": "said"}, {"text": "said"}, {"text": "not read"}])
    skipped = (SkippedPart("/1", "again", repeats=True), SkippedPart("/2", "unknown"))
    assert count_unread_characters(source, Trace((), skipped=skipped)) == len("not read")


def test_lines_that_no_event_points_to_are_unread() -> None:
    source = Source.from_text("first\nsecond\nthird\n")
    trace = Trace((Event(id="e1", kind=Kind.MESSAGE, pointer="L2", text="second"),))
    assert count_unread_characters(source, trace) == len("first") + len("third")


@pytest.mark.parametrize(
    ("document", "skipped"),
    [
        ("first\nsecond\n\nthird\n---\n\x1b[31m\n\x1b[0m", ["L1", "L4"]),
        ([{"text": "a"}, {"text": "b"}, {"text": "c"}], ["/0", "/2"]),
        ({"id": 1, "items": [{"text": "a"}, {"text": "b"}]}, ["/items/0"]),
        ('{"text": "a"}\n{"text": "b"}\n{"text": "c"}', ["L1", "L3"]),
    ],
)
def test_records_of_which_nothing_was_read_are_named(document: Any, skipped: list[str]) -> None:
    source = Source.from_value(document)
    places = {"text": "L2", "jsonl": "L2/text", "json": f"{skipped[0][:-1]}1/text"}
    event = Event(id="e1", kind=Kind.MESSAGE, pointer=places[source.form], text="b")
    unread = find_unread_records(source, Trace((event,)))
    assert [part.pointer for part in unread] == skipped
    assert {part.why for part in unread} == {"nothing in it is an event"}


def test_lines_between_the_chunks_of_an_event_are_part_of_it() -> None:
    source = Source.from_value('{"a": 1}\n{"a": 2}\n{"a": 3}\n{"a": 4}')
    event = Event(id="e1", kind=Kind.MESSAGE, pointer="L1-3/a")
    assert [part.pointer for part in find_unread_records(source, Trace((event,)))] == ["L4"]
