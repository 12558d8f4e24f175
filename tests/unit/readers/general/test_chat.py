from __future__ import annotations

from typing import Any

import pytest

from planproof.trace import EventStatus
from tests.unit.readers.samples import GROUP_CHAT, STAGED_CHAT, actions, brief, read

SEEN = "Here is a screenshot of [A page](https://example.org). The viewport shows 10%."


def chat(*turns: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"role": "user", "name": name, "content": text} for name, text in turns]


def test_code_that_the_next_turn_runs_is_an_action() -> None:
    trace = read(GROUP_CHAT)
    assert brief(trace) == [
        ("message", None, "Let us count the rows."),
        ("message", None, "I count them."),
        ("action", "python", "print(len(rows))"),
        ("message", None, "Please run it."),
        ("message", None, "TERMINATE"),
    ]
    [run] = actions(trace)
    assert (run.actor, run.status, run.output_pointer) == ("Coder", EventStatus.ERROR, "/2/content")
    assert run.turn == trace.events[1].turn == trace.events[3].turn
    assert trace.events[0].actor == "Planner"


def test_code_that_nobody_runs_is_just_said() -> None:
    text = "Run this:\n```python\nx = 1\n```"
    for turns in (
        chat(("A", text), ("B", "No.")),
        chat(("B", "Well."), ("A", text)),
    ):
        assert ("message", None, text) in brief(read(turns))
        assert not actions(read(turns))


def test_of_several_blocks_the_last_has_the_output() -> None:
    text = "```python\nx = 1\n```\nand\n```sh\nls\n```\nand\n```json\n{}\n```"
    failed = read(chat(("A", text), ("Executor", "exitcode: 1\nno")))
    assert [(a.name, a.output, a.status.value) for a in actions(failed)] == [
        ("python", "", "unknown"),
        ("sh", "exitcode: 1\nno", "error"),
    ]
    ran = read(chat(("A", text), ("Executor", "exitcode: 0\nyes")))
    assert [a.status.value for a in actions(ran)] == ["ok", "ok"]
    assert brief(ran)[-1] == ("message", None, "and\n```json\n{}\n```")


def test_a_run_whose_code_is_not_in_the_trace_is_an_observation() -> None:
    trace = read(chat(("Computer_terminal", "exitcode: 0\nok"), ("B", "Good.")))
    assert (trace.events[0].kind.value, trace.events[0].status) == ("observation", EventStatus.OK)


def test_what_an_executor_says_without_code_is_a_notice() -> None:
    trace = read(chat(("A", "Hello."), ("Computer_terminal", "There is no code to execute.")))
    assert brief(trace)[1] == ("system", None, "There is no code to execute.")


def test_code_of_a_plain_assistant_that_the_user_side_runs() -> None:
    turns = [
        {"speaker": "assistant", "role": "assistant", "text": "```sh\nls\n```"},
        {"role": "user", "content": "exit code: 0\na.txt"},
        {"role": "user", "content": "Thanks."},
    ]
    trace = read(turns, reader="general")
    assert brief(trace) == [("action", "sh", "ls"), ("message", None, "Thanks.")]
    assert actions(trace)[0].output == "exit code: 0\na.txt"


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
    assert typed.output_pointer == typed.pointer == "/3/content"
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
def test_a_deed_is_what_has_something_to_show(text: str, events: list[Any] | None) -> None:
    handed = {"role": "Orchestrator (-> Surfer)", "content": "Go."}
    found = brief(read([handed, *chat(("Surfer", text))]))
    assert found[1:] == (events or [("message", None, text)])


WARNING = "/lib/a.py:115: UserWarning: FP16 is not supported.\n  warnings.warn(text)\n"


@pytest.mark.parametrize(
    ("text", "deed"),
    [
        ("I clicked 'Details'.", ("action", "click", "I clicked 'Details'.")),
        (
            "I typed 'a' into 'b'.\n\nThe page is empty.",
            ("action", "type", "I typed 'a' into 'b'."),
        ),
        (f"{WARNING}{WARNING}I scrolled down.", ("action", "scroll", "I scrolled down.")),
        ("I searched the web and found 7.", None),
        ("The answer is 7. I clicked 'Details'.", None),
    ],
)
def test_a_program_that_drives_a_browser_need_not_show_the_page(text: str, deed: Any) -> None:
    sent = {"role": "Orchestrator (-> WebSurfer)", "content": "Go."}
    claim = ("message", None, text.strip())
    assert brief(read([sent, {"role": "WebSurfer", "content": text}]))[1] == (deed or claim)
    # Neither one who was not sent nor one of another name is taken at its word.
    assert brief(read([{"role": "WebSurfer", "content": text}]))[0] == claim
    coder = {"role": "Orchestrator (-> Coder)", "content": "Go."}
    assert brief(read([coder, {"role": "Coder", "content": text}]))[1] == claim


@pytest.mark.parametrize(
    ("turn", "event"),
    [
        ({"role": "assistant", "message": "Hi."}, ("message", None, "Hi.")),
        ({"role": "system", "message": "Be good."}, ("system", None, "Be good.")),
        ({"sender": "human", "message": "Go."}, ("message", None, "Go.")),
        ({"agent": "Writer", "text": "A poem."}, ("message", None, "A poem.")),
        ({"role": "Boss (thought)", "content": "Hm."}, ("reasoning", None, "Hm.")),
        ({"role": "Boss (->)", "content": "You."}, ("action", "hand-off", "You.")),
        ({"role": "", "content": "Who?"}, ("message", None, "Who?")),
    ],
)
def test_other_ways_to_write_a_turn(turn: dict[str, Any], event: tuple[str, Any, str]) -> None:
    assert brief(read([turn])) == [event]


def test_times_of_turns_also_where_code_waits() -> None:
    turns = chat(("A", "```sh\nls\n```"), ("Executor", "exitcode: 0"))
    turns[0]["timestamp"], turns[1]["timestamp"] = "2025-01-01", "2025-01-02"
    assert [event.time for event in read(turns).events] == ["2025-01-01"]


def test_a_call_in_what_a_named_speaker_says() -> None:
    trace = read(chat(("A", "Hm.\n<execute_bash>ls</execute_bash>"), ("B", "Well.")))
    assert brief(trace)[:2] == [("message", None, "Hm."), ("action", "bash", "ls")]
