"""The order desk as a Griptape agent."""

from __future__ import annotations

import inspect

from griptape.artifacts import TextArtifact
from griptape.drivers.prompt.openai import OpenAiChatPromptDriver
from griptape.rules import Rule
from griptape.structures import Agent
from griptape.tokenizers import SimpleTokenizer
from griptape.tools import BaseTool
from griptape.utils.decorators import activity
from order_desk import INSTRUCTIONS, TOOLS, TURNS
from schema import Schema
from scripted_model import MODEL, Turn, call

# An activity is called by the name of the tool and its own.
DESK_TURNS = [
    Turn(turn.text, [call(f"Desk_{item.name}", **item.arguments) for item in turn.calls])
    for turn in TURNS
]


def _make_activity(function):
    types = inspect.get_annotations(function, eval_str=True)
    schema = Schema({key: kind for key, kind in types.items() if key != "return"})

    def run(self, params: dict) -> TextArtifact:
        return TextArtifact(function(**params["values"]))

    run.__name__ = function.__name__
    return activity(config={"description": function.__doc__, "schema": schema})(run)


def make_agent(url: str) -> Agent:
    """Return an agent whose tool has an activity for each function."""
    activities = {function.__name__: _make_activity(function) for function in TOOLS}
    desk = type("OrderDesk", (BaseTool,), activities)
    driver = OpenAiChatPromptDriver(
        model=MODEL,
        base_url=url,
        api_key="none",
        use_native_tools=True,
        tokenizer=SimpleTokenizer(
            characters_per_token=4, max_input_tokens=9000, max_output_tokens=999
        ),
    )
    return Agent(prompt_driver=driver, tools=[desk(name="Desk")], rules=[Rule(INSTRUCTIONS)])
