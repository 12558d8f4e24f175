"""OpenAI Agents SDK over the Responses API: a trace with a hand-off and a guardrail.

Response spans name a response and hold none of it, so the tools and hand-offs are what is left.
The plan is given from outside, and is followed.
"""

from __future__ import annotations

from typing import Any

from agents import (
    Agent,
    GuardrailFunctionOutput,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    input_guardrail,
    trace,
)
from openai import AsyncOpenAI
from recorded_spans import recorded
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "Reserve 12 pieces of article K-204 for Hofer KG and arrange the delivery for 14 January."
PLAN = """\
1. Check the stock of article K-204.
2. Reserve 12 pieces of K-204 for Hofer KG.
3. Hand over to the delivery desk.
4. Book a delivery slot on 14 January.
5. Print the label for the shipment.
"""


@function_tool
def check_stock(article: str) -> str:
    """How many pieces there are."""
    return f"{article}: 40 on hand, 6 reserved."


@function_tool
def reserve(article: str, pieces: int, customer: str) -> str:
    """Reserve pieces for a customer."""
    return f"Reservation V-118: {pieces} x {article} for {customer}."


@function_tool
def book_delivery_slot(reservation: str, day: str) -> str:
    """Book a slot."""
    return f"{reservation} goes out on {day}, slot 3."


@function_tool
def print_label(reservation: str) -> str:
    """Print the label of a shipment."""
    raise ValueError("printer 2 is out of paper")


@input_guardrail
def business_only(context: Any, agent: Any, text: Any) -> GuardrailFunctionOutput:
    """Whether this is a matter of the warehouse."""
    return GuardrailFunctionOutput(output_info="about an order", tripwire_triggered=False)


def run() -> None:
    with scripted(
        Turn(calls=[call("check_stock", article="K-204")]),
        Turn(calls=[call("reserve", article="K-204", pieces=12, customer="Hofer KG")]),
        Turn(calls=[call("transfer_to_delivery_desk")]),
        Turn(calls=[call("book_delivery_slot", reservation="V-118", day="2026-01-14")]),
        Turn(calls=[call("print_label", reservation="V-118")]),
        Turn("V-118 goes out on 14 January. The label could not be printed: no paper."),
    ) as url:
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        model = OpenAIResponsesModel(MODEL, client)
        delivery = Agent(name="Delivery desk", model=model, tools=[book_delivery_slot, print_label])
        stock = Agent(
            name="Stock desk",
            model=model,
            tools=[check_stock, reserve],
            handoffs=[delivery],
            input_guardrails=[business_only],
        )
        with trace("Reservation", metadata={"customer": "Hofer KG"}):
            Runner.run_sync(stock, TASK)


if __name__ == "__main__":
    write_example(__file__, task=TASK, plan=PLAN, trace=recorded(run), name="trace.jsonl")
