"""What a compiler understood of a plan, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from planproof.contracts.contract_validation import highest_score
from planproof.contracts.requirement_text import describe_step
from planproof.reports.terminal.lines import WIDTH, wrap_text
from planproof.reports.wording import TextSanitizer, format_cost

if TYPE_CHECKING:
    from planproof.llm.compile import CompiledContract

_MAX_TEXT_LENGTH = 1_000


def format_compiled(compiled: CompiledContract, show: TextSanitizer) -> Iterator[str]:
    """Format what each step requires, what is doubted, and the highest score a run can reach."""
    contract = compiled.contract
    widest = max(len(step.number) for step in contract.steps)
    indent = " " * (widest + 4)
    for step in contract.steps:
        yield from _wrap(f"  {show(step.number):>{widest}}  {show(step.text)}", indent)
        for line in describe_step(step):
            yield from _wrap(f"{indent}{show(line)}", f"{indent}  ")
    if compiled.doubts:
        yield "to review"
        for doubt in compiled.doubts:
            yield from _wrap(f"  {show(doubt)}", "    ")
    highest = highest_score(contract)
    if highest < 1:
        yield f"highest score that a run can reach: {highest:g} (steps that can't be checked)"
    yield f"cost: {format_cost(compiled.usage)}"


def _wrap(text: str, indent: str) -> list[str]:
    """Wrap a line; its own leading spaces stay."""
    bare = text.lstrip()
    lead = text[: len(text) - len(bare)]
    return wrap_text(bare[:_MAX_TEXT_LENGTH], WIDTH, lead, indent)
