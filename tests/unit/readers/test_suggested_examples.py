"""Suggested profiles on runs of tools that no reader knows (examples/unlisted).

All of them record the same seven calls. The figures are facts, and are in docs/profiles.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.profile_files import read_profiles
from planproof.readers.profile_trial import try_profile
from planproof.readers.suggestion.profile_suggestion import suggest_profile
from tests.golden_files import ROOT

FOLDER = ROOT / "examples" / "unlisted"
CALLS: list[dict[str, Any]] = json.loads((FOLDER / "calls.json").read_bytes())
# How many of the calls, and of their results, a profile suggested by shape alone reads.
DEVELOPMENT = {
    "agno": (7, 7),
    "genkit": (7, 7),
    "griptape": (7, 0),
    "griptape-log": (7, 6),
    "haystack": (7, 7),
    "semantic-kernel": (7, 7),
}
HELD_OUT = {
    "agentscope": (7, 7),
    "beeai": (0, 0),
    "llm": (7, 0),
    "mastra": (7, 7),
    "strands": (7, 7),
}
# The name of the tool of which the five functions are activities.
GRIPTAPE_TOOL = "Desk"


def _source(name: str) -> Source:
    (file,) = (FOLDER / name).glob("trace.*")
    return Source.from_path(file)


def _count(trace: Trace) -> tuple[int, int, int]:
    """Return how many calls and results are read as they were made, and how many calls in all."""
    left = list(CALLS)
    results = 0
    actions = [event for event in trace.events if event.kind is Kind.ACTION]
    for event in actions:
        for call in left:
            if event.arguments == call["arguments"] and event.name in (call["name"], GRIPTAPE_TOOL):
                left.remove(call)
                results += call["output"] in event.output
                break
    return len(CALLS) - len(left), results, len(actions)


def test_every_example_is_counted() -> None:
    assert sorted(DEVELOPMENT | HELD_OUT) == sorted(
        script.parent.name for script in FOLDER.glob("*/make.py")
    )


@pytest.mark.parametrize("name", DEVELOPMENT | HELD_OUT)
def test_by_shape_alone(name: str) -> None:
    calls, results = (DEVELOPMENT | HELD_OUT)[name]
    suggestion = suggest_profile(_source(name))
    assert _count(suggestion.trace) == (calls, results, calls), suggestion.text
    assert suggestion.trial.is_detected


@pytest.mark.parametrize("name", HELD_OUT)
def test_by_a_careful_reader_of_the_question(name: str) -> None:
    (reader,) = read_profiles([Path(FOLDER / name / "profile.yaml")])
    trial = try_profile(reader, _source(name))
    calls, results, read = _count(trial.trace)
    assert (calls, read, trial.unread) == (7, 7, 0)
    # Two results of the same tool at once have nothing that tells whose they are.
    assert results == (5 if name == "beeai" else 7)
    assert trial.is_detected
