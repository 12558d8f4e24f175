"""Whatever the format and the judge, every quote of a verdict is in the source."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planproof.checking.event_text import collect_strings
from planproof.contracts.contract_file import parse_contract
from planproof.core.finding import Evidence, Extra, Findings, Severity, Status, StepFinding
from planproof.core.plan import Plan
from planproof.core.pointer import resolve
from planproof.core.quotes import is_quote_in, to_searchable_text
from planproof.core.trace import Event, Kind, Trace
from planproof.core.verdict import Verdict
from planproof.evaluation import evaluate
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.split_traces import select_trace
from planproof.readers.detect import read_trace
from planproof.readers.profile_reader import ProfileReader, parse_profile
from planproof.readers.recognition import list_readers
from planproof.verification import verify
from tests.format_samples import collect_samples
from tests.third_party import FILES, V2_TRACES

NOT_TRACES = {"FORMATS", "index"}
SAMPLES = {
    f"{reader} {number}": sample
    for reader, samples in collect_samples().items()
    for number, (sample, _) in enumerate(samples)
}
RECORDED = [*FILES, *sorted(path for path in V2_TRACES.glob("*.*") if path.stem not in NOT_TRACES)]


class QuoteEverything:
    """A judge that quotes every text of every event, as a reader gave it."""

    name = "quote-everything"
    fingerprint = "1"

    def judge(self, task: object, plan: Plan, trace: Trace) -> Findings:
        step = plan.steps[0]
        cited = [one for event in trace.events for one in list_citations(event)]
        finding = StepFinding(
            number=step.number,
            text=step.text,
            status=Status.EXECUTED,
            confidence=1.0,
            evidence=tuple(cited),
        )
        extras = [
            Extra(
                event=one.event,
                pointer=one.pointer,
                quote=one.quote,
                what="x",
                severity=Severity.MAJOR,
                confidence=1.0,
            )
            for one in cited
        ]
        return Findings((finding,), tuple(extras))


def list_citations(event: Event) -> list[Evidence]:
    texts = [event.name or "", event.text[:120], *collect_strings(event.arguments)]
    cited = [Evidence(event.id, event.pointer, text[:120]) for text in texts]
    if event.output_pointer is not None and event.output.strip():
        cited.append(Evidence(event.id, event.output_pointer, event.output[:120]))
    return cited


def describe_actions(trace: Trace) -> list[str]:
    """Return steps that name the tools that were called, so that the names would be quoted."""
    names = [event.name or "" for event in trace.events if event.kind is Kind.ACTION]
    return [f"Use {name.replace('_', ' ')}" for name in names[:20] if name.strip()] or ["Reply"]


def find_missing_quotes(verdict: Verdict, source: Source) -> list[tuple[str, str]]:
    cited = [(one.pointer, one.quote) for step in verdict.steps for one in step.evidence]
    cited += [(extra.pointer, extra.quote) for extra in verdict.extras]
    return [
        (pointer, quote)
        for pointer, quote in cited
        if not is_quote_in(quote, to_searchable_text(resolve(source.document, pointer)))
    ]


def check_rules(value: Any) -> None:
    """Judge a trace by steps that name its tools; the verdict must verify."""
    source = value if isinstance(value, Source) else Source.from_value(value)
    plan = describe_actions(read_trace(source))
    verdict = evaluate(plan=plan, trace=source)
    assert verify(json.loads(json.dumps(verdict.full())), source) == ()


def test_every_format_has_a_sample() -> None:
    named = {name.rpartition(" ")[0] for name in SAMPLES}
    # The first has no run, and of the second a model says what it holds.
    assert set(list_readers()) - named == {"google-adk-reference", "records"}


@pytest.mark.parametrize("name", SAMPLES)
def test_verdicts_of_rules_verify(name: str) -> None:
    check_rules(SAMPLES[name])


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.name)
def test_verdicts_of_rules_verify_on_recorded_runs(file: Path) -> None:
    check_rules(select_trace(Source.from_path(file), "1"))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_quote_of_any_judge_is_replaced_by_one_of_the_source(name: str) -> None:
    source = Source.from_value(SAMPLES[name])
    verdict = evaluate(plan=["Reply"], trace=source, judge=QuoteEverything())
    assert verdict.steps
    assert find_missing_quotes(verdict, source) == []


def test_an_invented_quote_is_left_for_verify_to_reject() -> None:
    class Inventor(QuoteEverything):
        def judge(self, task: object, plan: Plan, trace: Trace) -> Findings:
            found = super().judge(task, plan, trace)
            (step,) = found.steps
            invented = replace(step.evidence[0], quote="I deleted everything")
            return Findings((replace(step, evidence=(invented,)),))

    source = Source.from_value(SAMPLES["openai-messages 0"])
    verdict = evaluate(plan=["Reply"], trace=source, judge=Inventor())
    problems = verify(json.loads(json.dumps(verdict.full())), source)
    assert any("/quote: 'I deleted everything' not found" in problem for problem in problems)


PROFILE = """
planproof: profile/1
name: bare-commands
title: Commands without a tool
form: jsonl
detect:
  every: {ran: {exists: true}}
rules:
  - when: {ran: {exists: true}}
    call: {name: =shell, arguments: {command: ran}, output: printed}
"""
COMMANDS = '{"ran": "ls /srv", "printed": "a.txt"}\n{"ran": "rm a.txt", "printed": ""}'


def test_a_name_that_a_profile_supplies_is_not_quoted() -> None:
    profile = ProfileReader(parse_profile(PROFILE, name="bare.yaml"))
    verdict = evaluate(plan=["Use the shell"], trace=COMMANDS, profiles=[profile])
    quotes = [one.quote for step in verdict.steps for one in step.evidence]
    quotes += [extra.quote for extra in verdict.extras]
    assert sorted(quotes) == ["ls /srv", "rm a.txt"]
    source = Source.from_value(COMMANDS)
    found = json.loads(json.dumps(verdict.full()))
    assert verify(found, source, profiles=[profile]) == ()


def test_a_verdict_by_a_contract_verifies_without_a_name_in_the_source() -> None:
    profile = ProfileReader(parse_profile(PROFILE, name="bare.yaml"))
    contract = parse_contract(
        "planproof: contract/1\nname: cleanup\nsteps:\n"
        '- {number: "1", text: List the files, call: shell, is: {command: {program: ls}}}\n'
        '- {number: "2", text: Delete a.txt, call: shell, is: {command: {program: rm}}}\n',
        "c.yaml",
    )
    verdict = evaluate(trace=COMMANDS, contract=contract, profiles=[profile])
    assert verdict.score == 1.0
    source = Source.from_value(COMMANDS)
    assert find_missing_quotes(verdict, source) == []
    found = json.loads(json.dumps(verdict.full()))
    assert verify(found, source, contract=contract, profiles=[profile]) == ()
