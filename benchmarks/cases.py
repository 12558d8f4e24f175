"""Generate realistic cases: a plan with concrete values, and the trace of a run.

The trace is a list of OpenAI chat messages as JSON text. The same arguments give the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepTemplate:
    """A kind of step: its text in a plan, its tool, and the arguments of the call."""

    wording: str
    tool: str
    arguments: Callable[[str, int], Arguments]
    thought: str


STEP_TEMPLATES = (
    StepTemplate(
        "Read pages 1 to {calls} of report {thing}",
        "read_page",
        lambda thing, k: {"report": thing, "page": k},
        "Next comes page {k} of report {thing}.",
    ),
    StepTemplate(
        "Search the orders of customer {thing} over the last {calls} quarters",
        "search_orders",
        lambda thing, k: {"customer_id": thing, "quarter": f"Q{k}", "status": "any"},
        "I look for what {thing} ordered in quarter {k}.",
    ),
    StepTemplate(
        "Run the test module tests/{thing}.py ({calls} shards)",
        "run_command",
        lambda thing, k: {
            "command": f"python -m pytest tests/{thing}.py --shard {k}",
            "cwd": "/repo",
        },
        "Shard {k} of {thing} has to run now.",
    ),
    StepTemplate(
        "Convert invoice batch {thing} to euros, {calls} currencies in all",
        "convert_currency",
        lambda thing, k: {"batch": thing, "source": f"C{k:02}", "target": "EUR"},
        "Currency {k} of batch {thing} is still open.",
    ),
    StepTemplate(
        "Update ticket {thing} in the tracker with the {calls} results",
        "update_ticket",
        lambda thing, k: {"ticket": thing, "field": f"result_{k}", "value": f"checked {k}"},
        "I write result {k} into {thing}.",
    ),
    StepTemplate(
        "Fetch the weather at station {thing} for {calls} days",
        "get_weather",
        lambda thing, k: {"station": thing, "day": k, "units": "metric"},
        "For {thing} I need day {k} as well.",
    ),
)
TURNS_PER_THOUGHT = 4
SYLLABLES = "ka lo mi ten ar sol ver nib dra quo pel ust hem ri zan oth".split()


@dataclass(frozen=True, slots=True)
class GeneratedCase:
    """Task, plan and trace of a case, and the tools in plan order."""

    task: str
    plan: str
    trace: str
    tools: tuple[str, ...]


def generate_case(*, steps: int, events: int, seed: int = 0) -> GeneratedCase:
    """Generate a case whose trace, read as OpenAI messages, has exactly `events` events.

    The request, the closing answer and every call with its result are an event each; in every
    fourth turn there is also a message. Every third case has a step that was done with another
    value than planned.
    """
    turns = (events - 2) * TURNS_PER_THOUGHT // (TURNS_PER_THOUGHT + 1)
    if turns < steps:
        raise ValueError(f"{events} events are too few for {steps} steps")
    chance = random.Random(seed)
    planned = [
        (
            chance.choice(STEP_TEMPLATES),
            _generate_name(chance, i),
            turns // steps + (i < turns % steps),
        )
        for i in range(steps)
    ]
    altered = chance.randrange(steps) if seed % 3 == 2 else None
    plan = "\n".join(
        f"{number}. {work.wording.format(thing=thing, calls=calls)}."
        for number, (work, thing, calls) in enumerate(planned, 1)
    )
    calls_made = [
        (work, thing if i != altered else _generate_name(chance, steps + i), k)
        for i, (work, thing, calls) in enumerate(planned)
        for k in range(1, calls + 1)
    ]
    task = "Bring the quarter to a close: " + ", ".join(thing for _, thing, _ in planned[:10]) + "."
    return GeneratedCase(
        task=task,
        plan=plan,
        trace=json.dumps(list(_generate_messages(task, calls_made, events - 2 - turns, chance))),
        tools=tuple(work.tool for work, _, calls in planned for _ in range(calls)),
    )


def _generate_messages(
    task: str, calls_made: list[tuple[StepTemplate, str, int]], thoughts: int, rng: random.Random
) -> Iterator[dict[str, Any]]:
    yield {"role": "user", "content": task}
    for turn, (work, thing, k) in enumerate(calls_made):
        call_id = f"call_{turn:05}"
        arguments = work.arguments(thing, k)
        function = {"name": work.tool, "arguments": json.dumps(arguments)}
        thinks = turn % TURNS_PER_THOUGHT == 0 and turn // TURNS_PER_THOUGHT < thoughts
        yield {
            "role": "assistant",
            "content": work.thought.format(thing=thing, k=k) if thinks else None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        }
        yield {"role": "tool", "tool_call_id": call_id, "content": _generate_result(rng, arguments)}
    yield {"role": "assistant", "content": "The quarter is closed; the results are in the tracker."}


def _generate_name(rng: random.Random, index: int) -> str:
    return "".join(rng.choices(SYLLABLES, k=2)) + f"_{index:03}{rng.randrange(10, 100)}"


def _generate_result(rng: random.Random, arguments: Arguments) -> str:
    rows = [
        {"id": rng.randrange(10**6), "label": _generate_name(rng, row), "amount": rng.random()}
        for row in range(3)
    ]
    return json.dumps({"ok": True, "query": arguments, "rows": rows})
