"""Cases with their verdicts and traces, for reports to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from planproof.core.case import Case
from planproof.core.content import Content
from planproof.core.finding import Evidence, Extra, Severity, Status, StepFinding
from planproof.core.trace import Event, EventStatus, Kind, Trace
from planproof.core.verdict import Coverage, JudgeSummary, NearestBetter, Outcome, Verdict
from planproof.evaluation import ReadOptions, evaluate_case
from planproof.readers.decoding.case_files import read_case
from planproof.readers.native import serialize_trace
from planproof.reports.html.case_page import JudgedCase, read_judged_case
from planproof.runs.run_records import Result, Run, RunState, StoredCase, serialize_case
from planproof.runs.store.store_protocol import Store
from tests.run_builders import RUN


def demo_case(name: str) -> JudgedCase:
    """One of the cases that `planproof demo` judges."""
    data = files("planproof.cli.demo_cases").joinpath(f"{name}.json").read_bytes()
    return judge_case(read_case(data, name=name))


def judge_case(case: Case) -> JudgedCase:
    """The case, judged by the rules."""
    return read_judged_case(case, evaluate_case(case), ReadOptions())


def action_event(number: int, name: str, text: str = "", **fields: Any) -> Event:
    """An action, the number-th event."""
    return Event(
        id=f"e{number}",
        kind=Kind.ACTION,
        pointer=f"/{number}",
        name=name,
        text=text,
        turn=number,
        **fields,
    )


def step(number: str, text: str, status: Status, *cited: tuple[str, str]) -> StepFinding:
    """A finding on a step, with the events that it cites and the words that it quotes."""
    evidence = tuple(Evidence(event, f"/{event[1:]}", quote) for event, quote in cited)
    return StepFinding(
        number=number,
        text=text,
        status=status,
        confidence=0.9,
        evidence=evidence,
        covers=tuple(event for event, _ in cited),
    )


def extra(event: str, quote: str, severity: Severity = Severity.MAJOR) -> Extra:
    """An extra."""
    return Extra(
        event=event,
        pointer=f"/{event[1:]}",
        quote=quote,
        what=quote,
        severity=severity,
        confidence=0.8,
    )


EVENTS = (
    Event(id="e1", kind=Kind.MESSAGE, pointer="/1", actor="user", text="Publish report 12."),
    action_event(
        2, "read_file", arguments={"path": "report-12.txt"}, output="Revenue rose by 4 %."
    ),
    action_event(3, "send_mail", arguments={"to": "ann@example.com", "subject": "Report 12"}),
    action_event(4, "translate", "de", status=EventStatus.ERROR, output="no such language"),
    action_event(5, "translate", "de", status=EventStatus.ERROR, output="no such language"),
    action_event(6, "check_figures", output="3 of 5 figures checked"),
    Event(id="e7", kind=Kind.REASONING, pointer="/7", text="The archive has it, I think."),
)
STEPS = (
    step("1", "Read report-12.txt", Status.EXECUTED, ("e2", "report-12.txt")),
    step("2", "Check all figures", Status.PARTIAL, ("e6", "3 of 5 figures checked")),
    step("3", "Archive the report", Status.AMBIGUOUS, ("e7", "The archive has it")),
    step("4", "Post it in #news", Status.MISSING),
    step("5", "Mail it to Ann", Status.OUT_OF_ORDER, ("e3", "send_mail")),
)
EVERY_STATUS = JudgedCase(
    verdict=Verdict(
        outcome=Outcome.SCORED,
        score=0.0,
        level=0.0,
        id="report-12",
        reason="Step 5 was executed out of plan order.",
        steps=STEPS,
        extras=(extra("e4", "translate"), extra("e5", "translate", Severity.MINOR)),
        nearest_better=NearestBetter(score=0.25, change="if step 4 had been executed"),
        coverage=Coverage(
            reader="native", events=7, skipped=1, notes=("/8: not a JSON object or array",)
        ),
        judge=JudgeSummary(name="rules", fingerprint="f"),
    ),
    task=Content("Publish report 12."),
    trace=Trace(EVENTS),
)
"""Every status, and both sorts of extra."""


def long_case(events: int, *, extras: int = 0) -> JudgedCase:
    """Return a case with N events, of which ten are cited and some are extras."""
    trace = Trace(
        tuple(
            action_event(
                number, f"tool_{number % 7}", f"argument {number} " * 8, output=f"out {number}"
            )
            for number in range(1, events + 1)
        )
    )
    apart = events // 10
    steps = tuple(
        step(
            str(number),
            f"Use argument {number * apart}",
            Status.EXECUTED,
            (f"e{number * apart}", f"argument {number * apart}"),
        )
        for number in range(1, 11)
    )
    verdict = replace(
        EVERY_STATUS.verdict,
        id=f"long-{events}",
        steps=steps,
        extras=tuple(extra(f"e{2 + 3 * number}", "argument") for number in range(extras)),
        coverage=Coverage(reader="native", events=events),
    )
    return JudgedCase(verdict=verdict, task=Content("Go on."), trace=trace)


def store_run(store: Store, cases: Sequence[JudgedCase | Verdict]) -> Run:
    """A run over these cases in a store; a verdict alone is on a case that could not be read."""
    results: list[Result] = []
    kept_cases: list[StoredCase] = []
    for position, given in enumerate(cases):
        verdict = given if isinstance(given, Verdict) else given.verdict
        content = ""
        if not isinstance(given, Verdict) and given.trace is not None:
            case = serialize_case(
                Case(task=given.task, plan=None, trace=serialize_trace(given.trace))
            )
            assert verdict.coverage is not None
            verdict = replace(verdict, coverage=replace(verdict.coverage, reader="native"))
            kept_cases.append(case)
            content = case.hash
        results.append(Result(position, content, verdict.id, verdict, position / 1_000))
    store.begin(RUN)
    store.add(RUN.id, results, kept_cases)
    store.close_run(RUN.id, RunState.FINISHED)
    return store.find_run(RUN.id)
