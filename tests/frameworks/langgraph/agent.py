"""A LangGraph agent whose model reads from a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tests.frameworks.refunds import CLOSING, TOOLS, Call


def refund_agent(calls: list[Call], tools: Sequence[Any] = TOOLS) -> Any:
    """A graph that makes these calls one by one, and says that it is done."""
    turns = [
        AIMessage("", tool_calls=[{"name": name, "args": given, "id": f"call-{place}"}])
        for place, (name, given) in enumerate(calls)
    ]
    model = GenericFakeChatModel(messages=iter([*turns, AIMessage(CLOSING)]))
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(list(tools)))
    graph.set_entry_point("agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    return graph.compile()
