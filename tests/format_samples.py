"""Samples of every format that planproof reads, by the name of its reader or profile."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from planproof.core.trace import Event, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.golden_files import GOLDENS
from tests.unit.readers import inspect_logs, test_console_profiles, test_markdown_chat
from tests.unit.readers.samples import ALL, lines
from tests.unit.readers.test_assistant_profiles import SAMPLES as ASSISTANTS
from tests.unit.readers.test_swe_agent import TRAJECTORY

_CALL = {"name": "look_up", "arguments": '{"city": "Oslo"}'}
_FUNCTION = {"id": "c1", "type": "function", "function": _CALL}


def _bedrock(**part: Any) -> dict[str, Any]:
    return {"trace": {"sessionId": "s", "trace": {"orchestrationTrace": part}}}


def _content(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text, "function_call": None}]}


def _tape_step(kind: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"prompt_id": "p", "agent": "web"}, "kind": kind, **fields}


# Formats whose other samples are inside of tests, or have no text of the agent.
_MORE: list[Any] = [
    test_console_profiles.AUTO_GPT,
    test_console_profiles.META_GPT,
    test_console_profiles.SEMANTIC_KERNEL,
    [
        _bedrock(rationale={"text": "I look it up.", "traceId": "t"}),
        _bedrock(
            invocationInput={
                "invocationType": "ACTION_GROUP",
                "traceId": "t",
                "actionGroupInvocationInput": {
                    "function": "look_up",
                    "parameters": [{"name": "city", "type": "string", "value": "Oslo"}],
                },
            }
        ),
        _bedrock(observation={"actionGroupInvocationOutput": {"text": "4 degrees"}}),
        _bedrock(observation={"type": "FINISH", "finalResponse": {"text": "It is cold."}}),
    ],
    {
        "object": "list",
        "data": [
            {
                "id": "step_1",
                "object": "thread.run.step",
                "created_at": 1,
                "step_details": {
                    "type": "tool_calls",
                    "tool_calls": [
                        {"id": "a", "type": "function", "function": {**_CALL, "output": "4"}}
                    ],
                },
            }
        ],
    },
    {
        "eval_set_id": "s",
        "eval_cases": [
            {
                "eval_id": "e",
                "conversation": [
                    {
                        "invocation_id": "i",
                        "user_content": _content("user", "How is Oslo?"),
                        "final_response": _content("model", "It is cold."),
                        "intermediate_data": {
                            "tool_uses": [{"name": "look_up", "args": {"city": "Oslo"}}],
                            "tool_responses": [{"name": "look_up", "response": {"result": "4"}}],
                            "intermediate_responses": [],
                        },
                    }
                ],
            }
        ],
    },
    {
        "metadata": {},
        "context": None,
        "steps": [
            _tape_step("question", content="How is Oslo?"),
            _tape_step("reasoning_thought", reasoning="I look it up."),
            _tape_step("search_action", query="Oslo"),
            _tape_step("search_results_observation", query="Oslo", serp=[{"url": "u"}]),
            _tape_step("assistant", content="", tool_calls=[_FUNCTION]),
            _tape_step("tool", content="4 degrees", tool_call_id="c1"),
        ],
    },
    {
        "win": True,
        "trys": [
            {
                "chain": [
                    {"node_type": "Thought", "description": "I look it up."},
                    {"node_type": "Action", "description": "look_up"},
                    {
                        "node_type": "Action Input",
                        "description": _CALL["arguments"],
                        "observation": '{"response": "4 degrees"}',
                    },
                ]
            }
        ],
        "answer_generation": {"query": "How is Oslo?", "function": [{"name": "look_up"}]},
    },
    [
        {"message_type": "user_message", "content": "How is Oslo?"},
        {"message_type": "reasoning_message", "reasoning": "I look it up."},
        {"message_type": "tool_call_message", "tool_call": {**_CALL, "tool_call_id": "c1"}},
        {"message_type": "tool_return_message", "tool_return": "4", "tool_call_id": "c1"},
        {"message_type": "assistant_message", "content": "It is cold."},
    ],
    {
        "run_7": {
            "turns": [
                {"speaker": "user", "text": "How is Oslo?"},
                {"role": "assistant", "content": "I look it up.", "tool_calls": [_FUNCTION]},
                {"role": "tool", "tool_call_id": "c1", "content": "4 degrees"},
                {"role": "assistant", "content": "It is cold."},
            ]
        }
    },
    lines(
        {"event": "answer", "response": "I look it up.", "tool_calls": [_FUNCTION]},
        {"event": "got", "type": "tool_result", "tool_call_id": "c1", "output": "4 degrees"},
        {"event": "answer", "response": "It is cold.", "tool_calls": []},
    ),
]


@cache
def collect_samples() -> dict[str, list[tuple[Any, Trace]]]:
    """Return all samples with their traces, by the name of the reader that claims them."""
    samples: list[Any] = [*ALL.values(), TRAJECTORY, inspect_logs.sample(1), *_MORE]
    samples += [value for cases in ASSISTANTS.values() for value, *_ in cases]
    samples += test_console_profiles.SAMPLES
    samples += [test_markdown_chat.AIDER, test_markdown_chat.SPECSTORY]
    for golden in GOLDENS:
        if golden.is_one_text:
            is_json = golden.file.suffix == ".json"
            samples.append(json.loads(golden.text) if is_json else golden.text)
    found: dict[str, list[tuple[Any, Trace]]] = {}
    for sample in samples:
        trace = read_trace(Source.from_value(sample))
        found.setdefault(trace.reader, []).append((sample, trace))
    return found


def list_agent_texts(trace: Trace) -> list[Event]:
    """Return the messages and thoughts of agents."""
    return [
        event
        for event in trace.events
        if event.kind in (Kind.MESSAGE, Kind.REASONING)
        and event.actor not in (None, "user", "system", "tool")
    ]
