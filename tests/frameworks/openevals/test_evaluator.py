"""The evaluator where openevals and agentevals put theirs: beside them, and in their simulator."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agentevals.trajectory.match import create_trajectory_match_evaluator
from openevals.simulators import run_multiturn_simulation, run_multiturn_simulation_async

from planproof.integrations.langsmith import async_plan_adherence, plan_adherence
from scripts.doc_blocks import find_blocks_for
from tests.frameworks.refunds import CLOSING, FOLLOWED, PLAN, SKIPPED, TASK, Call


def messages(calls: list[Call]) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    for place, (name, given) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(given)}
        call = {"id": f"c{place}", "type": "function", "function": function}
        said += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{place}", "content": "done"},
        ]
    return [*said, {"role": "assistant", "content": CLOSING}]


def test_it_is_called_as_their_evaluators_are_and_answers_in_their_form() -> None:
    given = {"outputs": messages(SKIPPED), "reference_outputs": messages(FOLLOWED)}
    theirs = create_trajectory_match_evaluator(trajectory_match_mode="strict")(**given)
    ours = plan_adherence(PLAN)(**given)
    assert ours.keys() <= theirs.keys()
    assert (ours["key"], theirs["score"], ours["score"]) == ("plan_adherence", False, 0.5)
    assert "step 2" in ours["comment"].lower()


def turns(calls: list[Call]) -> list[dict[str, Any]]:
    """What the agent says in each turn; the user tells it to go on."""
    return [message for message in messages(calls) if message["role"] == "assistant"]


def test_it_judges_what_their_simulator_came_to() -> None:
    said = iter(turns(FOLLOWED))
    done = run_multiturn_simulation(
        app=lambda inputs, **_: next(said),
        user=[TASK, *["Go on."] * len(FOLLOWED)],
        max_turns=len(FOLLOWED) + 1,
        trajectory_evaluators=[plan_adherence(PLAN)],
    )
    assert [result["score"] for result in done["evaluator_results"]] == [1.0]


def test_it_can_be_awaited() -> None:
    said = iter(turns(SKIPPED))

    async def app(inputs: Any, **_: Any) -> dict[str, Any]:
        return next(said)

    done = asyncio.run(
        run_multiturn_simulation_async(
            app=app,
            user=[TASK, *["Go on."] * len(SKIPPED)],
            max_turns=len(SKIPPED) + 1,
            trajectory_evaluators=[async_plan_adherence()],
            reference_outputs={"plan": PLAN},
        )
    )
    assert [result["score"] for result in done["evaluator_results"]] == [0.5]


def test_the_docs() -> None:
    said = iter(turns(SKIPPED))
    (shown,) = find_blocks_for(__file__)
    replies = [TASK, *["Go on."] * len(FOLLOWED)]
    names: dict[str, Any] = {"plan": PLAN, "replies": replies}
    names["agent"] = lambda inputs, **_: next(said, {"role": "assistant", "content": "Bye."})
    exec(compile(shown.text, shown.location, "exec"), names)
    assert [result["score"] for result in names["done"]["evaluator_results"]] == [0.5]
