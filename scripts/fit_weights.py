"""Make src/planproof/checking/weights.json from the labelled cases.

usage: python -m scripts.fit_weights
"""

from __future__ import annotations

import json
from pathlib import Path

from planproof.checking.confidence import SIGNS as SIGNS_OF_SURENESS
from planproof.checking.similarity import SIGNS
from planproof.core.finding import Status
from scripts.bench import Labelled, labelled, removed_units
from scripts.fitting import Pairs, by_group, likelihood
from scripts.judging import Judged, judge_with

WEIGHTS = Path("src/planproof/checking/weights.json")
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


def _sureness(cases: list[Labelled], judged: list[Judged]) -> dict[str, dict[str, float]]:
    """How often a finding was right, by its signs, on groups that the weights had not seen."""
    found: dict[str, tuple[list[tuple[float, ...]], list[bool]]] = {
        sort: ([], []) for sort in SIGNS_OF_SURENESS
    }

    def note(sort: str, signs: dict[str, float], *, right: bool) -> None:
        found[sort][0].append(tuple(signs[name] for name in SIGNS_OF_SURENESS[sort]))
        found[sort][1].append(right)

    by_id = {case.line["id"]: case for case in cases if case.kind is not None}
    for case, one in zip(cases, judged, strict=True):
        flawed = case.line["label"].get("step") if case.kind in _LAPSES else None
        if case.kind in ("faithful", "paraphrase") or flawed is not None:
            for index, finding in enumerate(one.findings.counted):
                if finding.status.value in found:
                    executed = finding.status is Status.EXECUTED
                    right = (index + 1 == flawed) != executed
                    note(finding.status.value, one.signs_of_step(index), right=right)
        if case.kind == "extra":
            removed = {case.units[i].event.id for i in removed_units(case, by_id)}
            for extra in one.findings.extras:
                note("extra", one.signs_of_extra(extra.event), right=extra.event in removed)
    return {
        sort: likelihood(rows, right, SIGNS_OF_SURENESS[sort])
        for sort, (rows, right) in found.items()
    }


if __name__ == "__main__":
    main()
