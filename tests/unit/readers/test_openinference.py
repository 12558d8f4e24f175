from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from planproof.readers.decoding.source import Source
from planproof.readers.spans import OpenInferenceReader
from tests.unit.readers.samples import ALL, actions, brief, read
from tests.unit.readers.span_samples import (
    SPAN_TREE,
    flat_span,
    make_export,
    model_span,
    nested_span,
)

OUT = "llm__output_messages__0__message"
IN = "llm__input_messages"


def answer(start: int, text: str, **more: Any) -> dict[str, Any]:
    return nested_span("Model.generate", "LLM", start, **{f"{OUT}__content": text}, **more)


def step(number: int, start: int, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    return nested_span(f"Step {number}", "CHAIN", start, children=list(children), **more)


def run(*children: dict[str, Any], start: int = 1, **more: Any) -> dict[str, Any]:
    given = more.pop("task", "Find the ship.")
    return nested_span(
        "CodeAgent.run",
        "AGENT",
        start,
        input__value=f'{{"task": "{given}", "stream": false}}',
        children=list(children),
        **more,
    )


def test_a_tree_of_spans_with_code_that_calls_tools() -> None:
    trace = read(SPAN_TREE)
    assert brief(trace) == [
        ("bookkeeping", "plan", "Facts."),
        ("reasoning", None, "Thought: I search."),
        ("action", "python", "for q in queries:\n    search(q)"),
        ("action", "search", ""),
        ("message", None, "Done."),
    ]
    code, search = actions(trace)
    assert code.output == "Execution logs:\n3 results"
    assert code.output_pointer == "/spans/0/child_spans/1/span_attributes/output.value"
    assert (search.parent, search.arguments) == (code.id, {"query": "ships"})
    assert search.turn == code.turn
    assert trace.events[-1].parent is None


def test_facts_plan_and_new_plan_of_an_older_version() -> None:
    tree = run(
        answer(2, "1. Facts given in the task"),
        answer(3, "1. Search.\n2. Answer.\n<end_plan>"),
        step(1, 4, answer(5, "Thought: go.\nCode:\n```py\ngo()\n```<end_code>")),
        answer(6, "New facts."),
        answer(7, "1. Answer."),
        step(2, 8, answer(9, "Thought: end.\nCode:\n```py\nend()\n```<end_code>")),
        answer(10, "I ran out of steps."),
    )
    assert brief(read([tree])) == [
        ("message", None, "Find the ship."),
        ("reasoning", None, "1. Facts given in the task"),
        ("bookkeeping", "plan", "1. Search.\n2. Answer."),
        ("reasoning", None, "Thought: go."),
        ("action", "python", "go()"),
        ("reasoning", None, "New facts."),
        ("bookkeeping", "plan", "1. Answer."),
        ("reasoning", None, "Thought: end."),
        ("action", "python", "end()"),
        ("message", None, "I ran out of steps."),
    ]


def test_facts_and_plan_in_one_answer_of_a_newer_version() -> None:
    told = {"llm__output_messages__0__message__contents__0__message_content__text": "## 1. Facts "
            "survey\n### 1.1. Facts\nnone\n## 2. Plan\n1. Search.<end_plan>"}  # fmt: skip
    coded = "Thought: go.\n<code>\nsearch()\n</code>"
    tree = run(nested_span("M", "LLM", 2, **told), step(1, 3, answer(4, coded)))
    assert brief(read({"spans": [tree]}))[1:] == [
        ("reasoning", None, "## 1. Facts survey\n### 1.1. Facts\nnone"),
        ("bookkeeping", "plan", "## 2. Plan\n1. Search."),
        ("reasoning", None, "Thought: go."),
        ("action", "python", "search()"),
    ]


def test_a_managed_agent_belongs_to_the_code_that_called_it() -> None:
    inner = run(
        answer(5, "1. Look."),
        step(1, 6, nested_span("Look", "TOOL", 7, tool__name="look", output__value="a ship")),
        start=4,
        task="Look out.",
    )
    tree = run(
        step(1, 2, answer(3, "Code:\n```py\nscout(task)\n```"), inner, output__value="found")
    )
    trace = read([tree])
    assert [(e.kind.value, e.name, e.parent) for e in trace.events] == [
        ("message", None, None),
        ("action", "python", None),
        ("bookkeeping", "plan", "e2"),
        ("action", "look", "e2"),
    ]
    # Without the outermost span the code is still what called it.
    assert [e.parent for e in read(tree["child_spans"]).events] == [None, "e1", "e1"]


def test_a_managed_agent_belongs_to_the_call_of_its_name() -> None:
    call = {
        f"{OUT}__role": "assistant",
        f"{OUT}__tool_calls__0__tool_call__id": "c1",
        f"{OUT}__tool_calls__0__tool_call__function__name": "scout",
        f"{OUT}__tool_calls__0__tool_call__function__arguments": '{"task": "Look."}',
    }
    inner = run(step(1, 5, nested_span("Look", "TOOL", 6, tool__name="look")), start=4)
    tree = run(step(1, 2, nested_span("M", "LLM", 3, **call), inner, output__value="a ship"))
    trace = read([tree])
    assert [(e.name, e.parent, e.output) for e in actions(trace)] == [
        ("scout", None, "a ship"),
        ("look", "e2", ""),
    ]


def test_a_tool_call_that_the_code_already_shows_is_not_repeated() -> None:
    code = nested_span("LLM", "LLM", 2, output__value="Code:\n```py\nfinal_answer('7')\n```")
    given = '{"args": ["7"], "kwargs": {}}'
    final = nested_span("F", "TOOL", 3, tool__name="final_answer", input__value=given)
    other = nested_span("F", "TOOL", 4, tool__name="other", input__value="{}")
    found = actions(read([step(1, 1, code, final, other)]))
    assert [event.name for event in found] == ["python", "other"]
    assert found[0].status is EventStatus.OK


def test_code_outside_of_any_step_has_no_outcome() -> None:
    [ran] = actions(read([answer(1, "Code:\n```py\ngo()\n```")]))
    assert (ran.text, ran.output, ran.status) == ("go()", "", EventStatus.UNKNOWN)


@pytest.mark.parametrize(
    ("more", "output"),
    [
        ({"status_message": "it broke", "status_code": "Error"}, "it broke"),
        ({"events": [{"Name": "exception", "Attributes": {"exception.message": "bad"}}]}, "bad"),
        ({"events": [{"name": "agent.step_recovery", "attributes": {"message": "no"}}]}, "no"),
    ],
)
def test_a_step_that_failed(more: dict[str, Any], output: str) -> None:
    failed = {**step(1, 1, answer(2, "Code:\n```py\ngo()\n```")), **more}
    [ran] = actions(read([failed]))
    assert (ran.output, ran.status) == (output, EventStatus.ERROR)


def test_prompts_give_the_task_and_the_results_where_no_span_does() -> None:
    asked = {
        f"{IN}__0__message__role": "system",
        f"{IN}__0__message__content": "Be brief.",
        f"{IN}__1__message__role": "user",
        f"{IN}__1__message__content": "Go.",
    }
    call = {
        f"{OUT}__role": "assistant",
        f"{OUT}__tool_calls__0__tool_call__id": "c1",
        f"{OUT}__tool_calls__0__tool_call__function__name": "go",
    }
    later = {
        f"{IN}__2__message__role": "assistant",
        f"{IN}__3__message__role": "tool",
        f"{IN}__3__message__tool_call_id": "c1",
        f"{IN}__3__message__content": "gone",
    }
    spans = [
        nested_span("ChatCompletion", "LLM", 1, **asked, **call),
        answer(2, "Done.", **asked, **later),
    ]
    trace = read(spans)
    assert [e.text or e.name for e in trace.events] == ["Be brief.", "Go.", "go", "Done."]
    assert trace.events[2].output == "gone"


def test_a_scaffold_says_nothing_for_the_user_but_the_task() -> None:
    prompt = {
        f"{IN}__0__message__role": "system",
        f"{IN}__0__message__content": "You write code.",
        f"{IN}__1__message__role": "user",
        f"{IN}__1__message__content": "New task: go.",
        f"{IN}__2__message__role": "assistant",
        f"{IN}__2__message__content": "A plan.",
        f"{IN}__3__message__role": "user",
        f"{IN}__3__message__content": "Now proceed.",
    }
    steps = [step(n, 2 * n, answer(2 * n + 1, "I go.", **prompt)) for n in (1, 2)]
    assert [e.text for e in read(steps).events] == ["New task: go.", "I go.", "I go."]


def test_flat_lists_export_requests_and_unfolded_attributes() -> None:
    span = flat_span(1, openinference__span__kind="TOOL", tool__name="a", output__value="b")
    unfolded: dict[str, Any] = {
        **flat_span(1),
        "attributes": {
            "openinference": {"span": {"kind": "LLM"}},
            "llm": {
                "output_messages": [
                    {"message": {"role": "assistant", "content": "Hi.", "tool_calls": []}}
                ],
                "tags": ["a"],
            },
        },
    }
    for sample in ([span], make_export(span), {"data": [span]}):
        assert read(sample).reader == "openinference"
        assert [(e.name, e.output) for e in read(sample).events] == [("a", "b")]
    trace = read([unfolded])
    assert brief(trace) == [("message", None, "Hi.")]
    assert trace.events[0].pointer == "/0/attributes/llm/output_messages/0/message/content"
    beside = {**flat_span(1, output__value="b"), "span_kind": "TOOL", "name": "look"}
    assert [(e.name, e.output) for e in read([beside]).events] == [("look", "b")]


def test_spans_of_both_conventions_in_one_file() -> None:
    spans = [
        flat_span(1, openinference__span__kind="CHAIN", gen_ai__operation__name="execute_tool"),
        model_span(2, gen_ai__output="Hi."),
        flat_span(3, openinference__span__kind="RETRIEVER", name="find", input__value="ships"),
    ]
    trace = read(spans)
    assert trace.reader == "openinference"
    assert brief(trace) == [("message", None, "Hi."), ("action", "find", "ships")]


def test_others_are_not_claimed() -> None:
    reader = OpenInferenceReader()
    assert [name for name in ALL if reader.sniff(Source.from_value(ALL[name]))] == ["span tree"]
    bare: dict[str, Any] = {"span_id": "1", "span_attributes": {}, "child_spans": []}
    assert reader.sniff(Source.from_value({"spans": [bare]}))
