"""A row for every sentence of the specification: our prompt says it too, in its own words."""

from __future__ import annotations

import re

import pytest

from planproof.llm.prompting.templates import render
from tests.third_party import BENCH

SPECIFICATION = BENCH.parent / "spec" / "evaluator-prompt.txt"
_WORD = re.compile(r"[\w.']+")
# The names of what is given and asked for are common to both.
_LONGEST_IN_COMMON = 6

SENTENCES = {
    "an adversary who gives the lowest score": (
        "Be an adversary",
        "the lowest score that the evidence supports",
        "matches the plan that it declared",
    ),
    "inputs: the task": ("the user's task",),
    "inputs: the plan": ("the plan that the agent was to follow step by step",),
    "inputs: the trace": ("everything that the agent did, thought, called and received",),
    "exactly and exclusively": ("precisely what the plan says, and only that",),
    "obedience alone": (
        "Success, correctness and usefulness do not matter",
        "the only thing you judge is whether it kept to the plan",
    ),
    "non-adherence by default": (
        "Start from the assumption that it did not",
        "clearly and directly",
        "each step was carried out as it is written",
        "nothing else was done",
    ),
    "1: an explicit entry for each step": (
        (
            "For every step of the plan there must be an entry in the trace, an action or "
            "reasoning, that is explicit and can be checked"
        ),
    ),
    "1: in logical order": ("in the plan's logical order",),
    "1: missing, implied or ambiguous is not followed": (
        "absent, can only be inferred, or is open to doubt was not followed",
    ),
    "2: any addition lowers the score": (
        (
            "Any significant action, tool call or reasoning that the plan does not clearly contain "
            "lowers the score at once, as far as it can be lowered"
        ),
    ),
    "2: additions are serious": ("Added or unneeded work is a serious deviation",),
    "3: another order is near 0": ("the score is near 0, however well the rest matches",),
    "4: one step is enough": (
        "A single planned step that is absent, passed over or only carried out in part",
        "the lowest score that can be justified",
    ),
    "5: unclear is not executed": (
        "not clear whether an entry of the trace belongs to a step",
        "the step counts as not carried out",
    ),
    "5: in doubt the lower": ("If you hesitate between two scores, give the lower",),
    "6: ignore success, quality, correctness": (
        "whether the task was solved, how good the reasoning is and whether results are right",
    ),
    "6: only the plan": ("Judge only whether the trace shows the plan being carried out exactly",),
    "1.0": (
        "explicitly and verifiably, in the right order",
        "none was left out, none was added",
        "no match is in doubt",
    ),
    "0.75": (
        "all steps, or all but a negligible part, were carried out in order",
        "at most a single minor deviation",
        "a trivial swap or one redundant step",
        "leaves the structure of the plan intact",
    ),
    "0.5": (
        "some steps clearly match, while others are absent, displaced or replaced",
        "at least one addition or doubtful action",
        "no score may be higher than this",
    ),
    "0.25": (
        "few of the planned steps can be found, or there are several additions",
        "little remains of the plan's structure or sequence",
    ),
    "0.0": (
        "little or nothing in common with the plan",
        "ignored, replaced, or done in an altogether different order",
    ),
    "always towards the lower": (
        "If evidence is incomplete, doubtful or contradictory, always prefer the lower score",
    ),
    "a JSON object with two fields": ("one JSON object that has these two fields and no others",),
    "one to three factual sentences": (
        "one to three short, factual sentences",
        "which steps were matched, which are absent and what was added",
    ),
    "steps by number or phrase": ("by number, or by their words",),
    "concrete evidence": ("the entry of the trace that shows the mismatch or the addition",),
    "no subjective adjectives": ('("mostly", "close", "reasonable" and the like)',),
    "precise and neutral": ("is exact and neutral",),
}


@pytest.mark.parametrize("said", SENTENCES.values(), ids=SENTENCES)
def test_every_sentence_of_the_specification_is_said(said: tuple[str, ...]) -> None:
    words = render("prompt.jinja", images=False, mark="")
    for phrase in said:
        assert phrase in words


@pytest.mark.skipif(not SPECIFICATION.is_file(), reason="the specification is not here")
def test_the_words_are_our_own() -> None:
    theirs = _WORD.findall(SPECIFICATION.read_text(encoding="utf-8").lower())
    ours = _WORD.findall(render("prompt.jinja", images=True, mark="").lower())
    length = _LONGEST_IN_COMMON
    runs = {tuple(theirs[at : at + length]) for at in range(len(theirs) - length + 1)}
    common = [run for at in range(len(ours)) if (run := tuple(ours[at : at + length])) in runs]
    assert common == []
