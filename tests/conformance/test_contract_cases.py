"""Twenty contracts of different domains, each with at least ten runs whose findings are known."""

from __future__ import annotations

from functools import cache

import pytest

from planproof import evaluate
from planproof.contracts.contract_validation import check_contract
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.contract_cases.everyday_runs import EVERYDAY_CASES
from tests.contract_cases.technical_runs import TECHNICAL_CASES

CASES = {case.name: case for case in (*EVERYDAY_CASES, *TECHNICAL_CASES)}
KNOWN_DISAGREEMENTS = {
    "blog: repeat 4": (
        "two of three calls are the same one, and the earliest two are taken: the third, in "
        "another group, is then the extra"
    ),
    "db_backup: all on one line": (
        "`find -exec rm` is two commands, and a step takes one: rm is an extra, as it must be "
        "where the step only looks for files"
    ),
}
"""Runs that the checker judges differently from their label, with the reason."""


@cache
def judge_runs(case_name: str) -> dict[str, list[str]]:
    """Return for each run of a case how the verdict differs from its label."""
    case = CASES[case_name]
    contract = case.read_contract()
    differences: dict[str, list[str]] = {}
    for run in case.iter_runs():
        name = f"{case.name}: {run.name}"
        assert name not in differences, f"two runs are called {name}"
        verdict = evaluate(trace=run.trace, contract=contract, metadata=case.metadata)
        differences[name] = run.label.list_differences(verdict)
        variables = {name: str(case.metadata[name]) for name in case.metadata}
        source = Source.from_value(run.trace)
        assert verify(verdict.full(), source, contract=contract, variables=variables) == ()
    return differences


def test_there_are_twenty_contracts() -> None:
    assert len(CASES) == 20


@pytest.mark.parametrize("case", CASES)
def test_runs_are_judged_as_labelled(case: str) -> None:
    differences = judge_runs(case)
    assert len(differences) >= 10
    unexpected = {
        name: found
        for name, found in differences.items()
        if bool(found) != (name in KNOWN_DISAGREEMENTS)
    }
    assert unexpected == {}


def test_at_least_95_percent_of_all_runs_are_judged_as_labelled() -> None:
    found = [differences for case in CASES for differences in judge_runs(case).values()]
    assert found.count([]) >= 0.95 * len(found)


@pytest.mark.parametrize("case", CASES)
def test_contracts_are_valid(case: str) -> None:
    problems = check_contract(CASES[case].read_contract())
    assert not any(problem.is_error for problem in problems)
