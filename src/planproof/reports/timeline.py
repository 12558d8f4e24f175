"""Timeline of a verdict: steps and extras in one list, in time order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planproof.core.finding import Evidence, Extra, StepFinding
from planproof.core.verdict import Verdict

_ID = re.compile(r"e([0-9]{1,18})")
_NUMBERS = re.compile(r"[0-9]{1,18}")


def order_by_time(verdict: Verdict) -> list[StepFinding | Extra]:
    """Sort steps by their first event; a step without evidence follows the step before it."""
    ordered = [
        (moment, index, finding)
        for index, (moment, finding) in enumerate(
            [
                *_locate_steps(verdict.steps),
                *((_get_event_position(extra), extra) for extra in verdict.extras),
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
            latest = _get_event_position(step.evidence[0])
        moments.append((latest, step))
    # A parent begins with its first sub-step; going backwards, sub-steps are already located.
    first_moments: dict[str, tuple[int, ...]] = {}
    for index in range(len(moments) - 1, -1, -1):
        moment, step = moments[index]
        if not step.evidence and step.number in first_moments:
            moment = first_moments[step.number]
            moments[index] = (moment, step)
        if step.parent is not None:
            first_moments[step.parent] = min(moment, first_moments.get(step.parent, moment))
    return moments


def _get_event_position(evidence: Evidence | Extra) -> tuple[int, ...]:
    # Ids assigned by planproof count the events; for other ids, use the position in the source.
    match = _ID.fullmatch(evidence.event)
    return tuple(map(int, match.groups() if match else _NUMBERS.findall(evidence.pointer)))
