"""Real files and real verdicts are what the published schemas say."""

from __future__ import annotations

import copy
import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
import yaml

from planproof import evaluate
from planproof.contracts.contract_file import encode_contract, parse_contract
from planproof.contracts.contract_schema import build_contract_schema
from planproof.core.verdict import Outcome, Verdict
from planproof.errors import InvalidInput
from planproof.evaluation import evaluate_case, invalid_input_verdict
from planproof.readers.decoding.trace_files import read_cases
from planproof.readers.profile_files import build_profile_schema, read_built_in_text
from planproof.readers.profile_reader import load_built_in_profiles
from scripts import schemas
from scripts.doc_blocks import EXAMPLES
from tests.unit.contracts.test_contract_file import CONTRACT, TEXT

CASE = json.loads((EXAMPLES / "case.json").read_text(encoding="utf-8"))


def _check(value: Any, schema: dict[str, Any]) -> None:
    jsonschema.validate(value, schema, cls=jsonschema.Draft202012Validator)


def _verdicts() -> list[Verdict]:
    with (EXAMPLES / "cases.jsonl").open("rb") as lines:
        read = list(read_cases(lines, name="cases.jsonl"))
    verdicts = [evaluate_case(line.case) for line in read if line.case]
    verdicts += [invalid_input_verdict(line.error) for line in read if line.error]
    verdicts.append(evaluate(task="", plan=["Look around."], trace=[]))
    return [*verdicts, evaluate(task="", plan=["Look around."], trace="I looked.")]


def test_built_in_profiles_are_valid() -> None:
    for name in load_built_in_profiles():
        profile = yaml.load(read_built_in_text(name), yaml.CSafeLoader)
        _check(profile, build_profile_schema())


ERRORS: list[dict[str, Any]] = [
    {"rulez": []},
    {"planproof": "profile/2"},
    {"form": "xml"},
    {"rules": [{"at": []}]},
]


@pytest.mark.parametrize("change", ERRORS)
def test_a_profile_with_an_error_is_not(change: dict[str, Any]) -> None:
    profile: Any = yaml.load(read_built_in_text("gemini-cli"), yaml.CSafeLoader)
    with pytest.raises(jsonschema.ValidationError):
        _check({**profile, **change}, build_profile_schema())


LONG_FORMS = """\
planproof: contract/1
name: long forms
steps:
- number: 1
  text: Read 3 pages
  all_of:
  - call: [read_page]
    is: {url: {url: "https://shop.example/"}}
    where: {page: {number: "3", tolerance: 0.5, any: "true"}, to: [a, 2, true], "*": $each}
    times: {min: 1, max: 3}
    each: [a, b]
  - any_of: [search, {message: [refund, [sent, paid]]}]
  - {reasoning: {values: [3, {sql: {verb: select, tables: orders}}], asks: false}, times: 2}
  when: if asked
vars: {a: {}, b: metadata.b}
tools: {scroll: supporting, pay: {also: [pay_v2], mark: closing}}
never: [{call: drop, by: writer}]
before: [{first: [a, b], then: {call: c}}]
"""


@pytest.mark.parametrize("text", [TEXT, LONG_FORMS], ids=["short", "long"])
def test_contracts_are_valid(text: str) -> None:
    _check(yaml.load(text, yaml.CSafeLoader), build_contract_schema())
    _check(encode_contract(parse_contract(text, "c")), build_contract_schema())


def test_the_schema_ships_with_the_package() -> None:
    shipped = files("planproof.contracts").joinpath("contract-1.schema.json").read_text("utf-8")
    assert build_contract_schema().items() <= json.loads(shipped).items()


@pytest.mark.parametrize(
    "change",
    [
        {"planproof": "contract/2"},
        {"step": []},
        {"steps": [{"number": "1"}]},
        {"steps": [{"number": "1", "text": "x", "call": {"a": "b"}}]},
        {"steps": [{"number": "1", "text": "x", "where": {"a": {"b": "c"}}}]},
        {"steps": [{"number": "1", "text": "x", "where": {"a": {"min": "three"}}}]},
        {"steps": [{"number": "1", "text": "x", "all_of": ["a"], "call": "b"}]},
        {"steps": [{"number": "1", "text": "x", "times": "often"}]},
        {"tools": {"a": "best"}},
        {"never": [["a", ["b"]]]},
    ],
    ids=str,
)
def test_a_contract_with_an_error_is_not(change: dict[str, Any]) -> None:
    contract = {**encode_contract(CONTRACT), **change}
    with pytest.raises(jsonschema.ValidationError):
        _check(contract, build_contract_schema())
    with pytest.raises(InvalidInput):
        parse_contract(json.dumps(contract), "c")


def test_case_files_are_valid() -> None:
    _check(CASE, schemas.build_case_schema())


@pytest.mark.parametrize("field", ["user_task", "execution_trace"])
def test_a_case_without_a_required_field_is_not(field: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        _check(
            {key: value for key, value in CASE.items() if key != field}, schemas.build_case_schema()
        )


def test_verdicts_of_every_outcome_are_valid() -> None:
    verdicts = _verdicts()
    assert {verdict.outcome for verdict in verdicts} >= {
        Outcome.SCORED,
        Outcome.NO_PLAN,
        Outcome.NO_EVENTS,
        Outcome.NOT_UNDERSTOOD,
        Outcome.INVALID_INPUT,
    }
    for verdict in verdicts:
        _check(json.loads(json.dumps(verdict.full())), schemas.build_verdict_schema())


@pytest.mark.parametrize(
    "tampering",
    [
        {"score": None},
        {"score": 7.5},
        {"level": 0.6},
        {"score": "1.0"},
        {"outcome": "no_plan"},
        {"outcome": "fine"},
        {"steps": [{"number": "1"}]},
        {"comment": "a field of no meaning"},
    ],
    ids=str,
)
def test_other_verdicts_are_not(tampering: dict[str, Any]) -> None:
    verdict = copy.deepcopy(_verdicts()[0].full())
    with pytest.raises(jsonschema.ValidationError):
        _check({**verdict, **tampering}, schemas.build_verdict_schema())
