"""Quality gate for a run: check conditions on scores and changes, with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from planproof.core.verdict import Measures
from planproof.errors import InvalidInput
from planproof.runs.compare import Comparison
from planproof.runs.run_records import Run, RunState
from planproof.runs.summary import Summary

# Means that are equal mathematically may differ in the last bit.
_FLOAT_TOLERANCE = 1e-9
_SHARE = re.compile(r"0(\.[0-9]{1,9})?|1(\.0{1,9})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConditions:
    """Conditions for a run; None disables a condition.

    `min_mean` and `min_pass_rate` cover only scored cases, so `max_unscored` limits the number of
    cases without a score. Against a base run, the mean of the cases scored in both may fall by at
    most `tolerance`, and at most `max_worse` of them may be worse. `min_shares` are the lowest
    means of measures, by name. `max_low_confidence` limits the number of levels that are more
    likely wrong than right.
    """

    min_mean: float | None = None
    min_pass_rate: float | None = None
    max_unscored: int = 0
    tolerance: float = 0.0
    max_worse: int | None = None
    min_shares: Mapping[str, float] = field(default_factory=dict[str, float])
    max_low_confidence: int | None = None


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One condition, whether it is met, and the figures as text."""

    condition: str
    held: bool
    told: str


def check_gate(
    conditions: GateConditions, run: Run, summary: Summary, comparison: Comparison | None = None
) -> tuple[GateCheck, ...]:
    """Check a run against the conditions. `comparison` is from a base run to this one.

    A run that is unfinished or has no results does not pass.
    """
    if conditions.max_worse is not None and comparison is None:
        raise InvalidInput("`max_worse` needs a base run.", advice="Name a run to compare with.")
    results = [*_check_completeness(run, summary), *_check_scores(conditions, summary)]
    results += _check_measures(conditions, summary.measures)
    if comparison is not None:
        results += _check_against_base(conditions, comparison)
    return tuple(results)


def _check_completeness(run: Run, summary: Summary) -> Iterator[GateCheck]:
    finished = run.state is RunState.FINISHED
    detail = f"it is {run.state.value}"
    yield GateCheck(
        "the run is finished", finished, detail if finished else f"{detail}; continue with --resume"
    )
    yield GateCheck("the run has results", summary.cases > 0, f"{summary.cases:,}")


def _check_scores(conditions: GateConditions, summary: Summary) -> Iterator[GateCheck]:
    causes = "".join(f"; {count:,} {cause}" for cause, count in summary.unscored.items())
    unscored = summary.cases - summary.scored
    yield GateCheck(
        f"at most {conditions.max_unscored:,} unscored",
        unscored <= conditions.max_unscored,
        f"{unscored:,} of {summary.cases:,}{causes}",
    )
    if (most := conditions.max_low_confidence) is not None:
        yield GateCheck(
            f"at most {most:,} with low confidence",
            summary.low_confidence <= most,
            f"{summary.low_confidence:,} of {summary.scored:,} scored",
        )
    if (least := conditions.min_mean) is not None:
        yield GateCheck(
            f"mean score at least {least:g}",
            summary.mean is not None and summary.mean >= least - _FLOAT_TOLERANCE,
            "no case has a score"
            if summary.mean is None
            else f"{summary.mean:.4f} over {summary.scored:,} scored",
        )
    if (least := conditions.min_pass_rate) is not None:
        rate = summary.passed / summary.scored if summary.scored else None
        yield GateCheck(
            f"at least {least:g} of the cases score {summary.min_score:g} or more",
            rate is not None and rate >= least - _FLOAT_TOLERANCE,
            "no case has a score"
            if rate is None
            else f"{rate:.4f}, {summary.passed:,} of {summary.scored:,}",
        )


def _check_measures(conditions: GateConditions, means: Measures) -> Iterator[GateCheck]:
    for name, least in conditions.min_shares.items():
        mean: float | None = getattr(means, name)
        yield GateCheck(
            f"mean {name} at least {least:g}",
            mean is not None and mean >= least - _FLOAT_TOLERANCE,
            "no case has it" if mean is None else f"{mean:.4f}",
        )


def parse_shares(texts: Iterable[str]) -> dict[str, float]:
    """Parse the lowest means of measures, such as `step_share=0.9`."""
    known = tuple(measure.name for measure in fields(Measures))
    shares: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in known or not _SHARE.fullmatch(value):
            raise InvalidInput(
                f"`{text}` is not a measure with a number from 0 to 1.",
                advice=f"Write NAME=X, such as step_share=0.9. Names: {', '.join(known)}.",
            )
        shares[name] = float(value)
    return shares


def _check_against_base(conditions: GateConditions, comparison: Comparison) -> Iterator[GateCheck]:
    allowed = f"at most {conditions.tolerance:g}" if conditions.tolerance else "not"
    if comparison.mean_change is None:
        detail = "no case has a score in both runs"
    else:
        detail = f"{comparison.mean_change:+.4f} over {comparison.pair_count:,} pairs"
        if spread := comparison.interval:
            detail += f", 95 % interval {spread.low:+.4f} to {spread.high:+.4f}"
        detail += f"; {comparison.worse:,} worse, {comparison.better:,} better"
    if comparison.only_base:
        detail += f"; only in the base: {comparison.only_base:,}"
    yield GateCheck(
        f"mean {allowed} lower than in the base",
        comparison.mean_change is not None
        and comparison.mean_change >= -conditions.tolerance - _FLOAT_TOLERANCE,
        detail,
    )
    if conditions.max_worse is not None:
        yield GateCheck(
            f"at most {conditions.max_worse:,} worse than in the base",
            comparison.worse <= conditions.max_worse,
            f"{comparison.worse:,} of {comparison.pair_count:,} pairs",
        )
