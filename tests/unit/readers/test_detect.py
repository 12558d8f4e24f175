from __future__ import annotations

from typing import Any

import pytest

from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, UnknownName
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.unit.readers import api_samples, span_samples
from tests.unit.readers.samples import ALL, OPENAI, brief, read, tool_call

BY_NAME = {
    "coding session": "claude-code",
    "rollout": "codex",
    "action records": "openhands",
    "openai": "openai-messages",
    "openai under a key": "openai-messages",
    "openai lines": "openai-messages",
    "native": "native",
    "native lines": "native",
    "thoughts and commands": "auto-gpt",
    "arrays": "intercode",
    "stream": "event-stream",
    **api_samples.READERS,
    "group chat": "autogen",
    "staged chat": "magentic-one",
    **span_samples.READERS,
    "notebook": "langchain-boxes",
    "react": "text-log",
    "log": "text-log",
}


@pytest.mark.parametrize("name", ALL)
def test_each_shape_finds_its_reader(name: str) -> None:
    assert read(ALL[name]).reader == BY_NAME.get(name, "general")


def test_a_reader_can_be_named() -> None:
    assert read(OPENAI, reader="general").reader == "general"


def test_the_general_reader_sees_in_chat_messages_what_their_own_reader_sees() -> None:
    assert brief(read(OPENAI, reader="general")) == brief(read(OPENAI))


def test_an_unknown_reader_is_named_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="Did you mean `openai-messages`"):
        read(OPENAI, reader="openai-mesages")


@pytest.mark.parametrize(
    ("value", "said"),
    [(42, "a number"), (True, "a boolean"), (None, "null"), (1.5, "a number")],
)
def test_a_bare_value_is_not_a_trace(value: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"contains {said}, which is not a trace"):
        read_trace(Source.from_value(value))


@pytest.mark.parametrize("value", [[], {}, [1, 2], {"a": 1}, [[]], "   x"[:3] + "{}"])
def test_a_source_without_records_has_no_events(value: Any) -> None:
    assert read(value).events == ()


def test_tools_that_keep_books_are_bookkeeping() -> None:
    messages = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                tool_call("write_todos", {}),
                tool_call("note", {}),
                tool_call("ls", {}),
            ],
        }
    ]
    vocabulary = Vocabulary().with_declared(bookkeeping=frozenset(("note",)))
    trace = read_trace(Source.from_value(messages), vocabulary=vocabulary)
    assert [event.kind.value for event in trace.events] == ["bookkeeping", "bookkeeping", "action"]
    assert trace.by_id["e3"].kind == "action"


@pytest.mark.parametrize(
    ("value", "reader"),
    [([], None), ({"a": 1}, None), ("Thought: a\nAction: b[c]\n", "claude-code"), ([3], "codex")],
)
def test_what_gives_nothing_is_said_to_be_left_out(value: Any, reader: str | None) -> None:
    trace = read_trace(Source.from_value(value), reader=reader)
    assert trace.events == ()
    assert trace.skipped
