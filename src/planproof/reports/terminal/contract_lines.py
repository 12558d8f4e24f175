"""Contracts on the terminal, 80 columns wide: what each step requires, problems, differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from planproof.calibration.contract_trial import Mutation, TestedRun
from planproof.contracts.contract_diff import ChangeKind, ContractDiff, FieldChange
from planproof.contracts.contract_file import encode_contract, format_flow
from planproof.contracts.contract_validation import Problem, highest_score
from planproof.core.content import Json
from planproof.core.contract import Contract
from planproof.core.json_values import is_list, is_object
from planproof.core.phrases import join_items
from planproof.reports.terminal.lines import WIDTH, Line, wrap_text
from planproof.reports.wording import TextSanitizer, format_cost, format_score, pluralize

if TYPE_CHECKING:
    from planproof.llm.compile import CompiledContract

_INDENT = "     "
_MAX_TOOLS_SHOWN = 8
_MAX_UNNOTICED = 20
_CHANGE_MARKS = {
    ChangeKind.ADDED: ("+", "green"),
    ChangeKind.REMOVED: ("-", "red"),
    ChangeKind.CHANGED: ("~", "yellow"),
    ChangeKind.MOVED: ("⇅", "yellow"),
}
_NOT_REQUIREMENTS = frozenset("number text parent".split())


def format_contract_lines(contract: Contract, name: str, show: TextSanitizer) -> Iterator[Line]:
    """Yield a summary of a contract, and what each of its steps and constraints requires."""
    yield from format_contract_summary(contract, name, show)
    tree = encode_contract(contract)
    for step in tree.get("steps", ()):
        yield ()
        number = f"{show(step['number']):>3}"
        first, *others = wrap_text(show(step["text"]), WIDTH, f"{number}  ", _INDENT)
        yield ((first, "bold"),)
        yield from (((line, "bold"),) for line in others)
        for key, value in step.items():
            if key not in _NOT_REQUIREMENTS:
                yield from _format_field(key, value, _INDENT, show)
    rest = {key: tree[key] for key in ("vars", "tools", "never", "before") if key in tree}
    if rest:
        yield ()
    for key, value in rest.items():
        yield from _format_field(key, value, "", show)


def format_compiled_lines(
    compiled: CompiledContract, name: str, show: TextSanitizer
) -> Iterator[Line]:
    """Yield what a model understood of a plan, what should be reviewed, and the cost."""
    yield from format_contract_lines(compiled.contract, name, show)
    yield ()
    for doubt in compiled.doubts:
        first, *others = wrap_text(show(doubt), WIDTH - 2, subsequent_indent="  ")
        yield (("? ", "yellow"), first)
        yield from ((f"  {line}",) for line in others)
    yield from _wrap(format_cost(compiled.usage), "")


def format_contract_summary(contract: Contract, name: str, show: TextSanitizer) -> Iterator[Line]:
    """Yield the name of a contract, the number of its steps, the highest score, and its origin."""
    origin = contract.origin
    leaves = contract.leaves
    unchecked = [step.number for step in leaves if step.uncheckable is not None]
    uncounted = [step.number for step in leaves if not step.counted]
    yield ((show(contract.name or name), "bold"),)
    parts = [pluralize(len(leaves), "step")]
    if unchecked:
        parts.append(f"uncheckable: {', '.join(unchecked)}")
    if uncounted:
        parts.append(f"not counted: {', '.join(uncounted)}")
    parts.append(f"highest score {format_score(highest_score(contract))}")
    yield from _wrap(show("; ".join(parts)), "  ")
    sources = [f"plan {origin.plan}", f"catalogue {origin.catalogue}"]
    sources.append(f"written by {origin.compiler}" if origin.compiler else "written by hand")
    if origin.reviewed is not None:
        sources.append(f"reviewed by {origin.reviewed.by} on {origin.reviewed.date}")
    yield from _wrap(show("; ".join(sources)), "  ")


def _format_field(key: str, value: Json, indent: str, show: TextSanitizer) -> Iterator[Line]:
    """Yield a field in the form of the file: on one line, or with its items below it."""
    text = show(f"{key}: {format_flow(value)}")
    if len(indent) + len(text) <= WIDTH or not (is_object(value) or is_list(value)):
        yield from _wrap(text, indent)
    elif is_object(value):
        yield (f"{indent}{show(key)}:",)
        for name, item in value.items():
            yield from _format_field(name, item, f"{indent}  ", show)
    else:
        yield (f"{indent}{show(key)}:",)
        for item in value:
            yield from _wrap(show(f"- {format_flow(item)}"), f"{indent}  ")


def format_problems(
    problems: Sequence[Problem], locate: Callable[[Problem], str], show: TextSanitizer
) -> Iterator[Line]:
    """Yield each problem with its place in the file, its place in the contract, and the advice."""
    for problem in problems:
        mark, style = ("✗", "red") if problem.is_error else ("?", "yellow")
        first, *others = wrap_text(
            show(f"{problem.path}: {problem.what}"), WIDTH - 2, subsequent_indent="  "
        )
        yield ((f"{mark} ", style), first)
        yield from ((f"  {line}",) for line in others)
        advice = f" {problem.advice}" if problem.advice else ""
        yield from _wrap(show(f"{locate(problem)}.{advice}"), "    ")


def format_check_summary(
    contract: Contract,
    problems: Sequence[Problem],
    globs: Mapping[str, tuple[str, ...]],
    show: TextSanitizer,
) -> Iterator[Line]:
    """Yield the tools that patterns stand for, the number of problems, and the highest score."""
    for glob, tools in globs.items():
        more = (
            f" and {len(tools) - _MAX_TOOLS_SHOWN:,} more" if len(tools) > _MAX_TOOLS_SHOWN else ""
        )
        names = join_items(tools[:_MAX_TOOLS_SHOWN]) or "no tool"
        yield from _wrap(show(f"{glob} stands for {names}{more}"), "")
    errors = sum(problem.is_error for problem in problems)
    counts = f"{pluralize(errors, 'error')}, {pluralize(len(problems) - errors, 'doubt')}"
    score = format_score(highest_score(contract))
    yield (f"{pluralize(len(contract.leaves), 'step')}: {counts}; highest score {score}",)


def format_diff(diff: ContractDiff, show: TextSanitizer) -> Iterator[Line]:
    """Yield the differences between two contracts, step by step."""
    for change in diff.fields:
        yield from _format_change(change, "", show)
    for step in diff.steps:
        mark, style = _CHANGE_MARKS[step.kind]
        head = f"step {step.number} {step.kind.value}: {step.text}"
        first, *others = wrap_text(show(head), WIDTH - 2, subsequent_indent="  ")
        yield ((f"{mark} {first}", style),)
        yield from (((f"  {line}", style),) for line in others)
        for change in step.fields:
            yield from _format_change(change, "    ", show)
    if not diff:
        yield ("The contracts are equal.",)


def _format_change(change: FieldChange, indent: str, show: TextSanitizer) -> Iterator[Line]:
    for mark, style, value in (("-", "red", change.old), ("+", "green", change.new)):
        if value is not None:
            text = show(f"{mark} {change.path}: {value}")
            lines = wrap_text(text, WIDTH, indent, f"{indent}    ")
            yield from (((line, style),) for line in lines)


def _wrap(text: str, indent: str) -> Iterator[Line]:
    yield from ((line,) for line in wrap_text(text, WIDTH, indent, f"{indent}  "))


def format_trial(
    runs: Sequence[TestedRun], counts: Mapping[Mutation, tuple[int, int]], show: TextSanitizer
) -> Iterator[Line]:
    """Yield the runs that a contract does not judge as expected, and unnoticed mutations."""
    expected = sum(run.is_as_expected for run in runs)
    yield (f"{expected} of {pluralize(len(runs), 'run')} judged as expected",)
    for run in runs:
        if not run.is_as_expected:
            kind = "good" if run.is_good else "bad"
            score = "not judged" if run.score is None else format_score(run.score)
            yield ()
            yield ((f"✗ {show(run.id)}", "bold"), f"  {kind} run, {score}")
            yield from ((line,) for line in wrap_text(show(run.reason), WIDTH, _INDENT))
    if not counts:
        return
    noticed = sum(count for count, _ in counts.values())
    total = sum(count for _, count in counts.values())
    yield ()
    yield (f"{noticed} of {pluralize(total, 'mutation')} noticed ({noticed / total:.0%})",)
    for mutation, (count, of) in sorted(counts.items()):
        yield (f"  {mutation:<12} {count} of {of}",)
    unnoticed = [(run, result) for run in runs for result in run.mutations if not result.is_noticed]
    for run, result in unnoticed[:_MAX_UNNOTICED]:
        where = f"{show(run.id)}, {show(result.event)}"
        yield (f"  not noticed: {result.mutation} {show(result.what)} ({where})",)
    if len(unnoticed) > _MAX_UNNOTICED:
        yield (f"  and {len(unnoticed) - _MAX_UNNOTICED} more",)
