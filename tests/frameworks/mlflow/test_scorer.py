"""The scorer inside `mlflow.genai.evaluate`, over MLflow's own traces of an agent."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from mlflow.entities import Trace

from planproof.integrations.mlflow import plan_adherence
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.refunds import BY_NAME, CLOSING, FOLLOWED, PLAN, SKIPPED, TASK

mlflow: Any = import_module("mlflow")
SCRIPTS = {"followed": FOLLOWED, "skipped": SKIPPED}


@pytest.fixture(scope="module", autouse=True)
def tracking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A tracking store of its own, and a folder: MLflow writes into the one it is run in."""
    folder = tmp_path_factory.mktemp("tracking")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
        mlflow.set_experiment("refunds")
        yield


@mlflow.trace
def run_agent(task: str, script: str) -> str:
    """An agent as MLflow's users write it: it and its tools are traced functions."""
    for name, given in SCRIPTS[script]:
        mlflow.trace(BY_NAME[name], span_type="TOOL")(**given)
    return CLOSING


def feedback(scorer: Any, predict: Any = run_agent, **more: Any) -> dict[str, Any]:
    rows = [{"inputs": {"task": TASK, "script": script}, **more} for script in SCRIPTS]
    table = mlflow.genai.evaluate(data=rows, scorers=[scorer], predict_fn=predict).result_df
    found: dict[str, Any] = {}
    for held in table["trace"]:
        recorded = Trace.from_json(held) if isinstance(held, str) else held
        (one,) = [each for each in recorded.info.assessments if each.name == "plan_adherence"]
        found[recorded.data.spans[0].inputs["script"]] = one
    return found


def test_a_plan_for_all_rows() -> None:
    found = feedback(plan_adherence(PLAN))
    assert found["followed"].value == 1.0
    assert found["skipped"].value == 0.5
    assert "step 2" in found["skipped"].rationale.lower()


def test_a_plan_of_each_row() -> None:
    found = feedback(plan_adherence(), expectations={"plan": PLAN})
    assert [found[script].value for script in SCRIPTS] == [1.0, 0.5]


def test_what_could_not_be_judged_is_an_error_and_no_value() -> None:
    followed = feedback(plan_adherence())["followed"]
    assert followed.value is None
    assert followed.error.error_code == "NO_PLAN"
    assert "plan" in followed.rationale


def test_outputs_are_the_trace_where_nothing_within_was_traced() -> None:
    def messages(task: str, script: str) -> dict[str, Any]:
        calls = [
            {"role": "assistant", "content": "", "tool_calls": [{"name": name, "args": given}]}
            for name, given in SCRIPTS[script]
        ]
        return {"messages": [{"role": "user", "content": task}, *calls]}

    found = feedback(plan_adherence(PLAN), messages)
    assert [found[script].value for script in SCRIPTS] == [1.0, 0.5]


def test_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    @mlflow.trace
    def agent(task: str) -> str:
        return run_agent(task, "skipped")

    (shown,) = find_blocks_for(__file__)
    exec(compile(shown.text, shown.location, "exec"), {"task": TASK, "plan": PLAN, "agent": agent})
    assert "Evaluation completed" in capsys.readouterr().out
