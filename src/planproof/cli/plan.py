"""`planproof plan`: show the plan declared in a trace."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.exit_codes import NO_PLAN, print_error
from planproof.cli.inputs import (
    ConfigOption,
    PickOption,
    ProfileOption,
    ReaderOption,
    load_config,
    load_profiles,
    read_source,
)
from planproof.cli.options import (
    BaseUrlOption,
    BudgetOption,
    DeadlineOption,
    MaxCostOption,
    ModelJudgeOptions,
    NoCacheOption,
)
from planproof.cli.outputs import NoRedactOption, OutputOption, open_text_output

if TYPE_CHECKING:
    from planproof.core.trace import Trace
    from planproof.llm.infer_plan import InferredPlan


class PlanFormat(StrEnum):
    """Output format of a plan."""

    TERMINAL = "terminal"
    JSON = "json"


def plan(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="Trace file; - reads standard input.")
    ],
    *,
    form: Annotated[
        PlanFormat,
        typer.Option("--format", "-f", help="Output format; `json` truncates nothing."),
    ] = PlanFormat.TERMINAL,
    pick: PickOption = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="PROVIDER:NAME",
            help="Model that infers a plan if the trace declares none.",
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    budget: BudgetOption = 120_000,
    deadline: DeadlineOption = 120,
    no_cache: NoCacheOption = False,
    max_cost: MaxCostOption = None,
) -> None:
    """Show the plan declared in a trace.

    Prints its steps with their numbers, where it was found, who declared it and whether before
    acting, later plans with their changes, and plans that the user rejected.

    \b
    planproof plan run.jsonl
    planproof plan run.jsonl --format json
    planproof plan run.jsonl --model openai:NAME

    With --model, if the trace declares no plan, a model infers the plan that the agent seems to
    have followed. Every step has a quote that was verified in the trace. Such a plan is marked
    `inferred`: judging the same trace by it would be circular.

    Exit code: 0 found, 2 bad usage or input, 3 no plan found or the model failed.
    """
    from planproof.planning.find_plan import find_declared_plan
    from planproof.readers.decoding.split_traces import select_trace
    from planproof.readers.detect import read_trace
    from planproof.reports.terminal.plan_lines import (
        format_inferred_plan,
        format_located_plan,
        inferred_plan_to_json,
        located_plan_to_json,
    )
    from planproof.reports.wording import make_sanitizer

    configuration = load_config(config)
    profiles = load_profiles(profile, configuration)
    source = select_trace(read_source(trace, configuration.limits), pick, profiles)
    parsed = read_trace(
        source, reader=reader, vocabulary=configuration.vocabulary, profiles=profiles
    )
    located = find_declared_plan(parsed)
    if model is not None and located.plan is None and parsed.events:
        judge_options = ModelJudgeOptions(
            model=[model],
            base_url=base_url,
            budget=budget,
            deadline=deadline,
            no_cache=no_cache,
            max_cost=max_cost,
        )
        inferred = _infer_plan(parsed, judge_options)
        with open_text_output(output) as stream:
            if form is PlanFormat.JSON:
                stream.write(inferred_plan_to_json(inferred) + "\n")
            else:
                lines = format_inferred_plan(inferred, make_sanitizer(secrets=no_redact))
                stream.writelines(f"{line}\n" for line in lines)
        if not inferred.plan.steps:
            raise typer.Exit(NO_PLAN)
        return
    with open_text_output(output) as stream:
        if form is PlanFormat.JSON:
            stream.write(located_plan_to_json(located) + "\n")
        else:
            lines = format_located_plan(located, make_sanitizer(secrets=no_redact))
            stream.writelines(f"{line}\n" for line in lines)
    if located.declaration is None:
        raise typer.Exit(NO_PLAN)


def _infer_plan(trace: Trace, judge_options: ModelJudgeOptions) -> InferredPlan:
    from planproof.core.async_bridge import run_sync
    from planproof.core.judge import ModelOptions
    from planproof.core.model import ModelFailed
    from planproof.llm.infer_plan import infer_plan

    model_options = ModelOptions(budget=judge_options.budget, deadline=judge_options.deadline)
    try:
        return run_sync(infer_plan(trace, judge_options.open_model(), model_options))
    except ModelFailed as error:
        print_error(error)
        raise typer.Exit(NO_PLAN) from error
