"""`planproof contract`: show, check and compare contracts."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from planproof.cli.contract_test import check_known_runs
from planproof.cli.exit_codes import DIFFERENT, REJECTED, handle_errors
from planproof.cli.outputs import (
    NoRedactOption,
    OutputOption,
    make_plain_stream,
    open_text_output,
    render_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from planproof.contracts.contract_validation import Problem
    from planproof.core.content import Json
    from planproof.reports.terminal.lines import Line

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show, check, compare and test contracts, which say what a run must show for each step.",
)


class ContractFormat(StrEnum):
    """Output format of a contract."""

    TERMINAL = "terminal"
    YAML = "yaml"
    JSON = "json"


class ProblemFormat(StrEnum):
    """Output format of problems and differences."""

    TERMINAL = "terminal"
    JSON = "json"


ContractArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="CONTRACT", help="The contract, YAML or JSON.")
]
ProblemFormatOption: TypeAlias = Annotated[
    ProblemFormat, typer.Option("--format", "-f", help="Output format.")
]


def show(
    contract: ContractArgument,
    *,
    form: Annotated[
        ContractFormat,
        typer.Option("--format", "-f", help="Output format; `yaml` and `json` are contract files."),
    ] = ContractFormat.TERMINAL,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Show what a contract requires, step by step.

    \b
    planproof contract show plan.contract.yaml
    planproof contract show plan.contract.yaml --format json

    Exit code: 0 shown, 2 bad usage or input.
    """
    from planproof.contracts.contract_file import format_contract, read_contract, to_json
    from planproof.reports.terminal.contract_lines import format_contract_lines
    from planproof.reports.wording import make_sanitizer

    parsed = read_contract(contract)
    if form is ContractFormat.TERMINAL:
        sanitize = make_sanitizer(secrets=no_redact)
        _write_lines(format_contract_lines(parsed, contract.name, sanitize), output)
        return
    with open_text_output(output) as stream:
        stream.write(format_contract(parsed) if form is ContractFormat.YAML else to_json(parsed))


def check(
    contract: ContractArgument,
    *,
    tools: Annotated[
        Path | None,
        typer.Option(
            "--tools",
            metavar="FILE",
            help="All tools of the agent: definitions as of OpenAI, Anthropic or MCP `tools/list`.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 1 for doubts as well.")
    ] = False,
    form: ProblemFormatOption = ProblemFormat.TERMINAL,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Check a contract before it judges runs.

    Errors: steps without a requirement, requirements that any run or no run satisfies, steps that
    no run could tell apart, quoted words that the step does not contain, references to nothing,
    and, with --tools, tools and arguments that the agent does not have. Doubts are for the person
    who reviews the contract. Also prints the highest score that a run can reach.

    \b
    planproof contract check plan.contract.yaml
    planproof contract check plan.contract.yaml --tools tools.json --strict

    Exit code: 0 no errors, 1 errors (with --strict: or doubts), 2 bad usage or input.
    """
    from planproof.contracts.contract_file import read_contract_file
    from planproof.contracts.contract_validation import (
        check_contract,
        expand_globs,
        highest_score,
    )
    from planproof.reports.terminal.contract_lines import format_check_summary, format_problems
    from planproof.reports.wording import make_sanitizer

    parsed, document = read_contract_file(contract)
    catalogue = None
    if tools is not None:
        from planproof.contracts.catalogues import read_catalogue

        catalogue = read_catalogue(tools)
    problems = check_contract(parsed, catalogue)
    globs = expand_globs(parsed, catalogue) if catalogue is not None else {}

    def locate(problem: Problem) -> str:
        return document.locate(problem.keys)

    if form is ProblemFormat.JSON:
        _write_json(
            {
                "problems": [
                    {
                        "path": problem.path,
                        "where": locate(problem),
                        "what": problem.what,
                        "advice": problem.advice,
                        "is_error": problem.is_error,
                    }
                    for problem in problems
                ],
                "globs": {glob: list(names) for glob, names in globs.items()},
                "highest_score": highest_score(parsed),
            },
            output,
        )
    else:
        sanitize = make_sanitizer(secrets=no_redact)
        lines = [
            *format_problems(problems, locate, sanitize),
            *format_check_summary(parsed, problems, globs, sanitize),
        ]
        _write_lines(lines, output)
    if any(strict or problem.is_error for problem in problems):
        raise typer.Exit(REJECTED)


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The contract before the change.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The contract after it.")],
    *,
    form: ProblemFormatOption = ProblemFormat.TERMINAL,
    output: OutputOption = None,
    no_redact: NoRedactOption = False,
) -> None:
    """Compare two contracts: steps added, removed, moved and changed.

    Compares what the contracts say, not how they are written: comments, short forms and the order
    of keys make no difference.

    \b
    planproof contract diff main.contract.yaml plan.contract.yaml
    planproof contract diff main.contract.yaml plan.contract.yaml --format json

    Exit code: 0 equal, 1 different, 2 bad usage or input.
    """
    from planproof.contracts.contract_diff import diff_contracts
    from planproof.contracts.contract_file import read_contract
    from planproof.reports.terminal.contract_lines import format_diff
    from planproof.reports.wording import make_sanitizer

    difference = diff_contracts(read_contract(old), read_contract(new))
    if form is ProblemFormat.JSON:
        from msgspec import to_builtins

        _write_json(to_builtins(difference), output)
    else:
        _write_lines(format_diff(difference, make_sanitizer(secrets=no_redact)), output)
    if difference:
        raise typer.Exit(DIFFERENT)


def _write_lines(lines: Iterable[Line], output: Path | None) -> None:
    with open_text_output(output) as stream:
        stream.write(render_lines(lines, sys.stdout if output is None else make_plain_stream()))


def _write_json(value: Json, output: Path | None) -> None:
    with open_text_output(output) as stream:
        stream.write(json.dumps(value, indent=2) + "\n")


app.command()(handle_errors(show))
app.command()(handle_errors(check))
app.command()(handle_errors(diff))
app.command("test")(handle_errors(check_known_runs))
