"""The judge `contract` with a model: one question per plan, and the trace is never shown."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from planproof.core.case import Case
from planproof.core.catalogue import Catalogue, Tool
from planproof.core.contract import Contract
from planproof.core.judge import ModelOptions
from planproof.core.vocabulary import Vocabulary
from planproof.evaluation import aevaluate_case, evaluate_case
from planproof.llm.cascade import Cascade
from planproof.llm.compiling_judge import CompilingJudge
from tests.audit_models import honest
from tests.fake_model import FakeModel
from tests.small_cases import COPY, FOLLOWED, PLAN, READ, USER
from tests.small_contracts import CompilingModel, compile_small_plan


def _case(*messages: dict[str, object], plan: list[str] | None = PLAN) -> Case:
    return Case(task=None, plan=plan, trace=[USER, *messages])


def _judge(model: FakeModel, catalogue: Catalogue | None = None) -> CompilingJudge:
    return CompilingJudge(Vocabulary(), model, ModelOptions(catalogue=catalogue))


def test_cases_with_one_plan_are_compiled_once_and_only_the_first_pays() -> None:
    model = CompilingModel()
    judge = _judge(model)

    async def judge_all() -> list[int]:
        cases = [_case(*READ), _case(*READ, *COPY), _case(*COPY)]
        verdicts = await asyncio.gather(*(aevaluate_case(case, judge=judge) for case in cases))
        return sorted(verdict.cost.calls for verdict in verdicts if verdict.cost)

    assert asyncio.run(judge_all()) == [0, 0, 1]
    assert len(model.questions) == 1


def test_the_model_sees_the_plan_and_the_tools_but_never_the_trace() -> None:
    model = CompilingModel()
    judge = _judge(model, Catalogue((Tool("read_file", ("path",)),)))
    evaluate_case(_case(*READ, {"role": "assistant", "content": "SECRET"}), judge=judge)
    shown = "".join(part for part in model.questions[0].parts if isinstance(part, str))
    assert "read_file(path)" in shown
    assert "SECRET" not in shown


def test_the_verdict_names_the_contract_and_a_plan_declared_in_the_trace() -> None:
    verdict = evaluate_case(_case(*READ), judge=_judge(CompilingModel()))
    assert verdict.contract is not None
    assert (verdict.contract.plan, verdict.contract.compiler) == ("given", "model fake:model")
    plan = {"role": "assistant", "content": "My plan:\n1. " + PLAN[0] + "\n2. " + PLAN[1]}
    declared = evaluate_case(_case(plan, *READ, plan=None), judge=_judge(CompilingModel()))
    assert declared.contract is not None
    assert declared.contract.plan == "declared"


def test_the_fingerprint_depends_on_the_tools() -> None:
    one, other = _judge(FakeModel({})), _judge(FakeModel({}), Catalogue((Tool("x"),)))
    assert one.fingerprint != other.fingerprint


def _cascade(model: FakeModel, contract: Contract) -> Cascade:
    return Cascade(Vocabulary(), model, ModelOptions(contract=contract))


def test_cascade_asks_no_model_where_the_contract_decides_everything() -> None:
    model = FakeModel({})
    verdict = evaluate_case(
        Case(task=None, plan=None, trace=FOLLOWED["execution_trace"]),
        judge=_cascade(model, compile_small_plan(PLAN)),
    )
    assert (verdict.score, model.questions) == (1.0, [])


def test_cascade_asks_a_model_only_about_the_steps_that_a_contract_leaves_open() -> None:
    contract = compile_small_plan(PLAN)
    first, second, last = contract.steps
    open_contract = replace(
        contract, steps=(first, second, replace(last, all_of=(), uncheckable="needs a reader"))
    )
    model = FakeModel(honest(FOLLOWED))
    verdict = evaluate_case(
        Case(task=None, plan=None, trace=FOLLOWED["execution_trace"]),
        judge=_cascade(model, open_contract),
    )
    assert [step.found_by for step in verdict.steps] == ["contract", "contract", "audit"]
    assert verdict.score == 1.0
    assert len(model.questions) == 1
