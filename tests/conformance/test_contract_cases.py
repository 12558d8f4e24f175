"""Twenty contracts of different domains, each with at least ten runs whose findings are known."""

from __future__ import annotations

from functools import cache

import pytest

from planproof import evaluate
from planproof.contracts.contract_validation import check_contract
from planproof.readers.decoding.source import Source
from planproof.verification import verify
from tests.contract_cases.everyday_runs import EVERYDAY_CASES
from tests.contract_cases.labelled_runs import ContractCase
from tests.contract_cases.technical_runs import TECHNICAL_CASES

CASES = (*EVERYDAY_CASES, *TECHNICAL_CASES)
KNOWN_DISAGREEMENTS: dict[str, str] = {}
"""Runs that the checker judges differently from their label, with the reason."""


@cache
def judge_runs(case: ContractCase) -> dict[str, list[str]]:
    """Return for each run of a case how the verdict differs from its label."""
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
    assert len({case.name for case in CASES}) == 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_runs_are_judged_as_labelled(case: ContractCase) -> None:
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contracts_are_valid(case: ContractCase) -> None:
    assert not any(problem.is_error for problem in check_contract(case.read_contract()))
