"""Overlapping windows of a trace that is too long to be read at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planproof.core.trace import Trace

if TYPE_CHECKING:
    from planproof.llm.prompting.case_prompt import CasePrompt

_OVERLAP_DIVISOR = 20
_MAX_OVERLAP = 25


def split_into_windows(
    trace: Trace, write: Callable[[Trace], CasePrompt]
) -> tuple[CasePrompt, ...]:
    """The trace written in as few windows as it takes, each of which fits.

    Neighbours share some events, so that what belongs together is seen together at least once.
    When not even single events fit, what does not fit is returned as it is.
    """
    number = 1
    while True:
        written: list[CasePrompt] = []
        for part in _split_trace(trace, number):
            written.append(write(part))
            if not written[-1].within_budget and number < len(trace.events):
                break  # no need to write the others: more windows are needed
        else:
            return tuple(written)
        number = min(number + -(-number // 2), len(trace.events))


def _split_trace(trace: Trace, number: int) -> list[Trace]:
    events = trace.events
    size = max(1, -(-len(events) // number))
    overlap = min(_MAX_OVERLAP, size // _OVERLAP_DIVISOR) if number > 1 else 0
    return [
        Trace(events[max(0, start - overlap) : start + size + overlap], trace.reader)
        for start in range(0, len(events), size)
    ] or [trace]
