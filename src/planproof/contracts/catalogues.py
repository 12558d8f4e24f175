"""Tool catalogues: the names and argument names of the tools that an agent has.

A catalogue is complete (given as a file, a list of tool definitions or Python functions) or
observed (collected from the calls of many traces). Descriptions are read only on request, and never
from a trace. Names are untrusted: those of a given catalogue that can't be printed are refused,
those of traces that don't look like names are left out.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from planproof.core.catalogue import Catalogue, Tool
from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_embedded_json, text_at
from planproof.core.trace import DERIVED, Event, Kind, Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.decoding.yaml_files import YamlDocument
from planproof.readers.toolkit.tool_calls import get_command_name

SHELL = "shell"
"""The tool of command lines for which a trace names no tool."""

_MAX_TOOLS = 2_000
_MAX_ARGUMENTS = 200
_MAX_NAME_LENGTH = 200
_MAX_DESCRIPTION_LENGTH = 1_000
_SCHEMA_DEPTH = 3
# Lists of tools, as far as they are inside something: an MCP response, a request to a model API, a
# span attribute.
_LIST_KEYS = (
    "tools",
    "functions",
    "functionDeclarations",
    "function_declarations",
    "gen_ai.tool.definitions",
)
_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_OBSERVED_NAME = re.compile(r"[\w.:/@#$-]{1,64}(?: [\w.:/@#$-]{1,64}){0,3}")
_OBSERVED_KINDS = frozenset((Kind.ACTION, Kind.BOOKKEEPING))
_ADVICE = (
    "Expected are tool definitions as of OpenAI, Anthropic, MCP `tools/list` or OpenTelemetry, or "
    '{"tools": [{"name": "search", "arguments": ["query"]}]}.'
)


def read_catalogue(source: Path | Json, *, descriptions: bool = False) -> Catalogue:
    """Read a complete catalogue from a file (JSON or YAML) or a JSON value.

    One page of an MCP `tools/list` that names a next one makes an incomplete catalogue.
    """
    if isinstance(source, Path):
        where, value = str(source), _read_file(source)
    else:
        where, value = "tools", source
    definitions, is_complete = _find_definitions(value, where)
    tools = [
        _parse_definition(definition, f"{where}, tool {number}", descriptions)
        for number, definition in enumerate(definitions, 1)
    ]
    return Catalogue(_merge(tools, where), is_complete)


def describe_functions(*functions: Callable[..., Any], descriptions: bool = False) -> Catalogue:
    """Describe Python functions that an agent calls as tools; a complete catalogue."""
    tools: list[Tool] = []
    for function in functions:
        name = getattr(function, "__name__", None)
        if not isinstance(name, str):
            raise InvalidInput(
                f"{type(function).__name__} has no name.",
                where="tools",
                advice="Pass functions, or a list of tool definitions.",
            )
        named = [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            and parameter.name not in ("self", "cls")
        ]
        text = (inspect.getdoc(function) or "") if descriptions else ""
        tools.append(Tool(name, tuple(named), text[:_MAX_DESCRIPTION_LENGTH]))
    return Catalogue(_merge(tools, "tools"), is_complete=True)


def observe_tools(traces: Iterable[Trace]) -> Catalogue:
    """Collect names and argument names from the calls of many traces; an incomplete catalogue.

    What doesn't look like a name, or exceeds the limits, is left out. The programs of command lines
    are not listed, for an agent with a shell has many more: they appear as the tool `shell`.
    """
    observed: dict[str, dict[str, None]] = {}
    for trace in traces:
        for event in trace.events:
            name = SHELL if is_named_by_program(event) else event.name
            if event.kind not in _OBSERVED_KINDS or name is None or not _is_plain_name(name):
                continue
            if name not in observed and len(observed) == _MAX_TOOLS:
                continue
            arguments = observed.setdefault(name, {})
            for argument in _list_argument_names(event.arguments):
                if len(arguments) < _MAX_ARGUMENTS:
                    arguments[argument] = None
    return Catalogue(tuple(Tool(name, tuple(names)) for name, names in sorted(observed.items())))


def is_named_by_program(event: Event) -> bool:
    """Return whether a recorded call is a command line that is named by its first word."""
    return (
        event.arguments is None
        and not event.recognition
        and event.name not in (None, "sql")
        and get_command_name(event.text) == event.name
    )


def _read_file(path: Path) -> Json:
    source = Source.from_path(path)
    if source.form == "text":
        return YamlDocument(source.document, str(path)).value
    if source.form == "jsonl":
        return [value for _, value in source.document]
    return source.document


def _find_definitions(value: Json, where: str) -> tuple[list[Json], bool]:
    """Return the list of tool definitions inside a value, and whether it is all of them."""
    is_complete = True
    for _ in range(_SCHEMA_DEPTH):
        if isinstance(value, str):
            value = parse_embedded_json(value)
        if is_object(value):
            is_complete = is_complete and not value.get("nextCursor")
            inner = value.get("result") if is_object(value.get("result")) else None
            key = next((key for key in _LIST_KEYS if key in value), None)
            value = value[key] if key else inner
    definitions = list(_flatten(value)) if is_list(value) else []
    if not definitions:
        raise InvalidInput("contains no tool definitions.", where=where, advice=_ADVICE)
    if len(definitions) > _MAX_TOOLS:
        raise InvalidInput(
            f"has {len(definitions):,} tools; at most {_MAX_TOOLS:,} are allowed.", where=where
        )
    return definitions, is_complete


def _flatten(items: list[Json]) -> Iterator[Json]:
    """Yield tool definitions; some requests group them in lists of declarations."""
    for item in items:
        keys = [key for key in _LIST_KEYS if is_object(item) and is_list(item.get(key))]
        if keys and "name" not in item:
            yield from item[keys[0]]
        else:
            yield item


def _parse_definition(definition: Json, where: str, descriptions: bool) -> Tool:  # noqa: FBT001
    if isinstance(definition, str):
        return Tool(_check_name(definition, where))
    if not is_object(definition):
        raise InvalidInput("is not a tool definition.", where=where, advice=_ADVICE)
    function = definition.get("function")
    body = function if is_object(function) else definition
    # Tools that a provider runs itself may have only a type, such as `web_search`.
    name = text_at(body, "name") or text_at(definition, "type")
    if name is None:
        raise InvalidInput("has no name.", where=where, advice=_ADVICE)
    arguments = _parse_arguments(body, where)
    text = (text_at(body, "description") or "") if descriptions else ""
    return Tool(_check_name(name, where), arguments, text[:_MAX_DESCRIPTION_LENGTH])


def _parse_arguments(body: dict[str, Json], where: str) -> tuple[str, ...]:
    if "arguments" in body:
        listed = body["arguments"]
        if not is_object(listed) and not is_list(listed):
            raise InvalidInput("`arguments` is not a list of names.", where=where, advice=_ADVICE)
        names = list(listed)
    else:
        schema = next((body[key] for key in _SCHEMA_KEYS if key in body), None)
        names = list(_list_properties(schema, "", 0))
    if len(names) > _MAX_ARGUMENTS:
        raise InvalidInput(
            f"has {len(names):,} arguments; at most {_MAX_ARGUMENTS} are allowed.", where=where
        )
    return tuple(dict.fromkeys(_check_name(name, where) for name in names))


def _list_properties(schema: Json, prefix: str, depth: int) -> Iterator[str]:
    """Yield the properties of a JSON schema, nested ones as `a.b`."""
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(properties) or depth == _SCHEMA_DEPTH:
        return
    for name, inner in properties.items():
        yield f"{prefix}{name}"
        yield from _list_properties(inner, f"{prefix}{name}.", depth + 1)


def _list_argument_names(arguments: Json) -> Iterator[str]:
    """Yield the names of a call's arguments, and of arguments one level inside them."""
    if not is_object(arguments):
        return
    for name, value in arguments.items():
        if name.startswith(DERIVED) or not _is_plain_name(name):
            continue
        yield name
        if is_object(value):
            yield from (f"{name}.{inner}" for inner in value if _is_plain_name(inner))


def _is_plain_name(name: str) -> bool:
    return _OBSERVED_NAME.fullmatch(name) is not None


def _check_name(name: Json, where: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidInput("a name is not text.", where=where, advice=_ADVICE)
    if len(name) > _MAX_NAME_LENGTH:
        raise InvalidInput(
            f"a name has {len(name):,} characters; at most {_MAX_NAME_LENGTH} are allowed.",
            where=where,
        )
    if not name.isprintable():
        raise InvalidInput(
            f"the name {name!a} has control or invisible characters.",
            where=where,
            advice="Remove them; the tool would look like another one.",
        )
    return name


def _merge(tools: Iterable[Tool], where: str) -> tuple[Tool, ...]:
    """Return the tools, each name once, with the arguments of all its definitions."""
    merged: dict[str, Tool] = {}
    for tool in tools:
        known = merged.get(tool.name, tool)
        arguments = tuple(dict.fromkeys((*known.arguments, *tool.arguments)))
        merged[tool.name] = Tool(tool.name, arguments, known.description or tool.description)
    if not merged:
        raise InvalidInput("contains no tool definitions.", where=where, advice=_ADVICE)
    return tuple(merged.values())
