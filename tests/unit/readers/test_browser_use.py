from __future__ import annotations

import json
from typing import Any

from planproof.core.trace import Trace
from planproof.readers.browser_use import BrowserUseReader
from planproof.readers.decoding.source import Source
from tests.third_party import V2_TRACES, with_v2_traces
from tests.unit.readers.samples import actions, brief


def read(document: Any) -> Trace:
    source = Source.from_value(document)
    assert BrowserUseReader().sniff(source)
    return BrowserUseReader().read(source)


def step(said: dict[str, Any], actions: Any, results: Any, **state: Any) -> dict[str, Any]:
    return {
        "model_output": {**said, "action": actions},
        "result": results,
        "state": {"url": "https://shop.example", "title": "Shop", "tabs": [], **state},
    }


def test_actions_of_a_step_and_their_results() -> None:
    said = {"thinking": "Two fields.", "memory": "", "next_goal": "Fill the form."}
    history: list[dict[str, Any]] = [
        step(
            said,
            [
                {"input_text": {"index": 4, "text": "Ann"}, "done": None},
                {"click_element_by_index": {"index": 7}},
                {"go_back": {}},
            ],
            [{"extracted_content": "Typed Ann"}, {"error": "Element 7 is gone"}],
            interacted_element=[
                {"node_name": "INPUT", "attributes": {"placeholder": "Name"}, "x_path": "a/b"},
                {"tag_name": "a", "ax_name": "Pay", "attributes": {"href": "/pay"}},
                None,
            ],
        ),
        {"model_output": None, "result": [{"error": "No answer"}], "state": {}},
        step({"next_goal": "Finish."}, [{"done": {"text": "Paid."}}], [{"is_done": True}]),
    ]
    trace = read({"history": history})
    assert brief(trace) == [
        ("reasoning", None, "Two fields.\n…\nFill the form."),
        ("action", "input_text", ""),
        ("action", "click_element_by_index", ""),
        ("action", "go_back", ""),
        ("system", None, "No answer"),
        ("reasoning", None, "Finish."),
        ("action", "done", ""),
    ]
    typed, clicked, back, done = actions(trace)
    assert typed.arguments == {
        "index": 4,
        "text": "Ann",
        "element": ["INPUT", "Name"],
    }
    assert clicked.arguments["element"] == ["a", "Pay", "/pay"]
    assert [event.output for event in (typed, clicked, back)] == [
        "Typed Ann",
        "Element 7 is gone",
        "",
    ]
    assert [event.status.value for event in (typed, clicked, back)] == ["ok", "error", "unknown"]
    assert (clicked.pointer, back.pointer) == ("/history/0", "/history/0/model_output/action/2")
    assert typed.turn == back.turn < done.turn


def test_the_plan_of_a_step() -> None:
    plan = ["Open the shop", "Pay"]
    trace = read({"history": [step({"plan_update": plan}, [{"go_back": {}}], [])]})
    assert brief(trace)[0] == ("bookkeeping", "plan", "1. Open the shop\n2. Pay")


def test_a_page_given_as_a_list_of_elements() -> None:
    items = [
        {"index": 0, "text": "Welcome", "is_text_only": True},
        {"index": 1, "text": '<a class="b" href="/pay" role="button">Pay\nPay</a>'},
    ]
    said = {"current_state": {"next_goal": "Pay."}}
    trace = read({"history": [step(said, {"click_element": {"index": 1}}, {}, items=items)]})
    [call] = actions(trace)
    assert call.arguments["element"] == ["button", "Pay", "/pay"]
    assert trace.events[0].pointer == "/history/0/model_output/current_state/next_goal"


@with_v2_traces
def test_a_history_of_browser_use() -> None:
    path = V2_TRACES / "browser-use_AgentHistoryList.json"
    trace = read(json.loads(path.read_text("utf-8")))
    found = actions(trace)
    assert [event.name for event in found] == [
        "search_google",
        "click_element",
        "click_element",
        "done",
    ]
    assert found[0].arguments == {"query": "elon musk"}
    assert found[1].arguments["element"] == ["button", "Alle akzeptieren"]
    assert found[2].output.startswith("🖱️  Clicked element 97")
    assert sum(event.kind.value == "reasoning" for event in trace.events) == 4
