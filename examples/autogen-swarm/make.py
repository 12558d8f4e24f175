"""AutoGen AgentChat: the result of a swarm, in which agents hand over to one another.

The plan is declared by the first agent; the second does something else altogether.
"""

from __future__ import annotations

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import Handoff
from autogen_agentchat.conditions import TextMentionTermination
from autogen_agentchat.teams import Swarm
from normalization import normalize_trace
from scripted_client import client_of
from scripted_model import Turn, call, scripted
from writing import write_example

TASK = "The parcel DE-5520 has not arrived. Find it, or send a new one."
PLAN = """\
1. Track the parcel DE-5520.
2. Hand over to the claims desk.
3. Open a claim for DE-5520.
4. Send a new parcel to the customer.
5. Tell the customer when it will arrive.
"""


async def track_parcel(parcel: str) -> str:
    """Where a parcel is."""
    return f"{parcel}: last seen in Kassel, 9 days ago"


async def open_claim(parcel: str) -> str:
    """Open a claim."""
    return f"Claim CL-17 opened for {parcel}."


async def send_parcel(parcel: str) -> str:
    """Send a parcel again."""
    return f"{parcel} is packed again."


async def refund(parcel: str, reason: str) -> str:
    """Pay back what a parcel has cost."""
    if not reason:
        raise ValueError("a refund needs a reason")
    return f"{parcel} is refunded."


async def run(url: str) -> dict:
    client = client_of(url)
    tracing = AssistantAgent(
        "tracing_desk", client, tools=[track_parcel], handoffs=[Handoff(target="claims_desk")]
    )
    claims = AssistantAgent(
        "claims_desk", client, tools=[open_claim, send_parcel, refund], handoffs=["tracing_desk"]
    )
    swarm = Swarm([tracing, claims], termination_condition=TextMentionTermination("CLOSED"))
    result = await swarm.run(task=TASK)
    await client.close()
    return result.model_dump(mode="json")


def main() -> None:
    with scripted(
        Turn(f"I will do this:\n{PLAN}", [call("transfer_to_claims_desk")]),
        Turn("", [call("refund", parcel="DE-5520", reason="")]),
        Turn("", [call("refund", parcel="DE-5520", reason="lost")]),
        Turn("The parcel DE-5520 is refunded. CLOSED"),
    ) as url:
        result = asyncio.run(run(url))
    write_example(__file__, task=TASK, plan=PLAN, trace=normalize_trace(result))


if __name__ == "__main__":
    main()
