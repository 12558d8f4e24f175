"""An event on one line."""

from __future__ import annotations

import json

import pytest

from planproof.core.trace import COMMENTARY, Event, EventStatus, Kind
from planproof.llm.prompting.event_lines import DETAIL_LEVELS
from tests.replacement import replace
from tests.unit.llm.prompting.event_builders import did, event_writer, said


def line(event: Event, *others: Event, detail: int = 0) -> str:
    return event_writer(event, *others).write_line(event, detail).text


@pytest.mark.parametrize(
    ("event", "written"),
    [
        (
            did(1, "read_file", "ok", path="a.txt"),
            'e1 action read_file {"path":"a.txt"} ok => «ok»',
        ),
        (said(2, "Hello\nthere"), "e2 message «Hello\\nthere»"),
        (said(3, "Please.", actor="user"), "e3 message by user «Please.»"),
        (said(4, "Hm.", kind=Kind.REASONING), "e4 reasoning «Hm.»"),
        (
            replace(said(4, "Hm.", kind=Kind.REASONING), recognition=COMMENTARY),
            "e4 reasoning (said) «Hm.»",
        ),
        (replace(did(5, "a tool"), parent="e1"), 'e5 action "a tool" under e1 {} ok'),
        (replace(did(6, "bash", cmd="ls -l"), text="ls -l"), 'e6 action bash {"cmd":"ls -l"} ok'),
    ],
)
def test_what_is_written_of_an_event(event: Event, written: str) -> None:
    assert line(event) == written


def test_actors_are_named_where_there_are_several() -> None:
    one, two = said(1, "Hi."), said(2, "Ho.", actor="critic")
    assert line(one, two) == "e1 message by assistant «Hi.»"
    assert line(one) == "e1 message «Hi.»"


def test_calls_of_one_turn_are_said_to_be_together() -> None:
    one, two, three = (replace(did(n, "look"), turn=turn) for n, turn in ((1, 4), (2, 4), (3, 5)))
    writer = event_writer(one, two, three)
    assert writer.write_line(two, 0).text == "e2 action look (with e1) {} ok"
    assert "with" not in writer.write_line(one, 0).text + writer.write_line(three, 0).text


def test_what_came_back_is_short_unless_it_speaks_of_the_plan_or_is_an_error() -> None:
    plain = did(1, "look", "nothing of it " * 50)
    relevant = did(2, "look", "the folder archive, " * 50)
    failed = replace(plain, status=EventStatus.ERROR)
    assert len(line(plain)) < 160
    assert "[+628]" in line(plain)
    assert line(relevant).endswith("archive, »")
    assert "[+" not in line(failed)


@pytest.mark.parametrize("detail", range(len(DETAIL_LEVELS)))
def test_what_is_left_out_is_counted(detail: int) -> None:
    event = replace(did(1, "write", "out " * 9_000, text="in " * 9_000), text="x" * 30_000)
    written = event_writer(event).write_line(event, detail)
    assert written.text.endswith(f"[+{written.left_out}]")
    whole = len(event.text) + len(event.output) + len('{"text":""}') + 27_000
    ellipses = written.text.count("…")
    kept = len(written.text) - len("e1 action write   ok => «»«» ") - ellipses
    assert kept - len(f"[+{written.left_out}]") == whole - written.left_out


def test_an_event_as_json() -> None:
    writer = event_writer(event := did(1, "read_file", "x" * 200, path="a"))
    fields = json.loads(writer.write_object(event, 0).text)
    assert fields.pop("left_out") == 128
    assert fields.pop("output").count("…") == 1
    assert fields == {
        "id": "e1",
        "kind": "action",
        "name": "read_file",
        "actor": "assistant",
        "arguments": {"path": "a"},
        "status": "ok",
    }
    long = did(1, "write", text="y" * 500)
    assert isinstance(json.loads(event_writer(long).write_object(long, 3).text)["arguments"], str)
