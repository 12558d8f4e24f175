"""LangGraph: the messages of a graph, as `messages_to_dict` writes them.

The agent is told its steps by the system prompt, asks for two things in one turn, and follows.
"""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.messages import SystemMessage, messages_to_dict
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from normalization import normalize_trace
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "Plan a meeting of Ana and Piet on Thursday about the Q1 budget."
PLAN = """\
1. Read the calendar of Ana for Thursday.
2. Read the calendar of Piet for Thursday.
3. Book a room for one hour when both are free.
4. Send an invitation with the subject "Q1 budget" to Ana and Piet.
"""


@tool
def read_calendar(person: str, day: str) -> str:
    """The appointments of a person on a day."""
    return {"Ana": "09:00-11:00 interviews", "Piet": "13:00-15:00 workshop"}[person]


@tool
def book_room(day: str, start: str, end: str) -> str:
    """Book a room."""
    return f"Room Elbe, {day} {start}-{end}"


@tool
def send_invitation(to: list[str], subject: str, place: str) -> str:
    """Send an invitation."""
    return f"Sent to {len(to)} people."


def main() -> None:
    with scripted(
        Turn(
            "I read both calendars.",
            [
                call("read_calendar", person="Ana", day="Thursday"),
                call("read_calendar", person="Piet", day="Thursday"),
            ],
        ),
        Turn("", [call("book_room", day="Thursday", start="11:00", end="12:00")]),
        Turn(
            "",
            [
                call(
                    "send_invitation",
                    to=["Ana", "Piet"],
                    subject="Q1 budget",
                    place="Room Elbe, Thursday 11:00",
                )
            ],
        ),
        Turn("Ana and Piet are invited for Thursday at 11:00 in room Elbe."),
    ) as url:
        prompt = SystemMessage(f"You plan meetings. Follow these steps:\n{PLAN}")
        graph = create_agent(
            ChatOpenAI(model=MODEL, base_url=url, api_key="none", max_retries=0),
            tools=[read_calendar, book_room, send_invitation],
        )
        result = graph.invoke({"messages": [prompt, {"role": "user", "content": TASK}]})
    trace = normalize_trace(messages_to_dict(result["messages"]))
    write_example(__file__, task=TASK, plan=PLAN, trace=trace)


if __name__ == "__main__":
    main()
