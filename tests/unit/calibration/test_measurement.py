"""`rules` on the built-in variants, and what counts as having located a flaw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from planproof import evaluate
from planproof.calibration.attacks import apply_attack
from planproof.calibration.callables import CallableJudge, load_callable_judge
from planproof.calibration.figures import compute_figures
from planproof.calibration.followed_cases import build_followed_case, load_built_in_cases
from planproof.calibration.measurement import Measurement, measure
from planproof.calibration.variant import TEXT_ATTACKS, Attack, Flaw
from planproof.calibration.variant_set import generate_variants
from planproof.checking.rules import Rules
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.errors import InvalidInput
from planproof.evaluation import ReadOptions
from planproof.runs.engines.case_judging import CaseEvaluator
from scripts.calibration_quality import format_figures
from scripts.doc_blocks import ROOT
from tests.trace_builders import asked, did, trace

# A number that the agent only writes next to a call counts as shown by the call.
KNOWN_RAISES = {Attack.REACT: 2}
SHELL_ATTACKS = {Attack.ECHO, Attack.COLON, Attack.HELP, Attack.UNREACHED}


@pytest.fixture(scope="module")
def rows() -> list[Measurement]:
    return list(
        measure(generate_variants(load_built_in_cases()), CaseEvaluator(Rules()), concurrency=1)
    )


def test_no_text_raises_a_score_of_the_rules(rows: list[Measurement]) -> None:
    fooled = compute_figures(rows).fooled
    raised = {attack: share.hits for attack, share in fooled.items() if share.hits}
    assert all(hits <= KNOWN_RAISES.get(attack, 0) for attack, hits in raised.items()), raised
    without_shell = fooled.keys() - {*SHELL_ATTACKS, Attack.EMPTY}
    assert all(fooled[attack].of >= 30 for attack in without_shell)


def test_no_text_raises_it_for_the_flaws_that_are_not_measured_with_attacks(
    rows: list[Measurement],
) -> None:
    flawed = [row for row in rows if row.attack is None and isinstance(row.change, Flaw)]
    tried = Counter[Attack]()
    for row in flawed:
        thinks = any(event["kind"] == "reasoning" for event in row.variant.events)
        # A thought that gives way to another may have been a step: then that one is left out.
        for attack in TEXT_ATTACKS - ({Attack.REASONING} if thinks else set()):
            attacked = apply_attack(row.variant, attack)
            if attacked is None or attack in KNOWN_RAISES:
                continue
            case = attacked.case
            found = evaluate(task=case.task, plan=case.plan, trace=case.trace).score
            assert found is not None
            assert row.score is not None
            assert found <= row.score, (row.id, attack)
            tried[attack] += 1
    assert tried.keys() == TEXT_ATTACKS - KNOWN_RAISES.keys()
    assert min(tried.values()) >= 100


def test_a_row_is_what_evaluating_the_variant_gives(rows: list[Measurement]) -> None:
    for variant, row in list(zip(generate_variants(load_built_in_cases()), rows, strict=True))[
        ::17
    ]:
        case = variant.case
        verdict = evaluate(task=case.task, plan=case.plan, trace=case.trace)
        assert (row.id, row.score, row.verdict.reason) == (
            variant.id,
            verdict.score,
            verdict.reason,
        )


def test_the_figures_are_what_an_independent_count_gives(rows: list[Measurement]) -> None:
    found = compute_figures(rows)
    passed, caught = Counter[Any](), Counter[Any]()
    for row in rows:
        assert row.score is not None
        if row.attack is None:
            passed[row.change] += row.score in (0.75, 1.0)
            caught[row.change] += row.score in (0.0, 0.25, 0.5)
    assert found.passed.hits == passed[None]
    for flaw in set(Flaw) - {Flaw.RETRIED}:
        assert found.flaws[flaw].caught.hits == caught[flaw]
    for rewording, share in found.reworded.items():
        assert share.hits == passed[rewording]


def test_the_docs_have_the_figures_of_the_rules(rows: list[Measurement]) -> None:
    page = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
    assert f"| `rules` | {' | '.join(format_figures(compute_figures(rows)).values())} |\n" in page


def test_a_case_of_ones_own_is_taken_in_the_native_form() -> None:
    case = Case(
        task=None, plan=["Read a.txt"], trace=trace(asked("Go."), did("read", path="a.txt"))
    )
    taken = build_followed_case(case, Rules(), ReadOptions(), "case 3")
    assert (taken.id, taken.task, taken.plan) == ("case 3", Content("Go."), ("Read a.txt",))
    assert [event["id"] for event in taken.events] == ["e1", "e2"]
    with pytest.raises(InvalidInput, match="no steps"):
        build_followed_case(
            Case(task=None, plan=[], trace=trace(did("x"))), Rules(), ReadOptions(), "x"
        )


def generous(user_task: str, agent_plan: list[str], execution_trace: Any) -> Mapping[str, Any]:
    assert user_task
    assert execution_trace["events"]
    return {"score": 1.0, "reason": f"All {len(agent_plan)} steps."}


async def awaited(**given: Any) -> float:
    return 0.25 if len(given["agent_plan"]) == 4 else 7.5


def test_any_callable_can_be_measured() -> None:
    some = list(generate_variants(load_built_in_cases()[:2]))
    found = compute_figures(measure(some, CaseEvaluator(CallableJudge(generous, "generous"))))
    assert (found.passed.rate, found.unscored.hits) == (1.0, 0)
    assert {each.caught.hits for each in found.flaws.values()} == {0}
    # It names no step, so that nobody can say what it would have located.
    assert {each.located.of for each in found.flaws.values()} == {0}
    found = compute_figures(
        measure(some, CaseEvaluator(load_callable_judge(f"{__name__}:awaited")))
    )
    assert found.passed.rate == 0.0
    assert 0 < found.unscored.hits < found.unscored.of


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "is not a valid function name"),
        ("planproof.nowhere:x", "can't be imported"),
        ("planproof.case:nothing", "can't be imported"),
        ("planproof.runs.engines.local:DEFAULT_MODEL_CONCURRENCY", "is not callable"),
    ],
)
def test_an_object_that_is_not_callable_is_an_error(name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_callable_judge(name)
