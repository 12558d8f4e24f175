from __future__ import annotations

from typing import Any

import pytest

from planproof.core.trace import EventStatus
from tests.unit.readers.samples import STAGED_CHAT, actions, brief, read

SEEN = "Here is a screenshot of [A page](https://example.org). The viewport shows 10%."
WARNING = "/lib/a.py:115: UserWarning: FP16 is not supported.\n  warnings.warn(text)\n"


def test_a_chat_with_stage_directions() -> None:
    trace = read(STAGED_CHAT)
    assert brief(trace) == [
        ("message", None, "How many stops are there?"),
        ("bookkeeping", None, 'Updated Ledger:\n{"done": false}'),
        ("action", "WebSurfer", "Search for the stops."),
        ("action", "type", "I typed 'stops. of the line' into the search bar."),
        ("message", None, "There are 6 stops."),
        ("reasoning", None, "Request satisfied."),
        ("message", None, "FINAL ANSWER: 6"),
    ]
    handed, typed = actions(trace)
    assert (handed.actor, handed.status) == ("Orchestrator", EventStatus.UNKNOWN)
    assert typed.output.startswith("Here is a screenshot")
    assert typed.output_pointer == typed.pointer == "/3"
    assert trace.events[0].actor == "user"
    assert trace.events[4].actor == "Assistant"


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (f"I clicked 'A\nB'.\n\n{SEEN}", [("action", "click", "I clicked 'A\nB'.")]),
        (f"I scrolled down\n\n{SEEN}", [("action", "scroll", "I scrolled down")]),
        (
            f"I visited x.\n{SEEN}\nFINAL ANSWER: 7",
            [("action", "visit", "I visited x."), ("message", None, "FINAL ANSWER: 7")],
        ),
        (
            "Address: file:///a.pdf\nViewport position: page 1 of 2.\ntext",
            [("action", "open", "Address: file:///a.pdf")],
        ),
        ("I clicked it, believe me.", [("message", None, "I clicked it, believe me.")]),
        ("I searched the web and found 7.\n\nSo it is 7.", None),
        ("Address: unknown", [("message", None, "Address: unknown")]),
    ],
)
def test_an_action_needs_a_visible_effect(text: str, events: list[Any] | None) -> None:
    handed = {"role": "Orchestrator (-> Surfer)", "content": "Go."}
    found = brief(read([handed, {"role": "Surfer", "content": text}]))
    assert found[1:] == (events or [("message", None, text)])


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("I clicked 'Details'.", ("action", "click", "I clicked 'Details'.")),
        (
            "I typed 'a' into 'b'.\n\nThe page is empty.",
            ("action", "type", "I typed 'a' into 'b'."),
        ),
        (f"{WARNING}{WARNING}I scrolled down.", ("action", "scroll", "I scrolled down.")),
        ("I searched the web and found 7.", None),
        ("I clicked through all the pages and found 7.", None),
        ("I clicked 'Details' and 'More'\nand found 7.", None),
        ("The answer is 7. I clicked 'Details'.", None),
    ],
)
def test_a_program_that_drives_a_browser_need_not_show_the_page(text: str, action: Any) -> None:
    sent = {"role": "Orchestrator (-> WebSurfer)", "content": "Go."}
    claim = ("message", None, text.strip())
    assert brief(read([sent, {"role": "WebSurfer", "content": text}]))[1] == (action or claim)
    # Neither one who was not sent nor one of another name is taken at its word.
    assert brief(read([{"role": "WebSurfer", "content": text}]))[0] == claim
    coder = {"role": "Orchestrator (-> Coder)", "content": "Go."}
    assert brief(read([coder, {"role": "Coder", "content": text}]))[1] == claim


def thought(text: str) -> dict[str, Any]:
    return {"role": "Orchestrator (thought)", "content": text}


def test_the_plan_follows_the_facts() -> None:
    text = (
        "Initial plan:\n\nWe are working on this.\n\n"
        "Here is the plan to follow as best as possible:\n\n- Look.\n- Tell.\n\n" + WARNING
    )
    trace = read([thought(text), thought("New plan:\n\n- Tell."), thought("Hm.")])
    assert brief(trace) == [
        ("bookkeeping", None, "Initial plan:\n\nWe are working on this."),
        ("bookkeeping", "plan", "- Look.\n- Tell."),
        ("bookkeeping", "plan", "- Tell."),
        ("reasoning", None, "Hm."),
    ]
    assert {event.pointer for event in trace.events[:2]} == {"/0"}


def test_code_that_the_terminal_of_the_team_ran() -> None:
    trace = read(
        [
            thought("Next speaker Assistant"),
            {"role": "Assistant", "content": "```sh\nls\n```"},
            {
                "role": "ComputerTerminal",
                "content": "The script ran but produced no output. The POSIX exit code was: 1",
            },
        ]
    )
    [run] = actions(trace)
    assert (run.text, run.status) == ("ls", EventStatus.ERROR)


def test_a_turn_that_is_none_is_skipped() -> None:
    turns: list[Any] = [thought("Hm."), *STAGED_CHAT] * 7
    turns += [{"role": "Boss"}, 5]
    assert [part.pointer for part in read(turns).skipped] == ["/56", "/57"]


@pytest.mark.parametrize(
    "document",
    [
        [thought("Hm."), {"role": "user", "content": None}],
        [{"role": "Boss (angry)", "content": "No."}],
        {"history": [], "question": "?"},
    ],
)
def test_what_is_not_magentic_one(document: Any) -> None:
    assert read(document).reader != "magentic-one"
