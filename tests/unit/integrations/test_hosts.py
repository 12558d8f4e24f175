from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

import pytest

from planproof.checking.rules import Rules
from planproof.core.vocabulary import Vocabulary
from planproof.errors import InvalidInput
from planproof.integrations.hosts import (
    extract_plan,
    extract_task,
    extract_trace,
    resolve_judge,
    to_json_value,
)
from scripts.doc_blocks import ROOT
from tests.fake_model import FakeModel


@dataclass
class Message:
    role: str
    content: Any


def test_objects_of_a_host_become_json_values() -> None:
    held = {"messages": (Message("user", b"\xff"), object()), 2: None}
    written = to_json_value(held)
    assert written["messages"][0] == {"role": "user", "content": "_w=="}
    assert isinstance(written["messages"][1], str)
    assert written["2"] is None


def test_a_circular_value_is_an_error() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InvalidInput, match="can't be converted to JSON"):
        to_json_value(circle)


@pytest.mark.parametrize(
    ("outputs", "trace"),
    [
        ({"trace": "a log", "answer": "x"}, "a log"),
        ({"messages": []}, {"messages": []}),
        ([1], [1]),
        ("It is done.", {"answer": "It is done."}),
        (None, None),
    ],
)
def test_the_trace_that_an_application_gave_back(outputs: Any, trace: Any) -> None:
    assert extract_trace(outputs) == trace


@pytest.mark.parametrize(
    ("inputs", "task"),
    [
        ("Do it.", "Do it."),
        ({"question": "Do it.", "k": 3}, "Do it."),
        ({"question": "Do it.", "user": "ana"}, None),
        ({"messages": [{"role": "user"}]}, None),
        (None, None),
    ],
)
def test_the_task_is_the_one_text_in_the_inputs(inputs: Any, task: str | None) -> None:
    assert extract_task(inputs) == task


def test_the_plan_next_to_a_case() -> None:
    assert extract_plan({"plan": ("Do it.",)}) == ["Do it."]
    assert extract_plan({}) is extract_plan(None) is extract_plan("1. Do it.") is None


def test_a_model_goes_with_a_judge_by_name_only() -> None:
    model = FakeModel({})
    assert resolve_judge("rules", None) == "rules"
    chosen = resolve_judge(None, model)
    assert getattr(chosen, "name", None) == "audit"
    with pytest.raises(InvalidInput, match="can't be combined with a model"):
        resolve_judge(Rules(vocabulary=Vocabulary()), model)


def test_planproof_depends_on_none_of_the_frameworks_that_it_is_tested_in() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"].values()
    asked = [*project["project"]["dependencies"], *(one for extra in extras for one in extra)]
    names = {re.split(r"[\[<>=!; ]", one)[0] for one in asked}
    for folder in (ROOT / "tests" / "frameworks").iterdir():
        group = project["dependency-groups"].get(folder.name, [])
        hosts = {re.split(r"[\[<>=!; ]", one)[0] for one in group if isinstance(one, str)}
        assert not hosts & names, folder.name
