"""Steps and extras in one list, in the order in which they happened."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planproof.core.finding import Evidence, Extra, StepFinding
from planproof.core.verdict import Verdict

_ID = re.compile(r"e([0-9]{1,18})")
_NUMBERS = re.compile(r"[0-9]{1,18}")


def order_by_time(verdict: Verdict) -> list[StepFinding | Extra]:
    """Each step stands where it began; one that never began stands after its forerunner."""
    ordered = [
        (moment, index, finding)
        for index, (moment, finding) in enumerate(
            [
                *_locate_steps(verdict.steps),
                *((_event_position(extra), extra) for extra in verdict.extras),
            ]
        )
    ]
    ordered.sort(key=lambda entry: entry[:2])
    return [finding for _, _, finding in ordered]


def _locate_steps(steps: Sequence[StepFinding]) -> list[tuple[tuple[int, ...], StepFinding]]:
    moments: list[tuple[tuple[int, ...], StepFinding]] = []
    latest: tuple[int, ...] = ()
    for step in steps:
        if step.evidence:
            latest = _event_position(step.evidence[0])
        moments.append((latest, step))
    # A parent opens with the first of its refinements; going backwards, they are placed already.
    opens: dict[str, tuple[int, ...]] = {}
    for index in range(len(moments) - 1, -1, -1):
        moment, step = moments[index]
        if not step.evidence and step.number in opens:
            moment = opens[step.number]
            moments[index] = (moment, step)
        if step.parent is not None:
            opens[step.parent] = min(moment, opens.get(step.parent, moment))
    return moments


def _event_position(evidence: Evidence | Extra) -> tuple[int, ...]:
    # Ids that planproof gave count the events; others say nothing, but their places in the file do.
    match = _ID.fullmatch(evidence.event)
    return tuple(map(int, match.groups() if match else _NUMBERS.findall(evidence.pointer)))
