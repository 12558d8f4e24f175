"""Markdown for a comment: complete, and nothing in it but what planproof put there."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from planproof.core.finding import Status
from planproof.core.verdict import Coverage
from planproof.reports.markdown import verdict_to_markdown
from tests.unit.reports.hostile_text import HOSTILE
from tests.unit.reports.verdicts import SCORED, UNJUDGED, extra, step

_RENDERER = MarkdownIt("gfm-like", {"linkify": False}).enable("table")


def test_everything_that_was_found_is_shown() -> None:
    text = verdict_to_markdown(SCORED)
    assert text.startswith("### planproof: 0.25, weak adherence\n\nCase <code>case-7</code>\n\n")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[1:3] for row in rows[1:]] == [
        ["**1** Look up order 5817", "executed"],
        ["**2** Check the policy<br>claimed in e9", "missing"],
        ["**5** Close the ticket", "out of order"],
        ["calls other, which no step names", "major extra"],
        ["calls other, which no step names", "minor extra"],
        ["**3** Refund the order", "partial"],
        ["**4** Tell the customer", "ambiguous"],
    ]
    assert "**0.5** if step 2 had been executed" in text
    assert "9 of 9 events read by openai-messages, 1 part of the trace skipped" in text
    assert "L12: truncated or invalid JSON" in text


def test_low_confidence_names_other_judges() -> None:
    notice = "low confidence (49%): use --judge contract or audit"
    assert verdict_to_markdown(replace(SCORED, confidence=0.49)).count(notice) == 1
    assert "low confidence" not in verdict_to_markdown(replace(SCORED, confidence=0.5))


def test_it_renders_as_one_table() -> None:
    html = _RENDERER.render(verdict_to_markdown(SCORED))
    assert html.count("<table>") == 1
    assert html.count("<tr>") == 8
    assert "<strong>0.5</strong> if step 2" in html


def test_a_case_that_could_not_be_judged_says_why() -> None:
    assert verdict_to_markdown(UNJUDGED) == (
        "### planproof: not judged: there is no plan\n\nCase <code>case-8</code>\n\n"
        "No plan was given.\n"
    )


def test_parents_and_waived_steps_have_no_mark() -> None:
    steps = (
        step("1", Status.EXECUTED),
        replace(step("1.1", Status.EXECUTED, "e1"), parent="1"),
        replace(step("2", Status.MISSING), waived=True),
    )
    text = verdict_to_markdown(replace(SCORED, steps=steps, extras=(), coverage=None, id=None))
    assert "|  | **1** Do it |  |  |" in text
    assert "|  | **2** Do it | left out |  |" in text
    assert "events read" not in text
    assert "Case" not in text


def test_long_verdicts_are_shortened() -> None:
    steps = tuple(step(str(n), Status.EXECUTED, "e1", "e2", "e3", "e4") for n in range(300))
    text = verdict_to_markdown(
        replace(SCORED, steps=steps, extras=(extra("e2", quote="x" * 10_000),))
    )
    assert "| | and 101 more | | |" in text
    assert "and 1 more" in text
    assert "x" * 300 not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_the_case_stays_text(text: str) -> None:
    hostile = replace(
        SCORED,
        id=text,
        reason=text,
        steps=(replace(step(text, Status.PARTIAL, text, text=text, quote=text), note=text),),
        extras=(replace(extra("e2", quote=text), what=text),),
        coverage=Coverage(reader=text, events=1, notes=(text,)),
    )
    shown = _RENDERER.render(verdict_to_markdown(hostile))
    harmless = _RENDERER.render(verdict_to_markdown(SCORED))
    assert set(re.findall(r"</?\w+", shown)) <= set(re.findall(r"</?\w+", harmless))
    assert shown.count("<tr>") == 3


def test_nobody_is_called_and_nothing_is_linked() -> None:
    text = verdict_to_markdown(replace(SCORED, reason="ask @octocat about org/repo#12"))
    shown = _RENDERER.render(text)
    assert "@octocat" not in shown
    assert "repo#12" not in shown


def test_secrets_are_masked_unless_asked_for() -> None:
    token = "sk-" + "a1" * 20
    verdict = replace(SCORED, reason=f"It used {token}.")
    assert token not in verdict_to_markdown(verdict)
    assert token in verdict_to_markdown(verdict, secrets=True)
