"""`planproof mcp`: serve MCP tools for agents and editors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planproof.cli.inputs import ConfigOption, JudgeOption, load_config
from planproof.cli.options import ModelJudgeOptions, option_groups
from planproof.errors import InvalidConfiguration, InvalidInput


@option_groups(judge_options=ModelJudgeOptions)
def mcp(
    *,
    folder: Annotated[
        Path,
        typer.Option("--folder", metavar="DIR", help="Read only files in this folder."),
    ] = Path(),
    judge_name: JudgeOption = None,
    config: ConfigOption = None,
    judge_options: ModelJudgeOptions,
) -> None:
    """Serve tools to MCP clients.

    The tools are `judge`, `inspect` and `expected_next`. The server speaks the Model Context
    Protocol on standard input and output, for agents and editors that start it as a subprocess. It
    reads only files in the folder that are passed to a tool by path, and writes no files. It needs
    an extra: pip install 'planproof[mcp]'.

    \b
    planproof mcp
    planproof mcp --folder ~/agent-runs
    planproof mcp --judge audit --model openai:NAME

    Exit code: 0 client disconnected, 2 bad usage or input.
    """
    if not folder.is_dir():
        raise InvalidInput("not a folder.", where=str(folder), advice="Check --folder.")
    try:
        from planproof.integrations.mcp.mcp_server import make_server
    except ImportError as error:
        raise InvalidConfiguration(
            f"the MCP server needs a package that is not installed: {error}.",
            advice="Install it: pip install 'planproof[mcp]'.",
        ) from error
    configuration = load_config(config)
    make_server(folder, configuration, judge_options.make_judge(judge_name, configuration)).run()
