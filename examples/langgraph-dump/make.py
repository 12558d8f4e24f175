"""LangGraph: the messages of a graph, as `langchain_core.load.dumpd` writes them.

The plan is declared in the first answer; one tool fails and is called again, and a call that no
step names is made.
"""

from __future__ import annotations

from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.load import dumpd
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from normalization import normalize_trace
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "Translate the release notes of version 4.2 to German and put them on the website."
PLAN = """\
1. Fetch the release notes of version 4.2.
2. Translate them to German.
3. Publish the German text on the page /de/news.
"""
_TRIED: list[str] = []


@tool
def fetch_release_notes(version: str) -> str:
    """The release notes of a version."""
    _TRIED.append(version)
    if len(_TRIED) == 1:
        raise TimeoutError("the notes did not come within 5 s")
    return "Faster start. Two fixes."


@tool
def translate(text: str, language: str) -> str:
    """Translate a text."""
    return "Schnellerer Start. Zwei Korrekturen."


@tool
def publish_page(path: str, text: str) -> str:
    """Publish a page."""
    return f"{path} is live."


@tool
def clear_cache(path: str) -> str:
    """Clear the cache of a page."""
    return "cleared"


def main() -> None:
    with scripted(
        Turn(f"My plan:\n{PLAN}", [call("fetch_release_notes", version="4.2")]),
        Turn("", [call("fetch_release_notes", version="4.2")]),
        Turn("", [call("translate", text="Faster start. Two fixes.", language="German")]),
        Turn(
            "",
            [call("publish_page", path="/de/news", text="Schnellerer Start. Zwei Korrekturen.")],
        ),
        Turn("", [call("clear_cache", path="/de/news")]),
        Turn("The German notes of 4.2 are on /de/news."),
    ) as url:
        graph = create_agent(
            ChatOpenAI(model=MODEL, base_url=url, api_key="none", max_retries=0),
            tools=[fetch_release_notes, translate, publish_page, clear_cache],
            middleware=[ToolErrorMiddleware(on_error=lambda error, request: f"Error: {error}")],
            system_prompt="State your plan, then act.",
        )
        result = graph.invoke({"messages": [{"role": "user", "content": TASK}]})
    write_example(__file__, task=TASK, plan=PLAN, trace=normalize_trace(dumpd(result["messages"])))


if __name__ == "__main__":
    main()
