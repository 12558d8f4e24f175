"""`planproof judge`: judge one case."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from planproof.cli.exit_codes import BELOW_MINIMUM, NOT_JUDGED, print_notice
from planproof.cli.inputs import (
    ConfigOption,
    InForceOption,
    JudgeOption,
    MinConfidenceOption,
    MinScoreOption,
    PickOption,
    PlanOption,
    ProfileOption,
    ReaderOption,
    TaskOption,
    format_input_name,
    is_standard_input,
    load_config,
    load_profiles,
    read_bytes,
    read_source,
    read_text,
)
from planproof.cli.options import JudgeOptions, option_groups
from planproof.cli.outputs import (
    Format,
    NoRedactOption,
    OutputOption,
    format_verdict,
    make_plain_stream,
    open_text_output,
)
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.case import Case
    from planproof.core.judge import AnyJudge, ModelJudge
    from planproof.core.plan import InForce
    from planproof.core.verdict import Verdict
    from planproof.evaluation import ReadOptions
    from planproof.readers.decoding.source import Source


@option_groups(judge_options=JudgeOptions)
def judge(
    case: Annotated[
        Path | None,
        typer.Argument(metavar="CASE.json", help="Case file; - reads standard input."),
    ] = None,
    *,
    task: TaskOption = None,
    plan: PlanOption = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Execution trace, instead of a case file."),
    ] = None,
    pick: PickOption = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="Output format; `json`: score and reason; `full`: the full verdict as JSON; "
            "`html`: a page.",
        ),
    ] = Format.TERMINAL,
    min_score: MinScoreOption = None,
    min_confidence: MinConfidenceOption = None,
    judge_name: JudgeOption = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    plan_in_force: InForceOption = "first",
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
    judge_options: JudgeOptions,
    show_prompt: Annotated[
        bool,
        typer.Option("--show-prompt", help="Print the prompt for the model, and don't send it."),
    ] = False,
) -> None:
    """Judge one case.

    Did the agent do what its plan said, all of it, in order, and nothing else?

    \b
    planproof judge case.json
    planproof judge --trace run.json
    planproof judge --task task.txt --plan plan.md --trace run.json
    cat case.json | planproof judge - --format json --min-score 0.75
    planproof judge case.json --format html -o verdict.html
    planproof judge case.json --judge audit --model openai:NAME
    planproof judge --trace run.json --contract plan.contract.yaml

    Exit code: 0 judged, 1 below --min-score, 2 bad usage or input, 3 could not be judged, or not
    with the confidence of --min-confidence.
    """
    _check_usage(case, task, plan, trace)
    if pick is not None and trace is None:
        raise typer.BadParameter("--pick requires --trace.")
    configuration = load_config(config)
    judge_input = _load_input(
        case, (task, plan, trace), pick, (reader, plan_in_force, profile), configuration
    )
    if show_prompt:
        with open_text_output(output) as stream:
            stream.writelines(
                judge_input.render_questions(
                    judge_options.make_offline_judge(judge_name, configuration)
                )
            )
        return
    verdict = judge_input.judge_with(judge_options.make_judge(judge_name, configuration))
    with open_text_output(output) as stream:
        if form is Format.HTML:
            stream.writelines(judge_input.render_page(verdict, secrets=no_redact))
        else:
            render_stream = stream if stream is sys.stdout else make_plain_stream()
            stream.write(format_verdict(verdict, form, secrets=no_redact, stream=render_stream))
    if verdict.score is None:
        raise typer.Exit(NOT_JUDGED)
    if min_confidence is None:
        min_confidence = configuration.min_confidence
    if verdict.is_below_confidence(min_confidence):
        known = "none" if verdict.confidence is None else str(verdict.confidence)
        print_notice(
            f"planproof: could not be judged with enough confidence: {known}, and "
            f"--min-confidence is {min_confidence}"
        )
        raise typer.Exit(NOT_JUDGED)
    threshold = configuration.min_score if min_score is None else min_score
    if threshold is not None and verdict.score < threshold:
        raise typer.Exit(BELOW_MINIMUM)


def _check_usage(case: Path | None, *parts: Path | None) -> None:
    """Require either a case file alone, or a trace with optional task and plan."""
    *_, trace = parts
    given_files = [file for file in parts if file is not None]
    if (case is None) == (trace is None) or (case is not None and given_files):
        raise typer.BadParameter("pass a case file, or --trace with optional --task and --plan.")
    if sum(map(is_standard_input, given_files)) > 1:
        raise typer.BadParameter("only one of --task, --plan and --trace can be `-`.")


def _load_input(
    case: Path | None,
    files: tuple[Path | None, Path | None, Path | None],
    pick: str | None,
    reading_options: tuple[str | None, InForce, list[Path] | None],
    configuration: Configuration,
) -> _JudgeInput:
    """Load the case file, or build a case from the files of task, plan and trace."""
    from planproof.core.case import Case
    from planproof.evaluation import ReadOptions, build_case, internal_error_verdict
    from planproof.readers.decoding.case_files import read_case

    (reader, in_force, profile), limits = reading_options, configuration.limits
    reading = ReadOptions(
        reader,
        configuration.vocabulary,
        limits,
        in_force=in_force,
        profiles=load_profiles(profile, configuration),
    )
    try:
        if case is not None:
            read = read_case(read_bytes(case, limits), name=format_input_name(case), limits=limits)
            return _JudgeInput(read, replace(reading, where=format_input_name(case)))
        return _JudgeInput(build_case(*_read_files(files, pick, reading)), reading)
    except Exception as error:
        return _JudgeInput(
            Case(task=None, plan=None, trace=None), reading, internal_error_verdict(error)
        )


def _read_files(
    files: tuple[Path | None, Path | None, Path | None], trace_id: str | None, reading: ReadOptions
) -> tuple[str | Path | None, str | Path | None, Source]:
    from planproof.core.limits import Limits
    from planproof.readers.decoding.split_traces import select_trace

    task, plan, trace = files
    assert trace is not None
    limits = reading.limits or Limits()
    return (
        read_text(task, limits) if task is not None and is_standard_input(task) else task,
        read_text(plan, limits) if plan is not None and is_standard_input(plan) else plan,
        select_trace(read_source(trace, limits), trace_id, reading.profiles),
    )


@dataclass(frozen=True, slots=True)
class _JudgeInput:
    """A case, its read options, and the verdict if an internal error prevented reading it."""

    case: Case
    reading: ReadOptions
    failed_verdict: Verdict | None = None

    def judge_with(self, judge: AnyJudge) -> Verdict:
        """Return the judge's verdict on the case."""
        from planproof.evaluation import check_in_force, judge_case

        if self.failed_verdict is not None:
            return self.failed_verdict
        if self.reading.where is None:
            check_in_force(self.reading.in_force, judge, self.case.plan)
        return judge_case(self.case, judge=judge, options=self.reading)

    def render_page(self, verdict: Verdict, *, secrets: bool) -> Iterator[str]:
        """Render the HTML page of a verdict on the case."""
        from planproof.reports.html.case_page import read_judged_case
        from planproof.reports.html.report_page import render_case_page

        return render_case_page(read_judged_case(self.case, verdict, self.reading), secrets=secrets)

    def render_questions(self, judge: AnyJudge) -> Iterator[str]:
        """Yield the questions the judge would ask a model about the case, as text."""
        from planproof.core.verdict import Verdict
        from planproof.evaluation import build_questions, load_case
        from planproof.llm.prompting.case_prompt import format_question

        loaded = self.failed_verdict or load_case(self.case, judge, self.reading)
        if isinstance(loaded, Verdict):
            raise InvalidInput(loaded.reason)
        yield from map(format_question, build_questions(loaded, cast("ModelJudge", judge)))
