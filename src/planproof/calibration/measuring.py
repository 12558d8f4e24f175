"""What a judge makes of the variants: one row a variant and repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planproof.calibration.nouns import Attack, Flaw, Rewording, Variant
from planproof.case_file import CaseLine
from planproof.finding import Severity, Status
from planproof.runs.judging import Judging
from planproof.runs.kept_case import kept
from planproof.runs.local import Task, judged_locally
from planproof.usage import Usage
from planproof.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One variant, judged once. `located` is None where there is nothing to be located."""

    id: str
    origin: str
    change: Flaw | Rewording | None
    attack: Attack | None
    repeat: int
    score: float | None
    located: bool | None
    usage: Usage
    reason: str


def measured(
    variants: Iterable[Variant], judging: Judging, *, repeats: int = 1, at_once: int | None = None
) -> Iterator[Row]:
    """The rows of all variants in their order, so many times over."""
    made = list(variants)
    for repeat in range(repeats):
        # A round is a run of its own: within one, what is alike is judged only once.
        tasks = (
            Task(place, CaseLine(variant.id, variant.case), kept(variant.case))
            for place, variant in enumerate(made)
        )
        found = judged_locally(tasks, judging, lambda _: {}, at_once)
        for variant, (result, _) in zip(made, found, strict=True):
            yield _row(variant, result.verdict, repeat)


def _row(variant: Variant, verdict: Verdict, repeat: int) -> Row:
    return Row(
        variant.id,
        variant.origin,
        variant.change,
        variant.attack,
        repeat,
        verdict.score,
        _located(variant, verdict),
        verdict.cost or Usage(),
        verdict.reason,
    )


def _located(variant: Variant, verdict: Verdict) -> bool | None:
    """Whether the flaw is named where it is; a judge that gives only a score names nothing."""
    if not isinstance(variant.change, Flaw):
        return None
    statuses = [step.status for step in verdict.findings.counted]
    if variant.change is Flaw.FOREIGN:
        lapses = sum(status is not Status.EXECUTED for status in statuses)
        return bool(statuses) and 2 * lapses >= len(statuses)
    if variant.change in (Flaw.ORDER, Flaw.SHUFFLED):
        moved = {place for place, found in enumerate(statuses) if found is Status.OUT_OF_ORDER}
        (last,) = list(variant.truth.lapses)[-1:]
        # Of two that have changed places, either may be said to be the one that moved.
        return bool(moved & ({last, last - 1} if variant.change is Flaw.ORDER else moved))
    lapsed = (
        statuses[place] is not Status.EXECUTED
        for place in variant.truth.lapses
        if place < len(statuses)
    )
    return any(lapsed) or any(
        extra.event in variant.truth.extras
        or ("" in variant.truth.extras and extra.severity is Severity.MAJOR)
        for extra in verdict.extras
    )
