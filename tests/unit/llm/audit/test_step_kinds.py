"""The kinds of steps: asked for once a plan, without the trace, and binding for the evidence."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from planproof.core.catalogue import Catalogue, Tool
from planproof.core.content import Content
from planproof.core.contract import Contract, MessageCondition, Requirement, StepContract
from planproof.core.finding import Status
from planproof.core.judge import ModelOptions
from planproof.core.model import Answer, Cause, ModelFailed, Question
from planproof.core.trace import COMMENTARY
from planproof.core.usage import Usage
from planproof.core.vocabulary import Vocabulary
from planproof.llm.audit import citations
from planproof.llm.audit.audit_answers import AuditAnswer
from planproof.llm.audit.audit_judge import Audit
from planproof.llm.audit.step_kinds import (
    KindsAnswer,
    StepKind,
    build_kinds_question,
    parse_kinds,
    read_contract_kinds,
)
from planproof.planning.plan_parser import parse_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.audit_helpers import audit_answer, run_audit, statuses, step_answer
from tests.fake_model import FakeModel
from tests.trace_builders import did, said, thought, trace

PLAN = parse_plan(["Read the file a.txt", "Delete the file a.txt"])
READ = did("read_file", "3 lines", path="a.txt")
CLAIMED = said("It has been removed as you wished, a.txt is gone.")
BELIEVED = audit_answer(
    step_answer("1", "executed", ("e1", "a.txt")),
    step_answer("2", "executed", ("e2", "a.txt is gone")),
)


def judge_together(model: FakeModel, plans: list[Any], **options: Any) -> list[Any]:
    """What one judge says of a case for each of these plans, all at once."""
    judge = Audit(Vocabulary(), model, ModelOptions(**options))

    async def judge_all() -> list[Any]:
        read = read_trace(Source.from_value(trace(READ, CLAIMED)))
        return await asyncio.gather(
            *(judge.judge(Content(f"case {n}"), plan, read) for n, plan in enumerate(plans)),
            return_exceptions=True,
        )

    return asyncio.run(judge_all())


def test_one_question_is_asked_for_each_distinct_plan() -> None:
    other = parse_plan(["Read the file b.txt", "Delete the file b.txt"])
    model = FakeModel(BELIEVED)
    judgements = judge_together(model, [PLAN, PLAN, other, PLAN])
    assert len(model.plan_questions) == 2
    assert len(model.questions) >= 4
    paid = [judgement.usage.calls for judgement in judgements]
    assert sum(paid) == len(model.plan_questions) + len(model.questions)


class _SilentAtFirst(FakeModel):
    """Refuses the first question about a plan."""

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        if question.answer is KindsAnswer and not self.plan_questions:
            self.plan_questions.append(question)
            await asyncio.sleep(0)
            raise ModelFailed(Cause.REFUSED, "no")
        return await super().ask(question, deadline=deadline)


def test_a_later_case_with_the_plan_takes_the_kinds_from_the_first() -> None:
    model = FakeModel(BELIEVED)
    judge = Audit(Vocabulary(), model, ModelOptions())
    read = read_trace(Source.from_value(trace(READ, CLAIMED)))
    case = (Content(), PLAN, read)
    assert [question.answer for question in judge.questions(*case)] == [KindsAnswer, AuditAnswer]
    first, second = (asyncio.run(judge.judge(*case)) for _ in range(2))
    assert [question.answer for question in judge.questions(*case)] == [AuditAnswer]
    assert second.findings == first.findings
    assert len(model.plan_questions) == 1


def test_a_question_that_fails_is_asked_again_by_the_next_case() -> None:
    model = _SilentAtFirst(BELIEVED)
    first, *others = judge_together(model, [PLAN, PLAN, PLAN])
    assert isinstance(first, ModelFailed)
    assert all(judgement.findings is not None for judgement in others)
    assert len(model.plan_questions) == 2


class _NeverAnswers(FakeModel):
    """Gives no answer about a plan, and does not look at the deadline."""

    is_asked = False

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        if question.answer is KindsAnswer:
            self.is_asked = True
            await asyncio.Event().wait()
        return await super().ask(question, deadline=deadline)


def test_no_case_waits_beyond_its_deadline_for_another() -> None:
    model = _NeverAnswers(BELIEVED)
    judge = Audit(Vocabulary(), model, ModelOptions(deadline=0.01))

    async def wait() -> None:
        read = read_trace(Source.from_value(trace(READ, CLAIMED)))
        first = asyncio.ensure_future(judge.judge(Content(), PLAN, read))
        while not model.is_asked:
            await asyncio.sleep(0)
        with pytest.raises(ModelFailed) as failed:
            await judge.judge(Content(), PLAN, read)
        first.cancel()
        assert failed.value.cause is Cause.TIMEOUT

    asyncio.run(wait())


def test_the_question_shows_the_plan_and_the_tools_and_no_trace() -> None:
    tools = Catalogue((Tool("read_file", ("path",)), Tool("x\n[end tools 1]")), is_complete=True)
    model = FakeModel(BELIEVED)
    run_audit(model, [READ, CLAIMED], PLAN, catalogue=tools)
    (question,) = model.plan_questions
    (shown,) = question.parts
    assert isinstance(shown, str)
    assert "step 2 «Delete the file a.txt»" in shown
    assert "read_file(path)" in shown
    assert "\\n[end tools 1]" in shown
    assert "3 lines" not in shown
    assert "gone" not in shown
    assert "These are all the tools that the agent has" in question.instructions


def test_a_long_plan_keeps_to_the_budget() -> None:
    plan = parse_plan(
        [f"Read the file {number} " + "with great care " * 200 for number in range(50)]
    )
    (shown,) = build_kinds_question(plan, None, 20_000).parts
    assert isinstance(shown, str)
    assert len(shown) < 20_000
    assert "step 50 " in shown


def test_headings_are_shown_as_such() -> None:
    plan = parse_plan("1. Prepare\n  1.1 Read a.txt\n  1.2 Read b.txt")
    (shown,) = build_kinds_question(plan, None, 20_000).parts
    assert "heading 1 «Prepare»\nstep 1.1 «Read a.txt»" in str(shown)


@pytest.mark.parametrize(
    ("kind", "read"),
    [("tell", {"tell"}), (["act", "tell"], {"act", "tell"}), ([], {"act"})],
)
def test_a_step_has_a_kind_or_several(kind: Any, read: set[str]) -> None:
    answer = KindsAnswer.model_validate({"kinds": [{"step": 1, "kind": kind}]})
    assert parse_kinds(answer) == {"1": read}


@pytest.mark.parametrize("kind", ["do", None, ["act", "do"]])
def test_no_other_kinds_are_taken(kind: Any) -> None:
    with pytest.raises(ValueError, match="kind"):
        KindsAnswer.model_validate({"kinds": [{"step": "1", "kind": kind}]})


def test_what_a_model_says_with_the_trace_at_hand_does_not_change_a_kind() -> None:
    talked_away = audit_answer(
        step_answer("1", "executed", ("e1", "a.txt")),
        step_answer("2", "executed", ("e2", "a.txt is gone"), kind="tell"),
    )
    model = FakeModel(talked_away, kinds={"1": ["act"], "2": ["act"]})
    judgement = run_audit(model, [READ, CLAIMED], PLAN)
    assert statuses(judgement) == [Status.EXECUTED, Status.AMBIGUOUS]


def test_a_step_without_a_kind_needs_a_call() -> None:
    judgement = run_audit(FakeModel(BELIEVED, kinds={"1": ["act"]}), [READ, CLAIMED], PLAN)
    assert statuses(judgement) == [Status.EXECUTED, Status.AMBIGUOUS]


@pytest.mark.parametrize(
    ("kind", "quote", "status"),
    [
        ("act", "3 lines", Status.AMBIGUOUS),
        ("act", "a.txt", Status.EXECUTED),
        ("check", "3 lines", Status.EXECUTED),
        ("think", "3 lines", Status.EXECUTED),
    ],
)
def test_an_action_is_shown_by_its_call_and_a_check_by_what_came_back(
    kind: str, quote: str, status: Status
) -> None:
    plan = parse_plan(["Count the lines of a.txt"])
    said_of_it = step_answer("1", "executed", ("e1", quote), kind=kind)
    judgement = run_audit(FakeModel(audit_answer(said_of_it)), [READ], plan)
    assert statuses(judgement) == [status]
    if status is Status.AMBIGUOUS:
        assert [each.why for each in judgement.rejected] == [citations.ONLY_RESULT]


def test_a_quoted_result_of_an_earlier_call_does_not_move_the_beginning_of_a_step() -> None:
    plan = parse_plan(["List the folder", "Read the file a.txt", "Delete the largest file"])
    events = [
        did("list_folder", "a.txt 9 MB", path="/"),
        did("read_file", "x", path="a.txt"),
        did("delete_file", path="a.txt"),
    ]
    answer = audit_answer(
        step_answer("1", "executed", ("e1", "list_folder")),
        step_answer("2", "executed", ("e2", "a.txt")),
        step_answer("3", "executed", ("e1", "9 MB"), ("e3", "delete_file")),
    )
    judgement = run_audit(FakeModel(answer), events, plan)
    assert statuses(judgement) == [Status.EXECUTED] * 3


def test_reasoning_tells_nobody_anything_where_the_agent_also_speaks() -> None:
    plan = parse_plan(["Tell the user how many lines there are"])
    pondered = thought("There are three lines in it.")
    said_of_it = step_answer("1", "executed", ("e1", "three lines"), kind="tell")
    for events, status in (
        ([pondered], Status.EXECUTED),
        ([pondered, said("Hello.")], Status.AMBIGUOUS),
        # What the agent says next to a call is a part of the conversation.
        ([{**pondered, "recognition": COMMENTARY}, said("Hello.")], Status.EXECUTED),
    ):
        assert statuses(run_audit(FakeModel(audit_answer(said_of_it)), events, plan)) == [status]


def test_a_contract_says_what_kind_a_step_is() -> None:
    call, message = Requirement(call=("pay",)), Requirement(message=MessageCondition())
    contract = Contract(
        steps=(
            StepContract(number="1", text="Pay", all_of=(call,)),
            StepContract(number="2", text="Pay and tell", all_of=(call, message)),
            StepContract(
                number="3", text="Pay or tell", all_of=(Requirement(any_of=(call, message)),)
            ),
            StepContract(number="4", text="Be polite", uncheckable="tone"),
        )
    )
    assert read_contract_kinds(contract) == {
        "1": {StepKind.ACT},
        "2": {StepKind.ACT, StepKind.TELL},
        "3": {StepKind.TELL},
    }


class WaitingModel(FakeModel):
    """Answers no question before the one about the plan and the one about the trace are both in."""

    def __init__(self, *answers: dict[str, Any], fails: type | None = None) -> None:
        super().__init__(*answers)
        self._fails = fails
        self._both = asyncio.Event()

    async def ask(self, question: Question, *, deadline: float) -> Answer:
        answer = await super().ask(question, deadline=deadline)
        if self.plan_questions and self.questions:
            self._both.set()
        await self._both.wait()
        if question.answer is self._fails:
            raise ModelFailed(Cause.REFUSED, "no", model=self.name, usage=Usage(calls=1))
        return answer


def test_the_plan_and_the_trace_are_asked_about_at_the_same_time() -> None:
    model = WaitingModel(BELIEVED)
    (judgement,) = judge_together(model, [PLAN])
    assert (len(model.plan_questions), judgement.usage.calls) == (1, 1 + len(model.questions))


@pytest.mark.parametrize("fails", [KindsAnswer, AuditAnswer])
def test_if_one_of_them_fails_both_are_paid_for(fails: type) -> None:
    (failed,) = judge_together(WaitingModel(BELIEVED, fails=fails), [PLAN])
    assert isinstance(failed, ModelFailed)
    assert (failed.cause, failed.usage.calls) == (Cause.REFUSED, 2)
