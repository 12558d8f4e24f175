"""Run a judge on the variants and record one row per variant and repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from planproof.calibration.case_labels import Label
from planproof.calibration.variant import Attack, Flaw, GroundTruth, Rewording, Variant
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.finding import Severity, Status
from planproof.core.usage import Usage
from planproof.core.verdict import Verdict
from planproof.readers.decoding.case_files import CaseLine
from planproof.runs.engines.case_judging import CaseEvaluator
from planproof.runs.engines.local import JudgeTask, judge_locally
from planproof.runs.run_records import serialize_case


@dataclass(frozen=True, slots=True)
class Measurement:
    """One variant, judged once.

    `located` is None if there is nothing to locate, or the judge reports no findings.
    """

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
        """The case that the variant was made from."""
        return self.variant.origin

    @property
    def change(self) -> Flaw | Rewording | None:
        """The change made to the case."""
        return self.variant.change

    @property
    def attack(self) -> Attack | None:
        """The attack added to the flaw."""
        return self.variant.attack

    @property
    def score(self) -> float | None:
        """The judge's score, if any."""
        return self.verdict.score

    @property
    def usage(self) -> Usage:
        """The model usage of the judge."""
        return self.verdict.cost or Usage()


def make_unread_row(id: str, case: Case, label: Label, verdict: Verdict) -> Measurement:  # noqa: A002
    """Return the row of a labelled case that can't be judged, so that it counts without a score."""
    task = case.task or Content()
    return Measurement(
        Variant(id, task, (), (), GroundTruth(), label=label), 0, verdict, located=None
    )


def measure(
    variants: Iterable[Variant],
    evaluator: CaseEvaluator,
    *,
    repeats: int = 1,
    concurrency: int | None = None,
) -> Iterator[Measurement]:
    """Judge all variants in order, `repeats` times, and yield the rows."""
    all_variants = list(variants)
    for repeat in range(repeats):
        # Each repeat is a separate run: within a run, identical cases are judged only once.
        tasks = (
            JudgeTask(position, CaseLine(variant.id, variant.case), serialize_case(variant.case))
            for position, variant in enumerate(all_variants)
        )
        results = judge_locally(tasks, evaluator, lambda _: {}, concurrency)
        for variant, (result, _) in zip(all_variants, results, strict=True):
            yield Measurement(
                variant, repeat, result.verdict, _is_flaw_located(variant, result.verdict)
            )


def _is_flaw_located(variant: Variant, verdict: Verdict) -> bool | None:
    """Return True if the flaw is reported at the right step or event.

    None if there is no flaw, nobody said where it is, or the judge gives only a score.
    """
    only_a_score = verdict.score is not None and not verdict.steps
    has_known_flaw = isinstance(variant.change, Flaw) or variant.ground_truth.step_statuses
    if not has_known_flaw or only_a_score:
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
        # Of two swapped steps, either may be reported as out of order.
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
