"""`planproof verify`: check verdicts against their traces, without a judge."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from planproof.cli.exit_codes import REJECTED, print_notice
from planproof.cli.inputs import (
    ConfigOption,
    PickOption,
    ProfileOption,
    format_input_name,
    load_config,
    load_profiles,
    read_bytes,
)
from planproof.cli.options import VariableOption, parse_variables
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.case import Case
    from planproof.core.content import Json
    from planproof.core.plan import Plan
    from planproof.evaluation import ReadOptions
    from planproof.readers.decoding.source import Source

_Check: TypeAlias = "Callable[[Json, Source, Plan | None], tuple[str, ...]]"


def verify(
    verdict: Annotated[
        Path,
        typer.Argument(metavar="VERDICT", help="Full verdict, or JSON Lines of full verdicts."),
    ],
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE",
            help="Trace or case; for several verdicts, the data set: a file or folder.",
        ),
    ],
    *,
    pick: PickOption = None,
    contract: Annotated[
        Path | None,
        typer.Option(
            "--contract", metavar="FILE", help="Contract that the runs were checked against."
        ),
    ] = None,
    var: VariableOption = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", metavar="FILE", help="The agent's plan, if it was given and TRACE is no case."
        ),
    ] = None,
    public_key: Annotated[
        list[Path] | None,
        typer.Option(
            "--public-key",
            metavar="FILE",
            help="Require a signature by this Ed25519 key (PEM). Can be given several times.",
        ),
    ] = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
) -> None:
    """Check verdicts without a judge.

    Checks the digests of the inputs, every pointer and quote, and the order, and recomputes the
    score from the findings. With a contract, its conditions are evaluated again on the events that
    the verdict cites. The findings of `rules` and `contract` are reproduced; those of judges that
    ask a model can't be. With a public key, the verdicts must be signed (`planproof sign`).

    \b
    planproof judge case.json --format full -o verdict.json
    planproof verify verdict.json case.json
    planproof verify verdicts.jsonl cases.jsonl
    planproof verify verdicts.jsonl runs/
    planproof verify verdict.json run.json --plan plan.md
    planproof verify verdict.json run.json --contract plan.contract.yaml
    planproof verify signed.json case.json --public-key public.pem

    Either file can be `-` for standard input.

    Exit code: 0 accepted, 1 rejected, 2 bad usage or input.
    """
    from planproof.contracts.contract_file import read_contract
    from planproof.evaluation import ReadOptions
    from planproof.verification import explain_limits
    from planproof.verification import verify as find_problems

    configuration = load_config(config)
    reading = ReadOptions(
        vocabulary=configuration.vocabulary,
        limits=configuration.limits,
        profiles=load_profiles(profile, configuration),
    )
    check = partial(
        find_problems,
        contract=None if contract is None else read_contract(contract),
        variables=parse_variables(var),
        vocabulary=reading.vocabulary,
        profiles=reading.profiles,
    )
    checked = rejected = 0
    verdicts = list(
        read_verdicts(read_bytes(verdict, configuration.limits), format_input_name(verdict))
    )
    _warn_about_old_schema(verdicts)
    given_plan = None
    if plan is not None:
        from planproof.evaluation import read_json_or_text

        if len(verdicts) != 1 or trace.is_dir():
            raise typer.BadParameter("--plan requires a single verdict, and a file as TRACE.")
        given_plan = read_json_or_text(plan)
    limits = Counter[str]()

    def check_and_explain(verdict: Json, source: Source, plan: Plan | None) -> tuple[str, ...]:
        problems = check(verdict, source, plan=plan)
        if not problems and (limit := explain_limits(verdict, plan_given=plan is not None)):
            limits[limit] += 1
        return problems

    by_signature = _check_signatures(verdicts, public_key or [], configuration)
    for where, found in _check_verdicts(
        verdicts, trace, pick, given_plan, reading, check_and_explain
    ):
        problems = (*by_signature.get(where, ()), *found)
        checked += 1
        if problems:
            rejected += 1
            typer.echo(f"rejected: {where}")
            for problem in problems:
                typer.echo(f"  {_format_problem(problem)}")
    if checked == 1 and not rejected:
        typer.echo(f"accepted: {format_input_name(verdict)}")
    elif checked != 1:
        typer.echo(f"{checked - rejected:,} of {checked:,} accepted")
    for limit, count in limits.items():
        print_notice(f"note: {count:,} of {checked:,}: {limit}.")
    if rejected:
        raise typer.Exit(REJECTED)


def _check_signatures(
    verdicts: Sequence[VerdictLine], public_keys: Sequence[Path], configuration: Configuration
) -> dict[str, tuple[str, ...]]:
    """Return the problems with the signatures, by the location of the verdict; remove them."""
    from planproof.core.signatures import SIGNATURE, check_signature, parse_public_key

    keys = [
        parse_public_key(read_bytes(path, configuration.limits), format_input_name(path))
        for path in public_keys
    ]
    problems = {line.where: check_signature(line.value, keys) for line in verdicts if keys}
    signed = sum(line.value.pop(SIGNATURE, None) is not None for line in verdicts)
    if signed and not keys:
        print_notice(
            f"note: {signed:,} of {len(verdicts):,} verdicts are signed; the signatures were not "
            "checked (--public-key FILE)."
        )
    return problems


def _warn_about_old_schema(verdicts: Sequence[VerdictLine]) -> None:
    from planproof.core.verdict import SCHEMA_VERSION

    old = sum("schema" not in line.value for line in verdicts)
    if old:
        print_notice(
            f"note: {old:,} of {len(verdicts):,} verdicts were written with schema version 1 "
            f"(current: {SCHEMA_VERSION}); `sureness` is read as `confidence`."  # words: exempt
        )


def _check_verdicts(
    verdicts: Sequence[VerdictLine],
    trace: Path,
    trace_id: str | None,
    plan: Json,
    reading: ReadOptions,
    check: _Check,
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the location of each verdict and the problems found in it."""
    if len(verdicts) == 1 and not trace.is_dir():
        (only,) = verdicts
        yield only.where, _check_one(only.value, trace, trace_id, plan, reading, check)
        return
    if trace_id is not None:
        raise typer.BadParameter("--pick requires a single verdict, and a file as TRACE.")
    from planproof.core.limits import Limits
    from planproof.runs.datasets.data_set import DataSet

    # Read like `planproof run` reads them, so that folders and the ids of their cases are the same.
    cases = DataSet(
        paths=(str(trace),), limits=reading.limits or Limits(), profiles=tuple(reading.profiles)
    )
    for verdict_line, numbered in zip_longest(verdicts, cases):
        if numbered is None:
            yield verdict_line.where, ("no case for this verdict",)
            continue
        _, line = numbered
        if verdict_line is None:
            yield line.where, ("no verdict for this case",)
        elif line.case is None:
            yield verdict_line.where, _check_unreadable(verdict_line.value, str(line.error))
        else:
            location = f"{line.where}, execution_trace"
            yield (
                verdict_line.where,
                _check_case(verdict_line.value, line.case, location, reading, check),
            )


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A full verdict as JSON, and where it was read."""

    where: str
    value: dict[str, Json]


def read_verdicts(data: bytes, name: str) -> Iterator[VerdictLine]:
    """Yield the verdicts in a file: one, or JSON Lines."""
    try:
        yield VerdictLine(name, _parse_verdict(data, name))
        return
    except InvalidInput:
        if _is_one_document(data):
            raise
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            where = f"{name}, line {number}"
            yield VerdictLine(where, _parse_verdict(line, where))


def _is_one_document(data: bytes) -> bool:
    """Return True if the data is a single JSON document, not JSON Lines."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return b"\n" not in data.strip()
    return True


def _parse_verdict(data: bytes, where: str) -> dict[str, Json]:
    from planproof.core.json_values import is_object
    from planproof.readers.decoding.json_parsing import describe_json_error

    advice = "Pass the output of `planproof judge --format full` or `planproof run`."
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(describe_json_error(error), where=where, advice=advice) from error
    if not is_object(value) or "outcome" not in value:
        raise InvalidInput("not a full verdict.", where=where, advice=advice)
    return value


def _check_one(
    verdict: Json,
    trace: Path,
    trace_id: str | None,
    plan: Json,
    reading: ReadOptions,
    check: _Check,
) -> tuple[str, ...]:
    from planproof.core.case import Case
    from planproof.core.json_values import is_object
    from planproof.core.limits import Limits
    from planproof.readers.decoding.case_files import parse_case
    from planproof.readers.decoding.source import Source
    from planproof.readers.decoding.split_traces import select_trace

    name, limits = format_input_name(trace), reading.limits or Limits()
    source = Source.from_bytes(read_bytes(trace, limits), name=name, limits=limits)
    if is_object(source.document) and "execution_trace" in source.document:
        case = parse_case(source.document, name=name)
        if plan is not None:
            case = replace(case, plan=plan)
        return _check_case(verdict, case, f"{name}, execution_trace", reading, check)
    selected = select_trace(source, trace_id, reading.profiles)
    if plan is None:
        return check(verdict, selected, None)
    case = Case(task=None, plan=plan, trace=selected, id=verdict.get("id"))
    return _check_case(verdict, case, name, reading, check)


def _check_case(
    verdict: Json, case: Case, location: str, reading: ReadOptions, check: _Check
) -> tuple[str, ...]:
    from planproof.planning.plan_parser import parse_given_plan
    from planproof.readers.decoding.source import Source
    from planproof.readers.detect import read_trace

    try:
        source = case.trace
        if not isinstance(source, Source):
            source = Source.from_value(source, name=location, limits=reading.limits)
        plan = None if case.plan is None else parse_given_plan(case.plan)
        if verdict["outcome"] == "invalid_input":
            read_trace(source, profiles=reading.profiles)
            return ("the outcome is invalid_input, but the case can be read",)
    except InvalidInput as error:
        return _check_unreadable(verdict, str(error))
    problems = check(verdict, source, plan)
    return (*_find_input_mismatches(verdict, case), *problems)


def _find_input_mismatches(verdict: Json, case: Case) -> Iterator[str]:
    from planproof.core.digests import plan_digest, task_digest
    from planproof.core.json_values import is_object

    if verdict.get("id") != case.id:
        yield f"case id mismatch: verdict {verdict.get('id')!r}, case {case.id!r}"
    if is_object(inputs := verdict.get("inputs")):
        if case.task is not None and inputs.get("task") != task_digest(case.task):
            yield "the task differs from the one that was judged"
        if inputs.get("plan") != plan_digest(case.plan):
            yield "the plan differs from the one that was judged"


def _check_unreadable(verdict: Json, error: str) -> tuple[str, ...]:
    return () if verdict["outcome"] == "invalid_input" else (f"the case can't be read: {error}",)


def _format_problem(problem: str) -> str:
    from planproof.reports.plain_text import to_one_line

    return to_one_line(problem)
