from __future__ import annotations

from typing import Any

import pytest

from tests.unit.readers.samples import OPENAI, brief, read

MESSAGE: dict[str, Any] = {"role": "assistant", "content": "hi"}
CALL: dict[str, Any] = {"tool": "a", "input": "x"}


@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        (MESSAGE, ["/content"]),
        ({"deep/er": {"~": [MESSAGE]}}, ["/deep~1er/~0/0/content"]),
        ({"history": [CALL], "trajectory": [MESSAGE]}, ["/trajectory/0/content"]),
        ({"events": [], "steps": [CALL]}, ["/steps/0"]),
        ({"info": [CALL], "tools": [CALL], "x": CALL}, ["/x"]),
        ({"2": CALL, "10": CALL, "1": CALL}, ["/1", "/2", "/10"]),
        ({"2": CALL, "x": CALL}, ["/2", "/x"]),
        ([[MESSAGE], [CALL]], ["/0/0/content", "/1/0"]),
        (
            {"samples": [{"messages": [MESSAGE]}, {"messages": [CALL]}]},
            ["/samples/0/messages/0/content", "/samples/1/messages/0"],
        ),
    ],
)
def test_events_are_found_wherever_they_are(document: Any, pointers: list[str]) -> None:
    assert [event.pointer for event in read(document, reader="general").events] == pointers


def test_the_same_run_under_two_keys_is_read_once() -> None:
    once = read({"messages": OPENAI}, reader="general")
    assert brief(read({"messages": OPENAI, "history": OPENAI}, reader="general")) == brief(once)


def test_deep_documents_are_walked() -> None:
    document: Any = [MESSAGE]
    for _ in range(95):
        document = {"x": [document]}
    assert len(read(document).events) == 1


def test_a_record_in_which_nothing_is_recognised_is_named() -> None:
    trace = read([MESSAGE, {"weather": "fine"}, 3, CALL])
    assert [(part.pointer, part.why) for part in trace.skipped] == [
        ("/1", "contains nothing that looks like an event"),
        ("/2", "nothing in it is an event"),
    ]
