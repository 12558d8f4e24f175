"""Small traces of spans, and of what smolagents remembers of a run."""

from __future__ import annotations

import json
from typing import Any, cast


def flat_span(start: Any, parent: Any = None, status: Any = None, **more: Any) -> dict[str, Any]:
    """A span of a flat export; two underscores stand for a dot in the name of an attribute."""
    return {
        "name": more.pop("name", "s"),
        "spanId": f"s{start}",
        "parentSpanId": parent,
        "startTimeUnixNano": start,
        "status": status,
        "attributes": {key.replace("__", "."): value for key, value in more.items()},
    }


def tool_span(start: Any, tool: str = "a", **more: Any) -> dict[str, Any]:
    """A span in which a tool ran."""
    return flat_span(start, gen_ai__operation__name="execute_tool", gen_ai__tool__name=tool, **more)


def model_span(start: Any, parent: Any = None, **more: Any) -> dict[str, Any]:
    """A span in which a model answered."""
    return flat_span(start, parent, gen_ai__operation__name="chat", **more)


def agent_span(start: Any, agent: str = "boss", **more: Any) -> dict[str, Any]:
    """A span in which an agent ran."""
    return flat_span(
        start, gen_ai__operation__name="invoke_agent", gen_ai__agent__name=agent, **more
    )


def otel_message(role: str, *parts: Any) -> dict[str, Any]:
    """A message in the words of OpenTelemetry; a string is a part of text."""
    told = [{"type": "text", "content": p} if isinstance(p, str) else p for p in parts]
    return {"role": role, "parts": told}


def asks(name: str, arguments: dict[str, Any], call_id: str = "c1") -> dict[str, Any]:
    """A part in which a model asks for a call."""
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def messages(*told: dict[str, Any]) -> str:
    """Messages as an attribute holds them."""
    return json.dumps(told)


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP writes them in JSON."""
    return [{"key": key, "value": _typed(value)} for key, value in attributes.items()]


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(cast("dict[str, Any]", value))}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_typed(item) for item in cast("list[Any]", value)]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def make_export(*spans: dict[str, Any]) -> dict[str, Any]:
    """Spans as one export request of OTLP."""
    held = [{**span, "traceId": "t", "attributes": pairs(span["attributes"])} for span in spans]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": held}]}]}


FLAT_SPANS: list[dict[str, Any]] = [
    {
        "name": "call_llm m",
        "start_time": 1758026599903043000,
        "status": {"status_code": "ok"},
        "context": {"span_id": 11},
        "parent": {"span_id": 99},
        "attributes": {
            "gen_ai.operation.name": "call_llm",
            "gen_ai.output": '[{"tool.name": "get_time", "tool.args": "{\\"zone\\": \\"UTC\\"}"}]',
        },
    },
    {
        "name": "execute_tool get_time",
        "start_time": 1758026600206847000,
        "status": {"status_code": "ok"},
        "context": {"span_id": 12},
        "parent": {"span_id": 99},
        "attributes": {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_time",
            "gen_ai.tool.args": '{"zone": "UTC"}',
            "gen_ai.output": "12:00",
        },
    },
    {
        "name": "invoke_agent",
        "start_time": 1758026599000000000,
        "status": {"status_code": "ok"},
        "context": {"span_id": 99},
        "parent": {"span_id": None},
        "attributes": {"gen_ai.operation.name": "invoke_agent"},
    },
]


def nested_span(name: str, kind: str, start: int, **attributes: Any) -> dict[str, Any]:
    """A span of a tree of spans; `children` are those inside it."""
    children = attributes.pop("children", [])
    status = attributes.pop("status", "Ok")
    return {
        "span_name": name,
        "span_id": f"s{start}",
        "timestamp": f"2025-03-19T16:49:{start:02d}Z",
        "status_code": status,
        "span_attributes": {
            "openinference.span.kind": kind,
            **{key.replace("__", "."): value for key, value in attributes.items()},
        },
        "child_spans": children,
    }


SPAN_TREE: dict[str, Any] = {
    "trace_id": "t",
    "spans": [
        nested_span(
            "CodeAgent.run",
            "AGENT",
            1,
            children=[
                nested_span("LLM", "LLM", 2, llm__output_messages__0__message__content="Facts."),
                nested_span(
                    "Step 1",
                    "CHAIN",
                    3,
                    output__value="Execution logs:\n3 results",
                    children=[
                        nested_span(
                            "LLM",
                            "LLM",
                            4,
                            llm__output_messages__0__message__content="Thought: I search.\n"
                            "Code:\n```py\nfor q in queries:\n    search(q)\n```<end_code>",
                        ),
                        nested_span(
                            "SearchTool",
                            "TOOL",
                            5,
                            tool__name="search",
                            input__value='{"args": [], "kwargs": {"query": "ships"}}',
                            output__value="ship 1",
                        ),
                    ],
                ),
                nested_span(
                    "LLM", "LLM", 8, output__value='{"role": "assistant", "content": "Done."}'
                ),
            ],
        )
    ],
}
HANDED_OVER = make_export(
    agent_span(1),
    model_span(
        2,
        "s1",
        gen_ai__system_instructions=messages({"type": "text", "content": "You run a desk."}),
        gen_ai__input__messages=messages(otel_message("user", "What does Blue cost?")),
        gen_ai__output__messages=messages(
            otel_message("assistant", "I ask.", asks("research", {"q": "Blue"}))
        ),
    ),
    tool_span(3, "research", parent="s1", gen_ai__tool__call__id="c1", gen_ai__tool__args="{}"),
    agent_span(4, "finder", parent="s3"),
    tool_span(5, "look_up", parent="s4", gen_ai__tool__call__arguments='{"offer": "Blue"}'),
    model_span(
        6, "s4", gen_ai__output__messages=messages(otel_message("assistant", "It costs 21."))
    ),
    model_span(
        7,
        "s1",
        gen_ai__input__messages=messages(
            otel_message("user", "What does Blue cost?"),
            otel_message("assistant", asks("research", {"q": "Blue"})),
            otel_message(
                "user", {"type": "tool_call_response", "id": "c1", "result": "It costs 21."}
            ),
        ),
        gen_ai__output__messages=messages(otel_message("assistant", "Blue costs 21.")),
    ),
)
MEMORY: list[dict[str, Any]] = [
    {"task": "Which station was warmer?", "task_images": None},
    {
        "model_input_messages": [{"role": "user", "content": "Plan: Which station was warmer?"}],
        "model_output_message": {
            "role": "assistant",
            "content": "## Facts\n- two\n## Plan\n1. Read.",
        },
        "plan": "Here are the facts I know and the plan of action that I will follow to solve the "
        "task:\n```\n## Facts\n- two\n## Plan\n1. Read.\n2. Answer.\n<end_plan>\n```",
        "timing": {"start_time": 1767258000.0, "end_time": 1767258000.5},
    },
    {
        "step_number": 1,
        "timing": {"start_time": 1767258001.0, "end_time": 1767258001.5},
        "model_input_messages": [{"role": "user", "content": "New task: Which?"}],
        "tool_calls": [
            {
                "id": "call_2",
                "type": "function",
                "function": {"name": "python_interpreter", "arguments": "print(read('north'))"},
            }
        ],
        "error": None,
        "model_output": "Thought: I read.\n<code>\nprint(read('north'))\n</code>",
        "code_action": "print(read('north'))",
        "observations": "Execution logs:\n13.0",
        "action_output": None,
    },
    {
        "step_number": 2,
        "tool_calls": [],
        "error": {"type": "AgentParsingError", "message": "There is no code in it."},
        "model_output": "North, I think.",
        "code_action": None,
        "observations": None,
    },
]
OBSERVATIONS: dict[str, Any] = {
    "trace": {"id": "t", "name": "run", "input": None, "output": None},
    "observations": [
        {
            "id": "o1",
            "traceId": "t",
            "type": "AGENT",
            "name": "helper",
            "startTime": "2026-01-01T00:00:01Z",
            "parentObservationId": None,
            "input": None,
            "output": None,
            "metadata": "{}",
        },
        {
            "id": "o2",
            "traceId": "t",
            "type": "GENERATION",
            "name": "chat",
            "startTime": "2026-01-01T00:00:02Z",
            "parentObservationId": "o1",
            "input": '[{"role": "user", "content": "Is it warm in Oslo?"}]',
            "output": {
                "role": "assistant",
                "content": "I look it up.",
                "tool_calls": [
                    {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
                ],
            },
            "metadata": "{}",
        },
        {
            "id": "o3",
            "traceId": "t",
            "type": "TOOL",
            "name": "weather",
            "startTime": "2026-01-01T00:00:03Z",
            "parentObservationId": "o1",
            "input": '{"city": "Oslo"}',
            "output": "3 degrees",
            "metadata": "{}",
        },
    ],
}
RUNS: list[Any] = [
    {
        "id": "r1",
        "name": "ChatOpenAI",
        "run_type": "llm",
        "trace_id": "r1",
        "parent_run_id": None,
        "start_time": "2026-01-01T00:00:01",
        "inputs": {"messages": [[{"kwargs": {"content": "Is it warm?", "type": "human"}}]]},
        "outputs": {"generations": [[{"message": {"kwargs": {"content": "No.", "type": "ai"}}}]]},
    },
]
BROWSER_HISTORY: dict[str, Any] = {
    "history": [
        {
            "model_output": {
                "thinking": "The form is open.",
                "next_goal": "Send it.",
                "action": [{"click_element_by_index": {"index": 7}}, {"done": {"text": "Sent."}}],
            },
            "result": [{"extracted_content": "Clicked"}, {"is_done": True}],
            "state": {
                "url": "https://shop.example",
                "interacted_element": [
                    {"node_name": "BUTTON", "attributes": {"aria-label": "Send"}},
                    None,
                ],
            },
        }
    ]
}
ALL: dict[str, Any] = {
    "observations": OBSERVATIONS,
    "runs": RUNS,
    "browser history": BROWSER_HISTORY,
    "flat spans": FLAT_SPANS,
    "span tree": SPAN_TREE,
    "exported spans": HANDED_OVER,
    "memory of steps": MEMORY,
}
READERS: dict[str, str] = {
    "observations": "run-tree",
    "runs": "run-tree",
    "browser history": "browser-use",
    "flat spans": "opentelemetry",
    "span tree": "openinference",
    "exported spans": "opentelemetry",
    "memory of steps": "smolagents",
}
"""Which reader is to claim which sample."""
