"""`planproof judge`: one case."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from planproof.cli.exit_codes import BELOW_MINIMUM, NOT_JUDGED
from planproof.cli.inputs import (
    ConfigOption,
    InForceOption,
    JudgeOption,
    MinScoreOption,
    PickOption,
    PlanOption,
    ReaderOption,
    TaskOption,
    is_standard_input,
    name_of,
    read_bytes,
    read_source,
    read_text,
    settled_configuration,
)
from planproof.cli.model_options import AskingOptions
from planproof.cli.option_groups import takes
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
    from planproof.core.case import Case
    from planproof.core.judge import AnyJudge, ModelJudge
    from planproof.core.limits import Limits
    from planproof.core.plan import InForce
    from planproof.core.verdict import Verdict
    from planproof.preparation import Reading
    from planproof.readers.decoding.source import Source


@takes(asked=AskingOptions)
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
        typer.Option("--trace", metavar="FILE", help="The execution trace, instead of a case."),
    ] = None,
    pick: PickOption = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="A picture; `json`: score and reason; `full`: the whole verdict; `markdown`; "
            "`html`: a page that draws it.",
        ),
    ] = Format.TERMINAL,
    min_score: MinScoreOption = None,
    judge_name: JudgeOption = None,
    reader: ReaderOption = None,
    plan_in_force: InForceOption = "first",
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
    asked: AskingOptions,
    show_prompt: Annotated[
        bool, typer.Option("--show-prompt", help="Print what a model would be asked; ask nobody.")
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

    Exit code: 0 judged, 1 below --min-score, 2 bad usage or input, 3 could not be judged.
    """
    _check_usage(case, task, plan, trace)
    if pick is not None and trace is None:
        raise typer.BadParameter("--pick goes with --trace.")
    configuration = settled_configuration(config)
    given = _given(case, (task, plan, trace), pick, (reader, plan_in_force), configuration)
    if show_prompt:
        with writing(output) as stream:
            stream.writelines(given.questions(asked.unasked_judge(judge_name, configuration)))
        return
    verdict = given.verdict(asked.judge(judge_name, configuration))
    with writing(output) as stream:
        if form is Format.HTML:
            stream.writelines(given.page(verdict, secrets=no_redact))
        else:
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


def _given(
    case: Path | None,
    files: tuple[Path | None, Path | None, Path | None],
    pick: str | None,
    how: tuple[str | None, InForce],
    configuration: Configuration,
) -> _Given:
    """What the case file holds, or the files of task, plan and trace."""
    from planproof.core.case import Case
    from planproof.evaluation import not_read
    from planproof.preparation import Reading, case_of
    from planproof.readers.decoding.case_files import read_case

    (reader, in_force), limits = how, configuration.limits
    reading = Reading(reader, configuration.vocabulary, limits, in_force=in_force)
    try:
        if case is not None:
            read = read_case(read_bytes(case, limits), name=name_of(case), limits=limits)
            return _Given(read, replace(reading, where=name_of(case)))
        return _Given(case_of(*_contents(files, pick, limits)), reading)
    except Exception as error:
        return _Given(Case(task=None, plan=None, trace=None), reading, not_read(error))


def _contents(
    files: tuple[Path | None, Path | None, Path | None], picked: str | None, limits: Limits
) -> tuple[str | Path | None, str | Path | None, Source]:
    from planproof.readers.decoding.split_traces import pick

    task, plan, trace = files
    assert trace is not None
    return (
        read_text(task, limits) if task is not None and is_standard_input(task) else task,
        read_text(plan, limits) if plan is not None and is_standard_input(plan) else plan,
        pick(read_source(trace, limits), picked),
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """The case, how to read it, and the verdict where an internal error kept it from being read."""

    case: Case
    reading: Reading
    failed: Verdict | None = None

    def verdict(self, judge: AnyJudge) -> Verdict:
        """What the judge says of it."""
        from planproof.evaluation import check_in_force, judge_case

        if self.failed is not None:
            return self.failed
        if self.reading.where is None:
            check_in_force(self.reading.in_force, judge, self.case.plan)
        return judge_case(self.case, judge=judge, reading=self.reading)

    def page(self, verdict: Verdict, *, secrets: bool) -> Iterator[str]:
        """The page that draws a verdict on it."""
        from planproof.reports.html.case_page import judged_case
        from planproof.reports.html.report_page import case_page

        return case_page(judged_case(self.case, verdict, self.reading), secrets=secrets)

    def questions(self, judge: AnyJudge) -> Iterator[str]:
        """What the judge would ask about it, in words."""
        from planproof.core.verdict import Verdict
        from planproof.llm.prompting.show_question import shown
        from planproof.preparation import prepared, questions_of

        ready = self.failed or prepared(self.case, judge, self.reading)
        if isinstance(ready, Verdict):
            raise InvalidInput(ready.reason)
        yield from map(shown, questions_of(ready, cast("ModelJudge", judge)))
