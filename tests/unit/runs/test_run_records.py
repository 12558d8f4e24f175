"""Cases as they are kept: the same content, the same hash, the same verdict again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from planproof.core.case import Case
from planproof.core.content import Content, Image
from planproof.evaluation import evaluate_case
from planproof.readers.decoding.case_files import parse_case
from planproof.readers.decoding.source import Source
from planproof.runs.run_records import deserialize_case, serialize_case
from tests.small_cases import FOLLOWED, PLAN, TASK

TRACE = FOLLOWED["execution_trace"]
LINES = "\n\n".join(json.dumps(message) for message in TRACE)


def _case(**fields: object) -> Case:
    return replace(Case(task=Content(TASK), plan=PLAN, trace=TRACE, id="1"), **fields)


@pytest.mark.parametrize(
    "case",
    [
        _case(),
        _case(task=None, plan=None),
        _case(plan="1. Read file report-12.txt\n2. Stop"),
        _case(task=Content("Look.", (Image("image/png", data="QUJD"),))),
        _case(task=Content("Look.", (Image("image/*", url="https://example.org/a.png"),))),
        _case(trace=LINES),
        _case(trace=Source.from_bytes(LINES.encode(), name="trace.jsonl")),
        _case(trace=Source.from_bytes(json.dumps(TRACE, indent=1).encode(), name="trace.json")),
        _case(trace=Source("log#1", "json", TRACE)),
        _case(trace=[*TRACE, {"role": "assistant", "content": "\ud800 \0 é"}]),
    ],
    ids=lambda case: "",
)
def test_a_kept_case_gives_the_same_verdict(case: Case) -> None:
    text = serialize_case(case)
    again = deserialize_case(text, id="1")
    assert evaluate_case(again) == evaluate_case(case)
    assert serialize_case(again) == text
    assert text.text.isascii()


def test_lines_keep_their_numbers_when_their_text_is_gone() -> None:
    source = Source.from_bytes(LINES.encode(), name="trace.jsonl")
    _ = source.digest  # which lets go of the text
    case = replace(_case(), trace=source)
    again = deserialize_case(serialize_case(case), id="1")
    before, after = evaluate_case(case), evaluate_case(again)
    assert after.steps == before.steps
    # Every other line is blank: the first call is in the third.
    assert after.steps[0].evidence[0].pointer.startswith("L3/")


def test_id_and_metadata_are_not_part_of_the_content() -> None:
    assert serialize_case(_case(id="2", metadata={"a": 1})) == serialize_case(_case())
    assert serialize_case(_case(task=Content("Other."))).hash != serialize_case(_case()).hash


def test_a_kept_case_is_a_case_file_but_for_its_id() -> None:
    assert parse_case(json.loads(serialize_case(_case()).text), name="x") == _case(id=None)
