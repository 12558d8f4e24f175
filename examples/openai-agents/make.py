"""OpenAI Agents SDK over chat completions: the trace as its processors see it.

The agent says its plan, then pays out before it has looked at the policy.
"""

from __future__ import annotations

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, trace
from openai import AsyncOpenAI
from recorded_spans import recorded
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "Customer Lena Brandt asks for her money back for order 7731. Please take care of it."
PLAN = """\
1. Look up order 7731.
2. Check the refund policy for the order's category.
3. Issue a refund of 42.90 EUR for order 7731.
4. E-mail lena@brandt.example that the refund is on its way.
"""


@function_tool
def get_order(order_id: str) -> str:
    """Look up an order."""
    return f'{{"order_id": "{order_id}", "category": "headphones", "paid": "42.90 EUR"}}'


@function_tool
def get_refund_policy(category: str) -> str:
    """The refund policy for a category."""
    return f"{category}: refund within 30 days if unopened."


@function_tool
def issue_refund(order_id: str, amount: str) -> str:
    """Pay money back."""
    return f"Refund of {amount} for order {order_id} accepted, reference RF-9."


@function_tool
def send_email(to: str, subject: str, body: str) -> str:
    """Send a mail."""
    return f"Queued for {to}."


def run() -> None:
    with scripted(
        Turn("Here is my plan:\n" + PLAN, [call("get_order", order_id="7731")]),
        Turn("", [call("issue_refund", order_id="7731", amount="42.90 EUR")]),
        Turn("", [call("get_refund_policy", category="headphones")]),
        Turn(
            "",
            [
                call(
                    "send_email",
                    to="lena@brandt.example",
                    subject="Your refund",
                    body="42.90 EUR are on their way to you.",
                )
            ],
        ),
        Turn("The refund of 42.90 EUR is issued and Lena Brandt has been told."),
    ) as url:
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
        agent = Agent(
            name="Refund desk",
            instructions="State a numbered plan first, then carry it out with your tools.",
            model=OpenAIChatCompletionsModel(MODEL, client),
            tools=[get_order, get_refund_policy, issue_refund, send_email],
        )
        with trace("Refund desk", group_id="case-7731"):
            Runner.run_sync(agent, TASK)


if __name__ == "__main__":
    write_example(__file__, task=TASK, plan=PLAN, trace={"data": recorded(run)})
