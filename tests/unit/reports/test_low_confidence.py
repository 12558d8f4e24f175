"""Every report says that a level is more likely wrong than right, and names the better judges."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from planproof.core.verdict import Verdict
from planproof.integrations.assertion_message import format_failure
from planproof.integrations.claude_code_hook import StopEvent, build_hook_response
from planproof.integrations.hosts import explain_verdict
from planproof.integrations.mcp.tool_answers import build_verdict_answer
from planproof.reports.html.summary_view import describe_run
from planproof.reports.json import comparison_to_json, gate_to_json, summary_to_json
from planproof.reports.junit import generate_junit_xml
from planproof.reports.markdown import (
    comparison_to_markdown,
    gate_to_markdown,
    summary_to_markdown,
    verdict_to_markdown,
)
from planproof.reports.terminal.comparison_lines import format_comparison, format_gate
from planproof.reports.terminal.run_lines import format_run_summary
from planproof.reports.wording import format_low_confidence_count, make_sanitizer
from planproof.runs.compare import Comparison, compare
from planproof.runs.gate import GateConditions, check_gate
from planproof.runs.run_records import Result
from planproof.runs.summary import Summary, summarize
from tests.run_builders import RUN, make_results, verdict_with
from tests.unit.finding_builders import findings

OF_ONE = "low confidence (30%): use --judge contract or audit"
OF_RUN = "low confidence in 2 of 4 levels: use --judge contract or audit"
SHOW = make_sanitizer(secrets=False)


def judged(confidence: float | None) -> Verdict:
    return replace(verdict_with(findings("EL")), confidence=confidence)


def run_of(*confidences: float | None) -> list[Result]:
    return make_results({f"c{n}": judged(value) for n, value in enumerate(confidences)})


# A half is not low, and what is not known is not called low.
UNSURE = run_of(0.3, 0.49, 0.5, None)
SURE = run_of(0.9, 0.9, 0.9, 0.9)


def surfaces_of_a_verdict(verdict: Verdict) -> dict[str, str]:
    hook = build_hook_response(verdict, StopEvent(session=Path(), already_blocked=True), None)
    run = [Result(0, "x", "a", verdict, 1.0)]
    return {
        "markdown": verdict_to_markdown(verdict),
        "junit": "".join(generate_junit_xml(RUN, summarize(run), run)),
        "pytest": format_failure(verdict, 0.75),
        "hook": json.dumps(hook),
        "mcp": build_verdict_answer(verdict).model_dump_json(),
        "frameworks": explain_verdict(verdict),
    }


def surfaces_of_a_run(results: list[Result]) -> dict[str, str]:
    summary: Summary = summarize(results)
    comparison: Comparison = compare(SURE, results)
    checks = check_gate(GateConditions(), RUN, summary)
    lines = {
        "terminal": format_run_summary(RUN, summary, SHOW),
        "comparison": format_comparison(RUN, RUN, comparison, SHOW),
        "gate": format_gate(RUN, summary, checks, SHOW),
    }
    return {
        **{
            name: " ".join(
                part if isinstance(part, str) else part[0] for line in each for part in line
            )
            for name, each in lines.items()
        },
        "markdown": summary_to_markdown(RUN, summary),
        "comparison in markdown": comparison_to_markdown(RUN, RUN, comparison),
        "gate in markdown": gate_to_markdown(RUN, summary, checks),
        "pages": "\n".join(describe_run(RUN, summary)),
    }


@pytest.mark.parametrize("surface", surfaces_of_a_verdict(judged(0.3)))
def test_a_verdict(surface: str) -> None:
    assert OF_ONE in surfaces_of_a_verdict(judged(0.3))[surface]
    for other in (0.5, 0.9, None):
        text = surfaces_of_a_verdict(judged(other))[surface].replace('"low_confidence":null', "")
        assert "low confidence (" not in text
        assert "low_confidence" not in text


@pytest.mark.parametrize("surface", surfaces_of_a_run(UNSURE))
def test_a_run(surface: str) -> None:
    assert OF_RUN in surfaces_of_a_run(UNSURE)[surface]
    assert "low confidence" not in surfaces_of_a_run(SURE)[surface]


def test_json_counts_them() -> None:
    summary = summarize(UNSURE)
    checks = check_gate(GateConditions(), RUN, summary)
    assert json.loads(summary_to_json(RUN, summary))["summary"]["low_confidence"] == 2
    compared = json.loads(comparison_to_json(RUN, RUN, compare(SURE, UNSURE)))
    assert compared["comparison"]["low_confidence"] == 2
    assert json.loads(gate_to_json(RUN, summary, checks))["low_confidence"] == 2


def test_a_gate_can_limit_them() -> None:
    summary = summarize(UNSURE)
    for most, held in ((2, True), (1, False)):
        *_, check = check_gate(GateConditions(max_low_confidence=most), RUN, summary)
        assert (check.held, check.told) == (held, "2 of 4 scored")
        assert check.condition == f"at most {most} with low confidence"


@pytest.mark.parametrize(
    ("judge", "better"),
    [("rules", "contract or audit"), ("contract", "audit"), ("audit", "contract")],
)
def test_the_judge_itself_is_not_named(judge: str, better: str) -> None:
    assert (
        format_low_confidence_count(1, 1, judge)
        == f"low confidence in 1 of 1 level: use --judge {better}"
    )
