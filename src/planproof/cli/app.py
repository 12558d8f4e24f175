"""The Typer application: registers all commands and subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from planproof.cli import cache, hook, keys, profile
from planproof.cli.calibrate import calibrate
from planproof.cli.compare import compare
from planproof.cli.demo import demo
from planproof.cli.exit_codes import handle_errors
from planproof.cli.export import export
from planproof.cli.gate import gate
from planproof.cli.inspect import inspect
from planproof.cli.judge import judge
from planproof.cli.judges import judges
from planproof.cli.mcp import mcp
from planproof.cli.plan import plan
from planproof.cli.readers import readers
from planproof.cli.report import report
from planproof.cli.run import run
from planproof.cli.runs import runs
from planproof.cli.serve import serve
from planproof.cli.show import show
from planproof.cli.verify import verify
from planproof.cli.watch import watch

app = typer.Typer(
    no_args_is_help=True,
    # Plain help: importing rich markup takes longer than everything else here together.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        import planproof

        typer.echo(f"planproof {planproof.__version__}")
        raise typer.Exit


@app.callback()
def planproof(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Prove, or refute, that an AI agent did what its plan said.

    \b
    planproof demo                            three short cases, judged
    planproof judge CASE.json                 judge one case
    planproof run CASES.jsonl -o OUT.jsonl    judge many
    planproof runs                            the runs that are kept
    planproof show RUN [CASE]                 what a run comes to, or one case of it
    planproof report RUN -o report.html       a run as a page, with all of its cases
    planproof compare BASE NEW                what changed from one run to another
    planproof gate RUN --min-mean 0.8         pass or fail a run
    planproof export RUN -o OUT.parquet       its results, for other programs
    planproof serve                           an HTTP API, traces as they end, and pages
    planproof keys add NAME                   who may ask a server
    planproof watch TRACE                     follow a trace while it is written
    planproof plan TRACE                      the plan that was declared in a trace
    planproof verify VERDICT.json TRACE       check a verdict without a judge
    planproof inspect TRACE                   see what is understood of a trace
    planproof profile suggest TRACE           describe a format that no reader knows
    planproof calibrate                       how far a judge can be trusted
    planproof hook claude-code                a hook: judges sessions when they stop
    planproof mcp                             tools for agents and editors
    planproof cache info                      answers of models that are kept
    """


app.command()(handle_errors(judge))
app.command()(handle_errors(run))
app.command()(handle_errors(runs))
app.command()(handle_errors(show))
app.command()(handle_errors(report))
app.command()(handle_errors(compare))
app.command()(handle_errors(gate))
app.command()(handle_errors(export))
app.command()(handle_errors(serve))
app.command()(handle_errors(watch))
app.command()(handle_errors(plan))
app.command()(handle_errors(calibrate))
app.command()(handle_errors(verify))
app.command()(handle_errors(inspect))
app.command()(handle_errors(mcp))
app.command()(handle_errors(demo))
app.command()(handle_errors(readers))
app.command()(handle_errors(judges))
app.add_typer(hook.app, name="hook")
app.add_typer(profile.app, name="profile")
app.add_typer(cache.app, name="cache")
app.add_typer(keys.app, name="keys")
