"""Runs as Markdown: complete, short enough for a comment, and nothing in it but planproof's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from planproof.core.usage import Usage
from planproof.core.verdict import Measures, Verdict
from planproof.reports.markdown import (
    comparison_to_markdown,
    gate_to_markdown,
    summary_to_markdown,
)
from planproof.runs.compare import compare
from planproof.runs.gate import GateCheck, GateConditions, check_gate
from planproof.runs.summary import summarize
from tests.run_builders import (
    RUN,
    failed_verdict,
    make_results,
    make_scored_results,
    result,
    verdict_with,
)
from tests.unit.finding_builders import findings
from tests.unit.reports.hostile_text import HOSTILE

_RENDERER = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
OTHER = replace(RUN, id="20260102-030000-def456")


def test_a_run() -> None:
    cost = Usage(calls=1, tokens_in=10, tokens_out=2)
    run = make_results(
        {
            "a": verdict_with(findings("EE")),
            "b": verdict_with(findings("EL")),
            "c": failed_verdict(cost=cost),
        }
    )
    text = summary_to_markdown(RUN, summarize(run))
    assert text.startswith("### planproof: mean 0.750 over 2 scored cases\n\n1 of 2 at 0.75")
    assert "| 0.5 | partial adherence | 1 | ████████████████████ |" in text
    assert "| 0.25 | weak adherence | 0 |  |" in text
    assert "| judge&#95;failed | 1 |" in text
    assert "| Do thing 2 | 1 of 2 | 1 missing |" in text
    assert "| 0.5 | <code>b</code> | It scores 0.5. |" in text
    assert "| <code>c</code> | It could not be judged. |" in text
    assert "model usage: 1 call, 10 input tokens, 2 output tokens, price unknown</sub>" in text
    assert _RENDERER.render(text).count("<table>") == 5


def test_measures_of_runs_and_their_changes() -> None:
    whole, half = (
        replace(verdict_with(findings("E")), measures=Measures(step_share=share, order_share=None))
        for share in (1.0, 0.5)
    )
    text = summary_to_markdown(RUN, summarize(make_results({"a": whole, "b": half})))
    assert "\n\nMean shares: steps executed 0.750.\n\n" in text
    comparison = compare(make_results({"a": whole}), make_results({"a": half}))
    changes = comparison_to_markdown(RUN, OTHER, comparison)
    assert "Mean shares: steps executed 1.000 → 0.500." in changes


def test_a_run_without_scores() -> None:
    assert summary_to_markdown(RUN, summarize([])) == (
        "### planproof: 0 cases, none with a score\n\n"
        "<sub>20260101-030000-abc123  finished  rules  cases.jsonl  branch=main</sub>\n"
    )


def test_a_comparison() -> None:
    base = make_results(
        {"a": verdict_with(findings("EE")), "b": verdict_with(findings("EL")), "c": 1.0, "d": 1.0}
    )
    new = make_results(
        {"a": verdict_with(findings("EL")), "b": verdict_with(findings("EE")), "c": None, "e": 1.0}
    )
    text = comparison_to_markdown(RUN, OTHER, compare(base, new))
    assert text.startswith(
        "### planproof: 1 better, 1 worse, 0 the same\n\n"
        "Mean 0.750 → 0.750, change +0.000, 95 % interval -0.500 to +0.500.<br>"
        "At 0.75 or above: 0 in both, 1 no longer, 1 newly, 0 in neither.<br>"
        "Change of the pass rate: not significant (McNemar's exact test, p = 1).\n\n"
        "Not compared: 1 no longer scored, 1 only in the base, 1 only in the new run.\n\n"
    )
    assert "| Do thing 2 | 1 of 1 | 1 missing |" in text
    assert "| 1.0 → 0.5 | <code>a</code> | step 2 missing |" in text
    assert "| 0.5 → 1.0 | <code>b</code> | It scores 1.0. |" in text
    assert "| 1.0 → none | <code>c</code> | It could not be judged. |" in text
    assert "new: 20260102-030000-def456" in text.replace("&#58;", ":")
    assert _RENDERER.render(text).count("<table>") == 4


def test_a_comparison_of_what_was_judged_differently_warns() -> None:
    text = comparison_to_markdown(RUN, replace(OTHER, fingerprint="g"), compare([], []))
    assert "No case has a score in both runs." in text
    assert "⚠️ The runs were judged with different settings" in text


def test_many_changes_still_make_a_comment() -> None:
    name = "x" * 500
    base = make_results({f"{name}{n}": 1.0 for n in range(2_000)})
    new = make_results({f"{name}{n}": verdict_with(findings("L" * 60)) for n in range(2_000)})
    text = comparison_to_markdown(RUN, OTHER, compare(base, new))
    assert "|  | and 1,980 more |  |" in text
    assert len(text) < 65_536  # what a comment may have at the most


def test_a_gate() -> None:
    summary = summarize(make_scored_results([1.0, None]))
    text = gate_to_markdown(RUN, summary, check_gate(GateConditions(min_mean=0.9), RUN, summary))
    assert text.startswith(
        "### planproof: gate failed\n\n|  | condition | found |\n|---|---|---|\n"
    )
    assert "| ✅ | mean score at least 0.9 | 1.0000 over 1 scored |" in text
    assert "| ❌ | at most 0 unscored | 1 of 2; 1 judge&#95;failed |" in text
    held = (GateCheck("a", held=True, told="b"),)
    assert gate_to_markdown(RUN, summary, held).startswith("### planproof: gate passed")


Report = Callable[[str], str]


def _hostile(text: str) -> Verdict:
    verdict = replace(verdict_with(findings("EL")), reason=text)
    steps = tuple(replace(step, text=text, number=text) for step in verdict.steps)
    return replace(verdict, steps=steps)


def _render_summary(text: str) -> str:
    run = [
        result(0, _hostile(text), id=text),
        result(1, replace(failed_verdict(cause=text), reason=text)),
    ]
    return summary_to_markdown(replace(RUN, source=text, tags={text: text}), summarize(run))


def _render_comparison(text: str) -> str:
    executed = _hostile(text)
    executed = replace(
        executed, score=1.0, steps=(executed.steps[0], replace(executed.steps[0], number="2"))
    )
    base = [result(0, executed, id=text), result(1, _hostile(text), id=f"{text}2")]
    new = [result(0, _hostile(text), id=text), result(1, executed, id=f"{text}2")]
    run = replace(RUN, source=text)
    return comparison_to_markdown(run, run, compare(base, new))


def _render_gate(text: str) -> str:
    summary = summarize([result(0, failed_verdict(cause=text))])
    return gate_to_markdown(
        replace(RUN, source=text), summary, check_gate(GateConditions(), RUN, summary)
    )


@pytest.mark.parametrize("report", [_render_summary, _render_comparison, _render_gate])
@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_a_case_stays_text(report: Report, text: str) -> None:
    shown, harmless = _RENDERER.render(report(text)), _RENDERER.render(report("harmless"))
    tags = re.compile(r"</?\w+")
    assert tags.findall(shown) == tags.findall(harmless)


def test_secrets_are_masked_unless_asked_for() -> None:
    token = "sk-" + "a1" * 20
    run = [result(0, replace(verdict_with(findings("EL")), reason=token), id="a")]
    assert token not in summary_to_markdown(RUN, summarize(run))
    assert token in summary_to_markdown(RUN, summarize(run), secrets=True)
    changed = compare(make_results({"a": 1.0}), run)
    assert token not in comparison_to_markdown(RUN, RUN, changed)
    assert token in comparison_to_markdown(RUN, RUN, changed, secrets=True)
