"""AutoGen 0.2: the history of a group chat in which code is written, and run by a terminal.

The task comes with a plan. Two of its steps are done in one block of code; the one that verifies
the result fails, and is not tried again.
"""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stdout

from autogen import AssistantAgent, GroupChat, GroupChatManager, UserProxyAgent
from autogen.coding import LocalCommandLineCodeExecutor
from scripted_model import MODEL, Turn, scripted
from writing import write_example

QUESTION = "How many of the numbers from 1 to 200 are prime, and what is their sum?"
PLAN = """\
1. Write code that lists the primes from 1 to 200.
2. Count the primes and add them up.
3. Verify the count by a second method.
4. State the count and the sum.
"""
TASK = f"{QUESTION}\n\n## Plan for solving the task\n{PLAN}"
SIEVE = """\
primes = [n for n in range(2, 201) if all(n % d for d in range(2, int(n**0.5) + 1))]
print(len(primes), sum(primes))
"""
BROKEN = "from sympy_lite import primepi\nprint(primepi(200))\n"


def main() -> None:
    with (
        scripted(
            Turn(f"I list them, count them and add them up.\n```python\n{SIEVE}```"),
            Turn(f"Now a second method for the count.\n```python\n{BROKEN}```"),
            Turn("There are 46 primes from 1 to 200; their sum is 4227. TERMINATE"),
        ) as url,
        tempfile.TemporaryDirectory() as folder,
        redirect_stdout(io.StringIO()),
    ):
        model = {
            "config_list": [{"model": MODEL, "base_url": url, "api_key": "none", "price": [0, 0]}],
            "cache_seed": None,
        }
        expert = AssistantAgent("Number_Expert", llm_config=model)
        terminal = UserProxyAgent(
            "Computer_terminal",
            human_input_mode="NEVER",
            is_termination_msg=lambda message: "TERMINATE" in (message["content"] or ""),
            code_execution_config={"executor": LocalCommandLineCodeExecutor(work_dir=folder)},
            default_auto_reply="There is no code to run.",
        )
        chat = GroupChat(
            [expert, terminal],
            messages=[],
            max_round=8,
            speaker_selection_method="round_robin",
        )
        manager = GroupChatManager(
            chat,
            llm_config=model,
            is_termination_msg=lambda message: "TERMINATE" in (message["content"] or ""),
        )
        terminal.initiate_chat(manager, message=TASK, silent=True)
    write_example(__file__, task=QUESTION, plan=PLAN, trace=_without_folder(chat.messages, folder))


def _without_folder(messages: list[dict], folder: str) -> list[dict]:
    """Python names the file of the code in its errors; where that lay is nobody's business."""
    return [{**m, "content": m["content"].replace(folder, "/coding")} for m in messages]


if __name__ == "__main__":
    main()
