"""Score `rules` on the second bench: real traces of other sources, with its own scoring program.

Nobody reads the cases of `val`, so of that split there are totals, in all and by source, and
nothing else. `train` may be read while rules are written; it has tables by flaw and style as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from scripts.bench import scorer, v2_cases
from scripts.parallel_verdicts import Projection, Record, judge_all

Figures: TypeAlias = dict[str, float | int]
_CLEAN = ("faithful", "paraphrase")
_CAUGHT = 0.5
_FROM_SCORER = (
    "pass_clean",
    "catch_flawed",
    "locate_strictly",
    "told_apart",
    "ranked_below_origin",
)


def measure(split: str, *, jobs: int | None = None) -> dict[str, Any]:
    """Judge a split and return its figures: nothing about a single case."""
    cases = v2_cases(split)
    verdicts = judge_all(cases, jobs=jobs)
    found: dict[str, Any] = {
        "overall": figures(cases, verdicts),
        "by_source": _by(lambda case: case["source"], cases, verdicts),
    }
    if split == "train":
        found["outcomes"] = dict(Counter(each["outcome"] for each in verdicts.values()))
        found["by_flaw"] = _by_flaw(cases, verdicts)
        found["by_style"] = _by(lambda case: case["label"]["style"], cases, verdicts)
        found["by_wording"] = _by(lambda case: case["label"]["wording"], cases, verdicts)
    return found


def figures(cases: list[Record], verdicts: dict[str, Projection]) -> Figures:
    """Return the figures of some cases; one without a score neither passes nor is caught."""
    scored = scorer().constructed(cases, verdicts)
    followed = [verdicts[case["id"]]["score"] for case in cases if _is_followed(case)]
    return {
        "cases": len(cases),
        "followed": len(followed),
        "unscored": sum(verdicts[case["id"]]["score"] is None for case in cases),
        **{name: scored[name] for name in _FROM_SCORER},
        "catch_clean": _share(score is not None and score <= _CAUGHT for score in followed),
    }


def _by(
    key: Callable[[Record], str], cases: Iterable[Record], verdicts: dict[str, Projection]
) -> dict[str, Figures]:
    groups: dict[str, list[Record]] = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case)
    return {name: figures(groups[name], verdicts) for name in sorted(groups)}


def _by_flaw(cases: list[Record], verdicts: dict[str, Projection]) -> dict[str, Figures]:
    """Return the figures of each kind of flaw beside all followed plans."""
    followed = [case for case in cases if _is_followed(case)]
    kinds = dict.fromkeys(case["label"]["kind"] for case in cases if not _is_followed(case))
    return {
        kind: figures(
            [*followed, *(case for case in cases if case["label"]["kind"] == kind)], verdicts
        )
        for kind in sorted(kinds)
    }


def _is_followed(case: Record) -> bool:
    return case["label"]["kind"] in _CLEAN


def _share(hits: Iterable[bool]) -> float:
    found = list(hits)
    return sum(found) / len(found) if found else float("nan")
