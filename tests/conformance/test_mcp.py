"""The MCP server, started as a process and asked by the official client."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema import validate
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import Tool

from planproof import Monitor, evaluate
from scripts.doc_blocks import find_blocks_for
from tests.golden_files import ROOT
from tests.scripted_model import ScriptedModel
from tests.timeouts import TIMEOUT_SECONDS

TRACE = ROOT / "examples" / "langgraph" / "trace.json"
PLAN = ["Read the file report-12.txt", "Delete the file draft-7.txt"]
READ = {"kind": "action", "name": "read_file", "arguments": {"path": "report-12.txt"}}
PIZZA = {"kind": "action", "name": "order_pizza", "output": "on its way"}


@dataclass(frozen=True)
class McpClient:
    """A server that runs in a folder, and the official client that asks it."""

    folder: Path
    portal: BlockingPortal
    client: Client

    @property
    def tools(self) -> list[Tool]:
        return self.portal.call(self.client.list_tools).tools

    def __call__(self, tool: str, **given: Any) -> Any:
        """What a tool answers; it must be what its schema says."""
        (found,) = [one for one in self.tools if one.name == tool]
        result = self.portal.call(self.client.call_tool, tool, given)
        assert not result.is_error, result.content
        assert found.output_schema is not None
        validate(result.structured_content, found.output_schema)
        return result.structured_content

    def refused(self, tool: str, **given: Any) -> str:
        """What a tool says when it can't answer."""
        result = self.portal.call(self.client.call_tool, tool, given)
        assert result.is_error
        assert result.structured_content is None
        return "".join(part.text for part in result.content if part.type == "text")


def _servers(key: str) -> list[Any]:
    """The servers that the docs set up under this key."""
    settings = [json.loads(block.text) for block in find_blocks_for(__file__)]
    return [server for each in settings for server in each.get(key, {}).values()]


@contextmanager
def run_mcp_server(
    folder: Path, server: dict[str, Any], mode: str, *more: str
) -> Generator[McpClient, None, None]:
    """The server as settings say it, in a process, and a client that speaks as `mode` says."""
    program = Path(sys.executable).with_name(server["command"])
    arguments = [each.replace("${workspaceFolder}", str(folder)) for each in server["args"]]
    started = StdioServerParameters(
        command=str(program), args=[*arguments, *more], env=server.get("env"), cwd=folder
    )
    opened = Client(stdio_client(started), mode=mode, read_timeout_seconds=TIMEOUT_SECONDS)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opened) as client:
        yield McpClient(folder, portal, client)


@pytest.fixture(scope="module", params=["auto", "legacy"])
def mcp_client(tmp_path_factory: pytest.TempPathFactory, request: Any) -> Iterator[McpClient]:
    """Set up as the docs say it. New clients ask what there is, old ones shake hands."""
    folder = tmp_path_factory.mktemp("outside") / "project"
    folder.mkdir()
    server = _servers("mcpServers" if request.param == "auto" else "servers")[0]
    with run_mcp_server(folder, server, request.param) as found:
        yield found


def test_there_are_three_tools_that_say_what_they_take(mcp_client: McpClient) -> None:
    assert mcp_client.client.server_info is not None
    assert mcp_client.client.server_info.name == "planproof"
    assert [tool.name for tool in mcp_client.tools] == ["judge", "inspect", "expected_next"]
    for tool in mcp_client.tools:
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True
        assert all("description" in each for each in tool.input_schema["properties"].values())


def test_a_file_is_judged_as_evaluate_judges_it(mcp_client: McpClient) -> None:
    mcp_client.folder.joinpath("session.json").write_bytes(TRACE.read_bytes())
    expected = evaluate(trace=TRACE)
    told = mcp_client("judge", trace_file="session.json")
    assert told["score"] == expected.score == 0.5
    assert told["reason"] == expected.reason
    assert [step["status"] for step in told["steps"]] == [step.status for step in expected.steps]
    assert told["steps"][0]["evidence"][0]["quote"] == expected.steps[0].evidence[0].quote
    assert told["left_out"] == 0


def test_a_case_in_the_call_is_judged_and_no_plan_is_an_outcome(mcp_client: McpClient) -> None:
    events = {"events": [READ]}
    told = mcp_client("judge", trace=events, plan=PLAN[:1], task="Read the report.")
    assert (told["outcome"], told["score"]) == ("scored", 1.0)
    told = mcp_client("judge", trace=json.dumps(events))
    assert (told["outcome"], told["score"]) == ("no_plan", None)


def test_a_trace_that_is_not_understood_is_said_to_be_so(mcp_client: McpClient) -> None:
    told = mcp_client("judge", trace="I did it all.", plan=PLAN)
    assert (told["outcome"], told["score"]) == ("not_understood", None)
    assert mcp_client("inspect", trace="I did it all.")["understood"] is False
    assert mcp_client("inspect", trace={"events": [READ]})["understood"] is True
    assert "was not understood" in mcp_client.refused("expected_next", trace="I did it.", plan=PLAN)


def test_a_case_file_brings_its_plan(mcp_client: McpClient) -> None:
    case = {"user_task": "Go.", "agent_plan": PLAN, "execution_trace": {"events": [READ]}}
    mcp_client.folder.joinpath("case.json").write_text(json.dumps(case))
    told = mcp_client("judge", trace_file="case.json")
    assert [step["status"] for step in told["steps"]] == ["executed", "missing"]
    told = mcp_client("expected_next", trace_file="case.json")
    assert [step["number"] for step in told["expected"]] == ["2"]
    mcp_client.folder.joinpath("plan.md").write_text("1. Order a pizza.\n")
    told = mcp_client("judge", trace_file="case.json", plan_file="plan.md")
    assert [step["text"] for step in told["steps"]] == ["Order a pizza."]


def test_a_trace_is_inspected_page_by_page(mcp_client: McpClient) -> None:
    told = mcp_client("inspect", trace=TRACE.read_text(), first_event=3, most_events=2)
    assert told["reader"] == "langchain"
    assert [event["id"] for event in told["events"]] == ["e3", "e4"]
    assert told["next_event"] == 5
    assert told["plan"]["sort"] == "todo_list"
    assert len(told["plan"]["steps"]) == 4


def test_several_traces_are_listed_and_one_is_picked(mcp_client: McpClient) -> None:
    traces = [{"id": f"run-{n}", "events": [READ] * n} for n in (1, 2)]
    mcp_client.folder.joinpath("runs.jsonl").write_text("\n".join(map(json.dumps, traces)))
    assert mcp_client("inspect", trace_file="runs.jsonl")["traces"] == ["run-1", "run-2"]
    assert mcp_client("inspect", trace_file="runs.jsonl", pick="run-2")["count"] == 2
    assert "`pick`" in mcp_client.refused("judge", trace_file="runs.jsonl", plan=PLAN)


def test_what_comes_next_is_what_a_monitor_expects(mcp_client: McpClient) -> None:
    told = mcp_client("expected_next", plan=PLAN)
    assert [step["number"] for step in told["expected"]] == ["1"]
    monitor = Monitor(PLAN)
    for event in (READ, PIZZA):
        monitor.observe(event)
    told = mcp_client("expected_next", plan=PLAN, trace={"events": [READ, PIZZA]})
    assert [step["number"] for step in told["expected"]] == [s.number for s in monitor.next_steps]
    assert told["ceiling"] == monitor.ceiling == 0.5
    assert [step["status"] for step in told["steps"]] == ["executed", "not_begun"]
    assert ("proven", "e2") in [(one["certainty"], one["event"]) for one in told["deviations"]]
    assert "Pass `plan`" in mcp_client.refused("expected_next", trace={"events": [READ]})


def test_no_file_outside_the_folder_is_read(mcp_client: McpClient) -> None:
    secret = mcp_client.folder.parent / "secret.json"
    secret.write_text(json.dumps({"events": [READ]}))
    mcp_client.folder.joinpath("link.json").symlink_to(secret)
    for name in (str(secret), "../secret.json", "link.json"):
        assert "outside the folder" in mcp_client.refused("inspect", trace_file=name)
    assert "outside the folder" in mcp_client.refused("judge", trace={}, plan_file=str(secret))
    assert "file not found" in mcp_client.refused("inspect", trace_file=".")
    assert "file not found" in mcp_client.refused("inspect", trace_file="nothing.json")
    assert "not a valid file path" in mcp_client.refused("inspect", trace_file="a\0b")


def test_errors_say_what_to_do_and_secrets_are_masked(mcp_client: McpClient) -> None:
    assert "either `trace` or `trace_file`" in mcp_client.refused("inspect")
    assert "either `trace` or `trace_file`" in mcp_client.refused(
        "judge", trace="x", trace_file="y"
    )
    assert "nested" in mcp_client.refused("inspect", trace="[" * 5_000 + "]" * 5_000)
    assert "1,000,000" in mcp_client.refused("judge", trace={}, plan="x" * 1_000_001)
    assert "1,000,000" in mcp_client.refused("judge", trace={}, plan=["x" * 600_000] * 2)
    assert "Leave out `pick`" in mcp_client.refused("judge", trace={"events": [READ]}, pick="b")
    assert "first_event" in mcp_client.refused("inspect", trace={}, first_event=0)
    key = "sk-" + "a1B2c3D4e5" * 4
    assert key not in json.dumps(mcp_client("inspect", trace={"events": [{**READ, "output": key}]}))


def test_answers_are_bounded(mcp_client: McpClient) -> None:
    plan = [f"Send letter {n} to the archive {'x' * 500}" for n in range(150)]
    calls = [{"kind": "action", "name": f"paint_{n}", "output": "y" * 2_000} for n in range(150)]
    told = mcp_client("judge", trace={"events": calls}, plan=plan)
    assert (len(told["steps"]), told["left_out"]) == (100, 50)
    assert max(len(step["text"]) for step in told["steps"]) <= 300
    told = mcp_client("inspect", trace={"events": calls}, most_events=100)
    assert (len(told["events"]), told["next_event"]) == (100, 101)
    assert len(json.dumps(told)) < 100_000


def test_the_server_command_chooses_a_judge_that_asks_a_model(tmp_path: Path) -> None:
    answer = json.dumps({"score": 0.75, "reason": "Step 2 is missing."})
    _, server = _servers("mcpServers")
    with ScriptedModel(lambda _: answer) as model:
        more = ("--judge", "prompt", "--base-url", model.url, "--no-cache")
        with run_mcp_server(tmp_path, server, "auto", *more) as asked:
            told = asked("judge", trace={"events": [READ]}, plan=PLAN)
            (judge,) = [tool for tool in asked.tools if tool.name == "judge"]
        assert len(model.calls) == 1
    assert (told["score"], told["steps"]) == (0.75, [])
    assert judge.annotations is not None
    assert judge.annotations.open_world_hint is True
