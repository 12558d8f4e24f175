from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import split_traces
from planproof.readers.spans import RunTreeReader
from tests.third_party import V2_TRACES, with_v2_traces
from tests.unit.readers.samples import actions, brief, lines


def read(document: Any) -> Trace:
    is_text = isinstance(document, str)
    source = Source.from_text(document) if is_text else Source.from_value(document)
    assert RunTreeReader().sniff(source)
    return RunTreeReader().read(source)


def observation(kind: str, name: str, number: int, parent: int | None, **more: Any) -> Any:
    return {
        "id": f"o{number}",
        "traceId": "t",
        "type": kind,
        "name": name,
        "startTime": f"2026-01-01T00:00:{number:02}.000Z",
        "parentObservationId": None if parent is None else f"o{parent}",
        "level": "DEFAULT",
        "statusMessage": None,
        "metadata": "{}",
        **more,
    }


ASKED = {"role": "user", "content": "Is it warm in Oslo?"}
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"c":"Oslo"}'},
}
ANSWER: Any = {"role": "assistant", "content": "It is 3 degrees."}


def test_observations_of_a_chat_api() -> None:
    observations = [
        observation("GENERATION", "chat", 4, 1, input=[ASKED], output=ANSWER),
        observation("AGENT", "helper", 1, None, input={"messages": [ASKED]}, output=ANSWER),
        observation(
            "GENERATION",
            "chat",
            2,
            1,
            input=json.dumps({"messages": [ASKED], "tools": []}),
            output=json.dumps({"role": "assistant", "content": None, "tool_calls": [CALL]}),
        ),
        observation("TOOL", "weather", 3, 1, input='{"c":"Oslo"}', output="3"),
    ]
    trace = read({"trace": {"id": "t", "input": None}, "observations": observations})
    assert brief(trace) == [
        ("message", None, "Is it warm in Oslo?"),
        ("action", "weather", ""),
        ("message", None, "It is 3 degrees."),
    ]
    assert [event.actor for event in trace.events] == ["user", "helper", "helper"]
    [call] = actions(trace)
    assert (call.arguments, call.output) == ({"c": "Oslo"}, "3")
    assert (call.pointer, call.output_pointer) == ("/observations/3", "/observations/3/output")


def test_a_loop_recorded_as_a_model_call_only_contains_others() -> None:
    call = {"toolCallId": "c1", "toolName": "weather", "input": '{"c":"Oslo"}'}
    attributes = {"attributes": {"ai.toolCall.name": "weather", "ai.toolCall.id": "c1"}}
    observations = [
        observation(
            "GENERATION", "ai.generateText", 1, None, input={"prompt": "Warm?"}, output="3"
        ),
        observation("GENERATION", "doGenerate", 2, 1, input=[ASKED], output=[call]),
        observation(
            "SPAN", "ai.toolCall", 3, 1, input={"c": "Oslo"}, output=3, metadata=attributes
        ),
        observation("GENERATION", "doGenerate", 4, 1, input=[ASKED], output="It is 3."),
    ]
    trace = read({"id": "t", "observations": observations})
    assert [event.pointer for event in trace.events] == [
        "/observations/1/input/0",
        "/observations/2",
        "/observations/3/output",
    ]
    assert (actions(trace)[0].name, actions(trace)[0].output) == ("weather", "3")


def test_a_model_call_seen_by_two_layers_is_one() -> None:
    observations = [
        observation("GENERATION", "Chat.invoke", 1, None, input=[ASKED], output=ANSWER),
        observation("GENERATION", "chat", 2, 1, input="user: Warm?", output="It is 3 degrees."),
    ]
    assert len(read(observations).events) == 2


def test_calls_requested_one_by_one_before_the_first_tool_runs() -> None:
    def answer(city: str) -> Any:
        use = {"type": "tool_use", "id": city, "name": "weather", "input": {"c": city}}
        return {"role": "assistant", "content": [use]}

    def tool(city: str, number: int, **more: Any) -> Any:
        output = {"content": [{"type": "text", "text": f"fine in {city}"}]}
        given = {"input": {"c": city}}
        return observation("TOOL", "weather", number, 1, input=given, output=output, **more)

    observations = [
        observation("SPAN", "run", 1, None, input={"prompt": "Warm?"}),
        observation("GENERATION", "turn", 2, 1, output=answer("Oslo")),
        observation("GENERATION", "turn", 3, 1, output=answer("Rome")),
        tool("Oslo", 4),
        tool("Rome", 5, level="ERROR"),
    ]
    trace = read({"data": observations})
    assert [(e.arguments, e.output, e.status.value) for e in actions(trace)] == [
        ({"c": "Oslo"}, "fine in Oslo", "ok"),
        ({"c": "Rome"}, "fine in Rome", "error"),
    ]
    assert (trace.events[0].actor, trace.events[0].pointer) == ("user", "/data/0/input")


def test_a_tool_is_recognised_by_the_message_that_it_returns() -> None:
    returned: dict[str, Any] = {"lc": 1, "type": "constructor", "id": ["ToolMessage"]}
    returned["kwargs"] = {"content": "3", "tool_call_id": "c1", "status": "success"}
    given = {"id": "c1", "name": "weather", "args": {"c": "Oslo"}, "type": "tool_call"}
    answer = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [CALL]}}
    observations = [
        observation("GENERATION", "ChatOpenAI", 1, None, input=[ASKED], output=answer),
        observation("SPAN", "weather", 2, None, input=given, output=returned),
    ]
    [call] = actions(read({"observations": observations}))
    assert (call.arguments, call.output, call.output_pointer) == (
        {"c": "Oslo"},
        "3",
        "/observations/1/output",
    )


def run(kind: str, name: str, number: int, parent: int | None, inputs: Any, outputs: Any) -> Any:
    return {
        "id": f"r{number}",
        "name": name,
        "run_type": kind,
        "trace_id": "r1",
        "parent_run_id": None if parent is None else f"r{parent}",
        "start_time": f"2026-01-01T00:00:{number:02}",
        "inputs": inputs,
        "outputs": outputs,
    }


def generation(**message: Any) -> Any:
    return {"generations": [[{"text": "", "message": {"lc": 1, "kwargs": message}}]]}


RUNS = [
    run("chain", "AgentExecutor", 1, None, {"messages": [ASKED]}, {"output": "It is 3."}),
    run(
        "llm",
        "ChatOpenAI",
        2,
        1,
        {"messages": [[{"lc": 1, "kwargs": {"content": "Is it warm?", "type": "human"}}]]},
        generation(type="ai", content="", tool_calls=[{"name": "weather", "args": {"c": "Oslo"}}]),
    ),
    run("tool", "weather", 3, 1, {"input": "{'c': 'Oslo'}"}, {"output": "3"}),
    run("parser", "Parser", 4, 1, {}, {"output": "x"}),
    run("llm", "ChatOpenAI", 5, 1, {}, generation(type="ai", content="It is 3.")),
]


@pytest.mark.parametrize("document", [lines(*RUNS), RUNS, {"runs": RUNS}])
def test_runs_of_langsmith(document: Any) -> None:
    trace = read(document)
    assert brief(trace) == [
        ("message", None, "Is it warm?"),
        ("action", "weather", ""),
        ("message", None, "It is 3."),
    ]
    assert (actions(trace)[0].arguments, actions(trace)[0].output) == ({"c": "Oslo"}, "3")


def test_nested_runs() -> None:
    root: dict[str, Any] = {**RUNS[0], "child_runs": RUNS[1:]}
    [call] = actions(read(root))
    assert (call.pointer, call.output_pointer) == ("/child_runs/0/outputs", "/child_runs/1/outputs")


def test_runs_of_several_traces_are_split() -> None:
    other = [{**value, "trace_id": "r9", "id": f"{value['id']}b"} for value in RUNS]
    for document in ([*RUNS, *other], {"runs": [*RUNS, *other]}):
        assert [part.id for part in split_traces(Source.from_value(document))] == ["r1", "r9"]
    traces = [
        {"trace": {"id": id_}, "observations": [observation("GENERATION", "x", 1, None, input="y")]}
        for id_ in ("t1", "t2")
    ]
    assert [part.id for part in split_traces(Source.from_value(traces))] == ["t1", "t2"]


LANGFUSE_FILES = [
    ("agno-2025-06-11", "duckduckgo_search", "query", "[{", 3),
    ("google-adk-2025-08-28", "say_hello", None, "{}", 2),
    ("langgraph-js-2025-10-30", "get_weather", "city", "It's always sunny", 2),
    ("openai-agents-2025-09-30", "get_weather", "city", "The weather in Tokyo", 2),
    ("vercel-aisdk-2025-11-17", "getWeather", "location", '{"location"', 1),
]


@with_v2_traces
@pytest.mark.parametrize(("name", "tool", "argument", "output", "texts"), LANGFUSE_FILES)
def test_traces_of_langfuse(
    name: str, tool: str, argument: str | None, output: str, texts: int
) -> None:
    trace = read(json.loads((V2_TRACES / f"langfuse_{name}.trace.json").read_text("utf-8")))
    [call] = actions(trace)
    assert call.name == tool
    assert list(call.arguments) == ([argument] if argument else [])
    assert call.output.startswith(output)
    assert len(trace.events) == texts + 1
    assert any(event.actor == "user" for event in trace.events)


@with_v2_traces
def test_a_trace_of_the_claude_agent_sdk_in_langfuse() -> None:
    path = V2_TRACES / "langfuse_claude-agent-2025-12-22.trace.json"
    trace = read(json.loads(path.read_text("utf-8")))
    assert [(e.name, e.arguments, e.output) for e in actions(trace)] == [
        ("mcp__weather__get_weather", {"city": "Berlin"}, "Weather in Berlin: Cloudy, 59°F"),
        ("mcp__weather__get_weather", {"city": "New York"}, "Weather in New York: Sunny, 75°F"),
    ]
    assert [event.kind.value for event in trace.events] == [
        "message",
        "reasoning",
        "action",
        "action",
        "message",
    ]
