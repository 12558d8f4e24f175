"""evaluate(): everything that it takes, and every outcome that it gives."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from planproof.core.case import Case
from planproof.core.content import Content, Image
from planproof.core.digests import plan_digest, task_digest
from planproof.core.finding import Evidence, Findings, Status, StepFinding
from planproof.core.limits import Limits
from planproof.core.plan import Plan, Step
from planproof.core.trace import Event, Kind, SkippedPart, Trace
from planproof.core.verdict import Outcome, Verdict
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput, UnknownName
from planproof.evaluation import (
    ReadOptions,
    aevaluate,
    aevaluate_case,
    evaluate,
    evaluate_case,
    invalid_input_verdict,
)
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from tests.timeouts import TIMEOUT_SECONDS

TASK = "Tidy up."
PLAN = ["Read the list", "Delete the draft"]
CALLS = [
    {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
    for n, name in enumerate(("read_list", "delete_draft"))
]
TRACE: list[dict[str, Any]] = [
    {"role": "user", "content": TASK},
    {"role": "assistant", "content": None, "tool_calls": CALLS[:1]},
    {"role": "assistant", "content": None, "tool_calls": CALLS[1:]},
]


@dataclass
class SwornJudge:
    """A judge that finds every step executed by the action in its place."""

    name: str = "sworn"
    fingerprint: str = "1"

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        actions = [event for event in trace.events if event.kind is Kind.ACTION]
        return Findings(
            tuple(
                StepFinding(
                    number=step.number,
                    text=step.text,
                    status=Status.EXECUTED if place < len(actions) else Status.MISSING,
                    confidence=1.0,
                    evidence=tuple(
                        Evidence(action.id, action.pointer, action.name or "")
                        for action in actions[place : place + 1]
                    ),
                )
                for place, step in enumerate(plan.steps)
            )
        )


@dataclass
class BrokenJudge(SwornJudge):
    name: str = "broken"

    def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
        raise ZeroDivisionError("of all things")


def _evaluate(**changes: Any) -> Verdict:
    given: dict[str, Any] = {"task": TASK, "plan": PLAN, "trace": TRACE, "judge": SwornJudge()}
    return evaluate(**given | changes)


def test_a_verdict_says_what_it_rests_on() -> None:
    verdict = _evaluate(id="a", metadata={"team": 3})
    assert (verdict.outcome, verdict.score, verdict.level) == (Outcome.SCORED, 1.0, 1.0)
    assert verdict.brief() == {"score": 1.0, "reason": verdict.reason}
    assert (verdict.id, verdict.metadata) == ("a", {"team": 3})
    assert verdict.plan is not None
    assert (verdict.plan.origin, verdict.plan.steps) == ("given", 2)
    assert verdict.judge is not None
    assert (verdict.judge.name, verdict.judge.fingerprint) == ("sworn", "1")
    assert verdict.coverage is not None
    assert verdict.coverage.reader == "openai-messages"
    assert verdict.coverage.by_kind == {"action": 2, "message": 1}
    assert verdict.inputs is not None
    assert verdict.inputs.trace == Source.from_value(TRACE).digest
    assert verdict.nearest_better is None


@pytest.mark.parametrize("form", ["value", "text", "path", "source"])
def test_a_trace_may_be_given_in_any_form(form: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(TRACE, indent=2), encoding="utf-8")
    given: dict[str, Any] = {
        "value": TRACE,
        "text": json.dumps(TRACE),
        "path": path,
        "source": Source.from_value(TRACE),
    }
    verdict = _evaluate(trace=given[form])
    assert replace(verdict, inputs=None) == replace(_evaluate(), inputs=None)
    assert (verdict.inputs == _evaluate().inputs) == (form in ("value", "source"))


@pytest.mark.parametrize("form", ["text", "path", "json path", "noun"])
def test_a_plan_may_be_given_in_any_form(form: str, tmp_path: Path) -> None:
    text = "1. Read the list\n2. Delete the draft\n"
    (tmp_path / "plan.md").write_text(text, encoding="utf-8")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    steps = tuple(Step(number=str(n), text=t, parts=(t,)) for n, t in enumerate(PLAN, 1))
    given: dict[str, Any] = {
        "text": text,
        "path": tmp_path / "plan.md",
        "json path": tmp_path / "plan.json",
        "noun": Plan(steps),
    }
    verdict = _evaluate(plan=given[form])
    assert replace(verdict, inputs=None) == replace(_evaluate(), inputs=None)
    assert (verdict.inputs == _evaluate().inputs) == (form == "json path")


@pytest.mark.parametrize("form", ["parts", "path", "json path", "noun"])
def test_a_task_may_be_given_in_any_form(form: str, tmp_path: Path) -> None:
    parts = [{"type": "text", "text": TASK}]
    (tmp_path / "task.txt").write_text(TASK, encoding="utf-8")
    (tmp_path / "task.json").write_text(json.dumps(parts), encoding="utf-8")
    given: dict[str, Any] = {
        "parts": parts,
        "path": tmp_path / "task.txt",
        "json path": tmp_path / "task.json",
        "noun": Content(TASK),
    }
    assert _evaluate(task=given[form]) == _evaluate()


def test_a_trace_of_ones_own_is_judged_in_the_native_form() -> None:
    image = Image("image/png", data="AAAA")
    trace = Trace(
        (
            Event(id="first", kind=Kind.ACTION, pointer="", name="read_list", images=(image,)),
            Event(id="second", kind=Kind.ACTION, pointer="", name="delete_draft", parent="first"),
        )
    )
    verdict = _evaluate(trace=trace)
    assert verdict.score == 1.0
    assert verdict.coverage is not None
    assert verdict.coverage.reader == "native"
    assert verdict.steps[1].evidence[0].pointer == "/events/1"


def test_a_trace_that_was_read_keeps_its_events_in_the_native_form() -> None:
    read = read_trace(Source.from_value(TRACE))
    again = _evaluate(trace=read)
    assert [step.status for step in again.steps] == [step.status for step in _evaluate().steps]


@pytest.mark.parametrize("plan", [None, "", [], {}, Plan(())])
def test_a_plan_without_steps_is_no_plan(plan: Any) -> None:
    verdict = _evaluate(plan=plan)
    assert (verdict.outcome, verdict.score, verdict.level) == (Outcome.NO_PLAN, None, None)
    assert "plan" in verdict.reason
    assert verdict.coverage is not None
    assert verdict.brief()["score"] is None


@pytest.mark.parametrize("trace", [[], {}, {"messages": []}])
def test_without_a_record_there_are_no_events(trace: Any) -> None:
    verdict = _evaluate(trace=trace)
    assert (verdict.outcome, verdict.score) == (Outcome.NO_EVENTS, None)


def test_a_trace_in_which_the_agent_does_nothing_is_scored() -> None:
    verdict = _evaluate(trace=TRACE[:1])
    assert (verdict.outcome, verdict.score) == (Outcome.SCORED, 0.0)
    assert {step.status for step in verdict.steps} == {Status.MISSING}


@pytest.mark.parametrize("plan", [PLAN, None])
def test_a_trace_that_is_not_understood_gets_no_score(plan: Any) -> None:
    verdict = _evaluate(trace="I read the list.\nThen I deleted the draft.", plan=plan)
    assert (verdict.outcome, verdict.score) == (Outcome.NOT_UNDERSTOOD, None)
    assert "it recognised no turns or calls of the agent" in verdict.reason
    assert "`planproof inspect FILE`" in verdict.reason
    assert verdict.steps == ()
    assert verdict.coverage is not None
    assert (verdict.coverage.reader, verdict.coverage.events) == ("general", 1)


def test_a_plan_without_steps_is_found_out_before_anything_is_read() -> None:
    assert _evaluate(trace="I read the list.", plan=[]).outcome is Outcome.NO_PLAN


def test_an_agent_that_only_talks_is_scored() -> None:
    told = {"role": "assistant", "content": "I read the list and deleted the draft."}
    events = (Event(id="e1", kind=Kind.MESSAGE, pointer="", actor="assistant", text="All done."),)
    for trace in ([TRACE[0], told], "User: Tidy up.\nAssistant: All done.", Trace(events)):
        verdict = _evaluate(trace=trace)
        assert (verdict.outcome, verdict.score) == (Outcome.SCORED, 0.0)


def test_a_judge_that_fails_gives_a_verdict_without_a_score() -> None:
    verdict = _evaluate(judge=BrokenJudge())
    assert (verdict.outcome, verdict.score) == (Outcome.JUDGE_FAILED, None)
    assert verdict.reason == "The judge `broken` failed: ZeroDivisionError: of all things"


def test_a_judge_that_gives_a_status_of_its_own_has_failed() -> None:
    class Inventive(SwornJudge):
        def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
            found = super().judge(task, plan, trace)
            steps = [replace(step, status=cast("Status", "skipped")) for step in found.steps]
            return Findings(tuple(steps))

    verdict = _evaluate(judge=Inventive())
    assert (verdict.outcome, verdict.score) == (Outcome.JUDGE_FAILED, None)
    assert "unknown step status 'skipped'. Use one of executed, partial," in " ".join(
        verdict.reason.split()
    )


def test_the_level_is_the_anchor_at_or_below_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, level in ((0.0, 0.0), (0.24, 0.0), (0.5, 0.5), (0.74, 0.5), (0.99, 0.75)):

        def given(_: Findings, number: float = number) -> float:
            return number

        monkeypatch.setattr("planproof.evaluation.compute_score", given)
        assert _evaluate().level == level


def test_what_was_left_out_is_said() -> None:
    lines = [json.dumps(message) for message in TRACE]
    lines[1:1] = [f"{{broken {n}" for n in range(3)]
    coverage = _evaluate(trace="\n".join(lines)).coverage
    assert coverage is not None
    assert coverage.skipped == 3
    assert coverage.notes[0].startswith("truncated or invalid JSON")
    assert coverage.notes[0].endswith("(3 parts, first at L2)")


def test_skipped_parts_are_named_by_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = tuple(SkippedPart(f"/{n}", f"reason {max(n, 2)}") for n in range(12))

    def read(source: Source, **_: Any) -> Trace:
        return replace(read_trace(source), skipped=skipped)

    monkeypatch.setattr("planproof.evaluation.read_trace", read)
    coverage = _evaluate().coverage
    assert coverage is not None
    assert coverage.skipped == 12
    assert coverage.notes[:2] == ("reason 2 (3 parts, first at /0)", "/3: reason 3")
    assert coverage.notes[-2:] == ("/6: reason 6", "and 5 more")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": 3}, "/user_task: must be text or a list of content parts, not int"),
        ({"task": Path("nowhere")}, "nowhere: can't be read: No such file"),
        ({"plan": Path("nowhere")}, "nowhere: can't be read: No such file"),
        ({"trace": Path("nowhere")}, "nowhere: can't be read: No such file"),
        ({"trace": ""}, "execution_trace: is empty"),
        ({"trace": 3}, "execution_trace: contains a number"),
        ({"trace": {"at": {1, 2}}}, "execution_trace: is not a JSON value"),
        ({"plan": [{"text": "Do it", "at": {1, 2}}]}, "agent_plan: is not a JSON value"),
        ({"plan": ["Do it", 3]}, "agent_plan#/1: "),
        ({"plan": 3}, "agent_plan: "),
    ],
    ids=str,
)
def test_what_can_not_be_read_is_an_error(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _evaluate(**changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("task.txt", b"caf\xe9", "is not text: byte 3 is not valid UTF-8"),
        ("task.json", b" ", "is empty. A file whose name ends in .json must be JSON"),
        ("task.json", b"[", "is not valid JSON"),
        ("task.json", b"[" * 100_000, "is not valid JSON"),
        ("task.json", b"3", "must be text or a list of content parts"),
    ],
)
def test_files_of_a_task_or_plan_must_be_readable(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        _evaluate(task=path)
    assert f"{path}: {message}" in str(caught.value)


def test_one_of_many_cases_gives_a_verdict_whatever_happens() -> None:
    case = Case(task=Content(TASK), plan=PLAN, trace=TRACE, id="a", metadata={"x": 1})
    assert evaluate_case(case, judge=SwornJudge()).score == 1.0
    bad = evaluate_case(
        replace(case, trace=""), judge=SwornJudge(), options=ReadOptions(where="line 7")
    )
    assert (bad.outcome, bad.id, bad.metadata) == (Outcome.INVALID_INPUT, "a", {"x": 1})
    assert bad.reason.startswith("line 7, execution_trace: is empty.")
    tight = evaluate_case(case, judge=SwornJudge(), options=ReadOptions(limits=Limits(depth=1)))
    assert "nested more than 1 levels" in tight.reason


@pytest.mark.parametrize("place", ["read_trace", "_open_source"])
def test_an_internal_error_in_reading_is_an_outcome(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def faulty(*_: Any, **__: Any) -> Trace:
        raise KeyError("x")

    monkeypatch.setattr(f"planproof.evaluation.{place}", faulty)
    given: Any = {"task": "", "plan": PLAN, "trace": TRACE, "id": "a", "metadata": {"x": 1}}
    case = Case(task=Content(), plan=PLAN, trace=TRACE, id="a", metadata={"x": 1})
    verdicts = (
        evaluate(judge=SwornJudge(), **given),
        asyncio.run(aevaluate(judge=SwornJudge(), **given)),
        evaluate_case(case, judge=SwornJudge()),
        asyncio.run(aevaluate_case(case, judge=SwornJudge())),
    )
    for verdict in verdicts:
        assert (verdict.outcome, verdict.score) == (Outcome.JUDGE_FAILED, None)
        assert (verdict.id, verdict.metadata) == ("a", {"x": 1})
        assert "internal error: KeyError: 'x'" in verdict.reason
        assert "please report it" in verdict.reason


def test_an_internal_error_in_a_file_is_an_outcome(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def faulty(*_: Any, **__: Any) -> Trace:
        raise KeyError("x")

    monkeypatch.setattr("planproof.evaluation.select_trace", faulty)
    path = tmp_path / "trace.json"
    path.write_text("[]", encoding="utf-8")
    verdicts = (
        _evaluate(trace=path),
        asyncio.run(aevaluate(plan=PLAN, trace=path, judge=SwornJudge())),
    )
    assert [verdict.outcome for verdict in verdicts] == [Outcome.JUDGE_FAILED] * 2


def test_unknown_names_are_errors_for_one_of_many_too() -> None:
    case = Case(task=Content(TASK), plan=PLAN, trace=TRACE)
    with pytest.raises(UnknownName, match="Did you mean `rules`"):
        evaluate_case(case, judge="rule")
    with pytest.raises(UnknownName, match="Did you mean `general`"):
        evaluate_case(case, judge=SwornJudge(), options=ReadOptions(reader="generall"))


def test_an_invalid_case_needs_no_id() -> None:
    verdict = invalid_input_verdict(InvalidInput("is odd.", where="here", advice="Mend it."))
    assert verdict.reason == "here: is odd. Mend it."
    assert verdict.id is None


def test_the_embedded_judge_is_the_default() -> None:
    options: dict[str, Any]
    for options in ({}, {"judge": "rules"}, {"vocabulary": Vocabulary()}):
        verdict = evaluate(task=TASK, plan=PLAN, trace=TRACE, **options)
        assert verdict.judge is not None
        assert verdict.judge.name == "rules"


def test_the_vocabulary_reaches_the_reader() -> None:
    known = Vocabulary().with_declared(bookkeeping=frozenset({"read_list"}))
    coverage = _evaluate(vocabulary=known).coverage
    assert coverage is not None
    assert coverage.by_kind["bookkeeping"] == 1


def test_awaiting_a_verdict_does_not_block_the_loop() -> None:
    goes_on = threading.Event()

    class Waiting(SwornJudge):
        def judge(self, task: Content, plan: Plan, trace: Trace) -> Findings:
            assert goes_on.wait(TIMEOUT_SECONDS), "the loop was held up"
            return super().judge(task, plan, trace)

    async def judged_beside_others() -> Verdict:
        judge = Waiting()
        judged = asyncio.create_task(aevaluate(task=TASK, plan=PLAN, trace=TRACE, judge=judge))
        for _ in range(3):
            await asyncio.sleep(0)
        goes_on.set()
        return await judged

    assert asyncio.run(judged_beside_others()) == _evaluate()


def test_inputs_have_distinct_digests() -> None:
    image = Image("image/png", data="AAAA")
    tasks = [Content("a"), Content("b"), Content("a", (image,)), Content("a", (image, image))]
    assert len({task_digest(task) for task in tasks}) == 4
    plans = ["a", ["a"], {"steps": ["a"]}, Plan(()), None]
    assert len({plan_digest(plan) for plan in plans}) == 5
    assert task_digest(Content("\ud800")).startswith("sha256:")


def test_a_judge_that_asks_no_model_says_that_it_saw_no_image() -> None:
    task = Content(TASK, (Image("image/png", data="AAAA"),))
    coverage = _evaluate(task=task).coverage
    assert coverage is not None
    assert coverage.notes == ("images ignored: 1",)


def test_a_plan_in_another_language_is_noted() -> None:
    plan = ["Lies die Datei a.txt und prüfe den Inhalt für den Kunden mit dem Werkzeug"]
    coverage = _evaluate(plan=plan).coverage
    assert coverage is not None
    assert coverage.notes == ("the plan is in German: without a model, only English is compared",)
