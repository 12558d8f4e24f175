"""Case files and data sets: what is read, and how each fault is named."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from planproof.core.content import Content, Image
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.case_files import CaseLine, read_case
from planproof.readers.decoding.trace_files import read_cases

CASE: dict[str, Any] = {"user_task": "Do it.", "agent_plan": ["Do it"], "execution_trace": []}


def _bytes(**changes: Any) -> bytes:
    return json.dumps({**CASE, **changes}).encode()


def _lines(data: bytes, limits: Limits | None = None) -> list[CaseLine]:
    return list(read_cases(io.BytesIO(data), name="cases.jsonl", limits=limits))


def test_a_case_is_read_with_the_fields_of_the_specification() -> None:
    case = read_case(_bytes(id="a", metadata={"team": 3}), name="case.json")
    assert (case.task, case.plan, case.trace) == (Content("Do it."), ["Do it"], [])
    assert (case.id, case.metadata) == ("a", {"team": 3})


def test_other_fields_are_left_alone() -> None:
    assert read_case(_bytes(label={"kind": "x"}, source="y"), name="c") == read_case(
        _bytes(), name="c"
    )


def test_a_task_may_be_parts_with_images() -> None:
    parts = [
        "What is this?",
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    task = read_case(_bytes(user_task=parts), name="c").task
    assert task == Content("What is this?\nLook.", (Image("image/png", data="AAAA"),))


@pytest.mark.parametrize(("given", "kept"), [("x", "x"), (7, "7"), (None, None)])
def test_an_id_is_text_in_the_verdict(given: Any, kept: str | None) -> None:
    assert read_case(_bytes(id=given), name="c").id == kept


@pytest.mark.parametrize("plan", [None, "", [], {}])
def test_a_case_may_have_no_plan(plan: Any) -> None:
    assert read_case(_bytes(agent_plan=plan), name="c").plan == plan


def test_a_case_may_leave_the_plan_out() -> None:
    data = json.dumps({"user_task": "", "execution_trace": []}).encode()
    assert read_case(data, name="c").plan is None


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_understood(mark: str) -> None:
    assert read_case(json.dumps(CASE).encode(mark), name="c").task == Content("Do it.")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "c: is empty."),
        (b" \n ", "c: is empty."),
        (b"Hello", "c: is not valid JSON: Expecting value: line 1 column 1"),
        (b'{\n"user_task": ', "c: is not valid JSON: Expecting value: line 2 column 14"),
        (b"[]", "c: must be an object, not a list. A case is"),
        (b"[]", "Pass a trace with --trace, and its plan with --plan."),
        (b'{"messages": []}', "Pass a trace with --trace, and its plan with --plan."),
        (b"null", "c: must be an object, not null"),
        (b"\xff{}", "c: is not text: byte 0 is not valid UTF-8."),
        (b"[" * 100_000, "c: is nested too deeply"),
        (b"1" * 5_000, "c: is not valid JSON: Exceeds the limit (4300 digits)"),
        (_bytes(user_task=3), "c#/user_task: must be text or a list of content parts, not int"),
        (_bytes(user_task=[3]), "c#/user_task/0: must be a content part, not int"),
        (_bytes(user_task=[{"type": "audio"}]), "c#/user_task/0: is neither a text part nor"),
        (_bytes(agent_plan=3), "c#/agent_plan: must be text or a list or an object, not a number"),
        (
            _bytes(agent_plan=True),
            "c#/agent_plan: must be text or a list or an object, not a boolean",
        ),
        (_bytes(execution_trace=1.5), "c#/execution_trace: must be text or a list or an object"),
        (_bytes(execution_trace=None), "c#/execution_trace: must be text or a list or an object"),
        (_bytes(id=[1]), "c#/id: must be text or a number, not a list"),
        (_bytes(id=True), "c#/id: must be text or a number, not a boolean"),
        (_bytes(metadata=[]), "c#/metadata: must be an object, not a list"),
        (b'{"execution_trace": []}', "c: `user_task` is missing. A case is"),
        (b'{"user_task": ""}', "c: `execution_trace` is missing. A case is"),
        (b'{"user_task": "", "trace": []}', "Rename `trace` to `execution_trace`."),
        (
            b'{"user_task": "", "execution_trace": [], "plan": []}',
            "c: `agent_plan` is missing. Rename `plan` to `agent_plan`.",
        ),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_each_fault_is_named_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_case(data, name="c")
    assert message in str(caught.value)


def test_a_data_set_is_read_line_by_line() -> None:
    data = b"\n".join((_bytes(id="a"), b"", b"{broken", _bytes(id="b"), _bytes(id="b")))
    read = _lines(data)
    assert [line.where for line in read] == [f"cases.jsonl, line {n}" for n in (1, 3, 4, 5)]
    assert [line.case and line.case.id for line in read] == ["a", None, "b", "b"]
    assert "cases.jsonl, line 3: is not valid JSON" in str(read[1].error)


def test_a_line_without_a_case_keeps_its_id() -> None:
    read = _lines(_bytes(id="a", agent_plan=3) + b"\n[]")
    assert [line.id for line in read] == ["a", None]
    assert str(read[0].error).startswith("cases.jsonl, line 1#/agent_plan: must be")


def test_a_data_set_is_not_read_ahead() -> None:
    stream = io.BytesIO(_bytes() + b"\n" + _bytes() + b"\n")
    next(read_cases(stream, name="cases.jsonl"))
    assert stream.tell() == len(_bytes()) + 1


def test_a_line_beyond_the_limit_is_left_out_whole() -> None:
    data = _bytes(user_task="x" * 5_000) + b"\n" + _bytes(id="next")
    read = _lines(data, Limits(bytes=1_000))
    assert [line.case and line.case.id for line in read] == [None, "next"]
    assert "line 1: has more than 1,000 bytes" in str(read[0].error)


def test_a_last_line_beyond_the_limit_is_named_too() -> None:
    assert len(_lines(b'{"' + b"x" * 5_000, Limits(bytes=1_000))) == 1


def test_one_case_over_many_lines_is_a_data_set_of_one() -> None:
    [line] = _lines(json.dumps({**CASE, "id": "a"}, indent=2).encode())
    assert (line.where, line.id) == ("cases.jsonl", "a")


@pytest.mark.parametrize("data", [b'{\n"a": 1\n}', b"[\n{}\n]", b"[[1]]"])
def test_another_json_document_is_not_a_data_set(data: bytes) -> None:
    with pytest.raises(
        InvalidInput, match="is a single JSON document, but neither a case nor a trace"
    ):
        _lines(data)


@pytest.mark.parametrize("mark", ["", "\ufeff", " \n "])
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_cases_is_a_data_set(mark: str, indent: int | None) -> None:
    cases = [{**CASE, "id": "a"}, {"id": "b", "user_task": 3}, 7, {**CASE, "id": "d"}]
    read = _lines((mark + json.dumps(cases, indent=indent)).encode())
    assert [line.where for line in read] == [f"cases.jsonl, item {n}" for n in (1, 2, 3, 4)]
    assert [line.id for line in read] == ["a", "b", None, "d"]
    assert [line.case and line.case.id for line in read] == ["a", None, None, "d"]
    assert "cases.jsonl, item 3: must be an object, not a number" in str(read[2].error)


def test_a_broken_item_of_an_array_does_not_stop_the_rest() -> None:
    read = _lines(b"[" + b",".join((_bytes(id="a"), b'{"id": }', b"", _bytes(id="b"))) + b"]")
    assert [line.id for line in read] == ["a", None, None, "b"]
    assert "item 2: is not valid JSON" in str(read[1].error)
    assert "item 3: is empty" in str(read[2].error)


def test_an_array_is_not_read_ahead() -> None:
    data = b"[" + b",".join([_bytes(user_task="x" * 10_000)] * 100) + b"]"
    stream = io.BytesIO(data)
    next(read_cases(stream, name="cases.json"))
    assert stream.tell() < len(data) / 10


def test_an_item_beyond_the_limit_ends_the_array() -> None:
    items = (_bytes(id="a"), _bytes(user_task='x"]' * 50_000), _bytes(id="c"))
    found = read_cases(
        io.BytesIO(b"[" + b",".join(items) + b"]"), name="f", limits=Limits(bytes=1_000)
    )
    assert next(found).id == "a"
    with pytest.raises(InvalidInput, match="has an element of more than 1,000 bytes"):
        next(found)


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (b"", "is a truncated JSON array"),
        (b"] []", "has unexpected data after the end of the JSON array"),
    ],
)
def test_an_invalid_end_of_an_array_is_an_error_when_reached(end: bytes, message: str) -> None:
    lines = read_cases(io.BytesIO(b"[" + _bytes(id="a") + b"," + _bytes(id="b") + end), name="f")
    assert next(lines).id == "a"
    with pytest.raises(InvalidInput, match=message):
        list(lines)


@pytest.mark.parametrize("data", [b"", b" \n", b"[]", b"[\n]"])
def test_an_empty_data_set_has_no_cases(data: bytes) -> None:
    assert _lines(data) == []
