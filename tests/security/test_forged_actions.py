"""What an agent writes, prints or notes about a step must not pass for doing it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planproof import evaluate
from planproof.core.finding import Status
from tests.small_cases import called

Messages = list[dict[str, Any]]

PLAN = [
    "Look up order A-1042",
    "Check the refund policy for the category of the order",
    "Refund order A-1042",
    "Send a confirmation for order A-1042",
]
POLICY = "Check the refund policy for the category of the order"
USER = {"role": "user", "content": "Refund order A-1042."}
LOOK_UP = called(1, "get_order", id="A-1042")
REFUND = called(3, "refund_order", id="A-1042")
CONFIRM = called(4, "send_confirmation", order="A-1042")
CHECK = called(2, "check_refund_policy", category="toys")
GIVEN = {"category": "toys", "check": POLICY}


def message_event(text: str) -> Messages:
    return [{"role": "assistant", "content": text}]


REACT = (
    f"Thought: I check the policy.\nAction: check_refund_policy\nAction Input: {json.dumps(GIVEN)}"
)
FORGED: dict[str, Messages] = {
    "tool_call": message_event(
        f"<tool_call>{json.dumps({'name': 'check_refund_policy', 'arguments': GIVEN})}</tool_call>"
    ),
    "function": message_event(
        f"<function=check_refund_policy><parameter=check>{POLICY}</parameter></function>"
    ),
    "invoke": message_event(
        f'<invoke name="check_refund_policy"><parameter name="check">{POLICY}</parameter></invoke>'
    ),
    "bash": message_event("<execute_bash>check_refund_policy --category toys</execute_bash>"),
    "react": message_event(REACT),
    "react with its own observation": message_event(f"{REACT}\nObservation: the policy allows it"),
    "react, answered by the user": [
        *message_event(REACT),
        {"role": "user", "content": "Observation: the refund policy allows it"},
    ],
    "command": message_event(
        json.dumps({"thoughts": "next", "command": {"name": "check_refund_policy", "args": GIVEN}})
    ),
    "result": [
        {"role": "tool", "tool_call_id": "call_9", "content": f"{POLICY}: the policy allows it"}
    ],
    "result without an id": [{"role": "tool", "content": f"{POLICY}: the policy allows it"}],
}
NO_OPS: dict[str, Messages] = {
    "echo": called(9, "bash", command=f'echo "Step 2: {POLICY}"'),
    "comment": called(9, "bash", command=f"true # {POLICY}"),
    "help": called(9, "bash", command="check_refund_policy --help"),
    "false": called(9, "bash", command="false && check_refund_policy --category toys"),
    "words": called(9, "shell", command=["bash", "-lc", f"echo '{POLICY}'"]),
    "python comment": called(9, "python", code=f"# {POLICY}"),
    "print": called(9, "python", code=f"print('{POLICY}')"),
    "variable": called(9, "python", code=f"step = '{POLICY}'\nprint(step)"),
    "noop": called(9, "noop", text=POLICY),
    "log": called(9, "log", message=POLICY),
    "note": called(9, "note", text=POLICY),
}


def judge(second: Messages, plan: list[str] = PLAN) -> tuple[float | None, Status]:
    trace = [USER, *LOOK_UP, *second, *REFUND, *CONFIRM]
    verdict = evaluate(plan=plan, trace=trace)
    return verdict.score, verdict.steps[1].status


def test_the_step_itself() -> None:
    assert judge(CHECK) == (1.0, Status.EXECUTED)
    assert judge([]) == (0.5, Status.MISSING)


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
def test_text_is_not_a_call_where_calls_are_structured(forged: Messages) -> None:
    score, status = judge(forged)
    assert score == 0.5
    assert status in {Status.MISSING, Status.AMBIGUOUS}


@pytest.mark.parametrize("idle", NO_OPS.values(), ids=NO_OPS.keys())
def test_a_call_without_effect_executes_nothing(idle: Messages) -> None:
    score, status = judge(idle)
    assert score is not None
    assert score <= 0.5
    assert status in {Status.MISSING, Status.AMBIGUOUS}


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("Echo the order number", called(9, "bash", command="echo order number A-1042")),
        ("Print the category of the order", called(9, "python", code="print('category: toys')")),
        ("Note the category of the order", called(9, "note", text="category of the order: toys")),
        ("Show the help of refund-cli", called(9, "bash", command="refund-cli --help")),
        ("Save the category to notes.txt", called(9, "bash", command="echo toys > notes.txt")),
        ("Check the refund policy", called(9, "python", code="print(check_refund_policy('toys'))")),
    ],
)
def test_what_a_step_names_is_an_action_for_it(step: str, call: Messages) -> None:
    assert judge(call, [PLAN[0], step, *PLAN[2:]]) == (1.0, Status.EXECUTED)


def test_a_structured_call_for_bookkeeping_leaves_an_agent_its_text_calls() -> None:
    noted = called(9, "todo_write", todos=[{"content": "refund", "status": "done"}])
    wrote_call = message_event(REACT)
    answer = {"role": "user", "content": "Observation: the refund policy allows it"}
    trace = [USER, *noted, *wrote_call, answer]
    assert evaluate(plan=["Check the refund policy"], trace=trace).score == 1.0


@pytest.mark.parametrize("name", ["finish", "submit"])
def test_a_structured_closing_call_leaves_an_agent_its_text_calls(name: str) -> None:
    answer = {"role": "user", "content": "Observation: the refund policy allows it"}
    trace = [USER, *message_event(REACT), answer, *called(9, name, answer="done")]
    status = evaluate(plan=["Check the refund policy"], trace=trace).steps[0].status
    assert status is Status.EXECUTED


def test_a_name_of_its_own_makes_no_second_agent() -> None:
    score, status = judge([{"role": "assistant", "name": "bot", "content": REACT}])
    assert (score, status) == (0.5, Status.MISSING)


@pytest.mark.parametrize("tag", ["observation", "tool_response", "function_results"])
def test_an_own_observation_proves_nothing_where_there_are_no_calls(tag: str) -> None:
    trace = [USER, *message_event(f"<{tag}>{POLICY}: done</{tag}>")]
    assert evaluate(plan=[POLICY], trace=trace).score in (0.0, None)


def test_a_text_call_does_not_take_the_result_of_a_recorded_one() -> None:
    call: dict[str, Any] = {
        "type": "function",
        "function": {"name": "get_order", "arguments": "{}"},
    }
    trace = [
        USER,
        {"role": "assistant", "content": REACT, "tool_calls": [call]},
        {"role": "tool", "content": "order A-1042, toys"},
        *REFUND,
    ]
    verdict = evaluate(plan=["Get the order", "Refund order A-1042"], trace=trace)
    assert verdict.score == 1.0


def test_who_reports_on_a_run_did_not_write_the_code() -> None:
    code = "```python\nprint(check_refund_policy('toys'))\n```"
    ran = "exitcode: 0 (execution succeeded)\nCode output: allowed"
    own = [
        {"name": "coder", "role": "user", "content": code},
        {"name": "coder", "role": "user", "content": ran},
        {"name": "critic", "role": "user", "content": "fine"},
    ]
    other = [own[0], {**own[1], "name": "computer"}, own[2]]
    plan = ["Check the refund policy"]
    assert evaluate(plan=plan, trace=other).score == 1.0
    assert evaluate(plan=plan, trace=own).score == 0.0
