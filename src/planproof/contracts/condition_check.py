"""Check a condition on the value of an argument, and describe what it expects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from types import MappingProxyType

from msgspec.structs import replace

from planproof.contracts.date_values import check_date, parse_partial_date
from planproof.contracts.python_values import check_calls, find_shell_text, parse_python
from planproof.contracts.shell_values import (
    ShellScript,
    check_command,
    has_effect,
    parse_shell,
    to_shell_text,
)
from planproof.contracts.sql_values import check_sql
from planproof.contracts.value_check import all_true, any_true, check_scalar, compares_values
from planproof.core.content import Json
from planproof.core.contract import Condition, SqlCondition, Truth
from planproof.core.json_values import is_list, is_object, parse_embedded_json

_MAX_ITEMS = 10_000
_MAX_CACHED_CHARS = 200
_MARK_BETWEEN = re.compile(r"[,;\n]")
_WORD_BETWEEN = re.compile(r"[\s,;&]+(?:and\s)?")
"""What is between the addresses of a list: "Ann <a@x.com>, b@x.com", "a@x.com and b@x.com"."""
_DATE_KEYS = ("year", "month", "day")


def check_condition(condition: Condition, value: Json) -> Truth:
    """Check all forms of a condition that need nothing but the value.

    A list is closed: each of its items has to match, and none may have a text of `not`. An object
    is open: one of its values has to match. `var`, `from_step`, `same_as` and `each` are not
    checked.
    """
    if isinstance(value, str) and len(value) <= _MAX_CACHED_CHARS:
        return _check_cached(condition, value)
    return _check_uncached(condition, value)


def _check_uncached(condition: Condition, value: Json) -> Truth:
    if condition.all_of:
        return _check_together(condition.parts, value)
    results: list[Truth] = []
    if condition.any_value:
        results.append(Truth.MISMATCH if value is None else Truth.MATCH)
    if condition.program or condition.argument:
        results.append(_check_shell(condition, value))
    if condition.calls:
        results.append(_check_code(condition, value))
    if condition.sql is not None:
        text = value if isinstance(value, str) else ""
        results.append(check_sql(condition.sql, text) if text else Truth.MISMATCH)
    if compares_values(condition):
        results.append(_check_value(condition, value))
    return all_true(results)


# Many calls of a run, and many runs, have the same values.
_check_cached = lru_cache(maxsize=8_192)(_check_uncached)


@lru_cache(maxsize=512)
def get_value_checker(condition: Condition) -> Callable[[Json], Truth]:
    """Return `check_condition` of one condition, for many values.

    A condition has many fields, so it takes time to look it up for every value.
    """
    check_cached = lru_cache(maxsize=64)(partial(_check_uncached, condition))

    def check(value: Json) -> Truth:
        if isinstance(value, str) and len(value) <= _MAX_CACHED_CHARS:
            return check_cached(value)
        return _check_uncached(condition, value)

    return check


def _check_together(conditions: tuple[Condition, ...], value: Json) -> Truth:
    """Check several conditions on one value.

    Together they close a list: each has to match an item, and each item one of them.
    """
    items = _list_items(value)
    if not items:
        return all_true(check_condition(condition, value) for condition in conditions)
    if len(items) * len(conditions) > _MAX_ITEMS:
        return Truth.UNKNOWN
    wanted = [replace(condition, not_=()) for condition in conditions]
    wanted = [condition for condition in wanted if replace(condition, for_=None) != Condition()]
    results = [[check_condition(condition, item) for item in items] for condition in wanted]
    unwanted = Condition(not_=tuple(text for condition in conditions for text in condition.not_))
    return all_true(
        (
            *(any_true(row) for row in results),
            *(any_true(column) for column in zip(*results, strict=True)),
            *(check_condition(unwanted, item) for item in items),
        )
    )


def _list_items(value: Json) -> list[Json]:
    """Return the items of a list, or of a text that is a list of e-mail addresses."""
    if isinstance(value, str):
        return list(_split_addresses(value)) if "@" in value else []
    return list(_flatten_list(value)) if is_list(value) else []


def _check_value(condition: Condition, value: Json) -> Truth:
    if isinstance(value, str):
        items = _split_addresses(value) if "@" in value else ()
        if items and condition.any_of:
            return all_true(check_scalar(condition, item) for item in items)
        return check_scalar(condition, value)
    if isinstance(value, int | float):
        return check_scalar(condition, value)
    if is_list(value):
        return _check_list(condition, value)
    if is_object(value):
        return _check_object(condition, value)
    # Nothing is there: only what must not occur is satisfied.
    return Truth.MATCH if not compares_values(replace(condition, not_=())) else Truth.MISMATCH


def _check_list(condition: Condition, items: list[Json]) -> Truth:
    if condition.equals is not None and condition.equals.lstrip()[:1] == "[":
        return Truth.MATCH if parse_embedded_json(condition.equals) == items else Truth.MISMATCH
    leaves = list(_flatten_list(items))
    if len(leaves) > _MAX_ITEMS:
        return Truth.UNKNOWN
    if not leaves:
        return _check_value(condition, None)
    return all_true(
        _check_object(condition, leaf) if is_object(leaf) else _check_value(condition, leaf)
        for leaf in leaves
    )


def _check_object(condition: Condition, value: dict[str, Json]) -> Truth:
    """Check an object: one of its values has to match, and none may have a text of `not`."""
    if condition.date is not None and value.keys() >= set(_DATE_KEYS[1:]):
        return check_date(condition.date, _format_date(value))
    leaves = list(_iter_leaves(value))
    if len(leaves) > _MAX_ITEMS:
        return Truth.UNKNOWN
    results: list[Truth] = []
    wanted = replace(condition, not_=())
    if compares_values(wanted):
        results.append(any_true(check_scalar(wanted, leaf) for leaf in leaves))
    if condition.not_:
        unwanted = Condition(not_=condition.not_)
        results.append(all_true(check_scalar(unwanted, leaf) for leaf in leaves))
    return all_true(results)


def _format_date(value: dict[str, Json]) -> str:
    parts = [str(value.get(key) or "")[:4] for key in _DATE_KEYS]
    return "-".join((parts[0] or "-", *(part.zfill(2) for part in parts[1:])))


def _flatten_list(items: list[Json]) -> Iterator[Json]:
    """Yield the items of a list, those of lists in it one by one."""
    pending: list[Json] = items[::-1]
    while pending:
        item = pending.pop()
        if is_list(item):
            pending += reversed(item)
        else:
            yield item


def _iter_leaves(value: Json) -> Iterator[str | float]:
    """Yield the texts and numbers in a value."""
    pending: list[Json] = [value]
    while pending:
        item = pending.pop()
        if is_object(item):
            pending += item.values()
        elif is_list(item):
            pending += item
        elif isinstance(item, str | int | float):
            yield item


def _split_addresses(text: str) -> tuple[str, ...]:
    """Return the addresses of a text that is a list of e-mail addresses and nothing else."""
    for separator in (_MARK_BETWEEN, _WORD_BETWEEN):
        parts = [part for part in separator.split(text[:_MAX_ITEMS]) if part]
        if len(parts) > 1 and all("@" in part for part in parts):
            return tuple(parts)
    return ()


def _check_shell(condition: Condition, value: Json) -> Truth:
    """Check whether one of the commands of a shell text is the program with the argument."""
    text = to_shell_text(value)
    if text is None:
        return Truth.MISMATCH
    wanted = Condition(program=condition.program, argument=condition.argument)
    code = parse_python(text) if "(" in text or "!" in text else None
    if code is None or not code.is_complete or not code.calls:
        return _check_script(wanted, parse_shell(text))
    # It is Python, which may run commands.
    lines = [find_shell_text(call) for call in code.calls if call.is_executed]
    return any_true(_check_script(wanted, parse_shell(line)) for line in lines if line is not None)


def _check_script(wanted: Condition, script: ShellScript) -> Truth:
    truth = any_true(
        check_command(wanted, command)
        for command in script.commands
        if has_effect(command, (wanted,))
    )
    return truth if script.is_complete or truth is Truth.MATCH else Truth.UNKNOWN


def _check_code(condition: Condition, value: Json) -> Truth:
    return (
        check_calls(condition.calls, parse_python(value))
        if isinstance(value, str)
        else (Truth.MISMATCH)
    )


def describe_condition(
    condition: Condition, variables: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return what a condition expects, in a few words: "LIS or Lisbon", ">= 3", "12 March".

    A variable is described by its value if `variables` has one.
    """
    return _describe_known(condition) if not variables else _describe(condition, variables)


def _describe(condition: Condition, variables: Mapping[str, str]) -> str:
    if condition.all_of:
        parts = (_describe(part, variables) for part in condition.parts)
        return " and ".join(filter(None, parts))
    parts = [*_describe_values(condition), *_describe_code(condition)]
    if condition.not_:
        parts.append(f"not {_join_or(condition.not_)}")
    if condition.from_step is not None:
        parts.append(f"from step {condition.from_step}")
    if condition.same_as is not None:
        parts.append(f"the same as in step {condition.same_as}")
    if condition.var is not None:
        parts.append(variables.get(condition.var, f"${condition.var}"))
    if condition.is_each:
        parts.append("each value")
    if condition.any_value and not parts:
        parts.append("any value")
    return ", ".join(parts)


@lru_cache(maxsize=1_024)
def _describe_known(condition: Condition) -> str:
    """Describe a condition without variables; the same ones are described for many runs."""
    return _describe(condition, {})


def _describe_values(condition: Condition) -> Iterator[str]:
    if condition.any_of:
        yield _join_or(condition.any_of)
    for form in (condition.equals, condition.glob, condition.path, condition.url):
        if form is not None:
            yield form
    if condition.number is not None:
        tolerance = f" \u00b1 {condition.tolerance:g}" if condition.tolerance else ""
        yield f"{_format_number(condition.number)}{tolerance}"
    if condition.min is not None:
        yield f">= {_format_number(condition.min)}"
    if condition.max is not None:
        yield f"<= {_format_number(condition.max)}"
    if condition.date is not None:
        date = parse_partial_date(condition.date)
        yield condition.date if date is None else str(date)


def _describe_code(condition: Condition) -> Iterator[str]:
    if condition.program:
        yield f"program {_join_or(condition.program)}"
    if condition.argument:
        yield f"argument {_join_or(condition.argument)}"
    if condition.calls:
        yield f"a call of {_join_or(condition.calls)}"
    if condition.sql is not None:
        yield _describe_sql(condition.sql)


def _describe_sql(sql: SqlCondition) -> str:
    names = [
        f"{label} {', '.join(values)}"
        for label, values in (("table", sql.tables), ("column", sql.columns))
        if values
    ]
    verb = [sql.verb.upper()] if sql.verb else []
    return " ".join(("SQL", *verb, " and ".join(names))).strip()


def _format_number(value: float) -> str:
    return f"{value:.10g}"


def _join_or(texts: tuple[str, ...]) -> str:
    return " or ".join(texts)
