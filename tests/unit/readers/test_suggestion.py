"""Suggested profiles: what is found by shape alone; every one is valid and fits its file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from planproof.core.trace import Kind
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.profile_reader import parse_profile
from planproof.readers.suggestion.profile_suggestion import (
    Suggestion,
    make_profile_name,
    suggest_profile,
)
from planproof.readers.suggestion.record_shape import classify_words, is_notice, split_words
from planproof.readers.suggestion.yaml_writer import Draft, write_draft
from tests.own_format import TRACE
from tests.unit.readers.inspect_logs import pack_log
from tests.unit.readers.samples import ALL


def _lines(*records: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def _suggest(value: Any) -> Suggestion:
    return suggest_profile(Source.from_value(value, name="run.json"))


def _calls(suggestion: Suggestion) -> list[tuple[str | None, Any, str]]:
    events = suggestion.trace.events
    return [(e.name, e.arguments, e.output) for e in events if e.kind is Kind.ACTION]


def _texts(suggestion: Suggestion, kind: Kind = Kind.MESSAGE) -> list[tuple[str | None, str]]:
    return [(e.actor, e.text) for e in suggestion.trace.events if e.kind is kind]


@pytest.mark.parametrize("name", ALL)
def test_every_suggestion_is_valid_and_recognises_its_source(name: str) -> None:
    source = Source.from_value(ALL[name], name=f"{name}.json")
    suggestion = suggest_profile(source)
    assert parse_profile(suggestion.text, name="p.yaml") == suggestion.reader.profile
    assert suggestion.trial.is_detected
    assert all(line.startswith("#") or len(line) <= 120 for line in suggestion.text.splitlines())


def test_records_of_unknown_types_are_told_apart_by_shape_and_place() -> None:
    suggestion = _suggest(TRACE)
    assert _calls(suggestion) == [
        ("archive_report", {"report": 12}, "archived"),
        ("send_mail", {"to": "Ann", "report": 12}, "sent"),
    ]
    assert _texts(suggestion)[0] == ("user", "Archive report 12 and mail it to Ann.")
    assert "2 of 2 results have the id of a call (n is n)" in suggestion.text.replace("\n# ", " ")
    assert "# Likely: 2 records; k is got; 2 come right after a call" in suggestion.text


def test_types_with_known_words_are_sure() -> None:
    trace = _lines(
        {"type": "session_start", "version": 3},
        {"type": "user_input", "ts": "2026-01-02T03:04:05Z", "text": "Find the weather."},
        {"type": "thinking", "text": "I should search for it."},
        {"type": "toolCall", "tool": "search", "args": {"q": "weather"}, "callId": "c1"},
        {"type": "toolResult", "callId": "c1", "output": "rain", "exitCode": 0},
        {"type": "agent_message", "text": "It rains today."},
    )
    suggestion = _suggest(trace)
    assert _calls(suggestion) == [("search", {"q": "weather"}, "rain")]
    assert _texts(suggestion) == [("user", "Find the weather."), ("assistant", "It rains today.")]
    assert _texts(suggestion, Kind.REASONING) == [("assistant", "I should search for it.")]
    assert "Of 6 records: 6 by the words of their type" in suggestion.text
    assert 'ignore: "a notice of the program"' in suggestion.text
    assert "Likely" not in suggestion.text


def test_calls_and_parts_inside_messages_are_found() -> None:
    trace = {
        "session": "s1",
        "log": {
            "turns": [
                {"speaker": "human", "content": "Read a.txt and say what it holds."},
                {
                    "speaker": "bot",
                    "content": [
                        {"type": "thinking", "thinking": "I need to read the file."},
                        {"type": "text", "text": "I read it now."},
                        {
                            "type": "tool_use",
                            "id": "x1",
                            "name": "read",
                            "input": {"path": "a.txt"},
                        },
                    ],
                },
                {
                    "speaker": "human",
                    "content": [{"type": "tool_result", "tool_use_id": "x1", "content": "hello"}],
                },
                {"speaker": "bot", "content": "It holds hello."},
            ]
        },
    }
    suggestion = _suggest(trace)
    assert _calls(suggestion) == [("read", {"path": "a.txt"}, "hello")]
    assert _texts(suggestion) == [
        ("user", "Read a.txt and say what it holds."),
        ("assistant", "I read it now."),
        ("assistant", "It holds hello."),
    ]
    assert 'records: "log.turns.*"' in suggestion.text or "records: log.turns.*" in suggestion.text


def test_steps_with_thought_action_and_observation_are_one_rule() -> None:
    steps = [
        {
            "thought": "I look first.",
            "action": {"name": "ls", "args": {"p": "/"}},
            "observation": "a",
        },
        {
            "thought": "Then read it.",
            "action": {"name": "cat", "args": {"p": "a"}},
            "observation": "b",
        },
    ]
    suggestion = _suggest({"id": 1, "steps": steps})
    assert _calls(suggestion) == [("ls", {"p": "/"}, "a"), ("cat", {"p": "a"}, "b")]
    assert len(_texts(suggestion, Kind.REASONING)) == 2


def test_records_that_are_written_again_are_read_once() -> None:
    records = [
        {
            "event": "item",
            "item": {"id": f"i{n}", "type": "tool_call", "name": "ls", "args": {"n": n}},
        }
        for n in (1, 1, 2, 2, 3)
    ]
    suggestion = _suggest(_lines(*records))
    assert "repeats: {key: item.id}" in suggestion.text
    assert len(_calls(suggestion)) == 3


def test_a_call_that_is_recorded_twice_is_read_once() -> None:
    records: list[dict[str, Any]] = []
    for n, path in ((1, "a"), (2, "b")):
        call = {"callRef": f"r{n}", "toolName": "read", "args": {"path": path}}
        records.append({"event": "ToolCallStarted", "tool": {**call, "result": None}})
        records.append({"event": "ToolCallCompleted", "tool": {**call, "result": f"text {path}"}})
    suggestion = _suggest(_lines(*records))
    assert "repeated_calls: drop" in suggestion.text
    assert _calls(suggestion) == [
        ("read", {"path": "a"}, "text a"),
        ("read", {"path": "b"}, "text b"),
    ]


def test_ids_that_are_used_again_for_other_calls_are_not_repeats() -> None:
    records = [{"type": "tool_call", "id": "c0", "name": "ls", "args": {"n": n}} for n in range(3)]
    assert len(_calls(_suggest(_lines(*records)))) == 3


def test_calls_and_results_without_types_are_told_by_their_keys() -> None:
    def part(kind: str, **fields: Any) -> dict[str, Any]:
        return {"text": None, "toolRequest": None, "toolResponse": None, kind: fields}

    trace = [
        {"role": "user", "content": [{"text": "Read a and b."}]},
        {
            "role": "model",
            "content": [
                part("toolRequest", ref="r1", name="read", input={"path": "a"}),
                part("toolRequest", ref="r2", name="read", input={"path": "b"}),
            ],
            "finish_reason": "tool_calls",
        },
        {
            "role": "tool",
            "content": [
                part("toolResponse", ref="r2", name="read", output="second"),
                part("toolResponse", ref="r1", name="read", output="first"),
            ],
        },
        {"role": "model", "content": [{"text": "Read."}], "finish_reason": "stop"},
    ]
    suggestion = _suggest({"version": 2, "turns": trace})
    assert _calls(suggestion) == [
        ("read", {"path": "a"}, "first"),
        ("read", {"path": "b"}, "second"),
    ]
    assert _texts(suggestion) == [("user", "Read a and b."), ("assistant", "Read.")]
    assert "finish_reason" not in suggestion.text


def test_text_parts_belong_to_the_one_who_said_them() -> None:
    parts = [{"content_type": "text", "text": "Read it."}]
    asked = {"role": "user", "items": parts}
    said = {"role": "assistant", "items": [{"content_type": "text", "text": "I do."}]}
    suggestion = _suggest({"log": [asked, said]})
    assert _texts(suggestion) == [("user", "Read it."), ("assistant", "I do.")]


def test_calls_written_in_messages_are_recognised_if_there_are_no_others() -> None:
    written = "Thought: I look.\nAction: search\nAction Input: Paris"
    suggestion = _suggest(
        [
            {"who": "human", "sender": "user", "text": "Where is Paris?"},
            {"who": "bot", "sender": "agent", "text": written},
            {"who": "human", "sender": "user", "text": "Observation: in France"},
        ]
    )
    assert "actions: true" in suggestion.text
    assert [name for name, *_ in _calls(suggestion)] == ["search"]


def test_another_list_is_tried_if_the_first_has_no_calls() -> None:
    said = [{"role": role, "text": "Some words."} for role in ("user", "assistant", "user")]
    used = [{"tool": "ls", "args": {"p": "/"}, "result": "a.txt"}]
    suggestion = _suggest({"chat": {"turns": said}, "trail": used})
    assert _calls(suggestion) == [("ls", {"p": "/"}, "a.txt")]


def test_a_file_that_a_reader_knows_is_named() -> None:
    suggestion = _suggest(
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    )
    assert "The reader `openai-messages` knows this format already" in suggestion.text


TEXTS: dict[str, tuple[str, Sequence[str]]] = {
    "labels with times": (
        (
            "[2026-01-02 10:00:00] User: Find the weather in Paris.\n"
            "[2026-01-02 10:00:01] Thinking: I should search.\n"
            '[2026-01-02 10:00:02] Tool call: search {"q": "Paris"}\n'
            "[2026-01-02 10:00:03] Tool result: 12 degrees\nand rain\n"
            "[2026-01-02 10:00:04] Assistant: It is 12 degrees.\n"
        ),
        ["user", "reasoning", "search=12 degrees\nand rain", "message"],
    ),
    "headings": (
        (
            "## User\nFix it.\n## Assistant\nI look.\n## Command\nls -la\n## Output\na.txt\n"
            "## Assistant\nDone.\n"
        ),
        ["user", "message", "shell=a.txt", "message"],
    ),
    "rules": (
        (
            "=== USER ===\nFix it.\n=== TOOL CALL 1 ===\nls\n=== TOOL RESULT 1 ===\na.txt\n"
            "=== ASSISTANT ===\nDone.\n"
        ),
        ["user", "tool_call=a.txt", "message"],
    ),
    "brackets": (
        "[user] Fix it.\n[tool] read(path='a')\n[result] hello\n[assistant] Done.\n",
        ["user", "read=hello", "message"],
    ),
    "react": (
        (
            "Question: Where is Paris?\nThought: I search.\nAction: search\nAction Input: Paris\n"
            "Observation: in France\nThought: I know.\nFinal Answer: France\n"
        ),
        ["user", "reasoning", "search=in France", "message", "message"],
    ),
    "levels and prompts": (
        (
            "2026-01-02 10:00:00 INFO User: Fix it.\n2026-01-02 10:00:01 INFO Agent: I look.\n"
            "$ ls -la\nOutput: a.txt\n2026-01-02 10:00:02 INFO Agent: Done.\n"
        ),
        ["user", "message", "ls=a.txt", "message"],
    ),
    "notices": (
        (
            "User: Fix it.\nStatus: a\nStatus: b\nStatus: c\nAgent:\nI look.\n"
            "Note: x\nNote: y\nNote: z\nAgent: Done.\n"
        ),
        ["user", "message", "message"],
    ),
    "calls as JSON": (
        (
            "Input: Fix it.\n2026-01-02 10:00:01 INFO step one of two\nActions: [\n"
            '  {"name": "read", "input": {"path": "a"}},\n  {"name": "ping", "input": {}}\n]\n'
            "2026-01-02 10:00:02 INFO step one of two\nResponse: hello\n"
            '2026-01-02 10:00:03 INFO step two of two\nActions: [{"name": "ping", "input": {}}]\n'
            "2026-01-02 10:00:04 INFO step two of two\nResponse: pong\nOutput: Done.\n"
        ),
        ["user", "read=hello", "ping=", "ping=pong", "message"],
    ),
    "arguments below": (
        (
            'User: Fix it.\nUsing tool: read\nTool Input: {"path": "a"}\nTool Output: hello\n'
            "Agent: Done.\n"
        ),
        ["user", "read=hello", "message"],
    ),
    "names in quotes": (
        'User: Fix it.\n-> Calling tool: \'read\' with arguments: {"path": "a"}\nResult: hello\n',
        ["user", "read=hello"],
    ),
    "names alone": (
        'User: Fix it.\nCalling tool: read_file\n{"path": "a"}\nTool output: hello\nAgent: Done.\n',
        ["user", "read_file=hello", "message"],
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_line_shapes_become_blocks(name: str) -> None:
    text, expected = TEXTS[name]
    suggestion = suggest_profile(Source.from_text(text, name="run.log"))
    found = [
        f"{event.name}={event.output}"
        if event.kind is Kind.ACTION
        else "user"
        if event.actor == "user"
        else event.kind.value
        for event in suggestion.trace.events
    ]
    assert found == list(expected), suggestion.text
    assert suggestion.trial.is_detected


def test_a_text_without_shapes_gives_a_valid_draft_that_says_so() -> None:
    suggestion = suggest_profile(Source.from_text("Nothing here\nhas a shape {x}\n", name="a.txt"))
    assert "No recurring labels" in suggestion.text
    assert suggestion.trial.is_detected


def test_an_archive_is_refused() -> None:
    with pytest.raises(InvalidInput, match="is an archive"):
        suggest_profile(Source.from_bytes(pack_log(), name="log.eval"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tool_call", "call"),
        ("functionCallOutput", "result"),
        ("TOOL RESULT", "result"),
        ("agent-reasoning", "reasoning"),
        ("assistant", "message"),
        ("humanMessage", "user"),
        ("developer", "system"),
        ("zebra", None),
    ],
)
def test_words_tell_the_kind(text: str, kind: str | None) -> None:
    assert classify_words(split_words(text)) == kind


def test_notices_are_told_from_messages() -> None:
    assert is_notice(split_words("session_started"))
    assert is_notice(split_words("status message"))
    assert not is_notice(split_words("user_error"))
    assert not is_notice(split_words("assistant"))


@pytest.mark.parametrize(
    ("path", "name"),
    [("/a/My Run 3.jsonl", "my-run-3"), ("-", "my-format"), ("x" * 99, "x" * 40)],
)
def test_the_name_comes_from_the_file(path: str, name: str) -> None:
    assert make_profile_name(path) == name


def test_hostile_keys_and_values_stay_data() -> None:
    record = {
        'a"b': 1,
        "# x": "y: {z}",
        "type": "message",
        "text": "hello\n- rules: []\n# !!python",
        "\u2028\x85": "😀",
        "*": "star",
    }
    suggestion = _suggest(_lines(record, record))
    assert suggestion.trial.messages == 2
    draft = Draft(
        values={"name": 'a\u2028b\x07"\\ 😀: #', "on": ["no", "{x", "- a"]}, head=["a\nb: c"]
    )
    assert write_draft(draft).startswith("# a b: c\nname: ")
