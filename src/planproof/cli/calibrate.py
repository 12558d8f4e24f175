"""`planproof calibrate`: measure how reliable a judge is."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.inputs import (
    ConfigOption,
    JudgeOption,
    ProfileOption,
    ReaderOption,
    load_config,
    load_profiles,
    read_text,
)
from planproof.cli.options import ModelJudgeOptions, option_groups
from planproof.cli.outputs import (
    NoRedactOption,
    OutputOption,
    make_plain_stream,
    open_text_output,
    render_lines,
)
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from planproof.calibration.measurement import Measurement
    from planproof.calibration.variant import FollowedCase, Variant
    from planproof.core.judge import AnyJudge
    from planproof.evaluation import ReadOptions


class CalibrationFormat(StrEnum):
    """Output format of the calibration figures."""

    TERMINAL = "terminal"
    JSON = "json"
    HTML = "html"


@option_groups(judge_options=ModelJudgeOptions)
def calibrate(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA...]",
            help="Cases whose plans were followed exactly; default: the built-in cases.",
        ),
    ] = None,
    *,
    judge_name: JudgeOption = None,
    callable_: Annotated[
        str | None,
        typer.Option(
            "--callable",
            metavar="MODULE:NAME",
            help="Function to measure instead of a judge. It is called with user_task, agent_plan "
            "and execution_trace, and returns a score, or an object with score and reason.",
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", min=1, help="Judge every variant N times.")
    ] = 1,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Human scores as JSON Lines of {id, score}; cases with 1.0 count as followed.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed for generating the flaws.")
    ] = 0,
    form: Annotated[
        CalibrationFormat, typer.Option("--format", "-f", help="Output format.")
    ] = CalibrationFormat.TERMINAL,
    output: OutputOption = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
    judge_options: ModelJudgeOptions,
) -> None:
    """Measure how reliable a judge is.

    Generates variants of followed cases: some with one known flaw, some only reworded, some with
    text that claims more than was done. Then counts how many the judge passes, catches, locates, or
    is fooled by. planproof was developed with the built-in cases, so figures on your own cases are
    more meaningful.

    \b
    planproof calibrate
    planproof calibrate cases.jsonl --judge audit --model openai:NAME --repeat 3
    planproof calibrate cases.jsonl --labels labels.jsonl -f json -o figures.json
    planproof calibrate --callable my_metrics:plan_adherence
    planproof calibrate --format html -o calibration.html

    With --repeat, cached model answers are not used.

    Exit code: 0 measured, 2 bad usage or input.
    """
    from planproof.calibration.callables import load_callable_judge
    from planproof.calibration.figures import compute_figures, is_followed
    from planproof.calibration.followed_cases import BUILT_IN_NOTE, read_labels
    from planproof.calibration.measurement import measure
    from planproof.evaluation import ReadOptions
    from planproof.reports.terminal.calibration_lines import (
        calibration_to_json,
        format_calibration,
    )
    from planproof.runs.engines.case_judging import CaseEvaluator

    if callable_ is not None and (judge_name is not None or judge_options.models):
        raise typer.BadParameter("--callable can't be combined with --judge or --model.")
    configuration = load_config(config)
    score_by_case = None
    if labels is not None:
        text = read_text(labels, configuration.limits)
        score_by_case = read_labels(text.splitlines(), str(labels))
    if repeat > 1:
        judge_options = replace(judge_options, no_cache=True)
    judge: AnyJudge = (
        judge_options.make_judge(judge_name, configuration)
        if callable_ is None
        else load_callable_judge(callable_)
    )
    reading = ReadOptions(
        reader,
        configuration.vocabulary,
        configuration.limits,
        profiles=load_profiles(profile, configuration),
    )
    cases = _load_cases(paths or [], judge, reading)
    evaluator = CaseEvaluator(judge, None, configuration.vocabulary, configuration.limits)
    variants = _make_variants(cases, score_by_case, seed)
    if not variants:
        raise InvalidInput(
            "no case has a label.",
            where=str(labels),
            advice="Use the id of a case in each label.",
        )
    rows = measure(variants, evaluator, repeats=repeat, concurrency=judge_options.concurrency)
    figures = compute_figures(_show_progress_bar(rows, len(variants) * repeat), score_by_case)
    note = None if paths else BUILT_IN_NOTE
    with open_text_output(output) as stream:
        if form is CalibrationFormat.JSON:
            stream.write(calibration_to_json(judge.name, figures, note) + "\n")
        elif form is CalibrationFormat.HTML:
            from planproof.reports.html.report_page import render_calibration_page

            page = render_calibration_page(
                judge.name,
                figures,
                replace(reading, reader=None),
                labels=score_by_case,
                note=note,
                secrets=no_redact,
            )
            stream.writelines(page)
        else:
            followed = sum(is_followed(case.id, score_by_case) for case in cases)
            lines = format_calibration(judge.name, followed, figures, note)
            stream.write(
                render_lines(lines, stream if stream is sys.stdout else make_plain_stream())
            )


def _load_cases(paths: list[str], judge: AnyJudge, reading: ReadOptions) -> list[FollowedCase]:
    """Load the cases from `paths`, or the built-in ones if there are none."""
    from planproof.calibration.followed_cases import build_followed_case, load_built_in_cases
    from planproof.core.limits import Limits
    from planproof.runs.datasets.data_set import DataSet

    if not paths:
        return list(load_built_in_cases())
    case_by_id: dict[str, FollowedCase] = {}
    cases = DataSet(
        paths=tuple(paths), limits=reading.limits or Limits(), profiles=reading.profiles
    )
    for position, line in cases:
        if line.case is None:
            assert line.error is not None
            raise line.error
        options = replace(reading, where=line.where)
        case = build_followed_case(line.case, judge, options, f"case {position}")
        if case.id in case_by_id:
            raise InvalidInput(
                f"duplicate case id `{case.id}`.",
                where=line.where,
                advice="Give each case a unique id; variants and labels refer to it.",
            )
        case_by_id[case.id] = case
    if not case_by_id:
        raise InvalidInput("no cases found.", where=", ".join(paths), advice="Check the paths.")
    return list(case_by_id.values())


def _make_variants(
    cases: list[FollowedCase], labels: dict[str, float] | None, seed: int
) -> list[Variant]:
    """Generate variants of followed cases; keep labelled cases that were not followed as is."""
    from planproof.calibration.figures import is_followed
    from planproof.calibration.flaws import copy_unchanged
    from planproof.calibration.variant_set import generate_variants

    followed = [case for case in cases if is_followed(case.id, labels)]
    others = [copy_unchanged(case) for case in cases if labels and 0 <= labels.get(case.id, -1) < 1]
    return [*generate_variants(followed, seed), *others]


def _show_progress_bar(rows: Iterable[Measurement], total: int) -> Iterator[Measurement]:
    """Yield the rows, with a progress bar if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield from rows
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(rows, "judging", total=total, console=console, transient=True)
