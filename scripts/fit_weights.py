"""Make src/planproof/alignment/weights.json from the labelled cases.

usage: python -m scripts.fit_weights
"""

from __future__ import annotations

import json
from pathlib import Path

from planproof.alignment.affinity import SIGNS
from planproof.finding import Status
from scripts.bench import Labelled, labelled, removed_units
from scripts.fitting import Pairs, by_group, curve
from scripts.judging import Judged, judge_with

WEIGHTS = Path("src/planproof/alignment/weights.json")
_LAPSES = frozenset({"missing", "altered", "partial"})


def main() -> None:
    """Fit, and write the file in one go."""
    cases = labelled()
    pairs = Pairs(cases)
    groups = by_group(cases, pairs.weights)
    held_out = [judge_with(groups[case.group], case) for case in cases]
    weights = pairs.weights()
    stored = {
        "weights": dict(zip(SIGNS, weights.of, strict=True)),
        "bias": weights.bias,
        "sureness": _sureness(cases, held_out),
    }
    partial = WEIGHTS.with_suffix(".partial")
    partial.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    partial.replace(WEIGHTS)
    print(f"{WEIGHTS} made from {len(cases)} cases")


def _sureness(cases: list[Labelled], judged: list[Judged]) -> dict[str, tuple[float, float]]:
    """Curves of how often a finding was right, on groups that the weights had not seen."""
    found: dict[str, tuple[list[int], list[bool]]] = {
        "executed": ([], []),
        "lapse": ([], []),
        "extra": ([], []),
    }
    by_id = {case.line["id"]: case for case in cases if case.kind is not None}
    for case, one in zip(cases, judged, strict=True):
        flawed = case.line["label"].get("step") if case.kind in _LAPSES else None
        if case.kind in ("faithful", "paraphrase") or flawed is not None:
            for index, finding in enumerate(one.findings.counted):
                executed = finding.status is Status.EXECUTED
                margins, right = found["executed" if executed else "lapse"]
                margins.append(one.best_fit(index) if executed else -one.best_fit(index))
                right.append((index + 1 == flawed) != executed)
        if case.kind == "extra":
            removed = {case.units[i].event.id for i in removed_units(case, by_id)}
            margins, right = found["extra"]
            for extra in one.findings.extras:
                margins.append(-one.best_step_fit(extra.event))
                right.append(extra.event in removed)
    return {sort: curve(*points) for sort, points in found.items()}


if __name__ == "__main__":
    main()
