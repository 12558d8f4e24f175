"""`planproof judge`: one case."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.failures import BELOW_MINIMUM, NOT_JUDGED
from planproof.cli.inputs import (
    ConfigOption,
    JudgeOption,
    MinScoreOption,
    PickOption,
    ReaderOption,
    chosen_judge,
    is_standard_input,
    name_of,
    read_bytes,
    read_source,
    read_text,
    settled_configuration,
)
from planproof.cli.outputs import (
    Format,
    NoRedactOption,
    OutputOption,
    plain_stream,
    writing,
    written,
)
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.judges.protocol import AnyJudge
    from planproof.verdict import Verdict


def judge(
    case: Annotated[
        Path | None,
        typer.Argument(metavar="CASE.json", help="Case file; - reads standard input."),
    ] = None,
    *,
    task: Annotated[
        Path | None,
        typer.Option(
            "--task", metavar="FILE", help="The user task; else the first message of the user."
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", metavar="FILE", help="The agent's plan; else the one declared in the trace."
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="The execution trace, instead of a case."),
    ] = None,
    pick: PickOption = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="A picture; `json`: score and reason; `full`: the whole verdict; `markdown`.",
        ),
    ] = Format.TERMINAL,
    min_score: MinScoreOption = None,
    judge_name: JudgeOption = None,
    reader: ReaderOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Judge one case.

    Did the agent do what its plan said, all of it, in order, and nothing else?

    \b
    planproof judge case.json
    planproof judge --trace run.json
    planproof judge --task task.txt --plan plan.md --trace run.json
    cat case.json | planproof judge - --format json --min-score 0.75

    Exit code: 0 judged, 1 below --min-score, 2 bad usage or input, 3 could not be judged.
    """
    _check_usage(case, task, plan, trace)
    if pick is not None and trace is None:
        raise typer.BadParameter("--pick goes with --trace.")
    configuration = settled_configuration(config)
    chosen = chosen_judge(judge_name, configuration)
    if case is not None:
        verdict = _verdict_on_case(case, configuration, chosen, reader)
    else:
        assert trace is not None
        verdict = _verdict_on_trace((task, plan, trace), configuration, chosen, reader, pick)
    with writing(output) as stream:
        shown_on = stream if stream is sys.stdout else plain_stream()
        stream.write(written(verdict, form, secrets=no_redact, stream=shown_on))
    if verdict.score is None:
        raise typer.Exit(NOT_JUDGED)
    least = configuration.min_score if min_score is None else min_score
    if least is not None and verdict.score < least:
        raise typer.Exit(BELOW_MINIMUM)


def _check_usage(case: Path | None, *parts: Path | None) -> None:
    """The case file alone, or a trace with or without its task and plan."""
    *_, trace = parts
    given = [file for file in parts if file is not None]
    if (case is None) == (trace is None) or (case is not None and given):
        raise typer.BadParameter("give a case file, or --trace, with --task and --plan or without.")
    if sum(map(is_standard_input, given)) > 1:
        raise typer.BadParameter("only one of --task, --plan and --trace can be `-`.")


def _verdict_on_case(
    path: Path, configuration: Configuration, judge: AnyJudge, reader: str | None
) -> Verdict:
    from planproof.case_file import read_case
    from planproof.evaluation import evaluate_case
    from planproof.verdict import Outcome

    name, limits = name_of(path), configuration.limits
    verdict = evaluate_case(
        read_case(read_bytes(path, limits), name=name),
        judge=judge,
        reader=reader,
        vocabulary=configuration.vocabulary,
        limits=limits,
        where=name,
    )
    if verdict.outcome is Outcome.INVALID_INPUT:
        raise InvalidInput(verdict.reason)
    return verdict


def _verdict_on_trace(
    files: tuple[Path | None, Path | None, Path],
    configuration: Configuration,
    judge: AnyJudge,
    reader: str | None,
    picked: str | None,
) -> Verdict:
    from planproof.evaluation import evaluate
    from planproof.readers.members import pick

    limits = configuration.limits
    task, plan, trace = files
    return evaluate(
        task=read_text(task, limits) if task is not None and is_standard_input(task) else task,
        plan=read_text(plan, limits) if plan is not None and is_standard_input(plan) else plan,
        trace=pick(read_source(trace, limits), picked),
        judge=judge,
        reader=reader,
        vocabulary=configuration.vocabulary,
    )
