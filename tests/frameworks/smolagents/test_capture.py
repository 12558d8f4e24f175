"""The step callback of a real agent, whose model reads from a script."""

# To pyright the folder of this file is the package of its name.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool

from examples.scripted_model import MODEL, Turn, call, scripted
from planproof.core.content import Json
from planproof.integrations.capture import Recorder
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.capture_tests import Accounts, CaptureTests, make_turns, run_block
from tests.frameworks.refunds import CLOSING, Call


class TestSmolagents(CaptureTests):
    # A run ends with a closing call.
    best = 0.75
    # The callback comes when the step is over, and the call made.
    made = ("Ann",)

    def captured(
        self, calls: Sequence[Call], accounts: Accounts, folder: Path
    ) -> tuple[Recorder, Json]:
        agents: list[ToolCallingAgent] = []

        class Observed(ToolCallingAgent):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs, verbosity_level=LogLevel.OFF)
                agents.append(self)

        said = [*make_turns(calls)[:-1], Turn(calls=[call("final_answer", answer=CLOSING)])]
        with scripted(*said) as url:
            model = OpenAIModel(MODEL, api_base=url, api_key="none")
            names = {"ToolCallingAgent": Observed, "model": model}
            tools = [tool(described(each)) for each in accounts.tools]
            recorder = run_block(find_blocks_for(__file__), folder, tools=tools, **names)
        return recorder, json.loads(json.dumps(agents[0].memory.get_full_steps()))


def described(function: Any) -> Any:
    """The function with every argument described, which smolagents insists on."""
    names = [name for name in function.__annotations__ if name != "return"]
    lines = "\n".join(f"    {name}: As it says." for name in names)
    function.__doc__ = f"{(function.__doc__ or '').splitlines()[0]}\n\nArgs:\n{lines}\n"
    return function
