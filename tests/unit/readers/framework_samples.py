"""Small traces in the forms of agent frameworks: LangChain, Google ADK, Pydantic AI."""

from __future__ import annotations

import json
from typing import Any

from planproof.core.json_values import is_list, is_object


def call_of_graph(name: str, args: dict[str, Any], call_id: str) -> dict[str, Any]:
    """An entry of LangChain's `tool_calls`."""
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


GRAPH_MESSAGES: list[dict[str, Any]] = [
    {"type": "human", "id": "h1", "content": [{"type": "text", "text": "What is new?"}]},
    {
        "type": "ai",
        "id": "a1",
        "content": "",
        "additional_kwargs": {"reasoning_content": "I search."},
        "tool_calls": [call_of_graph("web_search", {"query": "news"}, "t1")],
        "invalid_tool_calls": [],
    },
    {"type": "tool", "id": "r1", "name": "web_search", "tool_call_id": "t1", "content": "[]"},
    {"type": "ai", "id": "a2", "content": "Nothing is new."},
]
THREAD_STATE: dict[str, Any] = {
    "values": {"messages": GRAPH_MESSAGES, "title": "News"},
    "next": [],
    "created_at": "2026-01-25T01:37:48+00:00",
}
STATE_HISTORY: list[dict[str, Any]] = [
    {"values": {"messages": GRAPH_MESSAGES[:count]}, "created_at": f"2026-01-25T01:37:0{count}Z"}
    for count in (4, 3, 2, 1, 0)
]
SUPERVISED: list[dict[str, Any]] = [
    {"type": "human", "content": "Book a room and a flight."},
    {
        "type": "ai",
        "name": "supervisor",
        "content": [
            {"type": "text", "text": "Rooms first."},
            {"type": "tool_use", "id": "s1", "name": "transfer_to_room_agent", "input": {}},
        ],
        "tool_calls": [call_of_graph("transfer_to_room_agent", {}, "s1")],
    },
    {"type": "tool", "name": "transfer_to_room_agent", "tool_call_id": "s1", "content": "ok"},
    {
        "type": "ai",
        "name": "room_agent",
        "content": "",
        "tool_calls": [call_of_graph("book_room", {"nights": 2}, "s2")],
        "invalid_tool_calls": [{"name": "book_room", "args": "{nights", "id": "s9"}],
    },
    {
        "type": "tool",
        "name": "book_room",
        "tool_call_id": "s2",
        "content": "no room left",
        "status": "error",
    },
    {
        "type": "ai",
        "name": "room_agent",
        "content": "",
        "tool_calls": [call_of_graph("transfer_back_to_supervisor", {}, "s3")],
    },
    {"type": "tool", "name": "transfer_back_to_supervisor", "tool_call_id": "s3", "content": "ok"},
    {"type": "ai", "name": "supervisor", "content": "There is no room."},
    {"type": "remove", "id": "h1", "content": ""},
]


def langchain_message(message: dict[str, Any]) -> dict[str, Any]:
    """A message as `dumpd` writes it."""
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    kwargs = {key: value for key, value in message.items() if key != "type"}
    path = ["langchain", "schema", "messages", names[message["type"]]]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}


LANGCHAIN: dict[str, Any] = {
    "messages of a graph": GRAPH_MESSAGES,
    "messages of a graph, under a key": {"messages": GRAPH_MESSAGES},
    "messages, to dict": [{"type": m["type"], "data": m} for m in GRAPH_MESSAGES],
    "messages, dumped": list(map(langchain_message, GRAPH_MESSAGES)),
    "messages of a graph, lines": "\n".join(map(json.dumps, GRAPH_MESSAGES)),
    "state of a thread": THREAD_STATE,
    "history of a thread": STATE_HISTORY,
    "supervised agents": SUPERVISED,
    "updates of a graph": [
        {"start": {"messages": GRAPH_MESSAGES[:1]}},
        {"agent": {"messages": GRAPH_MESSAGES[1:2]}},
        {"tools": {"messages": GRAPH_MESSAGES[2:3], "count": 1}, "counter": {"count": 1}},
        {"agent": {"messages": GRAPH_MESSAGES}},
    ],
}


def adk_event(author: str, *parts: dict[str, Any], at: float, **more: Any) -> dict[str, Any]:
    """An event of a session, written with underscores and empty fields."""
    filled = [{"text": None, "function_call": None, "function_response": None, **p} for p in parts]
    role = "user" if author == "user" else "model"
    content = {"parts": filled, "role": role} if parts else None
    return {
        "id": f"ev{at}",
        "invocation_id": "i1",
        "author": author,
        "content": content,
        "timestamp": at,
        "partial": None,
        "actions": {"state_delta": {}, "transfer_to_agent": None},
        **more,
    }


def adk_call(name: str, args: dict[str, Any], call_id: str) -> dict[str, Any]:
    """A part that calls."""
    return {"function_call": {"id": call_id, "name": name, "args": args}}


def adk_response(name: str, response: Any, call_id: str | None) -> dict[str, Any]:
    """A part with what came back."""
    return {"function_response": {"id": call_id, "name": name, "response": response}}


ADK_EVENTS: list[dict[str, Any]] = [
    adk_event("user", {"text": "Is it raining in Oslo?"}, at=1.0),
    adk_event("root", {"text": "I"}, at=1.5, partial=True),
    adk_event(
        "root",
        {"text": "A colleague knows.", "thought": True},
        {"text": "I ask the weather agent."},
        adk_call("transfer_to_agent", {"agent_name": "weather"}, "f1"),
        at=2.0,
    ),
    adk_event(
        "root",
        adk_response("transfer_to_agent", {"result": None}, "f1"),
        at=3.0,
        actions={"transfer_to_agent": "weather"},
    ),
    adk_event(
        "weather",
        adk_call("get_rain", {"city": "Oslo"}, "f2"),
        adk_call("get_wind", {"city": "Oslo"}, "f3"),
        at=4.0,
    ),
    adk_event("weather", {"text": "It is dry."}, at=6.0),
    adk_event(
        "weather",
        adk_response("get_wind", {"status": "error", "error_message": "no wind"}, "f3"),
        adk_response("get_rain", {"result": "0 mm"}, "f2"),
        at=5.0,
    ),
    adk_event(
        "weather",
        {"executable_code": {"code": "print(0)", "language": "PYTHON"}},
        {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "boom"}},
        at=7.0,
    ),
    adk_event("weather", at=8.0, error_code="STOP", error_message="The model was stopped."),
]


def camel(value: Any) -> Any:
    """The same with keys in camel case, and without what is empty."""
    if is_list(value):
        return [camel(item) for item in value]
    if not is_object(value):
        return value
    cased: dict[str, Any] = {}
    for key, item in value.items():
        first, *rest = key.split("_")
        if item is not None:
            # What a tool is given has names of its own.
            cased[first + "".join(map(str.capitalize, rest))] = (
                item if key == "args" else camel(item)
            )
    return cased


ADK: dict[str, Any] = {
    "a session": {"id": "s", "app_name": "a", "user_id": "u", "state": {}, "events": ADK_EVENTS},
    "events of a session": ADK_EVENTS,
    "events in camel case": camel(ADK_EVENTS),
    "events, lines": "\n".join(map(json.dumps, ADK_EVENTS)),
}


def request(*parts: dict[str, Any]) -> dict[str, Any]:
    """A request of Pydantic AI."""
    return {"kind": "request", "parts": list(parts), "instructions": "Plan first."}


def response(*parts: dict[str, Any]) -> dict[str, Any]:
    """A response of Pydantic AI."""
    return {"kind": "response", "parts": list(parts), "timestamp": "2026-01-01T09:00:00Z"}


def tool_return(tool: str, content: Any, call_id: str, **more: Any) -> dict[str, Any]:
    """A part with what a tool returned."""
    return {
        "part_kind": "tool-return",
        "tool_name": tool,
        "content": content,
        "tool_call_id": call_id,
        **more,
    }


MODEL_MESSAGES: list[dict[str, Any]] = [
    request(
        {"part_kind": "system-prompt", "content": "Be good."},
        {
            "part_kind": "user-prompt",
            "content": [
                "Look at this.",
                {"kind": "text-content", "content": "And that."},
                {"kind": "image-url", "url": "https://example.org/a.png"},
                {"kind": "binary", "media_type": "application/pdf", "data": "aGk="},
                {"kind": "cache-point"},
            ],
        },
    ),
    response(
        {"part_kind": "thinking", "content": "Hm."},
        {"part_kind": "text", "content": "I look."},
        {"part_kind": "tool-call", "tool_name": "look", "args": '{"x": 1}', "tool_call_id": "1"},
        {"part_kind": "tool-call", "tool_name": "book", "args": {"day": "?"}, "tool_call_id": "2"},
    ),
    request(
        tool_return("book", "Give the day as YYYY-MM-DD.", "2", outcome="retried"),
        tool_return("look", {"seen": True}, "1", outcome="success"),
    ),
    response(
        {"part_kind": "tool-call", "tool_name": "book", "args": {"day": "2"}, "tool_call_id": "3"}
    ),
    request(
        {
            "part_kind": "retry-prompt",
            "tool_name": "book",
            "tool_call_id": "3",
            "content": [{"type": "value_error", "loc": ["day"], "msg": "too short"}],
        }
    ),
    response({"part_kind": "thinking", "content": None, "signature": "c2ln"}),
    request({"part_kind": "retry-prompt", "content": "Please give an answer."}),
    response({"part_kind": "text", "content": "Done."}),
]
PYDANTIC_AI: dict[str, Any] = {
    "model messages": MODEL_MESSAGES,
    "model messages, lines": "\n".join(map(json.dumps, MODEL_MESSAGES)),
}


BY_READER: dict[str, dict[str, Any]] = {
    "langchain": LANGCHAIN,
    "google-adk": ADK,
    "pydantic-ai": PYDANTIC_AI,
}
