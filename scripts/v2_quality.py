"""Score `rules` on the second bench: real traces of other sources, with its own scoring program.

Nobody reads the cases of `val`, so that split only has totals, overall and by source. `train` may
be read while rules are written; it also has tables by flaw and style.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from scripts.bench import load_scorer, load_v2_cases
from scripts.parallel_verdicts import Projection, Record, judge_all
from scripts.reliability import measure_confidence

Figures: TypeAlias = dict[str, float | int]
_CLEAN_KINDS = ("faithful", "paraphrase")
_CAUGHT_SCORE = 0.5
_SCORER_FIGURES = (
    "pass_clean",
    "catch_flawed",
    "locate_strictly",
    "told_apart",
    "ranked_below_origin",
)


def measure_split(split: str, *, jobs: int | None = None) -> dict[str, Any]:
    """Judge a split and return aggregate figures."""
    cases = load_v2_cases(split)
    verdicts = judge_all(cases, jobs=jobs)
    split_figures: dict[str, Any] = {
        "overall": compute_split_figures(cases, verdicts),
        "by_source": _group_figures(lambda case: case["source"], cases, verdicts),
        "confidence": measure_confidence(cases, verdicts),
    }
    if split == "train":
        split_figures["outcomes"] = dict(
            Counter(projection["outcome"] for projection in verdicts.values())
        )
        split_figures["by_flaw"] = _group_by_flaw(cases, verdicts)
        split_figures["by_style"] = _group_figures(
            lambda case: case["label"]["style"], cases, verdicts
        )
        split_figures["by_wording"] = _group_figures(
            lambda case: case["label"]["wording"], cases, verdicts
        )
    return split_figures


def compute_split_figures(cases: list[Record], verdicts: dict[str, Projection]) -> Figures:
    """Return the figures of some cases; an unscored case is neither passed nor caught."""
    scored = load_scorer().constructed(cases, verdicts)
    followed = [verdicts[case["id"]]["score"] for case in cases if _is_followed(case)]
    return {
        "cases": len(cases),
        "followed": len(followed),
        "unscored": sum(verdicts[case["id"]]["score"] is None for case in cases),
        **{name: scored[name] for name in _SCORER_FIGURES},
        "catch_clean": _compute_share(
            score is not None and score <= _CAUGHT_SCORE for score in followed
        ),
    }


def _group_figures(
    key: Callable[[Record], str], cases: Iterable[Record], verdicts: dict[str, Projection]
) -> dict[str, Figures]:
    groups: dict[str, list[Record]] = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case)
    return {name: compute_split_figures(groups[name], verdicts) for name in sorted(groups)}


def _group_by_flaw(cases: list[Record], verdicts: dict[str, Projection]) -> dict[str, Figures]:
    """Return the figures of each kind of flaw together with all followed plans."""
    followed = [case for case in cases if _is_followed(case)]
    kinds = dict.fromkeys(case["label"]["kind"] for case in cases if not _is_followed(case))
    return {
        kind: compute_split_figures(
            [*followed, *(case for case in cases if case["label"]["kind"] == kind)], verdicts
        )
        for kind in sorted(kinds)
    }


def _is_followed(case: Record) -> bool:
    return case["label"]["kind"] in _CLEAN_KINDS


def _compute_share(hits: Iterable[bool]) -> float:
    hit_list = list(hits)
    return sum(hit_list) / len(hit_list) if hit_list else float("nan")
