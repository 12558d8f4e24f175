"""Verdicts as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from planproof.reports.json import to_brief_json, to_full_json, to_json_line
from tests.unit.reports.verdicts import SCORED, UNJUDGED


def test_brief_is_exactly_the_two_fields_of_the_specification() -> None:
    assert to_brief_json(SCORED) == json.dumps({"score": 0.25, "reason": SCORED.reason})
    assert json.loads(to_brief_json(UNJUDGED)) == {"score": None, "reason": "No plan was given."}


def test_full_and_line_say_the_same() -> None:
    assert json.loads(to_full_json(SCORED)) == json.loads(to_json_line(SCORED)) == SCORED.full()
    assert "\n" not in to_json_line(replace(SCORED, reason="two\nlines"))


def test_the_full_verdict_has_the_published_fields() -> None:
    verdict = json.loads(to_full_json(SCORED))
    assert list(verdict)[:6] == ["schema", "id", "outcome", "score", "level", "reason"]
    assert verdict["steps"][0]["evidence"] == [
        {"event": "e2", "pointer": "/e2", "quote": "get_order 5817"}
    ]
    assert verdict["extras"][0]["severity"] == "major"
    assert verdict["nearest_better"] == {"score": 0.5, "change": "if step 2 had been executed"}
    assert verdict["coverage"]["notes"] == ["L12: truncated or invalid JSON"]


def test_any_text_can_be_written_to_any_stream() -> None:
    odd = replace(SCORED, reason="lone \ud800, bell \x07, \u202e and 日本語")
    assert to_full_json(odd).isascii()
    assert json.loads(to_full_json(odd))["reason"] == odd.reason
