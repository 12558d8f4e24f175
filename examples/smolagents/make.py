"""smolagents: the memory of a code agent that plans, and plans again after three steps.

The first plan is in force: the step that the second plan leaves out was not done.
"""

from __future__ import annotations

import json

from normalization import normalize_trace
from scripted_model import MODEL, Turn, scripted
from short_prompts import prompts
from smolagents import CodeAgent, LogLevel, OpenAIModel, tool
from writing import write_example

TASK = "Which weather station was warmer in May, north or south? File a note about it."
PLAN = """\
1. Read the May temperatures of the station north.
2. Read the May temperatures of the station south.
3. Compare the mean of both stations.
4. Ask the station keeper to confirm the warmer station's sensor.
5. File a note that names the warmer station.
"""
PROMPTS = prompts("Write Python in <code> tags; call final_answer at the end.")


@tool
def read_temperatures(station: str, month: str) -> list:
    """Reads the temperatures of a month.

    Args:
        station: The name of the station.
        month: The month.
    """
    return {"north": [11.5, 13.0, 14.5], "south": [12.0, 15.0, 16.5]}[station]


@tool
def ask_keeper(station: str, question: str) -> str:
    """Asks the keeper of a station.

    Args:
        station: The name of the station.
        question: What to ask.
    """
    return "The sensor is fine."


@tool
def file_note(title: str, text: str) -> str:
    """Files a note.

    Args:
        title: The title.
        text: The text.
    """
    return "Note 71 filed."


def step(thought: str, code: str) -> Turn:
    return Turn(f"Thought: {thought}\n<code>\n{code}\n</code>")


def main() -> None:
    facts = "## Facts\n- two stations: north, south\n\n## Plan\n"
    with scripted(
        Turn(f"{facts}{PLAN}<end_plan>"),
        step(
            "I begin with the station north.",
            'north = read_temperatures(station="north", month="May")\nprint(north)',
        ),
        step(
            "Now the station south.",
            'south = read_temperatures(station="south", month="May")\nprint(south)',
        ),
        step(
            "I compare the means.",
            "mean = lambda values: sum(values) / len(values)\nprint(mean(north), mean(south))",
        ),
        Turn(f"{facts}1. File a note that names the warmer station.\n<end_plan>"),
        step(
            "South is warmer.",
            'print(file_note(title="May", text="South was warmer: 14.5 against 13.0 degrees."))',
        ),
        step("The note is filed.", 'final_answer("South was warmer in May; see note 71.")'),
    ) as url:
        agent = CodeAgent(
            tools=[read_temperatures, ask_keeper, file_note],
            model=OpenAIModel(MODEL, api_base=url, api_key="none"),
            planning_interval=3,
            prompt_templates=PROMPTS,
            verbosity_level=LogLevel.OFF,
        )
        agent.run(TASK)
    steps = json.loads(json.dumps(agent.memory.get_full_steps()))
    steps = normalize_trace(steps, seconds=("start_time", "end_time"))
    for timing in (item["timing"] for item in steps if "timing" in item):
        timing["duration"] = timing["end_time"] - timing["start_time"]
    write_example(__file__, task=TASK, plan=PLAN, trace=steps)


if __name__ == "__main__":
    main()
