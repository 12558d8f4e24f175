"""Conditions on the fields of a record, as `--where` takes them.

A condition is a field, alone or with an operator and a value: `team=search`, `/meta/turns>=10`,
`model!=x`, `task~refund`, `/meta/label`. A field is a name or a JSON pointer. A value is JSON where
it reads as such, otherwise text. Nothing is ever run: there are no functions and no names.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planproof.core.content import Json
from planproof.core.json_values import is_list
from planproof.core.pointer import escape
from planproof.errors import InvalidInput
from planproof.runs.datasets.field_mapping import value_at

# In a pointer ~0 and ~1 stand for other characters.
_FIELD = r"/(?:[^=!<>~]|~[01])*|[^=!<>~]+"
_CONDITION = re.compile(rf"({_FIELD})(?:(!=|<=|>=|==|=|<|>|~)(.*))?", re.DOTALL)
_ORDERING_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SYNTAX_ADVICE = (
    "Write FIELD=VALUE, with one of = != < <= > >= ~ (contains), or FIELD alone for one that is "
    "there; a field is a name or a JSON pointer such as /meta/team."
)


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """One condition; `sign` is None where the field need only be there."""

    pointer: str
    sign: str | None
    value: Json

    def matches(self, record: Json) -> bool:
        """Whether a record meets it. A field that is not there is null."""
        try:
            actual = value_at(record, self.pointer)
        except InvalidInput:
            actual = None
        if self.sign is None:
            return actual is not None
        if self.sign == "=":
            return _is_equal(actual, self.value)
        if self.sign == "!=":
            return not _is_equal(actual, self.value)
        if self.sign == "~":
            return _contains(actual, self.value)
        return _is_orderable(actual, self.value) and _ORDERING_OPERATORS[self.sign](
            actual, self.value
        )


def parse_condition(text: str) -> FieldCondition:
    """The condition in a text."""
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise InvalidInput(f"`{text}` is no condition.", where="--where", advice=_SYNTAX_ADVICE)
    field, sign, value = match[1].strip(), match[2], match[3]
    pointer = field if field.startswith("/") else f"/{escape(field)}"
    if sign is None:
        return FieldCondition(pointer, None, None)
    return FieldCondition(pointer, "=" if sign == "==" else sign, _parse_value(value.strip()))


def _parse_value(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, (dict, list)) else value


def _is_equal(actual: Json, value: Json) -> bool:
    # `true` is no 1, and an id that is all digits is the number that was typed.
    if isinstance(actual, bool) or isinstance(value, bool):
        return actual is value
    if isinstance(actual, str) and isinstance(value, (int, float)):
        return actual == json.dumps(value)
    return actual == value


def _contains(actual: Json, value: Json) -> bool:
    if is_list(actual):
        return any(_is_equal(item, value) for item in actual)
    text = value if isinstance(value, str) else json.dumps(value)
    return isinstance(actual, str) and text in actual


def _is_orderable(actual: Json, value: Json) -> bool:
    numbers = isinstance(actual, (int, float)) and isinstance(value, (int, float))
    return numbers or (isinstance(actual, str) and isinstance(value, str))
