"""LangGraph: the state of a thread, of an agent that keeps a list with `write_todos`.

The list is kept to until the end, where the last item is marked as done and nothing was done.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from normalization import normalize_trace
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "The checkout service has been slow since noon. Find out why and file an incident report."
STEPS = [
    "Query the latency metrics of the checkout service",
    "Read the deployment log since 12:00",
    "File an incident report with the suspected cause",
    "Post the link to the report in #ops",
]


@tool
def query_metrics(service: str, metric: str) -> str:
    """Query a metric of a service."""
    return f"{service} {metric}: 11:50 210 ms, 12:10 1,900 ms, 12:30 2,050 ms"


@tool
def read_deployment_log(since: str) -> str:
    """What was deployed since a time."""
    return "12:04 payments-client 3.2.0 -> 3.3.0 (checkout), rolled out to all hosts"


@tool
def file_incident_report(title: str, cause: str) -> str:
    """File an incident report."""
    return "https://incidents.example/INC-512"


@tool
def post_message(channel: str, text: str) -> str:
    """Post to a channel."""
    return "posted"


def todos(done: int, *, in_progress: bool = True) -> Any:
    status = ["completed"] * done + ["in_progress"] * in_progress + ["pending"] * len(STEPS)
    items = [{"content": step, "status": at} for step, at in zip(STEPS, status, strict=False)]
    return call("write_todos", todos=items)


def main() -> None:
    with scripted(
        Turn("I make a list first.", [todos(0)]),
        Turn("", [call("query_metrics", service="checkout", metric="latency_p95")]),
        Turn("", [todos(1), call("read_deployment_log", since="12:00")]),
        Turn("", [todos(2)]),
        Turn(
            "",
            [
                call(
                    "file_incident_report",
                    title="Checkout slow since 12:04",
                    cause="payments-client 3.3.0, deployed at 12:04",
                )
            ],
        ),
        Turn("", [todos(4, in_progress=False)]),
        Turn("I filed INC-512: payments-client 3.3.0 is the suspected cause. #ops has the link."),
    ) as url:
        graph = create_agent(
            ChatOpenAI(model=MODEL, base_url=url, api_key="none", max_retries=0),
            tools=[query_metrics, read_deployment_log, file_incident_report, post_message],
            middleware=[TodoListMiddleware()],
            checkpointer=InMemorySaver(),
        )
        thread: Any = {"configurable": {"thread_id": "checkout-slow"}}
        graph.invoke({"messages": [{"role": "user", "content": TASK}]}, thread)
    snapshot = graph.get_state(thread)
    # The fields in which a LangGraph server answers GET /threads/{id}/state.
    state = {
        "values": {
            **snapshot.values,
            "messages": [message.model_dump() for message in snapshot.values["messages"]],
        },
        "next": list(snapshot.next),
        "checkpoint": snapshot.config["configurable"],
        "metadata": snapshot.metadata,
        "created_at": snapshot.created_at,
    }
    plan = "\n".join(f"{number}. {step}" for number, step in enumerate(STEPS, 1))
    write_example(__file__, task=TASK, plan=plan, trace=normalize_trace(state))


if __name__ == "__main__":
    main()
