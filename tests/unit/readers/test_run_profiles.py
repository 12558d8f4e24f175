"""Profiles of run logs, on samples written by hand in the shape of each format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof.core.pointer import resolve
from planproof.core.trace import Trace
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import split_traces
from planproof.readers.detect import read_trace
from planproof.readers.record_counts import explain_not_understood
from tests.third_party import V2_TRACES, with_v2_traces
from tests.unit.readers.samples import actions, brief, lines


def read(document: Any, reader: str) -> Trace:
    source = Source.from_text(document) if isinstance(document, str) else None
    source = source or Source.from_value(document)
    trace = read_trace(source)
    assert trace.reader == reader
    for event in trace.events:
        resolve(source.document, event.pointer)
    return trace


def read_file(name: str, reader: str) -> Trace:
    return read((V2_TRACES / name).read_text("utf-8"), reader)


def tape_step(kind: str, prompt: str = "", **fields: Any) -> dict[str, Any]:
    return {"metadata": {"prompt_id": prompt, "agent": "web"}, "kind": kind, **fields}


def test_a_tape() -> None:
    steps = [
        tape_step("question", content="Who wrote it?"),
        tape_step("plan_thought", "p0", plan=["Search", "Answer"]),
        tape_step("reasoning_thought", "p1", reasoning="I search."),
        tape_step("search_action", "p1", source="web", query="who wrote it"),
        tape_step("set_next_node", "p1", next_node="act"),
        tape_step("search_results_observation", query="who wrote it", serp=[{"url": "u"}]),
        tape_step("open_url_action", "p2", url="u"),
        tape_step("page_observation", text="", error="Not reachable"),
        tape_step("assistant", "p3", content="", tool_calls=[TAPE_CALL]),
        tape_step("tool", content="4", tool_call_id="c1"),
        tape_step("llm_output_parsing_failure_action", "p4", error="No JSON"),
        tape_step("gaia_answer_action", "p5", answer="Ann"),
    ]
    trace = read({"metadata": {}, "context": None, "steps": steps}, "tapeagents")
    assert brief(trace) == [
        ("message", None, "Who wrote it?"),
        ("bookkeeping", "plan", "Search\nAnswer"),
        ("reasoning", None, "I search."),
        ("action", "search_action", ""),
        ("action", "open_url_action", ""),
        ("action", "add", ""),
        ("system", None, "No JSON"),
        ("action", "gaia_answer_action", ""),
    ]
    searched, opened, added, answered = actions(trace)
    assert searched.arguments == {"source": "web", "query": "who wrote it"}
    assert (searched.output, searched.output_pointer) == ('[{"url": "u"}]', "/steps/5/serp")
    assert (opened.output, opened.status.value) == ("Not reachable", "error")
    assert (added.arguments, added.output) == ({"a": 2}, "4")
    assert (answered.arguments, answered.actor) == ({"answer": "Ann"}, "web")
    assert trace.events[2].turn == searched.turn < opened.turn
    assert [part.why for part in trace.skipped] == ["control flow of the tape"]


TAPE_CALL = {"id": "c1", "function": {"name": "add", "arguments": {"a": 2}}}


@with_v2_traces
def test_a_tape_of_gaia() -> None:
    found = actions(read_file("tapeagents_gaia_l1_task006.json", "tapeagents"))
    assert [event.name for event in found] == [
        "search_action",
        "open_url_action",
        "open_url_action",
        "page_down_action",
        "page_up_action",
        "gaia_answer_action",
    ]
    assert sum(event.output_pointer is not None for event in found) == 5
    assert found[0].arguments["query"] == "Doctor Who Series 9 Episode 11 script"
    assert found[1].output.startswith("Error: net::ERR_ABORTED")


def bedrock(**part: Any) -> dict[str, Any]:
    return {"trace": {"sessionId": "s", "trace": {"orchestrationTrace": part}}}


def invocation(**part: Any) -> dict[str, Any]:
    return {"invocationType": "X", "traceId": "t", **part}


def test_a_bedrock_agent() -> None:
    records = [
        bedrock(modelInvocationInput={"text": "prompt"}),
        bedrock(rationale={"text": "I look.", "traceId": "t"}),
        bedrock(
            invocationInput=invocation(
                actionGroupInvocationInput={
                    "actionGroupName": "Claims",
                    "function": "get_claim",
                    "parameters": [{"name": "id", "type": "string", "value": "42"}],
                }
            )
        ),
        bedrock(observation={"actionGroupInvocationOutput": {"text": "open"}}),
        bedrock(
            invocationInput=invocation(
                knowledgeBaseLookupInput={"knowledgeBaseId": "K", "text": "claims"}
            )
        ),
        bedrock(observation={"knowledgeBaseLookupOutput": {"retrievedReferences": []}}),
        bedrock(
            invocationInput=invocation(
                agentCollaboratorInvocationInput={
                    "agentCollaboratorName": "payer",
                    "input": {"text": "Pay 42", "type": "TEXT"},
                }
            )
        ),
        bedrock(observation={"agentCollaboratorInvocationOutput": {"output": {"text": "paid"}}}),
        bedrock(observation={"type": "FINISH", "finalResponse": {"text": "Paid."}}),
        {"chunk": {"bytes": "Paid."}},
    ]
    for document in (records, lines(*records), [record["trace"] for record in records[:-1]]):
        trace = read(document, "bedrock-agent")
        assert brief(trace) == [
            ("reasoning", None, "I look."),
            ("action", "get_claim", ""),
            ("action", "knowledge_base_lookup", ""),
            ("action", "payer", ""),
            ("message", None, "Paid."),
        ]
        claim, _, payer = actions(trace)
        assert (claim.arguments, claim.output) == ({"id": "42"}, "open")
        assert (payer.arguments["text"], payer.output) == ("Pay 42", "paid")


def run_step(number: int, *calls: Any) -> dict[str, Any]:
    details = (
        {"type": "tool_calls", "tool_calls": list(calls)}
        if calls
        else {"type": "message_creation", "message_creation": {"message_id": "m"}}
    )
    return {
        "id": f"step_{number}",
        "object": "thread.run.step",
        "created_at": number,
        "status": "completed",
        "step_details": details,
    }


def test_run_steps_are_listed_from_the_newest() -> None:
    function = {"name": "weather", "arguments": '{"c":"Oslo"}', "output": "3"}
    code = {"input": "print(3)", "outputs": [{"type": "logs", "logs": "3"}]}
    steps = [
        run_step(3),
        run_step(2, {"id": "b", "type": "code_interpreter", "code_interpreter": code}),
        run_step(1, {"id": "a", "type": "function", "function": function}),
    ]
    for data in (steps, steps[::-1]):
        trace = read({"object": "list", "data": data}, "openai-run-steps")
        assert [(e.name, e.arguments, e.text, e.output) for e in actions(trace)] == [
            ("weather", {"c": "Oslo"}, "", "3"),
            ("code_interpreter", None, "print(3)", "3"),
        ]
        assert len(trace.skipped) == 1


def test_an_evaluation_set_of_the_agent_development_kit() -> None:
    def said(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"text": text, "function_call": None}]}

    conversation = [
        {
            "invocation_id": "i",
            "user_content": said("user", "Turn it off."),
            "final_response": said("model", "It is off."),
            "intermediate_data": {
                "tool_uses": [{"id": None, "name": "set_device", "args": {"status": "OFF"}}],
                "tool_responses": [{"name": "set_device", "response": {"result": "done"}}],
                "intermediate_responses": [],
            },
        }
    ]
    cases = [{"eval_id": "e", "conversation": conversation}]
    trace = read({"eval_set_id": "s", "eval_cases": cases}, "google-adk-evalset")
    assert brief(trace) == [
        ("message", None, "Turn it off."),
        ("action", "set_device", ""),
        ("message", None, "It is off."),
    ]
    [call] = actions(trace)
    assert (call.arguments, call.output) == ({"status": "OFF"}, '{"result": "done"}')
    assert trace.events[0].actor == "user"
    several = Source.from_value({"eval_set_id": "s", "eval_cases": [*cases, {**cases[0]}]})
    assert [part.id for part in split_traces(several)] == ["e", "e-2"]


def test_a_reference_is_not_a_run() -> None:
    cases: list[dict[str, Any]] = [
        {
            "query": "Turn it off.",
            "expected_tool_use": [{"tool_name": "set_device", "tool_input": {}}],
            "reference": "It is off.",
        }
    ]
    trace = read(cases, "google-adk-reference")
    assert not trace.events
    assert explain_not_understood(trace) is not None


@with_v2_traces
def test_written_files() -> None:
    [claim] = actions(read_file("written/bedrock_agent_trace.json", "bedrock-agent"))
    assert (claim.name, claim.arguments) == ("get_claim", {"id": "42"})
    assert claim.output == '{"status":"open"}'
    [weather] = actions(read_file("written/openai_assistants_run_steps.json", "openai-run-steps"))
    assert (weather.name, weather.arguments, weather.output) == (
        "get_weather",
        {"city": "Tokyo"},
        "sunny",
    )
    name = "google-adk_evalset_dependent_tool_calls.test.json"
    trace = read_file(name, "google-adk-evalset")
    assert [event.name for event in trace.events] == [
        None,
        "set_device_info",
        None,
        None,
        "get_device_info",
        None,
    ]
    assert json.dumps(actions(trace)[0].arguments).count("device_2") == 1


@with_v2_traces
def test_files_that_other_readers_read() -> None:
    strands = read_file("written/strands_bedrock_converse.json", "openai-messages")
    [call] = actions(strands)
    assert (call.name, call.arguments, call.output) == ("get_weather", {"city": "Tokyo"}, "sunny")
    shell = read_file("api_openai-shell-tool.chunks.txt", "openai-responses")
    assert actions(shell)[0].arguments["commands"] == ["ls -a ~/Desktop"]
    assert len(shell.events) == 2
    streamed = actions(read_file("api_anthropic-code-execution.chunks.txt", "event-stream"))
    assert [event.name for event in streamed] == [
        "text_editor_code_execution",
        "bash_code_execution",
        "bash_code_execution",
    ]
    assert all(event.output for event in streamed)


def test_an_answer_of_toolbench() -> None:
    def node(kind: str, description: str, **more: Any) -> dict[str, Any]:
        return {"node_type": kind, "description": description, "depth": 1, **more}

    chain = [
        node("Thought", "I search."),
        node("Action", "search"),
        node("Action Input", '{"name": "Ann"}', observation='{"response": "found"}'),
        node("Action", "Finish"),
        node("Action Input", '{"final_answer": "Ann"}', observation=""),
    ]
    answer = {"query": "Who?", "final_answer": "", "function": [{"name": "search"}]}
    document = {"win": True, "trys": [{"chain": chain}], "answer_generation": answer}
    trace = read(document, "toolbench")
    assert brief(trace) == [
        ("message", None, "Who?"),
        ("reasoning", None, "I search."),
        ("action", "search", ""),
        ("action", "Finish", ""),
    ]
    search, finish = actions(trace)
    assert (search.arguments, search.output) == ({"name": "Ann"}, '{"response": "found"}')
    assert search.pointer == "/trys/0/chain"
    assert search.output_pointer == "/trys/0/chain/2/observation"
    assert finish.arguments == {"final_answer": "Ann"}


def test_messages_of_letta() -> None:
    call = {"name": "search", "arguments": '{"q": "x"}', "tool_call_id": "c1"}
    messages = [
        {"message_type": "user_message", "content": "Look."},
        {"message_type": "reasoning_message", "reasoning": "I look.", "step_id": "s"},
        {"message_type": "tool_call_message", "tool_call": call, "step_id": "s"},
        {
            "message_type": "tool_return_message",
            "tool_return": "No access",
            "status": "error",
            "tool_call_id": "c1",
        },
        {"message_type": "assistant_message", "content": "I can't."},
        {"message_type": "usage_statistics", "total_tokens": 3},
    ]
    for document in (messages, {"messages": messages}, lines(*messages)):
        trace = read(document, "letta")
        assert brief(trace) == [
            ("message", None, "Look."),
            ("reasoning", None, "I look."),
            ("action", "search", ""),
            ("message", None, "I can't."),
        ]
        [found] = actions(trace)
        assert (found.arguments, found.output) == ({"q": "x"}, "No access")
        assert found.status.value == "error"
        assert found.turn == trace.events[1].turn


def test_simulations_of_tau2() -> None:
    call = {"id": "c1", "name": "lookup", "arguments": {"id": "7"}, "requestor": "assistant"}
    restart = {**call, "id": "c2", "name": "restart_phone", "requestor": "user"}
    messages = [
        {"role": "user", "content": "It is broken.", "tool_calls": None},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "c1", "content": "found", "requestor": "assistant"},
        {"role": "user", "content": None, "tool_calls": [restart]},
        {"role": "tool", "id": "c2", "content": "restarted", "requestor": "user"},
        {"role": "assistant", "content": "Fine.", "tool_calls": None},
    ]
    simulation = {"id": "s1", "task_id": "0", "messages": messages}
    trace = read({"info": {}, "tasks": [], "simulations": [simulation]}, "general")
    assert brief(trace) == [
        ("message", None, "It is broken."),
        ("action", "lookup", ""),
        ("message", None, "Fine."),
    ]
    assert actions(trace)[0].output == "found"
    assert [part.why for part in trace.skipped] == [
        "calls by the user",
        "result of a call by the user",
    ]
    several = {"simulations": [simulation, {**simulation, "id": "s2"}]}
    assert [part.id for part in split_traces(Source.from_value(several))] == ["s1", "s2"]


API_FILES = [
    # file, reader, calls, results, texts
    ("api_anthropic-code-execution-20250825.pptx-skill.json", "anthropic-messages", 61, 61, 24),
    ("api_anthropic-web-search-tool.1.json", "anthropic-messages", 2, 2, 8),
    ("api_openai-code-interpreter-tool.1.json", "openai-responses", 3, 2, 1),
    ("api_openai-compaction.1.json", "openai-responses", 0, 0, 1),
    ("api_openai-shell-local-multiturn.1.json", "openai-responses", 0, 0, 1),
    ("api_openai-shell-tool.chunks.txt", "openai-responses", 1, 0, 1),
    ("api_anthropic-code-execution.chunks.txt", "event-stream", 3, 3, 4),
    ("written/langsmith_runs.jsonl", "run-tree", 1, 1, 2),
    ("written/tau2_simulation.json", "general", 1, 1, 3),
    ("written/strands_bedrock_converse.json", "openai-messages", 1, 1, 3),
    ("letta_memgpt_agent_with_convo.af", "general", 0, 0, 0),
]


@with_v2_traces
@pytest.mark.parametrize(("name", "reader", "calls", "results", "texts"), API_FILES)
def test_counts_of_files(name: str, reader: str, calls: int, results: int, texts: int) -> None:
    trace = read_file(name, reader)
    found = actions(trace)
    assert len(found) == calls
    assert sum(event.output_pointer is not None for event in found) == results
    kinds = [event.kind.value for event in trace.events]
    assert kinds.count("message") + kinds.count("reasoning") == texts
