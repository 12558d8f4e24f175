"""Verdicts as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from planproof.reports.json import brief, full, line
from tests.unit.reports.verdicts import SCORED, UNJUDGED


def test_brief_is_exactly_the_two_fields_of_the_specification() -> None:
    assert brief(SCORED) == json.dumps({"score": 0.25, "reason": SCORED.reason})
    assert json.loads(brief(UNJUDGED)) == {"score": None, "reason": "No plan was given."}


def test_full_and_line_say_the_same() -> None:
    assert json.loads(full(SCORED)) == json.loads(line(SCORED)) == SCORED.full()
    assert "\n" not in line(replace(SCORED, reason="two\nlines"))


def test_the_full_verdict_has_the_published_fields() -> None:
    verdict = json.loads(full(SCORED))
    assert list(verdict)[:7] == ["id", "outcome", "score", "level", "reason", "steps", "extras"]
    assert verdict["steps"][0]["evidence"] == [
        {"event": "e2", "pointer": "/e2", "quote": "get_order 5817"}
    ]
    assert verdict["extras"][0]["severity"] == "major"
    assert verdict["nearest_better"] == {"score": 0.5, "change": "if step 2 had been executed"}
    assert verdict["coverage"]["notes"] == ["L12: is no JSON"]


def test_any_text_can_be_written_to_any_stream() -> None:
    odd = replace(SCORED, reason="lone \ud800, bell \x07, \u202e and 日本語")
    assert full(odd).isascii()
    assert json.loads(full(odd))["reason"] == odd.reason
