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
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_FORM = (
    "Write FIELD=VALUE, with one of = != < <= > >= ~ (contains), or FIELD alone for one that is "
    "there; a field is a name or a JSON pointer such as /meta/team."
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; `sign` is None where the field need only be there."""

    pointer: str
    sign: str | None
    value: Json

    def holds(self, record: Json) -> bool:
        """Whether a record meets it. A field that is not there is null."""
        try:
            found = value_at(record, self.pointer)
        except InvalidInput:
            found = None
        if self.sign is None:
            return found is not None
        if self.sign == "=":
            return _same(found, self.value)
        if self.sign == "!=":
            return not _same(found, self.value)
        if self.sign == "~":
            return _contains(found, self.value)
        return _is_ordered(found, self.value) and _COMPARED[self.sign](found, self.value)


def parse_condition(text: str) -> Condition:
    """The condition in a text."""
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise InvalidInput(f"`{text}` is no condition.", where="--where", advice=_FORM)
    field, sign, value = found[1].strip(), found[2], found[3]
    pointer = field if field.startswith("/") else f"/{escape(field)}"
    if sign is None:
        return Condition(pointer, None, None)
    return Condition(pointer, "=" if sign == "==" else sign, _value(value.strip()))


def _value(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, (dict, list)) else value


def _same(found: Json, value: Json) -> bool:
    # `true` is no 1, and an id that is all digits is the number that was typed.
    if isinstance(found, bool) or isinstance(value, bool):
        return found is value
    if isinstance(found, str) and isinstance(value, (int, float)):
        return found == json.dumps(value)
    return found == value


def _contains(found: Json, value: Json) -> bool:
    if is_list(found):
        return any(_same(item, value) for item in found)
    text = value if isinstance(value, str) else json.dumps(value)
    return isinstance(found, str) and text in found


def _is_ordered(found: Json, value: Json) -> bool:
    numbers = isinstance(found, (int, float)) and isinstance(value, (int, float))
    return numbers or (isinstance(found, str) and isinstance(value, str))
