"""`planproof calibrate`: how far a judge can be trusted."""

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
    ReaderOption,
    read_text,
    settled_configuration,
)
from planproof.cli.model_options import AskingOptions
from planproof.cli.option_groups import takes
from planproof.cli.outputs import NoRedactOption, OutputOption, plain_stream, told, writing
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from planproof.calibration.measurement import Row
    from planproof.calibration.variant import Followed, Variant
    from planproof.config import Configuration
    from planproof.core.judge import AnyJudge


class CalibrationFormat(StrEnum):
    """How the figures are written."""

    TERMINAL = "terminal"
    JSON = "json"
    HTML = "html"


@takes(asked=AskingOptions)
def calibrate(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA...]",
            help="Cases whose plans were followed exactly; without any, built-in ones.",
        ),
    ] = None,
    *,
    judge_name: JudgeOption = None,
    callable_: Annotated[
        str | None,
        typer.Option(
            "--callable",
            metavar="MODULE:NAME",
            help="Function to measure instead of a judge: it is given user_task, agent_plan and "
            "execution_trace, and gives a score or an object with score and reason.",
        ),
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", min=1, help="Judge everything so many times.")
    ] = 1,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Scores that people gave the cases, one {id, score} a line; those with 1.0 are "
            "the ones that were followed.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Another seed makes other flaws.")
    ] = 0,
    form: Annotated[CalibrationFormat, typer.Option("--format", "-f")] = CalibrationFormat.TERMINAL,
    output: OutputOption = None,
    reader: ReaderOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
    asked: AskingOptions,
) -> None:
    """Measure how far a judge can be trusted.

    Makes versions of followed cases with one known flaw each, versions that are only worded
    otherwise, and versions whose text claims more than was done; then counts what the judge passes,
    catches, locates and is fooled by. planproof was developed with the built-in cases, so that
    figures on your own say more.

    \b
    planproof calibrate
    planproof calibrate followed.jsonl --judge audit --model openai:NAME --repeat 3
    planproof calibrate cases.jsonl --labels labels.jsonl --format json -o figures.json
    planproof calibrate --callable my_metrics:plan_adherence
    planproof calibrate --format html -o calibration.html

    With --repeat, answers of models are not taken from the cache.

    Exit code: 0 measured, 2 bad usage or input.
    """
    from planproof.calibration.callables import callable_judge
    from planproof.calibration.figures import figures_of, is_followed
    from planproof.calibration.followed_cases import BUILT_IN_NOTE
    from planproof.calibration.labels import read_labels
    from planproof.calibration.measurement import measured
    from planproof.preparation import Reading
    from planproof.reports.terminal.calibration_lines import (
        calibration_json,
        calibration_lines,
    )
    from planproof.runs.engines.case_judging import Judging

    if callable_ is not None and (judge_name is not None or asked.models):
        raise typer.BadParameter("--callable stands in the place of --judge and --model.")
    configuration = settled_configuration(config)
    given = None
    if labels is not None:
        text = read_text(labels, configuration.limits)
        given = read_labels(text.splitlines(), str(labels))
    if repeat > 1:
        asked = replace(asked, no_cache=True)
    judge: AnyJudge = (
        asked.judge(judge_name, configuration) if callable_ is None else callable_judge(callable_)
    )
    cases = _cases(places or [], judge, reader, configuration)
    judging = Judging(judge, None, configuration.vocabulary, configuration.limits)
    variants = _variants(cases, given, seed)
    if not variants:
        raise InvalidInput(
            "none of the cases has a label.",
            where=str(labels),
            advice="A label names a case by its id.",
        )
    rows = measured(variants, judging, repeats=repeat, at_once=asked.concurrency)
    figures = figures_of(_shown(rows, len(variants) * repeat), given)
    note = None if places else BUILT_IN_NOTE
    with writing(output) as stream:
        if form is CalibrationFormat.JSON:
            stream.write(calibration_json(judge.name, figures, note) + "\n")
        elif form is CalibrationFormat.HTML:
            from planproof.reports.html.report_page import calibration_page

            reading = Reading(None, configuration.vocabulary, configuration.limits)
            page = calibration_page(
                judge.name, figures, reading, labels=given, note=note, secrets=no_redact
            )
            stream.writelines(page)
        else:
            followed = sum(is_followed(case.id, given) for case in cases)
            lines = calibration_lines(judge.name, followed, figures, note)
            stream.write(told(lines, stream if stream is sys.stdout else plain_stream()))


def _cases(
    places: list[str], judge: AnyJudge, reader: str | None, configuration: Configuration
) -> list[Followed]:
    """The cases that were named, or the built-in ones."""
    from planproof.calibration.followed_cases import built_in, followed_case
    from planproof.preparation import Reading
    from planproof.runs.datasets.data_set import DataSet

    if not places:
        return list(built_in())
    found: dict[str, Followed] = {}
    for place, line in DataSet(places=tuple(places), limits=configuration.limits):
        if line.case is None:
            assert line.error is not None
            raise line.error
        reading = Reading(reader, configuration.vocabulary, configuration.limits, line.where)
        case = followed_case(line.case, judge, reading, f"case {place}")
        if case.id in found:
            raise InvalidInput(
                f"there is another case with the id `{case.id}`.",
                where=line.where,
                advice="Variants and labels belong to a case by its id: give each its own.",
            )
        found[case.id] = case
    if not found:
        raise InvalidInput("there are no cases.", where=", ".join(places))
    return list(found.values())


def _variants(cases: list[Followed], labels: dict[str, float] | None, seed: int) -> list[Variant]:
    """All variants of the cases that were followed; of labelled ones that were not, themselves."""
    from planproof.calibration.figures import is_followed
    from planproof.calibration.flaws import as_it_is
    from planproof.calibration.variant_set import variants_of

    followed = [case for case in cases if is_followed(case.id, labels)]
    others = [as_it_is(case) for case in cases if labels and 0 <= labels.get(case.id, -1) < 1]
    return [*variants_of(followed, seed), *others]


def _shown(rows: Iterable[Row], total: int) -> Iterator[Row]:
    """The rows as they come; on a terminal a bar says how many."""
    if not sys.stderr.isatty():
        yield from rows
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(rows, "judging", total=total, console=console, transient=True)
