"""Every family of formats: a trace with anything replaced, cut or repeated is read or refused.

The reader is named, so that it meets input that its detection would not claim.
"""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planproof.core.json_values import is_list
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.readers.recognition import list_readers
from planproof.readers.toolkit.text_actions import is_plain_text, split_segments
from tests.format_samples import collect_samples
from tests.properties.test_readers import VALUES, check, places

FAMILIES: dict[str, str] = {
    "coding assistants": (
        "ai-sdk antigravity-cli atif claude-code cline cline-ui codex codex-exec copilot-cli "
        "cursor-cli cursor-stream factory-droid factory-droid-stream gemini-cli gemini-contents "
        "goose kimi-cli kimi-code opencode opencode-run openhands pi qwen-code swe-agent "
        "swe-agent-history vscode-chat vscode-chat-log"
    ),
    "span and run trees": (
        "bedrock-agent google-adk google-adk-evalset inspect-ai openai-agents openai-run-steps "
        "openinference opentelemetry run-tree smolagents tapeagents toolbench"
    ),
    "text": (
        "auto-gpt-console autogen-chat autogen-messages autogen-team bedrock-console "
        "browsergym-log camel-calls camel-chat camel-tools cmbagent-console crewai-console "
        "crewai-log gymnasium-agent langchain-boxes langchain-console langchain-dialogue "
        "langchain-messages langchain-steps llama-index-workflow metagpt-log "
        "semantic-kernel-console smolagents-console text-log transformers-agents"
    ),
    "Markdown": "aider specstory",
    "others": (
        "anthropic-messages auto-gpt autogen autogen-agentchat browser-use event-stream general "
        "intercode langchain letta magentic-one native openai-messages openai-responses pydantic-ai"
    ),
}
LINES = st.sampled_from(
    [
        "", "Thought: b", "Action: a[x]", "Action Input: {}", "Observation: c", "```", "```python",
        "<tool_call>", "</tool_call>", "<execute>x</execute>", "> open door", "#### Do it",
        "---------- a ----------", "a (to b):", "exitcode: 0", "Tool call: f({})", "\x1b[0m",
        "================================== Ai Message ==================================",
        "> Entering new AgentExecutor chain...", "_**Agent**_", "│ x │", '{"type": "tool_call"}',
    ]
)  # fmt: skip


def test_every_format_is_in_a_family() -> None:
    named = [name for names in FAMILIES.values() for name in names.split()]
    unknown = set(list_readers()) - {*named, "google-adk-reference", "records"}
    assert not unknown, f"Add {sorted(unknown)} to a family in {__name__}."
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_a_changed_trace_is_read_or_refused(family: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(FAMILIES[family].split()))
    sample, _ = data.draw(st.sampled_from(collect_samples()[name]))
    changed = _change_text(sample, data) if isinstance(sample, str) else _change(sample, data)
    with suppress(InvalidInput):
        source = Source.from_value(changed)
        check((source, read_trace(source, reader=name)))


def _change(sample: Any, data: st.DataObject) -> Any:
    """Replace a value, or remove or repeat an item of a list."""
    value = copy.deepcopy(sample)
    way = data.draw(st.sampled_from(places(value)))
    inner = value
    for key in way[:-1]:
        inner = inner[key]
    how = data.draw(st.sampled_from(["replace", "remove", "repeat"]))
    if how == "replace":
        inner[way[-1]] = data.draw(VALUES)
    elif how == "remove":
        del inner[way[-1]]
    elif is_list(inner):
        inner.insert(data.draw(st.integers(0, len(inner))), inner[way[-1]])
    return value


def _change_text(sample: str, data: st.DataObject) -> str:
    """Change a record of JSON Lines, or remove, repeat or insert a line."""
    rows = sample.split("\n")
    at = data.draw(st.integers(0, len(rows) - 1))
    with suppress(ValueError):
        record = json.loads(rows[at])
        if isinstance(record, dict) and record and data.draw(st.booleans()):
            return "\n".join([*rows[:at], json.dumps(_change(record, data)), *rows[at + 1 :]])
    new = data.draw(st.one_of(LINES, st.text(), st.sampled_from(rows)))
    stop = data.draw(st.integers(at, min(at + 3, len(rows))))
    return "\n".join([*rows[:at], new, *rows[stop:]])


@given(st.lists(st.one_of(LINES, st.text(max_size=20)), max_size=12))
def test_the_segments_of_a_text_are_in_order(rows: list[str]) -> None:
    text = "\n".join(rows)
    position = 0
    segments = split_segments(text)
    for segment in segments:
        # What a call carries beside its parameters comes before it.
        assert 0 <= segment.start <= segment.end <= len(text)
        assert segment.start >= position or segment.kind == "call"
        position = max(position, segment.start)
    if is_plain_text(text):
        assert len(segments) == 1
