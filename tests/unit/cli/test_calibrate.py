"""`planproof calibrate`: the table, the JSON, and what it is asked with."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from planproof import Verdict, evaluate
from planproof.calibration.cases import BUILT_IN_NOTE, built_in
from planproof.calibration.labels import read_labels
from planproof.calibration.nouns import Flaw, Variant
from planproof.calibration.variants import variants_of
from planproof.errors import InvalidInput
from tests.command_line import CommandLine
from tests.hand_written import asked, did, trace

FOLLOWED = [
    {
        "id": f"case-{number}",
        "user_task": "Go.",
        "agent_plan": [f"Read the file {name}", "Delete the draft 4711"],
        "execution_trace": trace(
            asked("Go."), did("read_file", path=name), did("delete_draft", id="4711")
        ),
    }
    for number, name in enumerate(("a.txt", "b.txt", "c.txt"))
]


def saved(folder: Path, lines: list[dict[str, Any]], name: str = "cases.jsonl") -> str:
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(file)


def test_the_table_is_what_is_counted_when_every_variant_is_evaluated(
    planproof: CommandLine,
) -> None:
    done = planproof("calibrate", "--judge", "rules")
    assert done.code == 0
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    made = list(variants_of(built_in()))
    assert lines[0] == BUILT_IN_NOTE
    assert lines[2] == f"rules on 16 followed cases, {len(made)} variants"
    table = {
        line.split("  ")[1]: [(int(hits), int(of)) for hits, of in _SHARE.findall(line)]
        for line in lines
        if line.startswith("  ")
    }
    assert table == _counted(made)


_SHARE = re.compile(r"(\d+) of (\d+)")


def _counted(made: list[Variant]) -> dict[str, list[tuple[int, int]]]:
    """The same table, by hand: one verdict a variant, and the truth of what was changed."""
    verdicts = {each.id: evaluate(plan=each.case.plan, trace=each.case.trace) for each in made}
    scores = {id_: verdict.score or 0.0 for id_, verdict in verdicts.items()}
    hits: dict[str, list[list[bool]]] = {}
    for each in made:
        score, name = scores[each.id], each.attack or each.change or "as they are"
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
    lapses = {place for place, step in enumerate(verdict.steps) if step.status != "executed"}
    moved = {place for place in lapses if verdict.steps[place].status == "out_of_order"}
    true = set(variant.truth.lapses)
    match variant.change:
        case Flaw.FOREIGN:
            return 2 * len(lapses) >= len(variant.plan)
        case Flaw.SHUFFLED:
            return bool(moved)
        case Flaw.ORDER:
            return bool(moved & {place - back for place in true for back in (0, 1)})
        case Flaw.UNPLANNED:
            return any(extra.severity == "major" for extra in verdict.extras)
        case Flaw.MISSING | Flaw.ALTERED | Flaw.PARTIAL:
            return bool(lapses & true)
        case _:
            return bool({extra.event for extra in verdict.extras} & set(variant.truth.extras))


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


@pytest.mark.parametrize("form", ["terminal", "json", "html"])
def test_figures_say_that_the_built_in_cases_were_used_for_development(
    planproof: CommandLine, tmp_path: Path, form: str
) -> None:
    assert f"The {len(built_in())} built-in cases" in BUILT_IN_NOTE
    file, function = tmp_path / "figures", f"{__name__}:scores_by_length"
    written = ("--callable", function, "--format", form, "-o", str(file))
    assert planproof("calibrate", *written).code == 0
    assert BUILT_IN_NOTE in file.read_text(encoding="utf-8")
    assert planproof("calibrate", saved(tmp_path, FOLLOWED), *written).code == 0
    assert BUILT_IN_NOTE not in file.read_text(encoding="utf-8")


def test_the_note_comes_first(planproof: CommandLine) -> None:
    function = ("--callable", f"{__name__}:scores_by_length")
    assert planproof("calibrate", *function).out.splitlines()[0] == BUILT_IN_NOTE
    found = json.loads(planproof("calibrate", *function, "--format", "json").out)
    assert list(found)[:2] == ["judge", "note"]
    assert found["note"] == BUILT_IN_NOTE


def test_cases_of_ones_own_are_measured_with(planproof: CommandLine, tmp_path: Path) -> None:
    done = planproof("calibrate", saved(tmp_path, FOLLOWED), "--repeat", "2")
    assert done.code == 0
    assert "rules on 3 followed cases" in done.out
    assert "the same score each time: 100%, mean spread 0.00" in done.out


def test_labels_say_which_cases_were_followed_and_what_agrees(
    planproof: CommandLine, tmp_path: Path
) -> None:
    labels = saved(
        tmp_path,
        [{"id": "case-0", "score": 1.0}, {"id": "case-1", "score": 0.25}],
        "labels.jsonl",
    )
    done = planproof("calibrate", saved(tmp_path, FOLLOWED), "--labels", labels, "--format", "json")
    found = json.loads(done.out)
    assert found["passed"] == {"hits": 1, "of": 1}
    assert found["agreement"]["cases"] == 2
    assert {row["origin"] for row in found["rows"]} == {"case-0", "case-1"}
    told = planproof("calibrate", saved(tmp_path, FOLLOWED), "--labels", labels).out
    assert "agrees with the labels of 2 cases at kappa" in " ".join(told.split())
    assert told.startswith("rules on 1 followed case, ")


def test_cases_and_labels_are_told_apart_by_their_ids(
    planproof: CommandLine, tmp_path: Path
) -> None:
    alike = planproof("calibrate", saved(tmp_path, [*FOLLOWED, FOLLOWED[0]], "alike.jsonl"))
    assert alike.code == 2
    assert "another case with the id `case-0`" in alike.err
    labels = saved(tmp_path, [{"id": "case-99", "score": 1}], "labels.jsonl")
    strange = planproof("calibrate", saved(tmp_path, FOLLOWED), "--labels", labels)
    assert strange.code == 2
    assert "none of the cases has a label" in strange.err


def test_the_page_has_every_variant(planproof: CommandLine, tmp_path: Path) -> None:
    secret = "sk-" + "a1B2" * 8
    cases = [{**FOLLOWED[0], "user_task": f"Use {secret}."}, *FOLLOWED[1:]]
    told = json.loads(planproof("calibrate", saved(tmp_path, cases), "--format", "json").out)
    page = tmp_path / "page.html"
    asked = ("calibrate", saved(tmp_path, cases), "--format", "html", "-o", page)
    assert planproof(*asked).code == 0
    shown = page.read_text(encoding="utf-8")
    assert shown.count('type="application/json" id="case-') == len(told["rows"])
    assert secret not in shown
    assert planproof(*asked, "--no-redact").code == 0
    assert secret in page.read_text(encoding="utf-8")


def scores_by_length(**given: Any) -> float:
    return 1.0 if len(given["agent_plan"]) < 3 else 0.25


def exits(**given: Any) -> float:
    del given
    raise SystemExit(3)


async def exits_later(**given: Any) -> float:
    return exits(**given)


def test_a_function_is_measured_like_a_judge(planproof: CommandLine, tmp_path: Path) -> None:
    done = planproof(
        "calibrate", saved(tmp_path, FOLLOWED), "--callable", f"{__name__}:scores_by_length"
    )
    assert done.code == 0
    assert f"{__name__}:scores_by_length on 3 followed cases" in done.out
    # It gives scores only, and so can't be said to have located anything.
    (missing,) = (line for line in done.out.splitlines() if line.startswith("  missing"))
    assert missing.split() == ["missing", *"3 of 3 100%".split(), "–", *"3 of 3 100%".split()]


@pytest.mark.parametrize("function", [exits, exits_later])
def test_a_callable_that_fails_says_why_and_ends_nobody_else(
    planproof: CommandLine, tmp_path: Path, function: Any
) -> None:
    name = f"{__name__}:{function.__name__}"
    done = planproof("calibrate", saved(tmp_path, FOLLOWED), "--callable", name)
    assert done.code == 0
    assert "(The judge" in done.out
    assert "wanted to exit with 3" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--callable", "a:b", "--judge", "rules"], "stands in the place of"),
        (["--callable", "nowhere"], "names no function"),
        (["--callable", ":b"], "names no function"),
        (["--callable", "nowhere:b"], "can't be imported: ModuleNotFoundError"),
        (["--callable", "..nowhere:b"], "can't be imported: TypeError"),
        (["missing.jsonl"], "missing.jsonl"),
        (["--labels", "missing.jsonl"], "missing.jsonl"),
        (["--judge", "rulez"], "rules"),
    ],
)
def test_bad_usage_says_what_to_do(
    planproof: CommandLine, options: list[str], message: str
) -> None:
    done = planproof("calibrate", *options)
    assert done.code == 2
    assert message in done.err


def test_a_case_that_can_not_be_judged_is_named(planproof: CommandLine, tmp_path: Path) -> None:
    bad: dict[str, Any] = {
        "id": "x",
        "user_task": "Go.",
        "agent_plan": [],
        "execution_trace": trace(did("x")),
    }
    done = planproof("calibrate", saved(tmp_path, [*FOLLOWED, bad]))
    assert done.code == 2
    assert "line 4" in done.err
    empty = planproof("calibrate", saved(tmp_path, []))
    assert empty.code == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: is not valid JSON"),
        ("[]", "holds no label"),
        ('{"score": 1}', "holds no label"),
        ('{"id": "b", "score": true}', "holds no label"),
        ('{"id": "b", "score": 7.5}', "must be from 0 to 1"),
        ('{"id": "b", "score": NaN}', "must be from 0 to 1"),
        ('{"id": "a", "score": 1}', "has a label already"),
    ],
)
def test_bad_labels_are_named(line: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_labels(['{"id": "a", "score": 1}', line], "labels.jsonl")


def test_labels_are_read() -> None:
    assert read_labels(['{"id": "a", "score": 1}', "", '{"id": "b", "score": 0.5}'], "x") == {
        "a": 1.0,
        "b": 0.5,
    }
