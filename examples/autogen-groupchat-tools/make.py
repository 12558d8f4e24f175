"""AutoGen 0.2: the history of a chat in which functions are called.

One asks for calls, the other makes them; several answers come back in one message. The plan is
followed, with one call beside it that no step asks for.
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from autogen import AssistantAgent, UserProxyAgent, register_function
from scripted_model import MODEL, Turn, call, scripted
from writing import write_example

PLAN = """\
1. Read the meters of the flats 1A and 1B.
2. Work out the consumption of each flat since last year.
3. Enter both values in the billing sheet.
"""
TASK = f"Prepare the heating bill for 2025. Carry out the following steps in this order:\n{PLAN}"


def read_meter(flat: str) -> int:
    """The meter of a flat now."""
    return {"1A": 4310, "1B": 3995}[flat]


def consumption(flat: str, now: int) -> int:
    """What a flat has used since last year."""
    return now - {"1A": 3900, "1B": 3700}[flat]


def enter_value(flat: str, value: int) -> str:
    """Enter a value in the billing sheet."""
    return f"{flat}: {value} kWh entered."


def order_meter_check(flat: str) -> str:
    """Have the meter of a flat checked."""
    return f"A fitter comes for the meter of {flat}."


def is_last(message: dict) -> bool:
    return "TERMINATE" in (message.get("content") or "")


def main() -> None:
    with (
        scripted(
            Turn(calls=[call("read_meter", flat="1A"), call("read_meter", flat="1B")]),
            Turn(
                calls=[
                    call("consumption", flat="1A", now=4310),
                    call("consumption", flat="1B", now=3995),
                ]
            ),
            Turn(
                "1A has used much more than 1B, so I have its meter checked.",
                [call("order_meter_check", flat="1A")],
            ),
            Turn(
                calls=[
                    call("enter_value", flat="1A", value=410),
                    call("enter_value", flat="1B", value=295),
                ]
            ),
            Turn("Both values are in the billing sheet. TERMINATE"),
        ) as url,
        redirect_stdout(io.StringIO()),
    ):
        model = {
            "config_list": [{"model": MODEL, "base_url": url, "api_key": "none", "price": [0, 0]}],
            "cache_seed": None,
        }
        clerk = AssistantAgent("clerk", llm_config=model, is_termination_msg=is_last)
        office = UserProxyAgent(
            "office",
            human_input_mode="NEVER",
            is_termination_msg=is_last,
            code_execution_config=False,
        )
        for function in (read_meter, consumption, enter_value, order_meter_check):
            register_function(
                function, caller=clerk, executor=office, description=function.__doc__ or ""
            )
        result = office.initiate_chat(clerk, message=TASK, silent=True)
    write_example(__file__, task=TASK, plan=PLAN, trace=result.chat_history)


if __name__ == "__main__":
    main()
