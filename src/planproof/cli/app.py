"""The Typer application: registers all commands and subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from planproof.cli import cache, contract, hook, keys, profile
from planproof.cli.calibrate import calibrate
from planproof.cli.compare import compare
from planproof.cli.compile import compile_
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
from planproof.cli.sign import sign
from planproof.cli.verify import verify
from planproof.cli.watch import watch

app = typer.Typer(
    no_args_is_help=True,
    # Plain help: importing rich's markup would take longer than all other imports together.
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
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Prove, or refute, that an AI agent did what its plan said.

    \b
    planproof demo                            judge three example cases
    planproof judge CASE.json                 judge one case
    planproof run CASES.jsonl -o OUT.jsonl    judge many cases
    planproof runs                            list runs
    planproof show RUN [CASE]                 show a run, or one of its cases
    planproof report RUN -o report.html       write an HTML report of a run
    planproof compare BASE NEW                compare two runs
    planproof gate RUN --min-mean 0.8         pass or fail a run
    planproof export RUN -o OUT.parquet       export the results of a run
    planproof serve                           serve the HTTP API and web pages
    planproof keys add NAME                   manage the API keys of a server
    planproof watch TRACE                     follow a trace while it is written
    planproof plan TRACE                      show the plan declared in a trace
    planproof compile PLAN                    compile a plan into a contract
    planproof verify VERDICT.json TRACE       check a verdict without a judge
    planproof sign VERDICT.json --key FILE    sign a verdict
    planproof inspect TRACE                   show how a trace is read
    planproof contract check CONTRACT         check a contract before use
    planproof profile suggest TRACE           describe an unknown format
    planproof calibrate                       measure how reliable a judge is
    planproof hook claude-code                judge Claude Code sessions
    planproof mcp                             serve tools to MCP clients
    planproof cache info                      show the cache of model answers
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
app.command(name="compile")(handle_errors(compile_))
app.command()(handle_errors(calibrate))
app.command()(handle_errors(verify))
app.command()(handle_errors(sign))
app.command()(handle_errors(inspect))
app.command()(handle_errors(mcp))
app.command()(handle_errors(demo))
app.command()(handle_errors(readers))
app.command()(handle_errors(judges))
app.add_typer(contract.app, name="contract")
app.add_typer(hook.app, name="hook")
app.add_typer(profile.app, name="profile")
app.add_typer(cache.app, name="cache")
app.add_typer(keys.app, name="keys")
