"""Record the public surface in tests/public_surface.txt.

It has the names in `planproof`, entry points, commands with their options, exit codes, the JSON
fields of cases and verdicts, the tables of a store, and the columns of an export; no help texts or
docstrings. A unit test compares the file with the code. Run this after an intended change:

    .venv/bin/python -m scripts.snapshot_surface
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

import typer
from msgspec import NODEFAULT, Struct, structs
from sqlalchemy import Table

import planproof
from planproof import Case, Outcome, Verdict
from planproof.cli import exit_codes
from planproof.cli.app import app
from planproof.core.usage import Usage
from planproof.reports.result_files import COLUMNS
from planproof.runs.run_records import Result, serialize_case
from planproof.runs.store.row_mapping import result_to_row, verdict_to_row
from planproof.runs.store.schema import tables
from scripts import schemas

_ROOT = Path(__file__).parents[1]
FILE = _ROOT / "tests" / "public_surface.txt"
UPDATE = ".venv/bin/python -m scripts.snapshot_surface"


def render_surface() -> str:
    """Return the public surface as text, one item per line."""
    sections = {
        "Names in planproof": _list_names(),
        "Entry points": _list_entry_points(),
        "Commands": _list_commands(typer.main.get_command(app), "planproof"),
        "Exit codes": _list_exit_codes(),
        "JSON of a case": _list_json_fields(schemas.build_case_schema()),
        "JSON of a verdict": _list_json_fields(schemas.build_verdict_schema()),
        "Tables of a store": _list_tables(),
        "JSON in a store": _list_json_columns(),
        "Columns of exported results": (
            f"{column.name}: {column.column_type.value}" for column in COLUMNS
        ),
    }
    section_texts = ("\n".join((f"# {title}", *lines)) + "\n" for title, lines in sections.items())
    return "\n".join(section_texts)


def _list_names() -> Iterator[str]:
    for name in sorted(planproof.__all__):
        value: Any = getattr(planproof, name)
        if not isinstance(value, type):
            yield f"{name}{_format_signature(value)}"
            continue
        shown = (base for base in value.__bases__ if base not in (object, Struct))
        bases = ", ".join(base.__name__ for base in shown)
        yield f"class {name}({bases})" if bases else f"class {name}"
        yield from (f"    {name}.{member}" for member in _list_attributes(value))


def _list_attributes(owner: type[Any]) -> Iterator[str]:
    """Yield the public members of a class, inherited ones of planproof included."""
    if issubclass(owner, Enum):
        yield from (f"{member.name} = {member.value!r}" for member in owner)
        return
    if is_dataclass(owner):
        for field in fields(owner):
            default = "" if field.default is MISSING else f" = {_format_default(field.default)}"
            factory = "" if field.default_factory is MISSING else " = <factory>"
            positional = "" if field.kw_only else ", positional"
            yield f"{field.name}: {field.type}{default}{factory}{positional}"
    elif issubclass(owner, Struct):
        for field in structs.fields(owner):
            default = "" if field.default is NODEFAULT else f" = {_format_default(field.default)}"
            yield f"{field.name}: {owner.__annotations__[field.name]}{default}"
    else:
        yield f"__init__{_format_signature(owner.__init__)}"
    own = {
        name: value
        for base in reversed(owner.__mro__)
        if base.__module__.startswith("planproof")
        for name, value in vars(base).items()
        if not name.startswith("_")
    }
    for name, value in sorted(own.items()):
        if isinstance(value, property):
            yield f"{name}: {getattr(value.fget, '__annotations__', {}).get('return')}, property"
        elif callable(function := getattr(value, "__func__", value)):
            yield f"{name}{_format_signature(function)}"


def _format_signature(function: Callable[..., Any]) -> str:
    text = str(inspect.signature(function))
    # Annotations are strings; quotes do not matter.
    return re.sub(r"(?<=: |> )'([^']*)'", r"\1", text)


def _format_default(value: object) -> str:
    if isinstance(value, Enum):
        return repr(value.value)
    return repr(str(value)) if isinstance(value, Path) else repr(value)


def _list_entry_points() -> Iterator[str]:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    for group, entries in sorted(groups.items()):
        yield from (f"{group}: {name} = {target}" for name, target in sorted(entries.items()))


def _list_commands(command: Any, path: str) -> Iterator[str]:
    """Yield a command, its arguments in order, its options by name, and the commands below it."""
    yield path
    declared: Mapping[str, inspect.Parameter] = {}
    if command.callback is not None:
        declared = inspect.signature(command.callback, eval_str=True).parameters
    # Typer adds options of its own, such as --install-completion.
    ours = [parameter for parameter in command.params if parameter.name in declared]
    arguments = [parameter for parameter in ours if parameter.param_type_name == "argument"]
    options = sorted(
        (parameter for parameter in ours if parameter not in arguments),
        key=lambda parameter: parameter.opts,
    )
    yield from (
        f"    {_format_parameter(parameter, declared)}" for parameter in (*arguments, *options)
    )
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from _list_commands(below, f"{path} {name}")


def _format_parameter(parameter: Any, declared: Mapping[str, inspect.Parameter]) -> str:
    names = [*parameter.opts, *parameter.secondary_opts]
    default = parameter.default() if callable(parameter.default) else parameter.default
    words = [
        " ".join(names) if parameter.param_type_name == "option" else parameter.metavar,
        f": {_format_type(declared[parameter.name].annotation)}",
        " (required)" if parameter.required else f" = {_format_default(default)}",
        "".join(
            f", {name} {bound}"
            for name in ("min", "max")
            if (bound := getattr(parameter, name)) is not None
        ),
        f", from ${parameter.envvar}" if parameter.envvar else "",
        ", hidden" if parameter.hidden else "",
    ]
    return "".join(words)


def _format_type(annotation: Any) -> str:
    match get_origin(annotation):
        case typing.Annotated:
            return _format_type(get_args(annotation)[0])
        case typing.Union | types.UnionType:
            return " | ".join(map(_format_type, get_args(annotation)))
        case typing.Literal:
            return " | ".join(map(repr, get_args(annotation)))
        case None if annotation is types.NoneType:
            return "None"
        case None if issubclass(annotation, Enum):
            return " | ".join(repr(member.value) for member in annotation)
        case None:
            return annotation.__name__
        case _:
            return str(annotation)


def _list_exit_codes() -> Iterator[str]:
    codes = {name: value for name, value in vars(exit_codes).items() if name.isupper()}
    codes = {name: value for name, value in codes.items() if isinstance(value, int)}
    for name, value in sorted(codes.items(), key=lambda code: (code[1], code[0])):
        yield f"{value} {name}"


def _list_json_fields(schema: dict[str, Any]) -> Iterator[str]:
    """Yield every field of a JSON schema as a path and its type."""
    definitions: dict[str, Any] = schema.get("$defs", {})

    def walk(part: dict[str, Any], path: str) -> Iterator[str]:
        if path and not path.endswith("[]"):
            yield f"{path}: {_format_json_type(part, definitions)}"
        for alternative in _resolve_alternatives(part, definitions):
            required = alternative.get("required", ())
            for name, field in alternative.get("properties", {}).items():
                yield from walk(field, f"{path}.{name}{'' if name in required else '?'}")
            if "items" in alternative and _has_fields(alternative["items"], definitions):
                yield from walk(alternative["items"], f"{path}[]")

    yield from (line.removeprefix(".") for line in walk(schema, ""))


def _resolve_alternatives(
    part: dict[str, Any], definitions: dict[str, Any]
) -> list[dict[str, Any]]:
    if "$ref" in part:
        return _resolve_alternatives(definitions[part["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in part:
        return [
            alternative
            for any_of in part["anyOf"]
            for alternative in _resolve_alternatives(any_of, definitions)
        ]
    return [part]


def _has_fields(part: dict[str, Any], definitions: dict[str, Any]) -> bool:
    return any(
        "properties" in alternative for alternative in _resolve_alternatives(part, definitions)
    )


def _format_json_type(part: dict[str, Any], definitions: dict[str, Any]) -> str:
    names: list[str] = []
    for alternative in _resolve_alternatives(part, definitions):
        if "enum" in alternative or "const" in alternative:
            name = " | ".join(map(repr, alternative.get("enum", (alternative.get("const"),))))
        elif "items" in alternative:
            name = f"array of {_format_json_type(alternative['items'], definitions)}"
        elif isinstance(alternative.get("additionalProperties"), dict):
            name = (
                f"object of {_format_json_type(alternative['additionalProperties'], definitions)}"
            )
        else:
            name = alternative.get("type", "any")
        names.append(name)
    return " | ".join(names)


def _list_tables() -> Iterator[str]:
    for table in sorted(tables.tables.values(), key=_get_table_name):
        for column in table.columns:
            marks = f"{', key' * column.primary_key}{', nullable' * bool(column.nullable)}"
            yield f"{table.name}.{column.name}: {column.type}{marks}"


def _get_table_name(table: Table) -> str:
    return table.name


def _list_json_columns() -> Iterator[str]:
    verdict = Verdict(
        outcome=Outcome.SCORED, reason="", cost=Usage(calls=1), metadata={"any": "thing"}
    )
    result = Result(0, "", None, verdict, 0.0)
    columns = {
        "cases.content": serialize_case(Case(task=None, plan=None, trace=[])).text,
        "results.about": result_to_row("", result, "")["about"],
        "verdicts.content": verdict_to_row(verdict)["content"],
    }
    for column, text in columns.items():
        yield f"{column}: {', '.join(sorted(json.loads(text)))}"


def main() -> None:
    """Write the current public surface."""
    FILE.write_text(render_surface(), encoding="utf-8")


if __name__ == "__main__":
    main()
