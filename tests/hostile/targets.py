"""What takes input of others, each with good inputs to start from.

A target raises nothing but `PlanproofError` (for MCP: its `ToolError`), whatever it is given.
"""

from __future__ import annotations

import io
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from planproof.config import Configuration
from planproof.contracts.catalogues import read_catalogue
from planproof.contracts.contract_file import parse_contract
from planproof.contracts.contract_validation import check_contract, require_valid
from planproof.core.json_values import is_object
from planproof.core.verdict import Outcome, Verdict
from planproof.evaluation import evaluate, evaluate_case
from planproof.integrations.mcp.mcp_server import make_server
from planproof.llm.judge_registry import find_judge
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.readers.decoding.trace_files import read_cases
from planproof.readers.profile_reader import ProfileReader, parse_profile
from planproof.verification import explain_limits, verify
from tests.format_samples import collect_samples
from tests.hostile.mutations import Target
from tests.small_cases import FOLLOWED, IDLE, PLANLESS
from tests.unit.tampered_verdicts import SOURCE, VERDICT

_PROFILES = Path(__file__).parents[2] / "src" / "planproof" / "readers" / "profiles"
_CONTRACTS = Path(__file__).parents[1] / "contract_cases" / "contracts"
_PLAN = FOLLOWED["agent_plan"]


def judge_trace(data: bytes) -> None:
    """Read and judge a trace; what was judged must verify."""
    source = select_trace(Source.from_bytes(data, name="fuzzed"), "1")
    verdict = evaluate(task="Do it.", plan=_PLAN, trace=source)
    _check(verdict)
    assert verify(json.loads(json.dumps(verdict.full())), source) == ()


def judge_plan(data: bytes) -> None:
    """Judge a fixed trace by a plan, as text or as JSON."""
    text = data.decode("utf-8", "replace")
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError):
        plan = text
    _check(evaluate(task="Do it.", plan=plan, trace=FOLLOWED["execution_trace"]))


def judge_by_contract(data: bytes) -> None:
    """Check a contract, and judge by it if it is valid."""
    contract = parse_contract(data.decode("utf-8", "replace"), "fuzzed.yaml")
    check_contract(contract)
    require_valid(contract)
    _check(evaluate(trace=FOLLOWED["execution_trace"], contract=contract))


def read_by_profile(data: bytes) -> None:
    """Read a profile, and traces by it."""
    profile = ProfileReader(parse_profile(data.decode("utf-8", "replace"), name="fuzzed.yaml"))
    for trace in list_traces()[::40]:
        _check(evaluate(plan=_PLAN, trace=trace, profiles=[profile]))


def read_data_set(data: bytes) -> None:
    """Judge every case of a data set."""
    for line in read_cases(io.BytesIO(data), name="fuzzed.jsonl"):
        if line.case is not None:
            _check(evaluate_case(line.case))


def verify_verdict(data: bytes) -> None:
    """Verify a verdict, in whatever shape it is."""
    verdict = json.loads(data)
    for problem in verify(verdict, SOURCE):
        assert isinstance(problem, str)
    if is_object(verdict):
        explain_limits(verdict, plan_given=True)


def read_tools(data: bytes) -> None:
    """Read a tool catalogue."""
    read_catalogue(json.loads(data))


def call_mcp_tool(data: bytes) -> None:
    """Call the tools of the MCP server with a trace and a plan of others."""
    text = data.decode("utf-8", "replace")
    for tool in ("judge", "inspect", "expected_next"):
        given: dict[str, Any] = {"trace": text}
        if tool != "inspect":
            given["plan"] = text[:500]
        _call_tool(tool, given)
        _call_tool(tool, {"trace_file": text[:100]})


def _call_tool(tool: str, given: dict[str, Any]) -> None:
    from mcp.server.mcpserver.exceptions import ToolError

    found = _mcp_tools()[tool]
    with suppress(ToolError):
        found(**given)


@cache
def _mcp_tools() -> dict[str, Any]:
    folder = Path(__file__).parent / "corpus"
    server = make_server(folder, Configuration(), find_judge("rules"))
    tools = server._tool_manager.list_tools()  # pyright: ignore[reportPrivateUsage]
    return {tool.name: tool.fn for tool in tools}


def _check(verdict: Verdict) -> None:
    """Check that the input was judged, or refused with a reason: `rules` never fails."""
    assert verdict.reason
    assert verdict.outcome is not Outcome.JUDGE_FAILED, verdict.reason
    assert (verdict.score is not None) == (verdict.outcome is Outcome.SCORED)
    assert verdict.score is None or 0 <= verdict.score <= 1


@cache
def list_traces() -> list[Any]:
    """Return a sample of every format, as a value."""
    return [value for samples in collect_samples().values() for value, _ in samples[:2]]


@cache
def list_targets() -> dict[str, tuple[Target, list[Any]]]:
    """Return all targets, with good inputs for each."""
    contracts = [path.read_bytes() for path in sorted(_CONTRACTS.glob("*.yaml"))]
    profiles = [path.read_bytes() for path in sorted(_PROFILES.glob("*.yaml"))]
    plans = [
        _PLAN,
        "1. Read a.txt\n2. If it is empty, stop\n  2.1 Tell Ann\n3. Save it",
        "- a\n- b",
    ]
    plans += [{"steps": [{"number": "1", "text": "Read a.txt"}, {"text": "Copy it to b"}]}]
    lines = "\n".join(json.dumps(case) for case in (FOLLOWED, IDLE, PLANLESS))
    function = {"name": "read_file", "parameters": {"properties": {"path": {"type": "string"}}}}
    tools = [[{"type": "function", "function": function}], {"tools": [{"name": "read_file"}]}]
    return {
        "traces": (judge_trace, list_traces()),
        "plans": (judge_plan, plans),
        "contracts": (judge_by_contract, contracts),
        "profiles": (read_by_profile, profiles),
        "data sets": (read_data_set, [lines, [FOLLOWED, IDLE], FOLLOWED]),
        "verdicts": (verify_verdict, [VERDICT]),
        "catalogues": (read_tools, tools),
        "mcp": (call_mcp_tool, list_traces()[::5]),
    }
