"""`planproof profile`: suggest, test and show profiles, which describe formats of traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planproof.cli.exit_codes import NOT_JUDGED, REJECTED, handle_errors, print_error
from planproof.cli.inputs import (
    ConfigOption,
    PickOption,
    ProfileOption,
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
    from planproof.llm.suggest_profile import WrittenProfile
    from planproof.readers.decoding.source import Source

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Write, test and show profiles, which describe the format of a trace as data.",
)


def suggest(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="The trace; - reads standard input.")
    ],
    *,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the profile.")
    ] = None,
    pick: PickOption = None,
    config: ConfigOption = None,
    output: OutputOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="PROVIDER:NAME",
            help="Model that writes the profile from a sample of the trace.",
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    budget: BudgetOption = 60_000,
    deadline: DeadlineOption = 120,
    no_cache: NoCacheOption = False,
    max_cost: MaxCostOption = None,
) -> None:
    """Suggest a profile for a trace of unknown format.

    Looks at the shape of the trace: where its records are, which key tells their types, which are
    messages, calls and results, and how results belong to calls; in a text, which lines recur.
    Comments in the profile say what was guessed. Edit it, and try it with `profile test`.

    \b
    planproof profile suggest run.jsonl -o my-format.yaml
    planproof profile suggest run.log --model openai:NAME -o my-format.yaml

    With --model, a model writes the profile from a sample of the trace. It is tried on the whole
    trace, and the model is asked once more if it reads nothing or less than half.

    Exit code: 0 written, 2 bad usage or input, 3 the model failed.
    """
    from planproof.readers.decoding.split_traces import select_trace
    from planproof.readers.suggestion.profile_suggestion import suggest_profile

    configuration = load_config(config)
    source = select_trace(read_source(trace, configuration.limits), pick)
    if model is None:
        suggestion = suggest_profile(source, name)
        text, trial = suggestion.text, suggestion.trial
    else:
        judge_options = ModelJudgeOptions(
            model=[model],
            base_url=base_url,
            budget=budget,
            deadline=deadline,
            no_cache=no_cache,
            max_cost=max_cost,
        )
        written = _ask_model(source, name, judge_options)
        text, trial = written.text, written.trial
    with open_text_output(output) as stream:
        stream.write(text)
    if output is not None and str(output) != "-":
        typer.echo(f"{output}: reads {trial.describe_counts()}", err=True)


def _ask_model(
    source: Source, name: str | None, judge_options: ModelJudgeOptions
) -> WrittenProfile:
    from planproof.core.async_bridge import run_sync
    from planproof.core.judge import ModelOptions
    from planproof.core.model import ModelFailed
    from planproof.llm.suggest_profile import ask_for_profile

    options = ModelOptions(budget=judge_options.budget, deadline=judge_options.deadline)
    try:
        return run_sync(ask_for_profile(source, judge_options.open_model(), options, name=name))
    except ModelFailed as error:
        print_error(error)
        raise typer.Exit(NOT_JUDGED) from error


def try_(
    profile: Annotated[Path, typer.Argument(metavar="PROFILE", help="The profile, a YAML file.")],
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="The trace; - reads standard input.")
    ],
    *,
    calls: Annotated[
        int | None, typer.Option("--calls", metavar="N", min=0, help="Calls that must be read.")
    ] = None,
    results: Annotated[
        int | None, typer.Option("--results", metavar="N", min=0, help="Results, likewise.")
    ] = None,
    messages: Annotated[
        int | None,
        typer.Option("--messages", metavar="N", min=0, help="Messages of users and agents."),
    ] = None,
    pick: PickOption = None,
    config: ConfigOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Read a trace by a profile, and compare what was read with what should be.

    Shows the counts, the records that no rule fits, and the first events.

    \b
    planproof profile test my-format.yaml run.jsonl
    planproof profile test my-format.yaml run.jsonl --calls 12 --results 11

    Exit code: 0 read, 1 other counts than given, less than half of the records read, or the trace
    not recognised by `detect`; 2 bad usage or input.
    """
    from planproof.readers.decoding.split_traces import select_trace
    from planproof.readers.profile_files import read_profile
    from planproof.readers.profile_trial import try_profile
    from planproof.reports.terminal.profile_lines import find_failures, format_trial
    from planproof.reports.wording import make_sanitizer

    configuration = load_config(config)
    reader = read_profile(profile)
    source = select_trace(read_source(trace, configuration.limits), pick, [reader])
    trial = try_profile(reader, source)
    failures = find_failures(trial, {"calls": calls, "results": results, "messages": messages})
    for line in format_trial(reader, source, trial, failures, make_sanitizer(secrets=no_redact)):
        typer.echo(line)
    if failures:
        raise typer.Exit(REJECTED)


def list_(*, profile: ProfileOption = None, config: ConfigOption = None) -> None:
    """List the built-in profiles, those of the configuration, and those given with --profile."""
    from planproof.readers.profile_reader import load_built_in_profiles
    from planproof.reports.terminal.profile_lines import format_profiles

    own = [reader.profile for reader in load_profiles(profile, load_config(config))]
    for line in format_profiles(load_built_in_profiles().values(), own):
        typer.echo(line)


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a built-in profile.")],
) -> None:
    """Print the YAML of a built-in profile, as an example or to change it."""
    from planproof.readers.profile_files import read_built_in_text

    typer.echo(read_built_in_text(name), nl=False)


app.command()(handle_errors(suggest))
app.command(name="test")(handle_errors(try_))
app.command(name="list")(handle_errors(list_))
app.command()(handle_errors(show))
