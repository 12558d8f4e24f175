"""What a judge makes of the variants: one row a variant and repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planproof.calibration.variant import Attack, Flaw, Rewording, Variant
from planproof.core.finding import Severity, Status
from planproof.core.usage import Usage
from planproof.core.verdict import Verdict
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import JudgeTask, judge_locally
from planproof.runs.run_records import serialize_case


@dataclass(frozen=True, slots=True)
class Measurement:
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


def measure(
    variants: Iterable[Variant],
    judging: CaseEvaluator,
    *,
    repeats: int = 1,
    concurrency: int | None = None,
) -> Iterator[Measurement]:
    """The rows of all variants in their order, so many times over."""
    all_variants = list(variants)
    for repeat in range(repeats):
        # A round is a run of its own: within one, what is alike is judged only once.
        tasks = (
            JudgeTask(position, CaseLine(variant.id, variant.case), serialize_case(variant.case))
            for position, variant in enumerate(all_variants)
        )
        results = judge_locally(tasks, judging, lambda _: {}, concurrency)
        for variant, (result, _) in zip(all_variants, results, strict=True):
            yield Measurement(
                variant, repeat, result.verdict, _is_flaw_located(variant, result.verdict)
            )


def _is_flaw_located(variant: Variant, verdict: Verdict) -> bool | None:
    """Whether the flaw is named where it is; of a judge that gives only a score nobody can say."""
    only_a_score = verdict.score is not None and not verdict.steps
    if not isinstance(variant.change, Flaw) or only_a_score:
        return None
    statuses = [step.status for step in verdict.findings.counted_steps]
    if variant.change is Flaw.FOREIGN:
        deviating = sum(status is not Status.EXECUTED for status in statuses)
        return bool(statuses) and 2 * deviating >= len(statuses)
    if variant.change in (Flaw.ORDER, Flaw.SHUFFLED):
        moved = {
            index
            for index, step_status in enumerate(statuses)
            if step_status is Status.OUT_OF_ORDER
        }
        (last,) = list(variant.ground_truth.step_statuses)[-1:]
        # Of two that have changed places, either may be said to be the one that moved.
        return bool(moved & ({last, last - 1} if variant.change is Flaw.ORDER else moved))
    deviates = (
        statuses[index] is not Status.EXECUTED
        for index in variant.ground_truth.step_statuses
        if index < len(statuses)
    )
    return any(deviates) or any(
        extra.event in variant.ground_truth.extras
        or ("" in variant.ground_truth.extras and extra.severity is Severity.MAJOR)
        for extra in verdict.extras
    )
