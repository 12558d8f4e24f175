"""Any text with a model: `--reader records`, and where no reader understands a trace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from planproof import evaluate
from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.judge import AnyJudge, ModelOptions
from planproof.core.model import Cause, ModelFailed, Question
from planproof.core.verdict import Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.evaluation import ReadOptions, build_questions, load_case
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.cascade import Cascade
from planproof.llm.compiling_judge import CompilingJudge
from planproof.llm.open_judge import open_judge
from planproof.llm.prompt import Prompt
from planproof.llm.prompting.case_prompt import count_characters
from planproof.llm.record_kinds import RecordsAnswer
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.readers.detect import read_trace
from planproof.verification import verify
from tests.audit_helpers import audit_answer, step_answer
from tests.fake_model import FakeModel
from tests.record_models import RecordsModel, make_honest_model, plan_actions, record_answer
from tests.third_party import V2_TRACES, with_v2_traces

LOG = """robot 7 ready
move_to dock 3
arrived after 12 s
lift pallet 9
ok
I have parked at dock 1.
"""
PLAN = ["Move to dock 3", "Lift pallet 9"]
RECORDS = [
    record_answer("e1", "other"),
    record_answer("e2", "action", "move_to"),
    record_answer("e3", "result", of="e2"),
    record_answer("e4", "action", "lift"),
    record_answer("e5", "result", of="e4"),
    record_answer("e6", "message"),
]
FINDINGS = audit_answer(
    step_answer("1", "executed", ("e2", "move_to dock 3")),
    step_answer("2", "executed", ("e4", "lift pallet 9")),
)
SCORE = {"score": 1.0, "reason": "Steps 1 and 2 were executed in order."}


def _judges(records: list[dict[str, Any]] = RECORDS) -> dict[str, AnyJudge]:
    options = ModelOptions()
    audited = RecordsModel(records, FakeModel(FINDINGS))
    scored = RecordsModel(records, FakeModel(SCORE))
    return {
        "audit": Audit(Vocabulary(), audited, options),
        "cascade": Cascade(Vocabulary(), audited, options),
        "prompt": Prompt(model=scored, options=options),
        "panel": open_judge("audit", [audited, audited]),
        "samples": open_judge("audit", [audited], samples=2),
    }


def _judge(judge: AnyJudge, *, plan: list[str] | None = PLAN, reader: str | None = None) -> Verdict:
    return evaluate(plan=plan, trace=LOG, judge=judge, reader=reader)


@pytest.mark.parametrize("reader", [None, "records"])
@pytest.mark.parametrize("judge", _judges())
def test_what_no_reader_understands_is_judged_with_a_model(judge: str, reader: str | None) -> None:
    verdict = _judge(_judges()[judge], reader=reader)

    assert (verdict.outcome, verdict.score) == ("scored", 1.0), verdict.reason
    assert verdict.coverage is not None
    assert verdict.coverage.reader == "records"
    assert verdict.coverage.by_kind == {"action": 2, "message": 1, "system": 1}
    assert "6 of 6 records were classified by fake:model" in verdict.coverage.notes
    assert verdict.cost is not None
    assert verdict.cost.calls >= 2 - (judge == "cascade")
    assert verify(verdict.full(), Source.from_value(LOG)) == ()


def test_evidence_points_into_the_source() -> None:
    verdict = _judge(_judges()["audit"])

    assert [evidence.pointer for step in verdict.steps for evidence in step.evidence] == [
        "L2",
        "L4",
    ]


@pytest.mark.parametrize("reader", [None, "records"])
def test_without_a_model_that_sees_the_trace_there_is_no_score(reader: str | None) -> None:
    compiling = CompilingJudge(Vocabulary(), FakeModel({}), ModelOptions())
    for judge in (None, compiling):
        verdict = evaluate(plan=PLAN, trace=LOG, judge=judge, reader=reader)
        assert (verdict.outcome, verdict.score) == ("not_understood", None)
        assert verify(verdict.full(), Source.from_value(LOG)) == ()


def test_a_plan_is_not_searched_in_records() -> None:
    verdict = _judge(_judges()["audit"], plan=None, reader="records")

    assert verdict.outcome == "not_understood"
    assert "pass the plan" in verdict.reason


def test_the_model_that_classifies_sees_no_plan() -> None:
    model = RecordsModel(RECORDS, FakeModel(FINDINGS))
    _judge(Audit(Vocabulary(), model, ModelOptions()))

    (question,) = model.questions
    shown = "".join(part for part in question.parts if isinstance(part, str))
    assert "I have parked at dock 1." in shown
    assert "Lift pallet" not in shown
    assert len(model.judging.questions) == 1


def test_a_claim_that_a_credulous_model_calls_an_action_is_a_message() -> None:
    records = [*RECORDS[:5], record_answer("e6", "action", "park")]
    parked = audit_answer(step_answer("1", "executed", ("e6", "I have parked at dock 1.")))
    judge = Audit(Vocabulary(), RecordsModel(records, FakeModel(parked)), ModelOptions())
    verdict = evaluate(plan=["Park at dock 1"], trace=LOG, judge=judge)

    assert verdict.steps[0].status != "executed"
    assert verdict.coverage is not None
    assert "record e6 does not contain the name 'park'" in verdict.coverage.notes


def test_records_that_the_model_leaves_out_are_counted() -> None:
    verdict = _judge(_judges(RECORDS[:2])["audit"])

    assert (verdict.outcome, verdict.score) == ("not_understood", None)
    assert "2 of 6" in verdict.reason
    assert verdict.cost is not None
    assert verdict.cost.calls == 1
    assert verify(verdict.full(), Source.from_value(LOG)) == ()


@pytest.mark.parametrize("change", ["name", "kind", "of", "range", "absent"])
def test_verify_notices_forged_kinds(change: str) -> None:
    full = _judge(_judges()["audit"]).full()
    kinds = full["coverage"]["kinds"]
    call = next(kind for kind in kinds if kind["kind"] == "action")
    if change == "name":
        call["name"] = "fly_to"
    elif change == "kind":
        call |= {"kind": "message", "name": None}
    elif change == "of":
        kinds[-1] |= {"kind": "result", "of": "e99"}
    elif change == "range":
        call["events"] = "e2-e99"
    else:
        kinds.clear()

    assert verify(full, Source.from_value(LOG))


class FailingModel(FakeModel):
    """Fails at the question about records."""

    def __init__(self, cause: Cause, *, times: int) -> None:
        super().__init__(FINDINGS)
        self._cause = cause
        self._left = times

    async def ask(self, question: Question, *, deadline: float) -> Any:
        if question.answer is RecordsAnswer:
            self.questions.append(question)
            self._left -= 1
            if self._left >= 0:
                raise ModelFailed(self._cause, "no")
            return await FakeModel({"records": RECORDS}).ask(question, deadline=deadline)
        return await super().ask(question, deadline=deadline)


def test_a_failure_has_a_cause_and_no_score() -> None:
    model = FailingModel(Cause.REFUSED, times=1)
    verdict = _judge(Audit(Vocabulary(), model, ModelOptions()))

    assert (verdict.outcome, verdict.score, verdict.cause) == ("judge_failed", None, "refused")


def test_shorter_windows_are_tried_where_records_are_too_long_for_a_model() -> None:
    model = FailingModel(Cause.TOO_LONG, times=1)
    judge = Audit(Vocabulary(), model, ModelOptions())
    text = LOG + "".join(f"{word} after {word}\n" for word in map(chr, range(0x4E00, 0x5400)))
    verdict = evaluate(plan=PLAN, trace=text, judge=judge)

    assert verdict.outcome == "not_understood"  # six of them were classified
    first, second = map(count_characters, model.questions)
    assert second <= first / 2


def test_a_dry_run_lists_the_question_about_records() -> None:
    judge = Audit(Vocabulary(), FakeModel({}), ModelOptions())
    loaded = load_case(Case(task=Content(), plan=PLAN, trace=LOG), judge, ReadOptions())
    assert not isinstance(loaded, Verdict)
    questions = build_questions(loaded, judge)

    assert [question.answer for question in questions].count(RecordsAnswer) == 1
    assert questions[0].answer is RecordsAnswer
    assert len(questions) > 1


def _iter_third_party_sources() -> Iterator[tuple[str, Source]]:
    for path in sorted(V2_TRACES.glob("*")):
        if path.is_file() and path.suffix in {".json", ".jsonl", ".md", ".txt", ".af"}:
            yield path.name, select_trace(Source.from_path(path))


@with_v2_traces
def test_third_party_files_are_judged_as_records_with_pointers_that_hold() -> None:
    judged = 0
    small = (item for item in _iter_third_party_sources() if len(str(item[1].document)) < 400_000)
    for name, source in islice(small, 40):
        plan = plan_actions(read_trace(source), 3)
        if not plan:
            continue
        judge = Audit(Vocabulary(), make_honest_model(source, plan), ModelOptions())
        verdict = evaluate(plan=plan, trace=source, reader="records", judge=judge)
        assert verdict.outcome == "scored", (name, verdict.reason)
        assert verify(verdict.full(), source) == (), name
        judged += any(step.evidence for step in verdict.steps)
    assert judged >= 20
