"""Options that belong together, written down once for all commands that have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, get_type_hints

_T = TypeVar("_T")


def takes(**groups: type[Any]) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Let a command have the fields of a dataclass as options, in place of one parameter.

    Every field is an option of the command, and the command is given the dataclass.
    """

    def grouped(command: Callable[..., _T]) -> Callable[..., _T]:
        @wraps(command)
        def taken(*args: Any, **given: Any) -> _T:
            for name, group in groups.items():
                given[name] = group(**{part.name: given.pop(part.name) for part in fields(group)})
            return command(*args, **given)

        whole = signature(command, eval_str=True)
        options: list[Parameter] = []
        for parameter in whole.parameters.values():
            group = groups.get(parameter.name)
            options += [parameter] if group is None else _options(group)
        taken.__dict__["__signature__"] = whole.replace(parameters=options)
        return taken

    return grouped


def _options(group: type[Any]) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            part.name, Parameter.KEYWORD_ONLY, default=part.default, annotation=hints[part.name]
        )
        for part in fields(group)
    ]
