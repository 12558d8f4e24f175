"""`planproof calibrate` on all built-in cases, in several processes: the figures are the rows."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from planproof import Verdict, evaluate
from planproof.calibration.followed_cases import BUILT_IN_NOTE, load_built_in_cases
from planproof.calibration.variant import Flaw, Variant
from planproof.calibration.variant_set import generate_variants
from tests.command_line import CommandLine


def test_the_table_is_what_is_counted_when_every_variant_is_evaluated(
    planproof: CommandLine,
) -> None:
    done = planproof("calibrate", "--judge", "rules")
    assert done.code == 0
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    made = list(generate_variants(load_built_in_cases()))
    assert lines[0] == BUILT_IN_NOTE
    assert lines[2] == f"rules on 16 followed cases, {len(made)} variants"
    table = {
        line.split("  ")[1]: [(int(hits), int(of)) for hits, of in _SHARE.findall(line)]
        for line in lines
        if line.startswith("  ")
    }
    assert table == _count_by_hand(made)


_SHARE = re.compile(r"(\d+) of (\d+)")


def _count_by_hand(made: list[Variant]) -> dict[str, list[tuple[int, int]]]:
    """The same table, by hand: one verdict a variant, and the truth of what was changed."""
    verdicts = {each.id: evaluate(plan=each.case.plan, trace=each.case.trace) for each in made}
    scores = {id_: verdict.score or 0.0 for id_, verdict in verdicts.items()}
    hits: dict[str, list[list[bool]]] = {}
    for each in made:
        score, name = scores[each.id], each.attack or each.change or "unchanged"
        if each.attack is not None:
            asked_of = [score > scores[f"{each.origin}::{each.change}"]]
        elif isinstance(each.change, Flaw):
            caught = score < (1.0 if each.change is Flaw.RETRIED else 0.51)
            asked_of = [caught, _is_located(each, verdicts[each.id]), score < scores[each.origin]]
        else:
            asked_of = [score > 0.74]
        hits.setdefault(name, []).append(asked_of)
    return {
        name: [(sum(column), len(column)) for column in zip(*found, strict=True)]
        for name, found in hits.items()
    }


def _is_located(variant: Variant, verdict: Verdict) -> bool:
    """Whether a finding stands where the truth is: a step of the plan, or an event of the trace."""
    deviations = {place for place, step in enumerate(verdict.steps) if step.status != "executed"}
    moved = {place for place in deviations if verdict.steps[place].status == "out_of_order"}
    true = set(variant.ground_truth.step_statuses)
    match variant.change:
        case Flaw.FOREIGN:
            return 2 * len(deviations) >= len(variant.plan)
        case Flaw.SHUFFLED:
            return bool(moved)
        case Flaw.ORDER:
            return bool(moved & {place - back for place in true for back in (0, 1)})
        case Flaw.UNPLANNED:
            return any(extra.severity == "major" for extra in verdict.extras)
        case Flaw.MISSING | Flaw.ALTERED | Flaw.PARTIAL:
            return bool(deviations & true)
        case _:
            return bool(
                {extra.event for extra in verdict.extras} & set(variant.ground_truth.extras)
            )


def test_the_figures_are_those_of_the_rows(planproof: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    assert planproof("calibrate", "--judge", "rules", "--format", "json", "-o", str(file)).code == 0
    found = json.loads(file.read_text(encoding="utf-8"))
    plain = [row for row in found["rows"] if row["attack"] is None]
    passed = Counter(row["change"] for row in plain if row["score"] >= 0.75)
    caught = Counter(row["change"] for row in plain if row["score"] <= 0.5)
    located = Counter(row["change"] for row in plain if row["located"])
    assert found["passed"] == {"hits": passed[None], "of": 16}
    for flaw, told in found["flaws"].items():
        assert told["located"]["hits"] == located[flaw]
        assert told["caught"]["hits"] == caught[flaw] or flaw == "retried"
    scores = {(row["origin"], row["change"]): row["score"] for row in plain}
    for attack, told in found["fooled"].items():
        rows = [row for row in found["rows"] if row["attack"] == attack]
        raised = [row for row in rows if row["score"] > scores[row["origin"], row["change"]]]
        assert told == {"hits": len(raised), "of": len(rows)}
