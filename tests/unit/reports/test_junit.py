"""JUnit XML: valid whatever traces hold; a test case a case, and its steps in the output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from xmlschema import XMLSchema

from planproof.core.finding import Status
from planproof.core.verdict import Outcome
from planproof.reports.junit import generate_junit_xml
from planproof.runs.run_records import Result, Run
from planproof.runs.summary import summarize
from tests.run_builders import RUN, failed_verdict, make_results, result, verdict_with
from tests.unit.finding_builders import findings, step
from tests.unit.reports.hostile_text import HOSTILE

SCHEMA = XMLSchema(Path(__file__).with_name("junit.xsd"))


def _document(
    results: Sequence[Result], run: Run = RUN, min_score: float = 0.75, *, secrets: bool = False
) -> str:
    summary = summarize(results, min_score=min_score)
    return "".join(generate_junit_xml(run, summary, results, secrets=secrets))


def _suite(document: str) -> ET.Element:
    """The one suite of a document that holds to the schema."""
    SCHEMA.validate(document)
    return ET.fromstring(document.encode())[0]


def test_a_test_case_a_case() -> None:
    run = [
        result(0, verdict_with(findings("EE")), id="a", seconds=1.5),
        result(1, verdict_with(findings("EL", minor=1)), id="b", seconds=0.25),
        result(2, failed_verdict(cause="timeout")),
        result(3, failed_verdict(Outcome.NO_PLAN), id="d"),
    ]
    suite = _suite(_document(run))
    assert suite.attrib == {
        "name": "cases.jsonl",
        "tests": "4",
        "failures": "1",
        "errors": "2",
        "skipped": "0",
        "time": "1.750",
        "timestamp": "2026-01-01T03:00:00",
        "id": "20260101-030000-abc123",
    }
    told = {p.get("name"): p.get("value") for p in suite.findall("properties/property")}
    assert told == {
        "run": "20260101-030000-abc123",
        "judge": "rules",
        "mean": "0.7500",
        "low confidence": "0",
        "tag branch": "main",
    }
    cases = suite.findall("testcase")
    assert [(case.get("name"), case.get("time")) for case in cases] == [
        ("a", "1.500"),
        ("b", "0.250"),
        ("case 2", "0.000"),
        ("d", "0.000"),
    ]
    assert {case.get("classname") for case in cases} == {"planproof.cases_jsonl"}
    faults = [(fault.tag, fault.attrib) for case in cases for fault in case[:-1]]
    assert faults == [
        ("failure", {"type": "below 0.75", "message": "0.5, partial adherence"}),
        ("error", {"type": "judge_failed (timeout)", "message": "not judged: the judge failed"}),
        ("error", {"type": "no_plan", "message": "not judged: there is no plan"}),
    ]
    assert cases[1].findtext("failure") == "It scores 0.5."


def test_the_steps_are_in_the_output() -> None:
    verdict = verdict_with(findings("EL", major=1))
    waived = replace(step("3", "L", waived=True), note="the plan allows it")
    run = [result(0, replace(verdict, steps=(*verdict.steps, waived)), id="a")]
    output = _suite(_document(run)).findtext("testcase/system-out")
    assert output is not None
    assert output.splitlines() == [
        "0.25, weak adherence",
        "It scores 0.25.",
        "1. Do thing 1: executed",
        "    e1: call_1",
        "2. Do thing 2: missing",
        "3. Do thing 3: left out (the plan allows it)",
        "+ major extra: web_search",
        "    x1: web_search",
    ]


def test_the_minimum_is_that_of_the_summary() -> None:
    run = make_results({"a": 0.5, "b": 0.25})
    assert _suite(_document(run, min_score=0.5)).get("failures") == "1"
    assert _suite(_document(run, min_score=0.0)).get("failures") == "0"


def test_an_empty_run_is_a_suite_without_test_cases() -> None:
    suite = _suite(_document([]))
    assert (suite.get("tests"), suite.findall("testcase")) == ("0", [])


CONTROL = "".join(map(chr, range(0x20))) + "\x7f\x85\x9f\u2028\ufffe\uffff\ud800\udfff\U0001ffff"


@pytest.mark.parametrize(
    "text", [*HOSTILE, CONTROL, "]]>", "<![CDATA[", "&bogus; &#0;", "\"quoted\" and 'quoted'"]
)
def test_text_from_a_case_stays_text(text: str) -> None:
    verdict = verdict_with(findings("EP", major=1))
    steps = tuple(
        replace(
            each,
            text=text,
            note=text,
            evidence=tuple(replace(e, event=text, quote=text) for e in each.evidence),
        )
        for each in verdict.steps
    )
    extras = tuple(replace(extra, what=text, quote=text, event=text) for extra in verdict.extras)
    hostile = replace(verdict, reason=text, steps=steps, extras=extras)
    run = replace(RUN, source=text, tags={text: text}, id=text)
    results = [
        result(0, hostile, id=text),
        result(1, replace(failed_verdict(cause=text), reason=text)),
    ]
    suite = _suite(_document(results, run))
    assert [len(case) for case in suite.findall("testcase")] == [2, 2]
    shown = suite.findtext("testcase/system-out")
    assert shown is not None
    assert all(line.isprintable() for line in shown.splitlines())


def test_plain_text_arrives_as_it_is() -> None:
    text = "Refund “Ä & B” <now> to 5 > 4"
    steps = (replace(step("1", "E"), text=text, status=Status.MISSING),)
    verdict = replace(verdict_with(findings("L")), steps=steps, reason=text)
    case = _suite(_document([result(0, verdict, id=text)])).find("testcase")
    assert case is not None
    assert case.get("name") == text
    assert case.findtext("failure") == text
    assert f"1. {text}: missing" in (case.findtext("system-out") or "")


def test_secrets_are_masked_unless_asked_for() -> None:
    token = "sk-" + "a1" * 20
    run = [result(0, replace(verdict_with(findings("EL")), reason=token), id="a")]
    assert token not in _document(run)
    assert token in _document(run, secrets=True)


def test_it_is_written_piece_by_piece() -> None:
    run = make_results({f"c{n}": 1.0 for n in range(100)})
    waiting = iter(run)
    pieces = generate_junit_xml(RUN, summarize(run), waiting)
    assert next(pieces).startswith("<?xml")
    assert next(waiting) is run[0]
