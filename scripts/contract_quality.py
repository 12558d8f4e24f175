"""Measure contracts on the second bench, compiled by a model that sees plan and tools only.

    python -m scripts.contract_quality choose train TRACES.txt [--count 14] [--salt WORD]
    python -m scripts.contract_quality compile train CONTRACTS.jsonl --model M [--base-url URL]
    python -m scripts.contract_quality assign train QUESTIONS --traces TRACES.txt --to FOLDER
    python -m scripts.contract_quality judge train CONTRACTS.jsonl [--verdicts OUT.jsonl]
    python -m scripts.contract_quality mutate train CONTRACTS.jsonl

`choose` writes the ids of traces, one of each source, those with most traces first; ids in the
files of `--used` are left out. `assign` copies the questions that wait for an answer (text files
with the prompt) into one folder a reader, so that nobody gets two plans of one trace.
`compile` asks for the contract of each plan that was written by hand: the two that were followed,
and those with a `missing`, `altered` or `partial` step. It appends to the file, and asks only for
plans that are not in it yet. `judge` derives the contracts of `order`, `shuffled` and `extra` plans
by moving or dropping steps, checks the runs, and prints the figures with bootstrap intervals over
traces. `mutate` changes the runs that pass, one call at a time, and counts what is noticed. The
tools are those observed in all traces of a source in that split.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from planproof.calibration.contract_trial import run_mutations
from planproof.calibration.figures import PASSED_AT_LEAST
from planproof.checking.contract_judge import ContractJudge
from planproof.contracts.catalogues import observe_tools
from planproof.contracts.contract_file import format_contract, parse_contract
from planproof.core.catalogue import Catalogue
from planproof.core.contract import Condition, Contract, Requirement, StepContract
from planproof.core.judge import ModelOptions
from planproof.core.model import Model, ModelFailed
from planproof.core.trace import Trace
from planproof.core.verdict import Verdict
from planproof.errors import PlanproofError
from planproof.evaluation import evaluate
from planproof.llm.compile import acompile_plan, build_question
from planproof.planning.plan_parser import parse_given_plan
from planproof.readers.decoding.source import Source
from planproof.readers.detect import read_trace
from scripts import bench
from scripts.reading_quality import measure_trace

_COMPILED = frozenset({"faithful", "paraphrase", "missing", "altered", "partial"})
_FIGURES = ("pass_clean", "catch_flawed", "told_apart")
_SAMPLES = 2_000


def choose_traces(cases: list[dict[str, Any]], used: set[str], count: int, salt: str) -> list[str]:
    """Return traces of as many sources as possible, in an order that depends on the salt alone."""
    by_source: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        by_source[case["source"]].add(case["base"])
    # Of a large source, a trace was less likely used before.
    sources = sorted(by_source, key=lambda source: (-len(by_source[source]), source))
    ranked = [
        sorted(
            by_source[source] - used, key=lambda name: sha256(f"{salt} {name}".encode()).digest()
        )
        for source in sources
    ]
    longest = max(map(len, ranked), default=0)
    rounds = (names[at] for at in range(longest) for names in ranked if at < len(names))
    return list(islice(rounds, count))


def assign_questions(
    cases: list[dict[str, Any]], split: str, questions: Path, readers: int, folder: Path
) -> None:
    """Copy each question to a reader; those about plans of one trace to different ones."""
    texts = {path: path.read_text("utf-8") for path in sorted(questions.glob("*.txt"))}
    plans_by_trace: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in cases:
        plans_by_trace[case["base"]].append(case)
    if max(map(len, plans_by_trace.values()), default=0) > readers:
        sys.exit(f"{readers} readers are too few: a trace has more plans than that.")
    counts: Counter[int] = Counter()
    for number, plans in enumerate(plans_by_trace.values()):
        for at, case in enumerate(plans):
            reader = (number + at) % readers + 1
            catalogue = _observe_source(split, case["source"])
            question = build_question(parse_given_plan(case["agent_plan"]), catalogue, sys.maxsize)
            asked = None if question is None else question.parts[1]
            assert isinstance(asked, str)
            for path in [path for path, text in texts.items() if asked in text]:
                target = folder / f"reader-{reader}"
                target.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target / path.name)
                counts[reader] += 1
                del texts[path]
    for reader, count in sorted(counts.items()):
        print(f"reader-{reader}: {count} questions")
    for path in texts:
        print(f"not assigned: {path.name}")


def compile_contracts(cases: list[dict[str, Any]], split: str, path: Path, model: Model) -> None:
    """Ask the model for the contract of each plan that is not in the file yet."""
    known = _read_contracts(path) if path.exists() else {}
    asked = [case for case in cases if case["id"] not in known]
    asyncio.run(_compile_all(asked, split, path, model))


async def _compile_all(cases: list[dict[str, Any]], split: str, path: Path, model: Model) -> None:
    lock = asyncio.Lock()

    async def compile_one(case: dict[str, Any]) -> None:
        catalogue = _observe_source(split, case["source"])
        try:
            compiled = await acompile_plan(
                case["agent_plan"], catalogue, model, ModelOptions(deadline=20_000)
            )
            line = {"id": case["id"], "contract": format_contract(compiled.contract)}
        except (ModelFailed, PlanproofError) as error:
            line = {"id": case["id"], "error": str(error)}
        async with lock:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        print(case["id"], line.get("error", "compiled"), file=sys.stderr)

    await asyncio.gather(*map(compile_one, cases))


@cache
def _observe_source(split: str, source: str) -> Catalogue:
    records = bench.read_v2_traces()
    return observe_tools(
        _read(record)
        for record in records
        if (record["split"], record["source"]) == (split, source)
    )


def _read(record: dict[str, Any]) -> Trace:
    try:
        return read_trace(Source.from_value(record["execution_trace"]))
    except PlanproofError:
        return Trace(())


def _read_contracts(path: Path) -> dict[str, Contract | None]:
    """Return the contracts of a file by case; None for plans that could not be compiled."""
    contracts: dict[str, Contract | None] = {}
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        text = record.get("contract")
        contracts[record["id"]] = None if text is None else parse_contract(text, record["id"])
    return contracts


def derive_contract(contract: Contract, texts: list[str]) -> Contract:
    """Return the contract with the steps of these texts, in their order and renumbered."""
    by_text = {step.text: step for step in contract.steps}
    steps = [by_text[text] for text in texts]
    numbers = {step.number: str(index) for index, step in enumerate(steps, 1)}
    return replace(contract, plan=None, steps=tuple(_renumber(step, numbers) for step in steps))


def _renumber(step: StepContract, numbers: Mapping[str, str]) -> StepContract:
    when = step.when
    if when is not None and when.step is not None:
        at = numbers.get(when.step)
        when = replace(when, step=at, result=when.result if at else {})
    return replace(
        step,
        number=numbers[step.number],
        all_of=tuple(_renumber_requirement(one, numbers) for one in step.all_of),
        when=when,
        else_of=numbers.get(step.else_of or ""),
    )


def _renumber_requirement(requirement: Requirement, numbers: Mapping[str, str]) -> Requirement:
    def renumber(conditions: Mapping[str, Condition]) -> dict[str, Condition]:
        return {name: _renumber_condition(one, numbers) for name, one in conditions.items()}

    return replace(
        requirement,
        is_=renumber(requirement.is_),
        where=renumber(requirement.where),
        each_from=numbers.get(requirement.each_from or ""),
        any_of=tuple(_renumber_requirement(one, numbers) for one in requirement.any_of),
    )


def _renumber_condition(condition: Condition, numbers: Mapping[str, str]) -> Condition:
    """Return a condition with the new number of its step; any value if that step was dropped."""
    condition = replace(
        condition, all_of=tuple(_renumber_condition(one, numbers) for one in condition.all_of)
    )
    if condition.from_step is None and condition.same_as is None:
        return condition
    came_from = numbers.get(condition.from_step or "")
    same_as = numbers.get(condition.same_as or "")
    is_any = came_from is None and same_as is None
    return replace(
        condition,
        from_step=came_from,
        same_as=same_as,
        any_value=is_any or condition.any_value,
    )


def judge_contracts(
    cases: list[dict[str, Any]], contracts: Mapping[str, Contract | None]
) -> dict[str, dict[str, Any]]:
    """Return the verdicts of all cases whose contract is known or can be derived, by case."""
    verdicts: dict[str, dict[str, Any]] = {}
    for case in cases:
        base = case["id"] if case["label"]["kind"] in _COMPILED else _name_base(case)
        if base not in contracts:
            continue
        contract = contracts[base]
        if contract is None:
            verdicts[case["id"]] = {"id": case["id"], "score": None, "reason": "not compiled"}
            continue
        if base != case["id"]:
            contract = derive_contract(contract, case["agent_plan"])
        verdict = _judge(case, contract)
        verdicts[case["id"]] = verdict.full() | {"id": case["id"]}
    return verdicts


def _name_base(case: dict[str, Any]) -> str:
    return f"{case['base']}::{case['label']['wording']}"


def _judge(case: dict[str, Any], contract: Contract) -> Verdict:
    # Moving steps may put a step before one that it refers to, which a valid contract never does.
    judge = ContractJudge(contract)
    return evaluate(trace=case["execution_trace"], judge=judge, id=case["id"])


def print_figures(cases: list[dict[str, Any]], verdicts: Mapping[str, dict[str, Any]]) -> None:
    """Print the figures of all judged cases, and of those whose trace was read completely."""
    judged = [case for case in cases if case["id"] in verdicts]
    read_well = _find_traces_read_well(judged)
    well = [case for case in judged if case["base"] in read_well]
    for name, part in (("all", judged), ("every action read", well)):
        print(f"\n{name}: {len(part)} cases, {len({case['base'] for case in part})} traces")
        for figure, (value, low, high) in _measure(part, verdicts).items():
            print(f"  {figure:<14} {value:.2f}  [{low:.2f}, {high:.2f}]")
    outcomes = Counter(verdict.get("outcome", "not compiled") for verdict in verdicts.values())
    print("\noutcomes:", dict(outcomes))
    kinds: dict[str, list[bool]] = defaultdict(list)
    for case in judged:
        score, kind = verdicts[case["id"]]["score"], case["label"]["kind"]
        followed = kind in {"faithful", "paraphrase"}
        kinds[kind].append(score is not None and (score >= 0.75 if followed else score <= 0.5))
    for kind, hits in kinds.items():
        print(f"  {kind:<12} {sum(hits)} of {len(hits)}")


def print_mutations(cases: list[dict[str, Any]], contracts: Mapping[str, Contract | None]) -> None:
    """Print how many mutations of passing runs are noticed, by operator."""
    counts: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for case in cases:
        contract = contracts.get(case["id"])
        if case["label"]["kind"] not in {"faithful", "paraphrase"} or contract is None:
            continue
        if (_judge(case, contract).score or 0) < PASSED_AT_LEAST:
            continue
        trace = read_trace(Source.from_value(case["execution_trace"]))
        for result in run_mutations(ContractJudge(contract), trace):
            counts[result.mutation] += 1
            noticed[result.mutation] += result.is_noticed
    for mutation, count in counts.items():
        print(f"  {mutation:<12} {noticed[mutation]} of {count}")
    print(f"  {'all':<12} {noticed.total()} of {counts.total()}")


def _find_traces_read_well(cases: Iterable[dict[str, Any]]) -> set[str]:
    wanted = {case["base"] for case in cases}
    return {
        record["id"]
        for record in bench.read_v2_traces()
        if record["id"] in wanted
        and (reading := measure_trace(record)).found == reading.actions
        and reading.understood
    }


def _measure(
    cases: list[dict[str, Any]], verdicts: Mapping[str, dict[str, Any]]
) -> dict[str, tuple[float, float, float]]:
    """Return each figure with its 95 % interval, by resampling traces."""
    scorer = bench.load_scorer()
    by_trace: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in cases:
        by_trace[case["base"]].append(case)
    names, rng = sorted(by_trace), random.Random(0)
    value = scorer.constructed(cases, verdicts)
    samples: dict[str, list[float]] = {name: [] for name in _FIGURES}
    for _ in range(_SAMPLES if cases else 0):
        drawn = [
            {**case, "base": f"{case['base']}#{copy}"}
            for copy, name in enumerate(rng.choices(names, k=len(names)))
            for case in by_trace[name]
        ]
        figures = scorer.constructed(drawn, verdicts)
        for name in _FIGURES:
            samples[name].append(figures[name])
    return {name: (value[name], *_interval(samples[name])) for name in _FIGURES}


def _interval(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    if not ordered:
        return float("nan"), float("nan")
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered)) - 1]


def _select_plans(
    cases: list[dict[str, Any]], traces: set[str], flawed: set[str], wording: str
) -> list[dict[str, Any]]:
    """Return the plans to compile: followed ones, and flawed ones of some traces in one wording."""
    return [
        case
        for case in cases
        if (not traces or case["base"] in traces)
        and (
            case["label"]["kind"] in {"faithful", "paraphrase"}
            or (
                case["label"]["kind"] in _COMPILED
                and case["base"] in flawed
                and case["label"]["wording"] == wording
            )
        )
    ]


def main() -> None:
    """Compile contracts, or judge by them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("choose", "compile", "assign", "judge", "mutate"))
    parser.add_argument("split", choices=("train", "hand"))
    parser.add_argument("path", type=Path, help="file of contracts, or as shown above")
    parser.add_argument("--model", default="openai:hand")
    parser.add_argument("--base-url")
    parser.add_argument("--traces", type=Path, help="file with the ids of traces; default: all")
    parser.add_argument("--flawed", type=Path, help="traces whose flawed plans are compiled too")
    parser.add_argument("--wording", default="faithful")
    parser.add_argument("--verdicts", type=Path)
    parser.add_argument("--count", type=int, default=14, help="traces to choose")
    parser.add_argument("--salt", default="", help="decides which traces are chosen")
    parser.add_argument("--used", type=Path, nargs="*", default=[], help="files with other ids")
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--to", type=Path, default=Path("readers"))
    options = parser.parse_args()
    cases = bench.expand_v2(options.split)
    traces, flawed = (
        set(file.read_text("utf-8").splitlines()) if file else set[str]()
        for file in (options.traces, options.flawed)
    )
    plans = _select_plans(cases, traces, flawed, options.wording)
    if options.command == "choose":
        used = {name for file in options.used for name in file.read_text("utf-8").splitlines()}
        chosen = choose_traces(cases, used, options.count, options.salt)
        options.path.write_text("".join(f"{name}\n" for name in chosen), "utf-8")
        return
    if options.command == "assign":
        assign_questions(plans, options.split, options.path, options.readers, options.to)
        return
    if options.command == "compile":
        from planproof.llm.model_settings import ModelSettings  # noqa: PLC0415 - with a model
        from planproof.llm.providers import open_model  # noqa: PLC0415 - with a model

        settings = ModelSettings(concurrency=200)
        model = open_model(options.model, base_url=options.base_url, settings=settings)
        compile_contracts(plans, options.split, options.path, model)
        return
    if options.command == "mutate":
        print_mutations(cases, _read_contracts(options.path))
        return
    verdicts = judge_contracts(cases, _read_contracts(options.path))
    if options.verdicts:
        lines = (json.dumps(verdict) + "\n" for verdict in verdicts.values())
        options.verdicts.write_text("".join(lines), "utf-8")
    print_figures(cases, verdicts)


if __name__ == "__main__":
    main()
