"""Build the JSON schema of contract files from the data classes and their short forms."""

from __future__ import annotations

import inspect
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from planproof.contracts.contract_file import MAX_ITEMS, MAX_STEPS, SCALAR_FIELDS
from planproof.core.contract import Contract, Requirement, StepContract, Times
from planproof.core.plan import Origin

# Editors read `3` and `true` in YAML as a number and a boolean; planproof reads every scalar as
# text, and converts it where something else is expected.
_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"$ref": "#/$defs/text"},
    bool: {"enum": [True, False, "true", "false"]},
    int: {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}]},
    float: {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^-?[0-9.]+([eE].+)?$"}]},
}


def build_contract_schema() -> dict[str, Any]:
    """Return the JSON schema of a contract file, short forms included."""
    definitions: dict[str, Any] = {"text": _TEXT, "texts": _describe_list(_SCALARS[str])}
    whole = _describe_struct(Contract, definitions)
    return {**whole, "required": ["planproof"], "$defs": dict(sorted(definitions.items()))}


def _describe(type_: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if get_origin(type_) in (Union, UnionType):
        type_ = next(option for option in get_args(type_) if option is not NoneType)
    origin = get_origin(type_)
    if origin is tuple:
        item_type = get_args(type_)[0]
        if item_type is str:
            return {"$ref": "#/$defs/texts"}
        largest = MAX_STEPS if item_type is StepContract else MAX_ITEMS
        return _describe_list(_describe(item_type, definitions), largest)
    if origin is dict:
        item = _describe(get_args(type_)[1], definitions)
        return {"type": "object", "additionalProperties": item, "maxProperties": MAX_ITEMS}
    if isinstance(type_, type) and issubclass(type_, Struct):
        name = type_.__name__
        if name not in definitions:
            definitions[name] = {}  # a requirement may contain requirements
            definitions[name] = _describe_with_short_forms(type_, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if type_ is Origin:
        return {"enum": [str(member) for member in Origin]}
    return _SCALARS.get(type_) or {"enum": list(get_args(type_))}


def _describe_list(item: dict[str, Any], largest: int = MAX_ITEMS) -> dict[str, Any]:
    """Return the schema of a list; one item may stand for it."""
    return {"anyOf": [item, {"type": "array", "items": item, "maxItems": largest}]}


def _describe_with_short_forms(type_: type[Struct], definitions: dict[str, Any]) -> dict[str, Any]:
    long = _describe_struct(type_, definitions)
    description = long.pop("description")
    if type_ is Times:
        return {"description": description, "anyOf": [_SCALARS[int], long]}
    if type_ not in SCALAR_FIELDS:
        return {"description": description, **long}
    short = long["properties"][SCALAR_FIELDS[type_]]
    return {"description": description, "anyOf": [short, long]}


def _describe_struct(type_: type[Struct], definitions: dict[str, Any]) -> dict[str, Any]:
    own = fields(type_)
    description = inspect.getdoc(type_) or ""
    for field in own:
        description = description.replace(f"`{field.name}`", f"`{field.encode_name}`")
    shared = fields(Requirement) if type_ is StepContract else ()
    schema: dict[str, Any] = {
        "description": " ".join(description.split()),
        "type": "object",
        "properties": {
            field.encode_name: _describe(field.type, definitions) for field in (*own, *shared)
        },
        "additionalProperties": False,
    }
    if required := [field.encode_name for field in own if field.required]:
        schema["required"] = required
    if shared:
        # The fields of a requirement on the step are its only one.
        direct = [{"required": [field.encode_name]} for field in shared]
        schema["not"] = {"required": ["all_of"], "anyOf": direct}
    return schema
