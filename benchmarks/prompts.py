"""Measure the length of prompts, and check that they contain every event."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.cases import GeneratedCase, generate_case
from benchmarks.measure import BenchmarkRow
from planproof.core.content import Content
from planproof.core.judge import ModelOptions
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.cascade import Cascade
from planproof.llm.open_judge import UnopenedModel
from planproof.llm.prompting.case_prompt import CasePrompt, CaseWriter, count_characters
from planproof.llm.prompting.templates import render
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace

PROMPT_SIZES = ((10, 50, 15_000), (50, 500, 100_000), (100, 5_000, ModelOptions().budget))
"""Steps, events, and the character budget."""
CASCADE_SIZES = ((20, 200), (50, 500), (100, 5_000))
"""Steps and events of the traces on which `cascade` must send at most half of `audit`."""
_LINE_IDS = re.compile(r"^((?:e\d+(?:-e\d+)? )+)", re.MULTILINE)


def measure_prompt_length() -> Iterator[BenchmarkRow]:
    """Yield rows for the length of the prompts of the judge `prompt`, against the budget."""
    for steps, events, most in PROMPT_SIZES:
        case = generate_case(steps=steps, events=events)
        instructions = render("prompt.jinja", images=False, mark="")
        case_prompt = write_case_prompt(case, instructions)
        text = "".join(map(str, case_prompt.parts))
        if find_event_ids(text) != set(case_prompt.events) or len(case_prompt.events) != events:
            raise RuntimeError(f"of {events:,} events some are not named in the prompt")
        length = len(instructions) + len(text)
        yield BenchmarkRow(
            f"prompt, {steps} steps x {events:,} events / budget",
            f"{length:,} characters",
            f"{most:,} (trace {len(case.trace):,})",
            length / most,
            1.0,
        )


def measure_cascade_length() -> Iterator[BenchmarkRow]:
    """Yield rows for the length of the questions of `cascade` on long traces, against `audit`."""
    for steps, events in CASCADE_SIZES:
        case = generate_case(steps=steps, events=events)
        plan, trace = parse_plan(case.plan), read_trace(Source.from_text(case.trace))
        lengths = [
            sum(
                count_characters(question)
                for question in make(Vocabulary(), UnopenedModel("none"), ModelOptions()).questions(
                    Content(case.task), plan, trace
                )
            )
            for make in (Cascade, Audit)
        ]
        yield BenchmarkRow(
            f"cascade, {steps} steps x {events:,} events / audit",
            f"{lengths[0]:,} characters",
            f"{lengths[1]:,}",
            lengths[0] / lengths[1],
            0.5,
        )


def write_case_prompt(case: GeneratedCase, instructions: str) -> CasePrompt:
    """Return the case as written for a model."""
    trace = read_trace(Source.from_text(case.trace))
    writer = CaseWriter(
        Content(case.task), parse_plan(case.plan), trace, budget=ModelOptions().budget
    )
    return writer.write_whole(instructions)


def find_event_ids(text: str) -> set[str]:
    """Return every event id at the start of a line, with ranges expanded."""
    ids: set[str] = set()
    for heads in _LINE_IDS.findall(text):
        for id_range in heads.split():
            first, _, last = id_range.partition("-")
            numbers = range(int(first[1:]), int((last or first)[1:]) + 1)
            ids.update(f"e{number}" for number in numbers)
    return ids
