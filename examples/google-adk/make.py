"""Google ADK: the events of a session, with a planner, a hand-over and a tool that says no.

The planner's mark puts the plan into a thought. The discount is given before it was approved.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Iterator

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.planners import PlanReActPlanner
from google.adk.runners import InMemoryRunner
from google.genai import types
from normalization import normalize_trace
from pydantic import SkipValidation
from scripted_model import MODEL, Turn, call
from writing import write_example

TASK = "Make an offer for 20 desks to the school in Aurich, with 10 % off."
PLAN = """\
1. Look up the list price of the desk.
2. Ask the approval desk to approve 10 % off.
3. Apply the discount of 10 % to the offer.
4. Send the offer to the school in Aurich.
"""


def look_up_price(article: str) -> dict:
    """The list price of an article."""
    return {"article": article, "price": 140}


def apply_discount(offer: str, percent: int) -> dict:
    """Apply a discount to an offer."""
    return {"offer": offer, "total": 20 * 140 * (100 - percent) // 100}


def send_offer(offer: str, to: str) -> dict:
    """Send an offer."""
    return {"status": "sent", "offer": offer, "to": to}


def approve_discount(percent: int, reason: str) -> dict:
    """Approve a discount."""
    return {"status": "error", "error_message": "more than 5 % needs a second signature"}


class ScriptedLlm(BaseLlm):
    """A model of this framework's own kind: the Gemini API is not spoken by the shared server."""

    turns: SkipValidation[Iterator[Turn]]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        turn = next(self.turns)
        parts = [types.Part(text=turn.text)] if turn.text else []
        parts += [
            types.Part(function_call=types.FunctionCall(name=item.name, args=item.arguments))
            for item in turn.calls
        ]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


async def run(*turns: Turn) -> dict:
    model = ScriptedLlm(model=MODEL, turns=iter(turns))
    approval = LlmAgent(
        name="approval_desk",
        model=model,
        description="Approves discounts.",
        tools=[approve_discount],
    )
    sales = LlmAgent(
        name="sales_desk",
        model=model,
        planner=PlanReActPlanner(),
        tools=[look_up_price, apply_discount, send_offer],
        sub_agents=[approval],
    )
    runner = InMemoryRunner(agent=sales, app_name="offers")
    session = await runner.session_service.create_session(
        app_name="offers", user_id="aurich", session_id="offer-20"
    )
    message = types.Content(role="user", parts=[types.Part(text=TASK)])
    async for _ in runner.run_async(user_id="aurich", session_id=session.id, new_message=message):
        pass
    kept = await runner.session_service.get_session(
        app_name="offers", user_id="aurich", session_id=session.id
    )
    return json.loads(kept.model_dump_json(by_alias=True, exclude_none=True))


def main() -> None:
    logging.disable(logging.WARNING)
    session = asyncio.run(
        run(
            Turn(f"/*PLANNING*/\n{PLAN}/*ACTION*/\n", [call("look_up_price", article="desk")]),
            Turn("", [call("apply_discount", offer="O-20", percent=10)]),
            Turn("", [call("transfer_to_agent", agent_name="approval_desk")]),
            Turn("", [call("approve_discount", percent=10, reason="20 desks")]),
            Turn("", [call("transfer_to_agent", agent_name="sales_desk")]),
            Turn("", [call("send_offer", offer="O-20", to="school in Aurich")]),
            Turn("/*FINAL_ANSWER*/\nThe offer O-20 over 2520 EUR is on its way to Aurich."),
        )
    )
    session = normalize_trace(session, seconds=("timestamp", "lastUpdateTime"))
    write_example(__file__, task=TASK, plan=PLAN, trace=session)


if __name__ == "__main__":
    main()
