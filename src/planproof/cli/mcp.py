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
        typer.Option("--folder", metavar="DIR", help="Read files below this folder only."),
    ] = Path(),
    judge_name: JudgeOption = None,
    config: ConfigOption = None,
    judge_options: ModelJudgeOptions,
) -> None:
    """Serve the tools `judge`, `inspect` and `expected_next` to MCP clients.

    It speaks the Model Context Protocol on standard input and output, so that an agent or an
    editor that starts it can ask. It reads no file but those that a tool is asked for by path,
    below the folder, and writes none. Needs the extra: pip install 'planproof[mcp]'.

    \b
    planproof mcp
    planproof mcp --folder ~/agent-runs
    planproof mcp --judge audit --model openai:NAME

    Exit code: 0 the client has gone, 2 bad usage or input.
    """
    if not folder.is_dir():
        raise InvalidInput("is no folder.", where=str(folder), advice="Check --folder.")
    try:
        from planproof.integrations.mcp.mcp_server import make_server
    except ImportError as error:
        raise InvalidConfiguration(
            f"the MCP server needs a package that is missing: {error}.",
            advice="pip install 'planproof[mcp]'",
        ) from error
    configuration = load_config(config)
    make_server(folder, configuration, judge_options.make_judge(judge_name, configuration)).run()
