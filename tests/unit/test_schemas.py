"""Real files and real verdicts are what the published schemas say."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
import yaml

from planproof import evaluate
from planproof.core.verdict import Outcome, Verdict
from planproof.evaluation import evaluate_case, invalid_input_verdict
from planproof.readers.decoding.trace_files import read_cases
from planproof.readers.profile_files import build_profile_schema, read_built_in_text
from planproof.readers.profile_reader import load_built_in_profiles
from scripts import schemas
from scripts.doc_blocks import EXAMPLES

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
