"""`planproof compile`: compile a plan into a contract."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.exit_codes import NOT_JUDGED, print_error, wrap_notice
from planproof.cli.inputs import (
    ConfigOption,
    ProfileOption,
    ReaderOption,
    format_input_name,
    is_standard_input,
    load_config,
    load_profiles,
    read_text,
    read_traces,
)
from planproof.cli.options import (
    BaseUrlOption,
    BudgetOption,
    DeadlineOption,
    MaxCostOption,
    ModelJudgeOptions,
    NoCacheOption,
)
from planproof.cli.outputs import NoRedactOption, OutputOption, open_text_output, render_lines
from planproof.errors import InvalidInput

if TYPE_CHECKING:
    from planproof.config import Configuration
    from planproof.core.catalogue import Catalogue
    from planproof.core.plan import Plan
    from planproof.llm.compile import CompiledContract


_NOTHING_STATED = (
    "Nothing is stated yet: say for each step what a run must show, in place of `uncheckable`, or "
    "let a model do it with --model."
)


def compile_(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN", help="The plan, text or a .json file; - reads standard input."
        ),
    ],
    *,
    tools: Annotated[
        Path | None,
        typer.Option(
            "--tools",
            metavar="FILE",
            help="The agent's tools: definitions as of OpenAI, Anthropic, MCP or OpenTelemetry, "
            "or names and arguments.",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="DATASET",
            help="Runs of the agent, from which its tools are collected. Can be given several "
            "times.",
        ),
    ] = None,
    descriptions: Annotated[
        bool,
        typer.Option("--descriptions", help="Show the model the descriptions in --tools."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="PROVIDER:NAME", help="Model that states the requirements."
        ),
    ] = None,
    reader: ReaderOption = None,
    profile: ProfileOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output file if it exists.")
    ] = False,
    no_redact: NoRedactOption = False,
    base_url: BaseUrlOption = None,
    budget: BudgetOption = 120_000,
    deadline: DeadlineOption = 120,
    no_cache: NoCacheOption = False,
    max_cost: MaxCostOption = None,
) -> None:
    """Compile a plan into a contract: what a run must show for every step.

    \b
    planproof compile plan.md --tools tools.json --model openai:NAME -o plan.yaml
    planproof compile plan.md --data runs/ --model openai:NAME -o plan.yaml
    planproof compile plan.md -o plan.yaml

    The model sees the plan and the names of the tools, never a trace. Its answer is checked, and it
    is asked once more if something is wrong. What it understood, and what it doubts, is printed:
    review the contract like code before you rely on it.

    Without --model, the contract lists the steps and states nothing yet: fill it in by hand.

    Exit code: 0 written, 2 bad usage or input, 3 the model failed.
    """
    from planproof.contracts.contract_file import format_contract
    from planproof.evaluation import parse_named_plan
    from planproof.llm.compile import build_skeleton
    from planproof.reports.terminal.contract_lines import format_compiled_lines
    from planproof.reports.wording import make_sanitizer

    if tools is not None and data:
        raise typer.BadParameter("--tools and --data can't be combined.")
    if output is not None and output.is_file() and not force:
        raise InvalidInput(
            "already exists, and may have been edited.",
            where=str(output),
            advice="Write to another file and compare with planproof contract diff, or pass "
            "--force.",
        )
    configuration = load_config(config)
    parsed = parse_named_plan(_read_plan(plan, configuration), format_input_name(plan))
    if not parsed.steps:
        raise InvalidInput(
            "no steps found in the plan.",
            where=format_input_name(plan),
            advice="Write one step per line.",
        )
    catalogue = _load_catalogue(
        tools, data, (reader, profile), configuration, descriptions=descriptions
    )
    name = "contract" if output is None else str(output)
    # Where the contract itself is printed, the rest goes to standard error.
    stream = sys.stderr if output is None or name == "-" else sys.stdout
    if model is None:
        contract, lines = build_skeleton(parsed, catalogue), f"{wrap_notice(_NOTHING_STATED)}\n"
    else:
        judge_options = ModelJudgeOptions(
            model=[model],
            base_url=base_url,
            budget=budget,
            deadline=deadline,
            no_cache=no_cache,
            max_cost=max_cost,
        )
        compiled = _ask_model(parsed, catalogue, judge_options)
        show = make_sanitizer(secrets=no_redact)
        contract = compiled.contract
        lines = render_lines(format_compiled_lines(compiled, name, show), stream)
    with open_text_output(output) as file:
        file.write(format_contract(contract))
    stream.write(lines)


def _read_plan(path: Path, configuration: Configuration) -> object:
    """Read the plan: JSON if the name of the file ends in `.json`, otherwise text."""
    from planproof.evaluation import read_json_or_text

    if is_standard_input(path):
        return read_text(path, configuration.limits)
    return read_json_or_text(path)


def _load_catalogue(
    tools: Path | None,
    data: list[str] | None,
    reading: tuple[str | None, list[Path] | None],
    configuration: Configuration,
    *,
    descriptions: bool,
) -> Catalogue | None:
    """Read the catalogue from a file, or collect it from the traces of a data set."""
    from planproof.contracts.catalogues import observe_tools, read_catalogue
    from planproof.evaluation import ReadOptions
    from planproof.runs.datasets.data_set import DataSet

    if tools is not None:
        return read_catalogue(tools, descriptions=descriptions)
    if not data:
        return None
    reader, profile = reading
    limits, profiles = configuration.limits, load_profiles(profile, configuration)
    options = ReadOptions(reader, configuration.vocabulary, limits, profiles=profiles)
    cases = DataSet(paths=tuple(data), limits=limits, profiles=profiles)
    catalogue = observe_tools(read_traces(cases, options))
    if not catalogue.tools:
        raise InvalidInput("no calls found in the traces.", where=", ".join(data))
    return catalogue


def _ask_model(
    plan: Plan, catalogue: Catalogue | None, judge_options: ModelJudgeOptions
) -> CompiledContract:
    from planproof.core.judge import ModelOptions
    from planproof.core.model import ModelFailed
    from planproof.llm.compile import compile_plan

    options = ModelOptions(budget=judge_options.budget, deadline=judge_options.deadline)
    try:
        return compile_plan(plan, catalogue, judge_options.open_model(), options)
    except ModelFailed as error:
        print_error(error)
        raise typer.Exit(NOT_JUDGED) from error
