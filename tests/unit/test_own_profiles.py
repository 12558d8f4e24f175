"""The user's own profiles: asked first wherever a trace is read, and part of the fingerprint."""

from __future__ import annotations

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from planproof.config import Configuration
from planproof.core.trace import Kind
from planproof.core.vocabulary import Vocabulary
from planproof.evaluation import aevaluate, build_case, evaluate, judge_case
from planproof.integrations.mcp import mcp_server
from planproof.integrations.mcp.tool_inputs import InputFolder
from planproof.integrations.pytest_plugin import assert_follows_plan
from planproof.integrations.pytest_report import serialize_result, write_report
from planproof.llm.judge_registry import find_judge
from planproof.monitor.trace_follower import TraceFollower
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from planproof.runs.datasets.data_set import DataSet
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.server.pages.page_routes import parse_pasted_case
from planproof.verification import verify
from tests.command_line import CommandLine, folder, planproof
from tests.own_format import PLAN, PROFILE, TRACE, make_reader

__all__ = ["folder", "planproof"]
OWN = make_reader()


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "p.yaml").write_text(PROFILE, encoding="utf-8")
    (folder / "run.jsonl").write_text(TRACE, encoding="utf-8")
    (folder / "plan.txt").write_text("".join(f"1. {step}\n" for step in PLAN), encoding="utf-8")
    return folder


def test_a_users_profile_is_asked_before_all_other_readers() -> None:
    taken_over = make_reader("openai-messages")
    trace = read_trace(Source.from_text(TRACE), profiles=[taken_over])
    assert trace.reader == "openai-messages"
    assert [event.name for event in trace.events if event.kind is Kind.ACTION] == [
        "archive_report",
        "send_mail",
    ]
    assert trace.events[1].output == "archived"


def test_a_users_profile_can_be_selected_by_its_name() -> None:
    source = Source.from_text('{"k": "say", "t": "hello"}\n{"k": "say", "t": "bye"}\n')
    assert read_trace(source, profiles=[OWN]).reader != OWN.name
    assert read_trace(source, reader=OWN.name, profiles=[OWN]).reader == OWN.name


@pytest.mark.parametrize("as_file", [True, False], ids=["file", "reader"])
def test_evaluate_and_aevaluate_take_profiles(files: Path, as_file: bool) -> None:
    arguments: dict[str, Any] = {
        "plan": PLAN,
        "trace": files / "run.jsonl",
        "profiles": [files / "p.yaml" if as_file else OWN],
    }
    verdict = evaluate(**arguments)
    assert (verdict.score, verdict.coverage and verdict.coverage.reader) == (1.0, "shop-bot")
    assert asyncio.run(aevaluate(**arguments)).full() == verdict.full()


def test_a_verdict_is_verified_with_the_profile_that_it_names() -> None:
    source = Source.from_text(TRACE)
    verdict = json.loads(json.dumps(evaluate(plan=PLAN, trace=source, profiles=[OWN]).full()))
    assert verify(verdict, source, profiles=[OWN]) == ()
    assert "no reader is registered as `shop-bot`" in verify(verdict, source)[0]


def test_a_run_depends_on_the_profiles() -> None:
    judge = find_judge()
    plain, own = CaseEvaluator(judge), CaseEvaluator(judge, profiles=(OWN,))
    other = CaseEvaluator(judge, profiles=(make_reader("other"),))
    assert len({plain.fingerprint, own.fingerprint, other.fingerprint}) == 3


def test_profiles_reach_other_processes() -> None:
    evaluator = pickle.loads(pickle.dumps(CaseEvaluator(find_judge(), profiles=(OWN,))))
    assert evaluator.fingerprint == CaseEvaluator(find_judge(), profiles=(OWN,)).fingerprint
    cases = DataSet(paths=("x",), profiles=evaluator.profiles)
    assert pickle.loads(pickle.dumps(cases)).profiles[0].name == "shop-bot"


def test_a_data_set_recognises_traces_by_profile(files: Path) -> None:
    ((_, line),) = DataSet(paths=(str(files / "run.jsonl"),), profiles=(OWN,))
    assert line.case is not None
    evaluator = CaseEvaluator(find_judge(), profiles=(OWN,))
    assert evaluator.evaluate(line).coverage.reader == "shop-bot"  # pyright: ignore[reportOptionalMemberAccess]


def test_a_monitored_trace_is_read_by_profile() -> None:
    follower = TraceFollower(PLAN, reader=None, vocabulary=Vocabulary(), profiles=[OWN])
    follower.follow_source(Source.from_text(TRACE))
    assert follower.events == 4


def test_pytest_takes_profiles(files: Path) -> None:
    verdict = assert_follows_plan(
        plan=PLAN, trace=files / "run.jsonl", profiles=[files / "p.yaml"], min_score=1
    )
    assert verdict.coverage is not None
    assert verdict.coverage.reader == "shop-bot"


def test_the_report_of_a_test_run_reads_traces_by_profile(files: Path) -> None:
    case = build_case(None, PLAN, files / "run.jsonl", profiles=[OWN])
    verdict = evaluate(plan=PLAN, trace=case.trace, profiles=[OWN])
    record = json.loads(json.dumps(serialize_result(case, verdict, 0.1, [OWN])))
    write_report([("test_one", record)], files / "report.html", min_score=0.75)
    assert "archive_report" in (files / "report.html").read_text("utf-8")


def test_mcp_tools_read_traces_by_the_configured_profiles(files: Path) -> None:
    configuration = Configuration(profiles=(files / "p.yaml",))
    folder = InputFolder(files, configuration.limits)
    tools = mcp_server._Tools(folder, configuration, find_judge())  # pyright: ignore[reportPrivateUsage]
    assert tools.inspect(trace_file="run.jsonl").reader == "shop-bot"
    assert tools.judge(trace_file="run.jsonl", plan=PLAN).score == 1.0
    assert tools.expected_next(trace_file="run.jsonl", plan=PLAN).expected == []


def test_a_form_of_the_server_reads_a_trace_by_profile() -> None:
    reading = CaseEvaluator(find_judge(), profiles=(OWN,)).make_read_options()
    fields = {"task": "", "plan": "\n".join(PLAN), "trace": TRACE}
    case = parse_pasted_case(fields, reading)
    assert judge_case(case, options=reading).score == 1.0


@pytest.mark.parametrize("configured", [True, False], ids=["configuration", "option"])
def test_every_command_that_reads_traces_takes_profiles(
    planproof: CommandLine, files: Path, configured: bool
) -> None:
    options = () if configured else ("--profile", "p.yaml")
    if configured:
        (files / "planproof.toml").write_text('profiles = "p.yaml"\n', encoding="utf-8")
    assert "read by shop-bot" in planproof("inspect", "run.jsonl", *options).out
    judged = planproof(
        *("judge", "--trace", "run.jsonl", "--plan", "plan.txt", "--format", "full"),
        *("-o", "v.json", *options),
    )
    assert judged.code == 0
    (files / "case.json").write_text(
        json.dumps({"user_task": "Mail it.", "agent_plan": PLAN, "execution_trace": TRACE}),
        encoding="utf-8",
    )
    assert planproof("judge", "case.json", *options).code == 0
    assert planproof("verify", "v.json", "run.jsonl", *options).out == "accepted: v.json\n"
    done = planproof("run", "case.json", "run.jsonl", *options)
    assert '"reader": "shop-bot"' in done.out or '"reader":"shop-bot"' in done.out
    assert planproof("report", *options).code == 0
    assert planproof("plan", "run.jsonl", *options).code == 3
    assert planproof("calibrate", "case.json", *options).code == 0


def test_an_option_takes_the_place_of_a_configured_profile_of_the_same_name(
    planproof: CommandLine, files: Path
) -> None:
    (files / "formats").mkdir()
    (files / "formats" / "old.yaml").write_text(PROFILE.replace("k: do", "k: was"), "utf-8")
    (files / "planproof.toml").write_text('profiles = ["formats"]\n', encoding="utf-8")
    assert "read by shop-bot" not in planproof("inspect", "run.jsonl").out
    assert "read by shop-bot" in planproof("inspect", "run.jsonl", "--profile", "p.yaml").out


def test_a_profile_with_an_error_is_a_bad_input(planproof: CommandLine, files: Path) -> None:
    (files / "p.yaml").write_text(PROFILE.replace("rules:", "rulez:"), encoding="utf-8")
    done = planproof("inspect", "run.jsonl", "--profile", "p.yaml")
    assert done.code == 2
    assert "p.yaml, line 8, column 1: Object contains unknown field `rulez`." in done.err
