"""Pydantic AI: the messages of a run, with a thought, a retry and a typed result.

The plan comes first and is followed; the tool that refuses its first argument is asked again.
"""

from __future__ import annotations

import json

from normalization import normalize_trace
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

TASK = "Move the account of Studio Nord to the yearly team subscription from 1 February."
PLAN = """\
1. Find the account of Studio Nord.
2. Ask for the price of the yearly team subscription.
3. Change the subscription of the account to "team-yearly" from 1 February 2026.
4. Send the new contract to the account's owner.
"""


class Change(BaseModel):
    """What was changed."""

    account: str
    subscription: str
    starts: str


def find_account(name: str) -> dict[str, str]:
    """Find an account by name."""
    return {"account": "AC-3051", "owner": "mia@studio-nord.example", "subscription": "solo"}


def get_price(subscription: str) -> str:
    """The price of a subscription."""
    return "team-yearly: 540 EUR a year"


def change_subscription(account: str, subscription: str, starts: str) -> str:
    """Change the subscription of an account from a day on."""
    if not starts.startswith("2026-"):
        raise ModelRetry("Give the day as YYYY-MM-DD.")
    return f"{account} has {subscription} from {starts}."


def send_contract(account: str, to: str) -> str:
    """Send the contract of an account."""
    return f"Contract of {account} sent to {to}."


def main() -> None:
    change = {"account": "AC-3051", "subscription": "team-yearly"}
    with scripted(
        Turn(
            f"Here is how I will approach this:\n{PLAN}",
            [call("find_account", name="Studio Nord")],
            thought="The account has to be known before anything can be changed.",
        ),
        Turn(calls=[call("get_price", subscription="team-yearly")]),
        Turn(calls=[call("change_subscription", **change, starts="1 February")]),
        Turn(calls=[call("change_subscription", **change, starts="2026-02-01")]),
        Turn(calls=[call("send_contract", account="AC-3051", to="mia@studio-nord.example")]),
        Turn(calls=[call("final_result", **change, starts="2026-02-01")]),
    ) as url:
        agent = Agent(
            OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none")),
            output_type=Change,
            instructions="State your plan as a numbered list, then carry it out.",
            tools=[find_account, get_price, change_subscription, send_contract],
        )
        result = agent.run_sync(TASK)
    messages = json.loads(result.all_messages_json())
    for message in messages:
        # The port of the scripted server is the only thing here that names this machine.
        if message.get("provider_url"):
            message["provider_url"] = "http://localhost/v1/"
    write_example(__file__, task=TASK, plan=PLAN, trace=normalize_trace(messages))


if __name__ == "__main__":
    main()
