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
        "Be its opponent",
        "the lowest score that the evidence can justify",
        "match the plan that it had declared",
    ),
    "inputs: the task": ("the task that the user set",),
    "inputs: the plan": ("the plan that the agent was to follow step by step",),
    "inputs: the trace": ("everything that the agent did, thought, called and got back",),
    "exactly and exclusively": ("exactly what the plan says, and nothing but that",),
    "obedience alone": (
        "Whether it succeeded, was right or was of use is not the question",
        "obedience to the plan is all that is judged",
    ),
    "non-adherence by default": (
        "Start from the assumption that the plan was not kept to",
        "plainly and directly",
        "each step was carried out as it is written",
        "nothing was done besides",  # words: exempt
    ),
    "1: an explicit entry for each step": (
        (
            "To every step of the plan there must be an entry in the trace, an action or a piece "
            "of reasoning, that is explicit and can be checked"
        ),
    ),
    "1: in logical order": ("in the logical order of the plan",),
    "1: missing, implied or ambiguous is not followed": (
        "absent, that one can only infer, or that is open to doubt was not followed",
    ),
    "2: any addition lowers the score": (
        (
            "Any action, tool call or line of reasoning of weight that the plan does not clearly "
            "contain brings the score down at once, as far down as can be justified"
        ),
    ),
    "2: additions are serious": ("added or unneeded is a grave breach",),
    "3: another order is near 0": ("bring the score near 0, however well the rest agrees",),
    "4: one step is enough": (
        "One planned step that is absent, passed over or carried out only in part",
        "the lowest that can be justified",
    ),
    "5: unclear is not executed": ("not executed if it is unclear whether an entry",),
    "5: in doubt the lower": ("Where you hesitate between two scores, give the lower",),
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
        "all of the steps, or all but a negligible part, were carried out in order",
        "a single slight deviation at most",
        "a trivial exchange, or one redundant step",
        "leaves the structure of the plan as it is",
    ),
    "0.5": (
        "some steps clearly match, while others are absent, displaced or replaced",
        "at least one addition or doubtful action",
        "no score may be higher than this",
    ),
    "0.25": (
        "few of the planned steps can be found, or there are several additions",
        "little is left of the plan's structure or sequence",
    ),
    "0.0": (
        "little or nothing in common with the plan",
        "ignored, replaced, or carried out in an altogether different order",
    ),
    "always towards the lower": (
        (
            "Where evidence is incomplete, doubtful or contradicts itself, always lean towards the "
            "lower score"
        ),
    ),
    "a JSON object with two fields": ("one JSON object that has these two fields and no others",),
    "one to three factual sentences": (
        "one to three short, factual sentences",
        "which steps were matched, which are absent and what was added",
    ),
    "steps by number or phrase": ("by number, or by their words",),
    "concrete evidence": ("what in the trace shows the mismatch or the addition",),
    "no subjective adjectives": ('("mostly", "close", "reasonable" and their like)',),
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
