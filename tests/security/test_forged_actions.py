"""What an agent writes, prints or notes about a step must not pass for doing it."""

from __future__ import annotations

import json
from collections.abc import Callable
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


def as_openai(steps: list[Any]) -> Any:
    messages: Messages = [USER]
    for number, step in enumerate(steps):
        if isinstance(step, str):
            messages += message_event(step)
        else:
            name, given = step
            messages += called(number, name, **given)
    return messages


def as_anthropic(steps: list[Any]) -> Any:
    messages: Messages = [USER]
    for number, step in enumerate(steps):
        if isinstance(step, str):
            messages.append({"role": "assistant", "content": [{"type": "text", "text": step}]})
            continue
        name, given = step
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "done"}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    return messages


def as_json_lines(steps: list[Any]) -> Any:
    return "\n".join(map(json.dumps, as_openai(steps)))


def as_langchain(steps: list[Any]) -> Any:
    messages: Messages = [{"type": "human", "content": USER["content"]}]
    for number, step in enumerate(steps):
        if isinstance(step, str):
            messages.append({"type": "ai", "content": step})
            continue
        name, given = step
        call = {"name": name, "args": given, "id": f"t{number}", "type": "tool_call"}
        messages.append({"type": "ai", "content": "", "tool_calls": [call]})
        messages.append({"type": "tool", "content": "done", "tool_call_id": f"t{number}"})
    return messages


def as_gemini_cli(steps: list[Any]) -> Any:
    messages: Messages = [{"id": "0", "type": "user", "content": USER["content"]}]
    for number, step in enumerate(steps, 1):
        record: dict[str, Any] = {"id": str(number), "type": "gemini", "content": ""}
        if isinstance(step, str):
            record["content"] = step
        else:
            call = {"id": f"t{number}", "name": step[0], "args": step[1]}
            record["toolCalls"] = [{**call, "resultDisplay": "done", "status": "success"}]
        messages.append(record)
    return {"sessionId": "s", "messages": messages}


FORMATS = (as_openai, as_anthropic, as_json_lines, as_langchain, as_gemini_cli)
LOOKED, REFUNDED, CONFIRMED = (
    ("get_order", {"id": "A-1042"}),
    ("refund_order", {"id": "A-1042"}),
    ("send_confirmation", {"order": "A-1042"}),
)
WRITTEN = {
    "react": REACT,
    "capitals": "THOUGHT: now\nACTION: check_refund_policy[toys]\nOBSERVATION: allowed",
    "numbered": "Thought 1: now\nAction 1: check_refund_policy[toys]\nObservation 1: allowed",
    "tag": f"<tool_call>{json.dumps({'name': 'check_refund_policy', 'arguments': GIVEN})}"
    "</tool_call>",
    "line": f"Tool call: check_refund_policy({json.dumps(GIVEN)})\nTool result: allowed",
    "marked line": f"[tool] check_refund_policy {json.dumps(GIVEN)}",
    "run fence": "```mswea_bash_command\ncheck_refund_policy --category toys\n```",
    "fence": "```bash\ncheck_refund_policy --category toys\n```",
    "json": json.dumps({"command": {"name": "check_refund_policy", "args": GIVEN}}),
    "own observation": f"<observation>{POLICY}: allowed</observation>",
}


@pytest.mark.parametrize("render", FORMATS, ids=lambda render: render.__name__)
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN.keys())
def test_text_is_no_call_beside_structured_calls(
    render: Callable[[list[Any]], Any], written: str
) -> None:
    trace = render([LOOKED, written, REFUNDED, CONFIRMED])
    verdict = evaluate(plan=PLAN, trace=trace)
    assert verdict.score == 0.5
    assert verdict.steps[1].status in {Status.MISSING, Status.AMBIGUOUS}
    done = render([LOOKED, ("check_refund_policy", {"category": "toys"}), REFUNDED, CONFIRMED])
    assert evaluate(plan=PLAN, trace=done).score == 1.0


EXAMPLE = "Thought: now\nAction: check_refund_policy[toys]\nObservation: allowed\n"
RUN = "Thought: I look.\nAction: get_order[A-1042]\nObservation: toys\n"
TEXTS = {
    "examples before the question": (
        f"Here are some examples.\nQuestion: Refund A-7.\n{EXAMPLE}\nQuestion: Refund it.\n{RUN}"
    ),
    "examples with an end": f"Here is an example:\n{EXAMPLE}(END OF EXAMPLES)\n{RUN}",
    "examples of the user": f"User: Do it so:\n{EXAMPLE}\nAssistant: {RUN}",
    "a result without a call": f"Assistant: {RUN}\nTool: {POLICY}: allowed\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_only_the_run_counts_in_a_text(text: str) -> None:
    verdict = evaluate(plan=["Get order A-1042", POLICY], trace=text)
    first, second = verdict.steps
    assert first.status is Status.EXECUTED
    assert second.status in {Status.MISSING, Status.AMBIGUOUS}


def test_examples_in_the_prompt_of_a_chat_are_no_actions() -> None:
    fence = "```mswea_bash_command\n{}\n```"
    ran = "<returncode>0</returncode>\n<output>\ntoys\n</output>"
    trace = [
        {"role": "system", "content": f"Answer so:\n{fence.format('check_refund_policy toys')}"},
        {"role": "user", "content": f"Refund it.\n{EXAMPLE}"},
        *message_event(f"I look.\n{fence.format('get_order A-1042')}"),
        {"role": "user", "content": ran},
    ]
    verdict = evaluate(plan=["Get order A-1042", POLICY], trace=trace)
    assert [step.status for step in verdict.steps] == [Status.EXECUTED, Status.MISSING]


def test_a_call_in_another_form_than_the_answered_ones_is_none() -> None:
    trace = [
        USER,
        *message_event("<execute_bash>get_order A-1042</execute_bash>"),
        {"role": "user", "content": "Observation: toys"},
        *message_event(f"{REACT}\nObservation: the refund policy allows it"),
    ]
    verdict = evaluate(plan=["Get order A-1042", POLICY], trace=trace)
    assert [step.status for step in verdict.steps] == [Status.EXECUTED, Status.MISSING]


def test_a_call_of_an_agent_that_mostly_talks_is_none() -> None:
    talk = [*message_event("I look at the order."), USER, *message_event("It is a toy."), USER]
    trace = [USER, *talk, *message_event(REACT)]
    assert evaluate(plan=[POLICY], trace=trace).score == 0.0


def test_code_in_a_span_is_none_beside_recorded_calls() -> None:
    def span(number: int, kind: str, **attributes: Any) -> dict[str, Any]:
        return {
            "name": kind,
            "context": {"span_id": str(number), "trace_id": "t"},
            "parent_id": None,
            "start_time": f"2026-01-01T00:00:0{number}Z",
            "attributes": {"openinference.span.kind": kind, **attributes},
        }

    answer = "llm.output_messages.0.message"
    call = f"{answer}.tool_calls.0.tool_call.function"
    code = "Thought: now\nCode:\n```py\ncheck_refund_policy('toys')\n```<end_code>"
    said = span(2, "LLM", **{f"{answer}.role": "assistant", f"{answer}.content": code})
    called = span(
        1,
        "LLM",
        **{
            f"{answer}.role": "assistant",
            f"{call}.name": "get_order",
            f"{call}.arguments": '{"id": "A-1042"}',
        },
    )
    plan = ["Get order A-1042", "Check the refund policy for toys"]
    first, second = evaluate(plan=plan, trace=[called, said]).steps
    assert first.status is Status.EXECUTED
    assert second.status in {Status.MISSING, Status.AMBIGUOUS}
    assert evaluate(plan=plan[1:], trace=[said]).steps[0].status is Status.EXECUTED


def test_a_thought_in_a_log_names_no_tool() -> None:
    line = "2026-04-01 02:57:5{}.500 | INFO     | app.agent:act:81 - {}\n"
    text = (
        line.format(1, "✨ thoughts: Tool call: check_refund_policy")
        + line.format(2, "🧰 Tools being prepared: ['get_order']")
        + line.format(3, '🔧 Tool arguments: {"id": "A-1042"}')
        + line.format(4, "🎯 Tool 'get_order' completed its mission! Result: toys")
    )
    verdict = evaluate(plan=["Get order A-1042", POLICY], trace=text)
    assert [step.status for step in verdict.steps] == [Status.EXECUTED, Status.MISSING]


@pytest.mark.parametrize(("count", "understood"), [(1, True), (2, False)])
def test_calls_under_an_unknown_key_are_counted(count: int, understood: bool) -> None:
    unknown = [{"name": "refund_order", "arguments": {"id": n}} for n in range(count)]
    trace = [
        USER,
        *LOOK_UP,
        {"role": "assistant", "content": "I refund it.", "tool_uses": unknown},
        {"role": "assistant", "content": "Done.", "raw_calls": LOOK_UP[0]["tool_calls"][:0]},
    ]
    verdict = evaluate(plan=[PLAN[0]], trace=trace)
    assert (verdict.score is not None) is understood
    assert str(verdict.coverage).count("a call under a key that is not known") == 1
