"""`make bench-contracts`: check many traces of one plan against a contract, and judge by `rules`.

    python -m benchmarks.contracts [TRACES]

The traces are runs of one plan with 10 steps and 50 events. No two are equal: the commands have
another seed, and every other run lacks a call. The budget is the issue's: at least 0.8 of the
traces per second that `rules` judges. Memory is the peak over all traces against the peak over a
tenth of them, since what is kept must not grow with their number.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from benchmarks.cases import GeneratedCase, generate_case
from benchmarks.measure import (
    BenchmarkRow,
    format_seconds,
    measure_cpu_seconds,
    measure_peak_bytes,
    print_rows,
)
from planproof.checking.contract_judge import ContractJudge
from planproof.contracts.contract_validation import check_contract
from planproof.core.contract import (
    Condition,
    Contract,
    Requirement,
    StepContract,
    Times,
)
from planproof.evaluation import build_case, evaluate_case
from planproof.planning.plan_parser import parse_given_plan

TRACES = 10_000
_STEPS, _EVENTS = 10, 50
_VALUE_ARGUMENTS = ("report", "customer_id", "batch", "ticket", "station")
_ROUNDS = 5


def measure_contracts(traces: int) -> Iterator[BenchmarkRow]:
    """Yield rows for speed and memory of a contract on many traces of its plan."""
    case = generate_case(steps=_STEPS, events=_EVENTS)
    judge = ContractJudge(write_contract(case))
    per_round = max(1, traces // _ROUNDS)
    starts = {"rules": iter(range(_ROUNDS)), "contract": iter(range(_ROUNDS))}

    def judge_next(name: str, chosen: ContractJudge | None) -> Callable[[], None]:
        def judge_round() -> None:
            first = next(starts[name]) * per_round
            judge_traces(case, range(first, first + per_round), chosen)

        return judge_round

    times = measure_cpu_seconds(
        {"rules": judge_next("rules", None), "contract": judge_next("contract", judge)}, _ROUNDS
    )
    yield BenchmarkRow(
        f"contract, {traces:,} traces / rules",
        format_seconds(times["contract"] / per_round),
        format_seconds(times["rules"] / per_round),
        times["contract"] / times["rules"],
        1 / 0.8,
    )
    few, many = (
        measure_peak_bytes(lambda count=count: judge_traces(case, range(count), judge)) / 1e6
        for count in (max(1, traces // 10), traces)
    )
    yield BenchmarkRow(
        f"contract memory, {traces:,} / {max(1, traces // 10):,} traces",
        f"{many:.1f} MB",
        f"{few:.1f} MB",
        many / few,
        2.0,
    )


def judge_traces(case: GeneratedCase, numbers: range, judge: ContractJudge | None) -> None:
    """Judge runs of a plan one after another, from JSON text to verdict."""
    for number in numbers:
        built = build_case(case.task, case.plan, write_trace(case, number))
        verdict = evaluate_case(built, judge=judge)
        if verdict.score is None:
            raise RuntimeError(f"a generated trace was not judged: {verdict.reason}")


def write_trace(case: GeneratedCase, number: int) -> str:
    """Return a run of the plan that is like no other."""
    messages = json.loads(case.trace)
    if number % 2:
        # A call and its result.
        gap = 1 + 2 * (number // 2 % ((len(messages) - 2) // 2))
        del messages[gap : gap + 2]
    return json.dumps(messages).replace("--shard", f"--seed {number} --shard")


def write_contract(case: GeneratedCase) -> Contract:
    """Write the contract of a generated plan: for each step its tool, value and number of calls."""
    plan = parse_given_plan(case.plan)
    calls = [_describe_call(call) for call in _iter_calls(case)]
    groups = [(requirement, sum(1 for _ in group)) for requirement, group in groupby(calls)]
    contract = Contract(
        steps=tuple(
            StepContract(
                number=step.number,
                text=step.text,
                all_of=(
                    Requirement(
                        call=requirement.call,
                        is_=requirement.is_,
                        where=requirement.where,
                        times=Times(min=count, max=None),
                    ),
                ),
            )
            for step, (requirement, count) in zip(plan.steps, groups, strict=True)
        )
    )
    if any(problem.is_error for problem in check_contract(contract)):
        raise RuntimeError("the generated contract is not valid")
    return contract


def _iter_calls(case: GeneratedCase) -> Iterator[dict[str, Any]]:
    for message in json.loads(case.trace):
        for call in message.get("tool_calls", ()):
            yield call["function"]


def _describe_call(call: dict[str, Any]) -> Requirement:
    arguments = json.loads(call["arguments"])
    if "command" in arguments:
        tests = arguments["command"].split()[3]
        return Requirement(
            call=(call["name"],),
            is_={"command": Condition(program=("pytest",))},
            where={"command": Condition(argument=(tests,))},
        )
    name = next(name for name in _VALUE_ARGUMENTS if name in arguments)
    return Requirement(
        call=(call["name"],), where={name: Condition(any_of=(str(arguments[name]),))}
    )


def main() -> int:
    """Print the rows; return 1 if a budget is exceeded, else 0."""
    rows = list(measure_contracts(int(sys.argv[1]) if len(sys.argv) > 1 else TRACES))
    print_rows(rows)
    return 0 if all(row.is_within_budget for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
