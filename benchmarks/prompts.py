"""How long the question is that a model is asked, and that no event is missing in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.cases import GeneratedCase, generate
from benchmarks.measure import Row
from planproof.core.content import Content
from planproof.core.judge import Asking
from planproof.llm.prompting.case_prompt import CaseWriter, WrittenCase
from planproof.llm.prompting.templates import render
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

SIZES = ((10, 50, 15_000), (50, 500, 100_000), (100, 5_000, Asking().budget))
"""Steps, events, and the most characters."""
_IDS = re.compile(r"^((?:e\d+(?:-e\d+)? )+)", re.MULTILINE)


def prompt_characters() -> Iterator[Row]:
    """The characters of a question of the judge `prompt` against what it may take."""
    for steps, events, most in SIZES:
        case = generate(steps=steps, events=events)
        instructions = render("prompt.jinja", images=False, mark="")
        written = question(case, instructions)
        text = "".join(map(str, written.parts))
        if ids_in(text) != set(written.events) or len(written.events) != events:
            raise RuntimeError(f"of {events:,} events some are not named in the prompt")
        length = len(instructions) + len(text)
        yield Row(
            f"prompt, {steps} steps x {events:,} events / budget",
            f"{length:,} characters",
            f"{most:,} (trace {len(case.trace):,})",
            length / most,
            1.0,
        )


def question(case: GeneratedCase, instructions: str) -> WrittenCase:
    """The case as it is written for a model."""
    trace = read_trace(Source.of_text(case.trace))
    writer = CaseWriter(Content(case.task), parse_plan(case.plan), trace, budget=Asking().budget)
    return writer.whole(instructions)


def ids_in(text: str) -> set[str]:
    """Every id that begins a line, ranges written out."""
    found: set[str] = set()
    for heads in _IDS.findall(text):
        for each in heads.split():
            first, _, last = each.partition("-")
            numbers = range(int(first[1:]), int((last or first)[1:]) + 1)
            found.update(f"e{number}" for number in numbers)
    return found
