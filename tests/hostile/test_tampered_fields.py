"""Every field of a verdict, changed one by one: rejected, or in the table of what is not checked.

`planproof sign` covers all of them (tests/unit/cli/test_verify.py).
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planproof.contracts.contract_file import read_contract
from planproof.core.content import Content
from planproof.core.contract import Contract
from planproof.core.json_values import is_list, is_object
from planproof.core.judge import Judgement, PromptCoverage
from planproof.core.plan import Plan
from planproof.core.trace import Trace
from planproof.core.usage import Usage
from planproof.evaluation import evaluate
from planproof.planning.plan_parser import parse_given_plan
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.small_cases import COPY, DELETE, FOLLOWED, PLAN, READ, TASK, USER, called
from tests.unit.tampered_verdicts import FINDINGS, SOURCE, make_verdict
from tests.unit.tampered_verdicts import PLAN as SCRIPTED_PLAN

EXTRA = called(4, "web_search", query="weather")
SOURCE_OF_RULES = Source.from_value([USER, *READ, *DELETE, *COPY, *EXTRA])

ALWAYS_OPEN = {
    "/id": "compared by the command line, with the case",
    "/metadata": "compared by nobody: it is the user's own",
    "/judge/fingerprint": "another version may find the same",
    "/coverage/skipped": "counted by the reader",
    "/coverage/notes": "written by the reader and the judge",
    "/inputs/task": "compared by the command line, with the case",
    "/inputs/plan": "compared by the command line, with the case",
    "/schema": "an old version is read as well",
}
OF_A_MODEL = {
    "/cost": "not known to anybody else",
    "/rejected": "not known to anybody else",
    "/warnings": "not known to anybody else",
    "/samples": "not known to anybody else",
    "/panel": "not known to anybody else",
    "/coverage/shown": "not known to anybody else",
    "/coverage/shortened": "not known to anybody else",
    "/coverage/windows": "not known to anybody else",
    "/judge/models": "not known to anybody else",
    "/judge/name": "a judge of somebody's own has any name",
}
OF_FINDINGS = {
    "/steps/*/note": "the judge's",
    "/steps/*/confidence": "the judge's",
    "/steps/*/covers": "the judge's",
    "/steps/*/found_by": "the judge's",
    "/steps/*/checks": "the judge's",
    "/extras/*/what": "the judge's",
    "/extras/*/confidence": "the judge's",
    "/extras/*/found_by": "the judge's",
    "/steps/*/status": "of a step that is not counted",
    "/steps/*/evidence": "fewer quotes are enough",
    "/steps/*/evidence/*/quote": "a part of a quote is a quote",
    "/extras/*/quote": "a part of a quote is a quote",
}


class _Model:
    """A judge `prompt` that always answers the same."""

    name = "prompt"
    fingerprint = "1"

    async def judge(self, task: Content, plan: Plan, trace: Trace) -> Judgement:
        return Judgement(
            findings=None,
            score=0.25,
            reason="Step 3 came before step 2.",
            usage=Usage(calls=1),
            models=("openai:small",),
            shown=PromptCoverage(events=5, shortened=0, windows=1, images=0),
        )

    def questions(self, task: Content, plan: Plan, trace: Trace) -> tuple[()]:
        return ()


def _judge(**given: Any) -> dict[str, Any]:
    verdict = evaluate(task=TASK, trace=SOURCE_OF_RULES, **given)
    return json.loads(json.dumps(verdict.full()))


def _list_places(value: Any, path: str = "") -> Iterator[str]:
    if path:
        yield path
    if is_object(value):
        for key, inner in value.items():
            yield from _list_places(inner, f"{path}/{key}")
    elif is_list(value):
        for index, inner in enumerate(value):
            yield from _list_places(inner, f"{path}/{index}")


def _change(verdict: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    """Yield verdicts in which the value at a path is another one of its type, or missing."""
    *parents, last = path.strip("/").split("/")
    for value in _list_other_values(_get(verdict, path)):
        changed = copy.deepcopy(verdict)
        holder: Any = changed
        for key in parents:
            holder = holder[int(key) if isinstance(holder, list) else key]
        holder[int(last) if isinstance(holder, list) else last] = value
        yield changed


def _get(value: Any, path: str) -> Any:
    for key in path.strip("/").split("/"):
        value = value[int(key) if isinstance(value, list) else key]
    return value


def _list_other_values(value: Any) -> list[Any]:
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, value / 2 + 0.125]
        case str():
            return [f"{value}x", value[:-1] or "y", "executed", "partial"]
        case list():
            return [[], [*value, *value[-1:]], value[1:]] if value else [["x"]]
        case dict():
            return [{}, None]
        case _:
            return ["x", 1]


def _find_accepted(verdict: dict[str, Any], source: Source, **given: Any) -> set[str]:
    """Return the places, with `*` for positions, at which some change is accepted."""
    assert verify(verdict, source, **given) == ()
    return {
        re.sub(r"/\d+", "/*", path)
        for path in _list_places(verdict)
        for changed in _change(verdict, path)
        if changed != verdict and not verify(changed, source, **given)
    }


def _check_table(accepted: set[str], table: set[str]) -> None:
    """Check that only places of the table, and what is inside of them, can be changed."""
    unknown = {
        path
        for path in accepted
        if not any(path == known or path.startswith(f"{known}/") for known in table)
    }
    assert unknown == set()


def test_fields_of_rules() -> None:
    verdict = _judge(plan=PLAN)
    assert verdict["score"] is not None
    assert verdict["extras"]
    accepted = _find_accepted(verdict, SOURCE_OF_RULES, plan=parse_given_plan(PLAN))
    _check_table(accepted, {*ALWAYS_OPEN, "/judge/name"})


def test_fields_of_a_contract(tmp_path: Path) -> None:
    contract = _write_contract(tmp_path)
    verdict = _judge(contract=contract)
    assert verdict["steps"][0]["checks"]
    accepted = _find_accepted(verdict, SOURCE_OF_RULES, contract=contract)
    _check_table(accepted, {*ALWAYS_OPEN, *OF_A_MODEL})


_CONTRACT = """planproof: contract/1
steps:
  - {number: "1", text: Read the report, call: read_file, where: {path: {path: report-12.txt}}}
  - {number: "2", text: Copy it, call: copy_file, where: {folder: {equals: archive}}}
  - {number: "3", text: Delete the draft, call: delete_file, where: {path: {path: draft-8.txt}}}
"""


def _write_contract(folder: Path) -> Contract:
    path = folder / "contract.yaml"
    path.write_text(_CONTRACT, encoding="utf-8")
    return read_contract(path)


def test_fields_of_a_judge_that_can_not_be_reproduced() -> None:
    verdict = make_verdict(FINDINGS)
    accepted = _find_accepted(verdict, SOURCE, plan=parse_given_plan(SCRIPTED_PLAN))
    _check_table(accepted, {*ALWAYS_OPEN, *OF_A_MODEL, *OF_FINDINGS})


def test_fields_of_a_model_that_gives_the_score() -> None:
    verdict = _judge(plan=PLAN, judge=_Model())
    accepted = _find_accepted(verdict, SOURCE_OF_RULES, plan=parse_given_plan(PLAN))
    _check_table(accepted, {*ALWAYS_OPEN, *OF_A_MODEL, "/score", "/reason", "/nearest_better"})


@pytest.mark.parametrize("name", ["prompt", "audit", "contract", "cascade", "mine"])
def test_a_verdict_of_rules_has_one_name(name: str) -> None:
    """Under another name it is rejected: only `rules` has this confidence in such findings."""
    verdict = _judge(plan=PLAN)
    verdict["judge"]["name"] = name
    assert verify(verdict, SOURCE_OF_RULES, plan=parse_given_plan(PLAN))
    assert FOLLOWED["agent_plan"] == PLAN
