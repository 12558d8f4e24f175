"""`planproof hook`: hooks that coding agents run, such as Claude Code's Stop hook."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from planproof.cli.exit_codes import BAD_INPUT, handle_errors
from planproof.cli.inputs import ConfigOption, InForceOption, load_config

_EXIT_FAILED = 1
_MAX_INPUT_BYTES = 10_000_000


class _NonBlockingGroup(TyperGroup):
    """Command group that never exits with 2, which would keep Claude Code from stopping."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments of the group."""
        try:
            return super().make_context(*args, **kwargs)
        except Exception as error:
            raise _downgrade_exit_code(error) from error.__cause__

    def invoke(self, ctx: Any) -> Any:
        """Run the command after its arguments were parsed."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            raise _downgrade_exit_code(error) from error.__cause__


def _downgrade_exit_code(error: Any) -> Any:
    if getattr(error, "exit_code", None) == BAD_INPUT:
        error.exit_code = _EXIT_FAILED
    return error


app = typer.Typer(
    cls=_NonBlockingGroup,
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
            help="Below this score, make the agent continue with the reason, once per turn.",
        ),
    ] = None,
    plan_in_force: InForceOption = "latest",
    config: ConfigOption = None,
    print_settings: Annotated[
        bool,
        typer.Option("--print-settings", help="Print the settings for .claude/settings.json."),
    ] = False,
) -> None:
    """Judge a Claude Code session when it stops.

    The session is judged against its own to-do list or plan. Claude Code runs this as a Stop hook
    and shows its output to the user. The hook does not keep the agent from stopping unless
    --min-score is given, and then only once per turn. It prints nothing for a session without a
    plan.

    \b
    planproof hook claude-code --print-settings
    planproof hook claude-code --min-score 0.75 --print-settings

    Exit code: 0 judged or nothing to judge, 1 or 3 failed. Never 2, which would block the stop.
    """
    from planproof.integrations.claude_code_hook import (
        build_hook_response,
        build_settings,
        judge_session,
        parse_stop_event,
    )

    if print_settings:
        least = "" if min_score is None else f" --min-score {min_score}"
        force = "" if plan_in_force == "latest" else f" --plan-in-force {plan_in_force}"
        command = f"planproof hook claude-code{least}{force}"
        typer.echo(json.dumps(build_settings(command), indent=2))
        return
    stop = parse_stop_event(sys.stdin.buffer.read(_MAX_INPUT_BYTES))
    if stop is None:
        return
    configuration = load_config(config, stop.folder)
    verdict = judge_session(
        stop,
        in_force=plan_in_force,
        limits=configuration.limits,
        vocabulary=configuration.vocabulary,
    )
    if hook_output := build_hook_response(verdict, stop, min_score):
        typer.echo(json.dumps(hook_output))


app.command(name="claude-code")(handle_errors(claude_code))
