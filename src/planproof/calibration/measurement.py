"""What a judge makes of the variants: one row a variant and repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planproof.calibration.variant import Attack, Flaw, Rewording, Variant
from planproof.core.finding import Severity, Status
from planproof.core.usage import Usage
from planproof.core.verdict import Verdict
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.case_json import kept
from planproof.runs.engines.case_judging import Judging
from planproof.runs.engines.local import Task, judged_locally


@dataclass(frozen=True, slots=True)
class Row:
    """One variant, judged once. `located` is None where nothing is to be located, or is named."""

    variant: Variant
    repeat: int
    verdict: Verdict
    located: bool | None

    @property
    def id(self) -> str:
        """The id of the variant."""
        return self.variant.id

    @property
    def origin(self) -> str:
        """The case that the variant was made of."""
        return self.variant.origin

    @property
    def change(self) -> Flaw | Rewording | None:
        """What was changed in it."""
        return self.variant.change

    @property
    def attack(self) -> Attack | None:
        """What was put in on top."""
        return self.variant.attack

    @property
    def score(self) -> float | None:
        """The score that the judge gave, if it gave one."""
        return self.verdict.score

    @property
    def usage(self) -> Usage:
        """What asking took."""
        return self.verdict.cost or Usage()


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
            yield Row(variant, repeat, result.verdict, _located(variant, result.verdict))


def _located(variant: Variant, verdict: Verdict) -> bool | None:
    """Whether the flaw is named where it is; of a judge that gives only a score nobody can say."""
    only_a_score = verdict.score is not None and not verdict.steps
    if not isinstance(variant.change, Flaw) or only_a_score:
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
