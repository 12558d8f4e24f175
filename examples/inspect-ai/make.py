"""Inspect AI: a log as a `.eval` archive, with an agent used as a tool and a hand-off.

The agent states its plan, asks the clerk and hands over to the auditor; the refund fails, and the
customer is told nothing. The paths and versions of the machine are left out of the log.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.agent import Agent, AgentPrompt, AgentState, agent, as_tool, handoff, react
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import match
from inspect_ai.tool import Tool, ToolCall, ToolError, tool
from normalization import normalize_trace
from scripted_model import Turn, call

TASK = "Customer Lena Brandt asks for her money back for order 7731. Please take care of it."
PLAN = """\
1. Look up order 7731
2. Ask the clerk what the policy says about headphones
3. Hand over to the auditor
4. Pay back 42.90 EUR for order 7731
5. E-mail lena@brandt.example that the refund is on its way
"""
KEPT = ("version", "status", "eval", "results", "stats")
IDS = r"(?<!://)\b(?:[2-9A-HJ-NP-Za-km-z]{22}|[0-9a-f]{32})\b"


@tool
def look_up() -> Tool:
    """Look up an order or a policy."""

    async def execute(what: str) -> str:
        """Look something up.

        Args:
            what: A number or a word.
        """
        if what.isdigit():
            return f"Order {what}: headphones, 42.90 EUR, paid on 3 May by card, sent on 4 May."
        return (
            f"Policy on {what}: money back within 30 days of the sending if the box is unopened; "
            "after that a voucher."
        )

    return execute


@tool
def pay_back() -> Tool:
    """Pay money back."""

    async def execute(order: str, amount: str) -> str:
        """Pay money back.

        Args:
            order: The number of the order.
            amount: How much.
        """
        raise ToolError("The bank is closed.")

    return execute


@agent
def auditor() -> Agent:
    """Looks over what the others do."""

    async def execute(state: AgentState) -> AgentState:
        """Audits."""
        state.messages, state.output = await get_model().generate_loop(
            state.messages, tools=[look_up()]
        )
        return state

    return execute


TURNS = [
    Turn(f"Here is my plan:\n{PLAN}", [call("look_up", what="7731")]),
    Turn("", [call("clerk", input="What does the policy say about headphones?")]),
    Turn("I look.", [call("look_up", what="headphones")]),
    Turn("", [call("submit", answer="Money back within 30 days.")]),
    Turn("", [call("transfer_to_auditor")]),
    Turn("I compare.", [call("look_up", what="7731")]),
    Turn("The order is as the customer says."),
    Turn("", [call("pay_back", order="7731", amount="42.90 EUR")]),
    Turn("", [call("submit", answer="Lena Brandt has her money back.")]),
]


def outputs() -> list[ModelOutput]:
    """The turns as the mock model takes them."""
    made: list[ModelOutput] = []
    for number, turn in enumerate(TURNS, 1):
        calls = [
            ToolCall(id=f"call_{number}", function=item.name, arguments=item.arguments)
            for item in turn.calls
        ]
        message = ChatMessageAssistant(content=turn.text, tool_calls=calls, source="generate")
        choice = ChatCompletionChoice(message=message)
        usage = ModelUsage(input_tokens=100, output_tokens=20, total_tokens=120)
        made.append(ModelOutput(model="mockllm/model", choices=[choice], usage=usage))
    return made


def told(instructions: str) -> AgentPrompt:
    """A prompt with nothing of Inspect's own in it."""
    return AgentPrompt(
        instructions=instructions, handoff_prompt=None, assistant_prompt=None, submit_prompt=None
    )


def main() -> None:
    clerk = react(
        name="clerk",
        description="Knows the policy.",
        prompt=told("You are a clerk."),
        tools=[look_up()],
    )
    desk = react(
        prompt=told("State a numbered plan first, then carry it out with your tools."),
        tools=[look_up(), pay_back(), as_tool(clerk), handoff(auditor())],
        on_continue="Go on.",
    )
    with tempfile.TemporaryDirectory() as folder:
        evaluate(
            Task(
                name="refunds",
                dataset=[Sample(id="refund", input=TASK, target="money back")],
                solver=desk,
                scorer=match(),
            ),
            model=get_model("mockllm/model", custom_outputs=outputs()),
            log_dir=folder,
            log_format="eval",
            display="none",
        )
        (file,) = Path(folder).glob("*.eval")
        with zipfile.ZipFile(file) as archive:
            held = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    here = Path(__file__).resolve().parent
    here.joinpath("trace.eval").write_bytes(
        packed(normalize_trace(_stopped(_without_machine(held)), ids=IDS))
    )
    here.joinpath("task.txt").write_text(f"{TASK}\n", encoding="utf-8")
    here.joinpath("plan.txt").write_text(PLAN, encoding="utf-8")


def _without_machine(held: dict[str, Any]) -> dict[str, Any]:
    header = {key: held["header.json"][key] for key in KEPT}
    header["eval"] = {key: header["eval"][key] for key in ("task", "model", "created", "dataset")}
    kept = {name: value for name, value in held.items() if name.startswith("samples/")}
    return {"header.json": header, **kept, "summaries.json": held["summaries.json"]}


def _stopped(value: Any) -> Any:
    """The value with its stopwatches, which are all that is written with a point, at zero."""
    if isinstance(value, dict):
        return {key: _stopped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_stopped(item) for item in value]
    return 0.0 if isinstance(value, float) else value


def packed(held: dict[str, Any]) -> bytes:
    """An archive that is the same whenever it is made."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in held.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, json.dumps(value, indent=1, ensure_ascii=False))
    return file.getvalue()


if __name__ == "__main__":
    main()
