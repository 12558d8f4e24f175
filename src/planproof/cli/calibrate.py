"""`planproof calibrate`: measure how reliable a judge is."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from itertools import chain
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

    from planproof.calibration.case_labels import Label, Labels
    from planproof.calibration.measurement import Measurement
    from planproof.calibration.variant import FollowedCase, Variant
    from planproof.core.judge import AnyJudge
    from planproof.evaluation import ReadOptions
    from planproof.readers.decoding.case_files import CaseLine


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
            help="Cases whose plans were followed exactly, or labelled cases; default: the "
            "built-in cases.",
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
            help="Labels as JSON Lines of {id, score} or {id, followed}; cases with 1.0 count as "
            "followed.",
        ),
    ] = None,
    labelled: Annotated[
        bool,
        typer.Option(
            "--labelled",
            help="Judge cases as they are, by their own `label` or --labels, and flawed ones also "
            "with attacks; generate no flaws.",
        ),
    ] = False,
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
    more meaningful. Cases with labels can also be judged as they are (--labelled).

    \b
    planproof calibrate
    planproof calibrate cases.jsonl --judge audit --model openai:NAME --repeat 3
    planproof calibrate cases.jsonl --labels labels.jsonl -f json -o figures.json
    planproof calibrate labelled.jsonl --labelled
    planproof calibrate --callable my_metrics:plan_adherence
    planproof calibrate --format html -o calibration.html

    With --repeat, cached model answers are not used.

    Exit code: 0 measured, 2 bad usage or input.
    """
    from planproof.calibration.callables import load_callable_judge
    from planproof.calibration.case_labels import read_labels
    from planproof.calibration.figures import compute_figures
    from planproof.calibration.followed_cases import BUILT_IN_NOTE
    from planproof.calibration.measurement import measure
    from planproof.evaluation import ReadOptions
    from planproof.reports.terminal.calibration_lines import (
        calibration_to_json,
        format_calibration,
    )
    from planproof.runs.engines.case_judging import CaseEvaluator

    if callable_ is not None and (judge_name is not None or judge_options.models):
        raise typer.BadParameter("--callable can't be combined with --judge or --model.")
    if labelled and not paths:
        raise typer.BadParameter("--labelled needs DATA: the built-in cases have no labels.")
    configuration = load_config(config)
    label_by_case = None
    if labels is not None:
        text = read_text(labels, configuration.limits)
        label_by_case = read_labels(text.splitlines(), str(labels))
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
    cases, unread = _load_cases(paths or [], judge, reading, label_by_case, labelled=labelled)
    evaluator = CaseEvaluator(judge, None, configuration.vocabulary, configuration.limits)
    variants = _make_variants(cases, seed, with_flaws=not labelled)
    if not variants and not unread:
        raise InvalidInput(
            "no case has a label.",
            where=str(labels),
            advice="Use the id of a case in each label.",
        )
    rows = measure(variants, evaluator, repeats=repeat, concurrency=judge_options.concurrency)
    figures = compute_figures(chain(_show_progress_bar(rows, len(variants) * repeat), unread))
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
                note=note,
                secrets=no_redact,
            )
            stream.writelines(page)
        else:
            lines = format_calibration(judge.name, figures, note)
            stream.write(
                render_lines(lines, stream if stream is sys.stdout else make_plain_stream())
            )


def _load_cases(
    paths: list[str],
    judge: AnyJudge,
    reading: ReadOptions,
    labels: Labels | None,
    *,
    labelled: bool,
) -> tuple[list[FollowedCase], list[Measurement]]:
    """Load the cases from `paths`, or the built-in ones; with labels, those that have one.

    Labelled cases that can't be judged are returned as rows without a score.
    """
    from planproof.calibration.followed_cases import (
        build_followed_case,
        build_labelled_case,
        load_built_in_cases,
    )
    from planproof.calibration.measurement import make_unread_row
    from planproof.core.limits import Limits
    from planproof.core.verdict import Verdict
    from planproof.runs.datasets.data_set import DataSet

    if not paths:
        built_in = load_built_in_cases()
        if labels is None:
            return list(built_in), []
        return [replace(case, label=labels[case.id]) for case in built_in if case.id in labels], []
    cases: dict[str, FollowedCase | None] = {}
    unread: list[Measurement] = []
    data = DataSet(
        paths=tuple(paths),
        limits=reading.limits or Limits(),
        profiles=reading.profiles,
        keep_records=labelled,
    )
    for position, line in data:
        if line.case is None:
            assert line.error is not None
            raise line.error
        id_ = line.case.id or f"case {position}"
        if id_ in cases:
            raise InvalidInput(
                f"duplicate case id `{id_}`.",
                where=line.where,
                advice="Give each case a unique id; variants and labels refer to it.",
            )
        cases[id_] = None
        options = replace(reading, where=line.where)
        if labels is None and not labelled:
            cases[id_] = build_followed_case(line.case, judge, options, id_)
            continue
        label = _get_own_label(line) if labels is None else labels.get(id_)
        if label is None:
            continue
        case = build_labelled_case(line.case, label, judge, options, id_)
        if isinstance(case, Verdict):
            unread.append(make_unread_row(id_, line.case, label, case))
        else:
            cases[id_] = case
    if not cases:
        raise InvalidInput("no cases found.", where=", ".join(paths), advice="Check the paths.")
    return [case for case in cases.values() if case is not None], unread


def _get_own_label(line: CaseLine) -> Label:
    """Return the label in the record of a case."""
    from planproof.calibration.case_labels import parse_label
    from planproof.core.json_values import is_object

    record = line.record if is_object(line.record) else {}
    if "label" not in record:
        raise InvalidInput(
            "has no `label`.",
            where=line.where,
            advice='Add "label": {"followed": true}, or name a file of labels with --labels.',
        )
    return parse_label(record["label"], f"{line.where}#/label")


def _make_variants(cases: list[FollowedCase], seed: int, *, with_flaws: bool) -> list[Variant]:
    """Generate variants of followed cases; keep those that were not followed as they are."""
    from planproof.calibration.variant_set import generate_labelled_variants, generate_variants

    if not with_flaws:
        return list(generate_labelled_variants(cases))
    followed = [case for case in cases if case.is_followed]
    others = [case for case in cases if not case.is_followed]
    return [*generate_variants(followed, seed), *generate_labelled_variants(others)]


def _show_progress_bar(rows: Iterable[Measurement], total: int) -> Iterator[Measurement]:
    """Yield the rows, with a progress bar if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield from rows
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(rows, "judging", total=total, console=console, transient=True)
