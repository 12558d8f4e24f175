"""Read case files: one case as JSON, or a data set with one case per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Protocol

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.json_values import MAX_DEPTH, has_more_values, is_deeper_than, is_object
from planproof.core.limits import Limits
from planproof.errors import InvalidInput
from planproof.readers.decoding.json_parsing import (
    describe_json_error,
    limit_error,
    too_many_values_error,
)
from planproof.readers.decoding.rewinding import Readable
from planproof.readers.task_content import read_task

CASE_FIELDS = ("user_task", "agent_plan", "execution_trace")
_FORM = 'A case is {"user_task": ..., "agent_plan": ..., "execution_trace": ...}.'
_NO_CASE = f"{_FORM} Pass a trace with --trace, and its plan with --plan."
_DEEPEST = 2 * MAX_DEPTH
"""Values nested more deeply can be parsed, but neither stored nor sent to another process."""
_TYPE_NAMES: dict[type, str] = {
    NoneType: "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A line of a data set: the case in it, or the error.

    `where` is the location of the line; `record` is its value, if it is JSON.
    """

    where: str
    case: Case | None = None
    error: InvalidInput | None = None
    id: str | None = None
    record: Json = None


class CaseMaker(Protocol):
    """Builds a case from a record, and decides where the fields of the case are."""

    def __call__(self, value: Json, *, name: str) -> Case:
        """Return the case in a JSON value; `name` is its location, for errors."""
        ...


def read_case(data: bytes, *, name: str, limits: Limits | None = None) -> Case:
    """Return the case in a file with this content."""
    line = build_raw_line(data, name, limits or Limits())
    if line.error is not None:
        raise line.error
    value = _parse_json(data, name)
    try:
        return parse_case(value, name=name)
    except InvalidInput as error:
        if is_object(value) and any(field in value for field in CASE_FIELDS):
            raise
        raise InvalidInput(error.what, where=error.where, advice=_NO_CASE) from error


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line that is not blank, as bytes; `error` is set if it exceeds a limit."""

    where: str
    data: bytes
    error: InvalidInput | None = None


def build_raw_line(data: bytes, where: str, limits: Limits) -> RawLine:
    """Return a line or another record, with an error if it has too many values."""
    if len(data) > limits.values:
        text = data.decode(json.detect_encoding(data), "replace")
        if has_more_values(text, limits.values):
            return RawLine(where, b"", too_many_values_error(limits.values, where))
    return RawLine(where, data)


def iter_raw_lines(file: Readable, *, name: str, limits: Limits) -> Iterator[RawLine]:
    """Yield the lines of a file that are not blank, one at a time."""
    number = 0
    while line := file.readline(limits.bytes + 1):
        number += 1
        where = f"{name}, line {number}"
        if len(line) > limits.bytes and not line.endswith(b"\n"):
            _skip_rest_of_line(file, limits.bytes)
            yield RawLine(where, b"", line_too_long_error(where, limits))
        elif not line.isspace():
            yield build_raw_line(line, where, limits)


def parse_cases(lines: Iterable[RawLine], make: CaseMaker | None = None) -> Iterator[CaseLine]:
    """Yield the cases of a data set, one per line; an invalid line does not stop the rest."""
    for line in lines:
        if line.error is not None:
            yield CaseLine(line.where, error=line.error)
            continue
        try:
            value = _parse_json(line.data.strip(), line.where)
        except InvalidInput as error:
            yield CaseLine(line.where, error=error)
        else:
            yield parse_case_line(value, line.where, make)


def parse_case_line(value: Json, where: str, make: CaseMaker | None = None) -> CaseLine:
    """Return the case in a record of a data set, or the error."""
    id_ = value.get("id") if is_object(value) else None
    try:
        case = (make or parse_case)(value, name=where)
    except InvalidInput as error:
        return CaseLine(where, error=error, id=id_ if isinstance(id_, str) else None, record=value)
    return CaseLine(where, case, id=case.id, record=value)


def parse_case(value: Json, *, name: str) -> Case:
    """Return the case in a JSON value. Unknown fields are ignored."""
    if not is_object(value):
        raise InvalidInput(
            f"must be an object, not {_TYPE_NAMES[type(value)]}.", where=name, advice=_FORM
        )
    for field in CASE_FIELDS:
        if field not in value:
            _refuse_misnamed(field, value, name)
    plan = _get_typed(value, "agent_plan", (str, list, dict, NoneType), name)
    trace = _get_typed(value, "execution_trace", (str, list, dict), name)
    id_ = _get_typed(value, "id", (str, int, NoneType), name)
    metadata = _get_typed(value, "metadata", (dict, NoneType), name)
    task = value["user_task"]
    return Case(
        # A bare trace is stored without a task, and what was stored must be accepted again.
        task=None if task is None else read_task(task, where=f"{name}#/user_task"),
        plan=plan,
        trace=trace,
        id=None if id_ is None else str(id_),
        metadata=metadata or {},
    )


def _get_typed(fields: dict[str, Json], field: str, types: tuple[type, ...], name: str) -> Json:
    value = fields.get(field)
    if type(value) in types:
        return value
    expected = " or ".join(_TYPE_NAMES[kind] for kind in types if kind is not NoneType)
    raise InvalidInput(
        f"must be {expected}, not {_TYPE_NAMES[type(value)]}.",
        where=f"{name}#/{field}",
        advice=_FORM,
    )


def _refuse_misnamed(field: str, fields: dict[str, Json], name: str) -> None:
    """Raise `InvalidInput` for a missing field.

    A case may have no plan, but a plan under a wrong name is an error.
    """
    misnamed = next((key for key in fields if len(key) > 3 and key in field), None)
    if misnamed is not None or field != "agent_plan":
        raise InvalidInput(
            f"`{field}` is missing.",
            where=name,
            advice=_FORM if misnamed is None else f"Rename `{misnamed}` to `{field}`.",
        )


def line_too_long_error(where: str, limits: Limits) -> InvalidInput:
    """Return the error for a line that is longer than the limit."""
    return limit_error(f"has more than {limits.bytes:,} bytes.", where)


def _parse_json(data: bytes, name: str) -> Json:
    if not data.strip():
        raise InvalidInput("is empty.", where=name, advice=_FORM)
    opened = data.count(b"{") + data.count(b"[")
    try:
        value = json.loads(data)
        if opened > _DEEPEST and is_deeper_than(value, _DEEPEST):
            raise RecursionError
    except RecursionError as error:
        what, advice = "is nested too deeply.", "Check the program that wrote the file."
        raise InvalidInput(what, where=name, advice=advice) from error
    except ValueError as error:
        raise InvalidInput(describe_json_error(error), where=name, advice=_FORM) from error
    return value


def _skip_rest_of_line(lines: Readable, at_once: int) -> None:
    while (rest := lines.readline(at_once)) and not rest.endswith(b"\n"):
        pass
