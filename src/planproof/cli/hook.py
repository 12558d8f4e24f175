"""`planproof hook`: what coding agents call by themselves."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from planproof.cli.exit_codes import BAD_INPUT, tells_failures
from planproof.cli.inputs import ConfigOption, InForceOption, settled_configuration

_FAILED = 1
_MOST_TOLD = 10_000_000


class _NeverBlocks(TyperGroup):
    """For Claude Code, an exit code of 2 keeps the agent from stopping: no mistake may do that."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments of the group."""
        try:
            return super().make_context(*args, **kwargs)
        except Exception as error:
            raise _harmless(error) from error.__cause__

    def invoke(self, ctx: Any) -> Any:
        """Run the command, its arguments parsed."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            raise _harmless(error) from error.__cause__


def _harmless(error: Any) -> Any:
    if getattr(error, "exit_code", None) == BAD_INPUT:
        error.exit_code = _FAILED
    return error


app = typer.Typer(
    cls=_NeverBlocks,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Judge the sessions of coding agents when they stop.",
)


@app.callback()
def hook() -> None:
    """Judge the sessions of coding agents when they stop."""


def claude_code(
    *,
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score",
            metavar="X",
            min=0,
            max=1,
            help="Below this score let the agent go on, once a turn, with the reason.",
        ),
    ] = None,
    plan_in_force: InForceOption = "latest",
    config: ConfigOption = None,
    print_settings: Annotated[
        bool,
        typer.Option("--print-settings", help="Print what to put into .claude/settings.json."),
    ] = False,
) -> None:
    """Judge a session of Claude Code against its own to-do list or plan when it stops.

    Claude Code runs this as a hook on Stop, and shows what it says to the user. It does not keep
    the agent from stopping unless --min-score is given, and then only once a turn. Of a session
    that declares no plan it says nothing.

    \b
    planproof hook claude-code --print-settings
    planproof hook claude-code --min-score 0.75 --print-settings

    Exit code: 0 told, or nothing to tell; 1 or 3 failed. Never 2, which would block.
    """
    from planproof.integrations.claude_code_hook import answer, judged, settings, stop_of

    if print_settings:
        least = "" if min_score is None else f" --min-score {min_score}"
        force = "" if plan_in_force == "latest" else f" --plan-in-force {plan_in_force}"
        command = f"planproof hook claude-code{least}{force}"
        typer.echo(json.dumps(settings(command), indent=2))
        return
    stop = stop_of(sys.stdin.buffer.read(_MOST_TOLD))
    if stop is None:
        return
    configuration = settled_configuration(config, stop.folder)
    verdict = judged(
        stop,
        in_force=plan_in_force,
        limits=configuration.limits,
        vocabulary=configuration.vocabulary,
    )
    if told := answer(verdict, stop, min_score):
        typer.echo(json.dumps(told))


app.command(name="claude-code")(tells_failures(claude_code))
