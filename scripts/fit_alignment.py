"""Fit the similarity, the costs of the alignment and the limits of reported deviations on `train`.

usage: python -m scripts.fit_alignment [MINUTES [SEED]]

A random search: each round changes a few numbers, and keeps them if followed plans that pass,
flawed plans that are caught and pairs told apart improve together, and the readings of the rubric
still hold. What it gains on sources that it did not choose by is printed at the end: for random
halves of the sources, the round that is best on one half is measured on the other.
Run `python -m scripts.fit_weights` afterwards: the confidence depends on the alignment.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import groupby
from multiprocessing import get_context
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

from planproof.checking import alignment, confidence, fitted_values, similarity
from planproof.checking.rules import Rules
from planproof.core.content import Content
from planproof.core.finding import Findings
from planproof.scoring import compute_score
from scripts.bench import load_v2_cases
from scripts.fit_weights import WEIGHTS_FILE, read_cases, write_weights
from scripts.parallel_verdicts import Projection, Record
from scripts.v2_quality import compute_split_figures

Fitted: TypeAlias = dict[str, dict[str, Any]]
_READINGS = ("tests/conformance/test_readings.py", "tests/conformance/test_specification.py")
_PARTS = ("similarity", "costs", "reported_from")
_MINUTES = 45.0
_LEAST_CAUGHT = 0.72
"""Below this share of caught plans, what is gained elsewhere counts for nothing."""
_SMALLEST_STEP = {"similarity": 0.1, "costs": 15.0, "reported_from": 0.03}
_RELATIVE_STEP = 0.25
_MAX_CHANGES = 4
_HALVES = 200
_HIGHEST_CLAIM = -30
"""A text never scores well for a step that requires an action."""


class Totals(NamedTuple):
    """Counts over the cases of a source."""

    followed: float = 0
    passed: float = 0
    flawed: float = 0
    caught: float = 0
    told_apart: float = 0

    def __add__(self, other: Any) -> Totals:
        return Totals(*(a + b for a, b in zip(self, other, strict=True)))


BySource: TypeAlias = dict[str, Totals]


def main(arguments: list[str]) -> None:
    """Search, write the best numbers, and print what was gained where."""
    minutes, seed = (float(arguments[0]) if arguments else _MINUTES), int((arguments[1:] or "0")[0])
    shipped: Fitted = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    rounds: list[BySource] = []
    with get_context("spawn").Pool(2) as pool:
        best, best_value = shipped, 0.0
        chance, end = random.Random(seed), monotonic() + 60 * minutes
        while not rounds or monotonic() < end:
            candidate = _change(best, chance) if rounds else shipped
            write_weights(candidate)
            rounds.append(_sum_by_source(pool.map(_judge_half, (0, 1), chunksize=1)))
            value = _rate(list(rounds[-1].values()))
            if value > best_value and _follows_readings():
                best, best_value = candidate, value
                print(f"{len(rounds):4} {_describe(list(rounds[-1].values()))}", flush=True)
        write_weights(best)
    _print_gain(rounds, random.Random(seed))


def _change(best: Fitted, chance: random.Random) -> Fitted:
    """Return the numbers with a few of them changed at random."""
    fitted = {part: dict(values) for part, values in best.items()}
    names = [(part, name) for part in _PARTS for name in best[part]]
    for part, name in chance.sample(names, chance.randint(1, _MAX_CHANGES)):
        value = fitted[part][name]
        value += chance.gauss() * max(_SMALLEST_STEP[part], _RELATIVE_STEP * abs(value))
        if part == "similarity":
            sign = similarity.FEATURE_SIGNS.get(name, 0)
            fitted[part][name] = 0.0 if value * sign < 0 else round(value, 3)
        elif part == "costs":
            fitted[part][name] = round(min(value, _HIGHEST_CLAIM) if name == "claim" else value)
        else:
            fitted[part][name] = round(min(max(value, 0.0), 1.0), 3)
    return fitted


def _judge_half(half: int) -> BySource:
    """Judge every second trace of `train` with the numbers in the file."""
    for loader in (
        fitted_values.load_fitted_values,
        alignment.load_costs,
        confidence.load_confidence_weights,
        similarity.load_shipped_weights,
    ):
        loader.cache_clear()
    cases = _load_half(half)
    judge = Rules()
    verdicts = {
        case["id"]: _project(case["id"], judge.judge(Content(), plan, trace))
        for case, plan, trace in cases
    }
    by_source: dict[str, list[Record]] = {}
    for case, _, _ in cases:
        by_source.setdefault(case["source"], []).append(case)
    return {source: _count(own, verdicts) for source, own in by_source.items()}


_halves: dict[int, list[Any]] = {}
"""Cases are read once by each process."""


def _load_half(half: int) -> list[Any]:
    if half not in _halves:
        groups = groupby(load_v2_cases("train"), key=lambda case: case["base"])
        own = [case for n, (_, group) in enumerate(groups) if n % 2 == half for case in group]
        _halves[half] = list(read_cases(own, Rules().vocabulary))
    return _halves[half]


def _project(case: str, findings: Findings) -> Projection:
    return {
        "id": case,
        "score": compute_score(findings),
        "steps": [{"number": step.number, "status": step.status.value} for step in findings.steps],
        "extras": [
            {"severity": extra.severity.value, "pointer": extra.pointer, "quote": extra.quote}
            for extra in findings.extras
        ],
    }


def _count(cases: list[Record], verdicts: dict[str, Projection]) -> Totals:
    figures = compute_split_figures(cases, verdicts)
    followed = figures["followed"]
    flawed = len(cases) - followed
    return Totals(
        followed,
        followed * figures["pass_clean"],
        flawed,
        flawed * figures["catch_flawed"],
        flawed * figures["told_apart"],
    )


def _sum_by_source(halves: list[BySource]) -> BySource:
    total: BySource = {}
    for half in halves:
        for source, totals in half.items():
            total[source] = total.get(source, Totals()) + totals
    return total


def _compute_shares(totals: list[Totals]) -> tuple[float, float, float]:
    whole = sum(totals, Totals())
    return (
        whole.passed / whole.followed,
        whole.caught / whole.flawed,
        whole.told_apart / whole.flawed,
    )


def _rate(totals: list[Totals]) -> float:
    passed, caught, told_apart = _compute_shares(totals)
    return (passed + caught) / 2 + told_apart - max(0.0, _LEAST_CAUGHT - caught)


def _describe(totals: list[Totals]) -> str:
    return "passed {:.3f}, caught {:.3f}, told apart {:.3f}".format(*_compute_shares(totals))


def _follows_readings() -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", *_READINGS]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _print_gain(rounds: list[BySource], chance: random.Random) -> None:
    sources = sorted(rounds[0])
    gains: list[tuple[float, ...]] = []
    for _ in range(_HALVES):
        seen = frozenset(chance.sample(sources, len(sources) // 2))

        def select(
            results: BySource, *, of_seen: bool, seen: frozenset[str] = seen
        ) -> list[Totals]:
            return [totals for source, totals in results.items() if (source in seen) == of_seen]

        chosen = max(rounds, key=lambda results: _rate(select(results, of_seen=True)))
        before, after = (
            _compute_shares(select(results, of_seen=False)) for results in (rounds[0], chosen)
        )
        gains.append(tuple(b - a for a, b in zip(before, after, strict=True)))
    passed, caught, told_apart = (sum(column) / len(gains) for column in zip(*gains, strict=True))
    print(
        f"{len(rounds)} rounds; on the sources not chosen by: "
        f"passed {passed:+.3f}, caught {caught:+.3f}, told apart {told_apart:+.3f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
