"""The picture in a terminal: complete, 80 columns wide, and harmless."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from planproof.core.finding import Severity, Status
from planproof.core.verdict import Coverage, JudgeSummary, Verdict
from planproof.reports.terminal.verdict_lines import render_verdict
from planproof.reports.wording import LEVEL_LABELS
from tests.unit.reports.verdicts import SCORED, UNJUDGED, extra, step


def _render(verdict: Verdict, *, colour: bool = False, secrets: bool = False) -> str:
    stream = io.StringIO()
    colours = "truecolor" if colour else None
    console = Console(file=stream, width=80, force_terminal=colour, color_system=colours)
    console.print(render_verdict(verdict, secrets=secrets))
    return stream.getvalue()


def test_everything_that_was_found_is_shown() -> None:
    lines = [line.rstrip() for line in _render(SCORED).splitlines()]
    assert lines[1:] == [
        "  ┏━┓   ╺━┓ ┏━╸    weak adherence",
        "  ┃ ┃   ┏━┛ ┗━┓    1 of 5 steps executed, 1 partial, 1 missing, 1 ambiguous, 1",
        "  ┗━┛ ▖ ┗━╸ ╺━┛    out of order, 1 major extra, 1 minor extra",
        "                   case-7",
        "",
        "  Step 2 is missing. e4 calls other, which no step names.",
        "",
        "     ✓ 1 Look up order 5817                                           executed",
        "  e2     get_order 5817",
        "     ✗ 2 Check the policy                                              missing",
        "         claimed in e9",
        "     ⇅ 5 Close the ticket                                         out of order",
        "  e3     close_ticket",
        "  e4 +   calls other, which no step names                          major extra",
        "         other {}",
        "  e5 +   calls other, which no step names                          minor extra",
        "         other {}",
        "     ◐ 3 Refund the order                                              partial",
        "         confidence 50%",
        "  e6     do_it {}",
        "     ? 4 Tell the customer                                           ambiguous",
        "  e7     do_it {}",
        "",
        "  → 0.5 if step 2 had been executed",
        "  9 of 9 events read by openai-messages, 1 part of the trace skipped, judged",
        "  by rules",
        "  · L12: truncated or invalid JSON",
        "",
    ]


def test_low_confidence_names_other_judges_once() -> None:
    low = _render(replace(SCORED, confidence=0.49))
    assert low.count("low confidence (49%): use --judge contract or audit") == 1
    audited = replace(SCORED, confidence=0.4, judge=JudgeSummary(name="audit", fingerprint="f"))
    assert "low confidence (40%): use --judge contract\n" in re.sub(" +\n", "\n", _render(audited))
    for confidence in (None, 0.5, 0.9):
        assert "low confidence" not in _render(replace(SCORED, confidence=confidence))


def test_a_case_that_could_not_be_judged_says_why() -> None:
    drawn = _render(UNJUDGED)
    assert "not judged: there is no plan" in drawn
    assert "No plan was given." in drawn
    assert "events read" not in drawn


@pytest.mark.parametrize("level", LEVEL_LABELS)
def test_each_level_has_its_words_and_its_colour(level: float) -> None:
    drawn = _render(replace(SCORED, score=level, level=level), colour=True)
    assert LEVEL_LABELS[level] in drawn
    others = [
        _render(replace(SCORED, score=other, level=other), colour=True).split("┏")[0]
        for other in LEVEL_LABELS
        if other != level
    ]
    assert drawn.split("┏")[0] not in others


def test_a_score_between_the_anchors_is_shown_as_given() -> None:
    drawn = _render(replace(SCORED, score=0.9346, level=0.75))
    assert "┏━┓   ┏━┓ ╺━┓" in drawn


def test_parents_and_waived_steps_are_shown_but_not_counted() -> None:
    steps = (
        step("1", Status.EXECUTED),
        replace(step("1.1", Status.EXECUTED, "e1"), parent="1"),
        replace(step("2", Status.MISSING), waived=True),
    )
    drawn = _render(replace(SCORED, steps=steps, extras=()))
    assert "1 of 1 step executed" in drawn
    assert "○   2 Do it" in drawn
    assert "left out" in drawn


def test_long_things_are_shortened() -> None:
    steps = (
        step("1", Status.EXECUTED, *(f"e{n}" for n in range(1, 8)), text="word " * 200),
        step("2", Status.EXECUTED, "e9", quote="x" * 1_000_000),
    )
    extras = tuple(extra(f"e{n}") for n in range(20, 40))
    drawn = _render(replace(SCORED, steps=steps, extras=extras))
    assert "and 4 more" in drawn
    assert "and 15 more extras, up to e39" in drawn
    assert len(drawn) < 6_000


@pytest.mark.parametrize("colour", [True, False])
def test_no_line_is_wider_than_the_terminal(colour: bool) -> None:
    wide = step("1", Status.EXECUTED, "e1", text="日本語" * 50, quote="日本語" * 200)
    drawn = _render(replace(SCORED, steps=(wide,), id="i" * 500), colour=colour)
    assert max(Text.from_ansi(line).cell_len for line in drawn.splitlines()) <= 80


HOSTILE = "[bold red]x[/bold red] \x1b[2J\x1b]8;;http://evil\x07 \u202e gnp.exe \r overwritten"


def test_text_from_the_case_can_neither_style_nor_steer_the_terminal() -> None:
    hostile = Verdict(
        outcome=SCORED.outcome,
        score=0.5,
        level=0.5,
        id=HOSTILE,
        reason=HOSTILE,
        steps=(replace(step(HOSTILE, Status.PARTIAL, "e1", text=HOSTILE), note=HOSTILE),),
        extras=(replace(extra("e2", Severity.MINOR, HOSTILE), what=HOSTILE),),
        coverage=Coverage(reader=HOSTILE, events=1, notes=(HOSTILE,)),
    )
    drawn = _render(hostile)
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert "\r" not in drawn
    assert "[bold red]x[/bold red]" in drawn


def test_secrets_are_masked_unless_asked_for() -> None:
    token = "sk-" + "a1" * 20
    verdict = replace(SCORED, reason=f"It used {token}.", steps=(), extras=())
    assert token not in _render(verdict)
    assert token in _render(verdict, secrets=True)
