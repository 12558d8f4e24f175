"""`planproof run`: judge a data set of cases."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.exit_codes import BELOW_MINIMUM, INTERRUPTED, NOT_JUDGED, print_notice
from planproof.cli.inputs import (
    ConfigOption,
    InForceOption,
    JudgeOption,
    MinConfidenceOption,
    MinScoreOption,
    ProfileOption,
    ReaderOption,
    load_config,
    load_profiles,
    read_traces,
    resolve_passing_score,
)
from planproof.cli.options import (
    DataArgument,
    DataOptions,
    EngineOptions,
    EvaluatorFactory,
    JudgeOptions,
    StoreOption,
    TagOption,
    open_or_create_store,
    option_groups,
)
from planproof.cli.outputs import (
    OutputOption,
    locate_partial_output,
    open_binary_output,
    render_lines,
)
from planproof.cli.progress import show_progress
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.runs.datasets.data_set import DataSet
    from planproof.runs.run_records import Result, Run
    from planproof.runs.store.store_protocol import Store
    from planproof.runs.summary import SummaryBuilder
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from planproof.core.judge import AnyJudge, ModelJudge
    from planproof.evaluation import ReadOptions
    from planproof.readers.decoding.case_files import CaseLine


_PASSWORD = re.compile(r"(://[^/:@\s]*):[^/@\s]*@")


@option_groups(data_options=DataOptions, engine_options=EngineOptions, judge_options=JudgeOptions)
def run(
    paths: DataArgument,
    *,
    output: OutputOption = None,
    min_score: MinScoreOption = None,
    min_confidence: MinConfidenceOption = None,
    store: StoreOption = None,
    tag: TagOption = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Resume the interrupted run over the same data."),
    ] = False,
    data_options: DataOptions,
    engine_options: EngineOptions,
    judge_name: JudgeOption = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    plan_in_force: InForceOption = "first",
    config: ConfigOption = None,
    judge_options: JudgeOptions,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Estimate the model requests, and don't send them."),
    ] = False,
) -> None:
    """Judge many cases.

    \b
    planproof run cases.jsonl
    planproof run cases.jsonl -o verdicts.jsonl --tag night=42
    planproof run traces/ more.jsonl.gz --sample 200 --min-score 0.75
    planproof run rows.parquet --map plan=/meta/plan --where team=search
    planproof run cases.jsonl --judge cascade --model openai:NAME
    planproof run cases.jsonl --resume
    planproof run cases/ --engine ray --ray-address head:6379

    DATA contains cases or traces: JSON Lines, a JSON array, Parquet, CSV, a log, or a folder. A
    trace without a case is judged against the plan declared in it.

    Results are stored in the order of the cases; `--store none` stores nothing. -o also writes them
    to a file: full verdicts as JSON Lines, or rows as Parquet or CSV, by the suffix of the file.
    Without -o, full verdicts are written to standard output unless it is a terminal.

    A case that was already judged with the same settings is not judged again. Ctrl-C interrupts a
    run, and --resume continues it. An invalid line gets a verdict with the outcome
    `invalid_input`. Secrets are not redacted, so that quotes match the trace.

    Exit code: 0 all judged, 1 some below --min-score, 2 bad usage or input, 3 some could not be
    judged, or not with the confidence of --min-confidence, 130 interrupted.
    """
    from planproof.evaluation import ReadOptions
    from planproof.runs.datasets.dataset_files import check_paths
    from planproof.runs.run_names import parse_tags

    if output is not None and any(_is_same_file(output, Path(path)) for path in paths):
        raise InvalidInput(
            "the output file is also an input file.",
            where=str(output),
            advice="Use another output file.",
        )
    configuration = load_config(config)
    profiles = load_profiles(profile, configuration)
    cases = data_options.make_data_set(paths, configuration.limits, profiles)
    check_paths(cases.paths)
    if dry_run:
        reading = ReadOptions(
            reader,
            configuration.vocabulary,
            configuration.limits,
            in_force=plan_in_force,
            profiles=profiles,
        )
        _print_estimate(cases, judge_options.make_offline_judge(judge_name, configuration), reading)
        return
    from planproof.runs.execution import execute_run, start_or_resume_run
    from planproof.runs.summary import SummaryBuilder

    catalogue = None
    if judge_options.compiles(judge_name, configuration) and judge_options.tools is None:
        from planproof.contracts.catalogues import observe_tools

        reading = ReadOptions(
            reader, configuration.vocabulary, configuration.limits, profiles=profiles
        )
        catalogue = observe_tools(read_traces(cases, reading))
    evaluator_factory = EvaluatorFactory(
        judge_options, judge_name, reader, plan_in_force, configuration, profiles, catalogue
    )
    evaluator = evaluator_factory()
    if min_confidence is None:
        min_confidence = configuration.min_confidence
    tally = SummaryBuilder(resolve_passing_score(min_score, configuration), min_confidence)
    began = monotonic()
    # Check the output first: if it can't be written, don't start the run.
    with (
        _open_result_writer(output) as write,
        open_or_create_store(store, configuration) as run_store,
    ):
        run_record = start_or_resume_run(
            run_store,
            evaluator,
            source=data_options.format_source(paths),
            models=judge_options.models,
            tags=parse_tags(tag or ()),
            resume=resume,
        )
        if resume:
            _print_resumed(run_record)
        try:
            with (
                execute_run(
                    run_store,
                    run_record,
                    cases,
                    evaluator,
                    no_cache=judge_options.no_cache,
                    concurrency=judge_options.concurrency,
                    engine=engine_options.make_remote_engine(
                        cases, evaluator_factory, run_record, store or configuration.store
                    ),
                ) as results,
                show_progress(tally, data_options.make_progress_estimate(cases, tally)) as show,
            ):
                for result in results:
                    write(result)
                    tally.add(result)
                    show()
                if not tally.cases:
                    # An empty file must not look like a run in which everything passed.
                    raise InvalidInput(
                        "no cases found.",
                        where=", ".join(paths),
                        advice="Check the data, and --where if it was given.",
                    )
        except KeyboardInterrupt:
            _print_interrupted(tally, run_store, output)
            raise typer.Exit(INTERRUPTED) from None
    _print_summary(tally, monotonic() - began, run_record.judge.name)
    if run_store.is_persistent:
        typer.echo(f"stored as run {run_record.id} in {run_store.url}", err=True)
    _print_not_judged(tally, run_store)
    has_min_score = min_score is not None or configuration.min_score is not None
    if has_min_score and tally.passed < tally.scored:
        raise typer.Exit(BELOW_MINIMUM)
    if tally.unscored or tally.below_confidence:
        raise typer.Exit(NOT_JUDGED)


def _print_estimate(cases: DataSet, judge: AnyJudge, reading: ReadOptions) -> None:
    estimate = Estimate()
    for _, line in cases:
        estimate.add_case(line, judge, replace(reading, where=line.where))
    for figure in estimate.format_lines():
        typer.echo(figure)


@contextmanager
def _open_result_writer(output: Path | None) -> Generator[Callable[[Result], None], None, None]:
    """Yield a function that writes a result to the file, or to standard output if redirected."""
    if output is None and sys.stdout.isatty():
        yield _discard_result
        return
    from planproof.reports.result_files import open_result_writer
    from planproof.reports.result_formats import detect_result_format

    with (
        open_binary_output(output) as file,
        open_result_writer(file, detect_result_format(output)) as writer,
    ):
        yield writer.add


def _discard_result(_: Result) -> None:
    """Ignore a result: standard output is a terminal and there is no file."""


def _print_summary(tally: SummaryBuilder, seconds: float, judge_name: str) -> None:
    from planproof.reports.terminal.lines import wrap_lines
    from planproof.reports.terminal.run_lines import format_scores, format_step_counts
    from planproof.reports.wording import format_low_confidence_count, make_sanitizer, pluralize

    typer.echo(f"planproof: {pluralize(tally.cases, 'case')} in {seconds:.1f} s", err=True)
    summary, show = tally.build(), make_sanitizer(secrets=False)
    sys.stderr.write(render_lines(format_scores(summary, show), sys.stderr))
    if notice := format_low_confidence_count(summary.low_confidence, summary.scored, judge_name):
        sys.stderr.write(render_lines(wrap_lines(notice, "yellow"), sys.stderr))
    sys.stderr.write(
        render_lines(
            format_step_counts("steps most often missed", summary.missed, show), sys.stderr
        )
    )


def _print_not_judged(tally: SummaryBuilder, run_store: Store) -> None:
    """Say why the exit code is not 0 although nothing failed."""
    from planproof.reports.wording import pluralize

    cases = pluralize(tally.cases, "case")
    if tally.below_confidence:
        print_notice(
            f"planproof: {tally.below_confidence:,} of {cases} could not be judged with enough "
            f"confidence (--min-confidence {tally.min_confidence})"
        )
    if not tally.unscored:
        return
    count = tally.unscored.total()
    verb = "has" if count == 1 else "have"
    outcomes = ", ".join(f"{number:,} {name}" for name, number in sorted(tally.unscored.items()))
    see = "; see `planproof show latest`" if run_store.is_persistent else ""
    print_notice(f"planproof: {count:,} of {cases} {verb} no score ({outcomes}){see}")


def _print_resumed(run_record: Run) -> None:
    from planproof.reports.wording import pluralize

    if run_record.cases:
        typer.echo(
            f"planproof: resuming run {run_record.id} after {pluralize(run_record.cases, 'case')}",
            err=True,
        )
    else:
        typer.echo("planproof: no interrupted run over this data; starting a new run", err=True)


def _print_interrupted(tally: SummaryBuilder, run_store: Store, output: Path | None) -> None:
    from planproof.reports.wording import pluralize

    message = f"planproof: interrupted after {pluralize(tally.cases, 'case')}"
    if run_store.is_persistent:
        arguments = [word for word in sys.argv[1:] if word != "--resume"]
        command = _PASSWORD.sub(r"\1:***@", shlex.join(["planproof", *arguments, "--resume"]))
        typer.echo(f"{message}; resume with\n  {command}", err=True)
    elif output is None or not tally.cases:
        typer.echo(message, err=True)
    else:
        partial = locate_partial_output(output)
        typer.echo(f"{message}; the verdicts so far are in {partial}", err=True)


def _is_same_file(output: Path, path: Path) -> bool:
    return output.exists() and path.exists() and output.samefile(path)


_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class Estimate:
    """Number and length of the questions to a model, for `--dry-run`.

    `without_questions` counts cases that need no request. A question that several cases share, such
    as one about their plan, is asked once.
    """

    cases: int = 0
    calls: int = 0
    characters: int = 0
    without_questions: int = 0
    unreadable: int = 0
    _known: set[int] = field(default_factory=set[int], repr=False)

    def add_case(self, line: CaseLine, judge: AnyJudge, reading: ReadOptions) -> None:
        """Count the questions about one case."""
        from planproof.core.verdict import Verdict
        from planproof.errors import PlanproofError
        from planproof.evaluation import build_questions, load_case
        from planproof.llm.prompting.case_prompt import count_characters

        self.cases += 1
        try:
            if line.case is None:
                self.unreadable += 1
                return
            loaded = load_case(line.case, judge, reading)
            if isinstance(loaded, Verdict):
                self.unreadable += 1
                return
            questions = build_questions(loaded, cast("ModelJudge", judge))
        except PlanproofError:
            self.unreadable += 1
            return
        self.without_questions += not questions
        for question in questions:
            if (digest := hash(question)) not in self._known:
                self._known.add(digest)
                self.calls += 1
                self.characters += count_characters(question)

    def format_lines(self) -> Iterator[str]:
        """Yield the estimate as lines of text."""
        from planproof.reports.wording import pluralize

        tokens = self.characters // _CHARACTERS_PER_TOKEN
        yield f"{pluralize(self.cases, 'case')}, {pluralize(self.calls, 'call')}"
        yield f"{self.characters:,} characters, about {tokens:,} input tokens"
        if self.without_questions:
            yield f"no request for {pluralize(self.without_questions, 'case')}"
        if self.unreadable:
            yield f"{pluralize(self.unreadable, 'case')} can't be judged"
