"""Map field names of a record to a case: `--map plan=/meta/plan` gives a JSON pointer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from planproof.core.case import Case
from planproof.core.content import Json
from planproof.core.json_values import is_object
from planproof.core.pointer import resolve
from planproof.errors import InvalidInput, did_you_mean
from planproof.readers.decoding.case_files import parse_case

FIELDS = {
    "task": "user_task",
    "plan": "agent_plan",
    "trace": "execution_trace",
    "id": "id",
    "metadata": "metadata",
}
_SYNTAX_ADVICE = (
    "Write FIELD=POINTER, such as plan=/meta/plan; an empty pointer is the whole record."
)


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Makes cases from records by JSON pointers; unmapped fields keep their own names."""

    pointers: Mapping[str, str]

    def __call__(self, value: Json, *, name: str) -> Case:
        """Return the case in a record."""
        fields = dict(value) if is_object(value) else {}
        for field, pointer in self.pointers.items():
            fields[FIELDS[field]] = _resolve_field(value, field, pointer, name)
        # As for a bare trace: the task is the first request of the user.
        fields.setdefault("user_task", None)
        return parse_case(fields, name=name)


def parse_map(pairs: Iterable[str]) -> FieldMap | None:
    """Parse the values of `--map`; None if nothing is mapped."""
    pointers: dict[str, str] = {}
    for pair in pairs:
        field, equals, pointer = pair.partition("=")
        if not equals or (pointer and not pointer.startswith("/")):
            raise InvalidInput(
                f"`{pair}` is not a valid mapping.", where="--map", advice=_SYNTAX_ADVICE
            )
        if field not in FIELDS:
            raise InvalidInput(
                f"a case has no field `{field}`.",
                where="--map",
                advice=did_you_mean(field, FIELDS),
            )
        pointers[field] = pointer
    return FieldMap(pointers) if pointers else None


def is_field_mapping(word: str) -> bool:
    """Return True if a word of the command line is a field mapping."""
    field, equals, pointer = word.partition("=")
    return field in FIELDS and bool(equals) and pointer.startswith("/")


def resolve_value(record: Json, pointer: str) -> Json:
    """Return the value at a JSON pointer, which may also lead into JSON stored as text."""
    first, slash, rest = pointer[1:].partition("/")
    if slash and is_object(record):
        embedded = resolve(record, f"/{first}")
        if isinstance(embedded, str):
            try:
                return resolve(json.loads(embedded), f"/{rest}")
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"/{first} is not valid JSON.") from error
    return resolve(record, pointer)


def _resolve_field(record: Json, field: str, pointer: str, name: str) -> Json:
    try:
        return resolve_value(record, pointer)
    except InvalidInput as error:
        available = (
            ", ".join(f"/{key}" for key in list(record)[:12]) if is_object(record) else "no fields"
        )
        raise InvalidInput(
            f"no value at {pointer}, where --map {field} points.",
            where=name,
            advice=f"The record has {available}.",
        ) from error
