"""Options that belong together, written down once for all commands that have them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, get_type_hints

_T = TypeVar("_T")


def option_groups(**groups: type[Any]) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Let a command have the fields of a dataclass as options, in place of one parameter.

    Every field is an option of the command, and the command is given the dataclass.
    """

    def decorate(command: Callable[..., _T]) -> Callable[..., _T]:
        @wraps(command)
        def wrapper(*args: Any, **options: Any) -> _T:
            for name, group in groups.items():
                options[name] = group(
                    **{part.name: options.pop(part.name) for part in fields(group)}
                )
            return command(*args, **options)

        command_signature = signature(command, eval_str=True)
        options: list[Parameter] = []
        for parameter in command_signature.parameters.values():
            group = groups.get(parameter.name)
            options += [parameter] if group is None else _make_option_parameters(group)
        wrapper.__dict__["__signature__"] = command_signature.replace(parameters=options)
        return wrapper

    return decorate


def _make_option_parameters(group: type[Any]) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            part.name, Parameter.KEYWORD_ONLY, default=part.default, annotation=hints[part.name]
        )
        for part in fields(group)
    ]
