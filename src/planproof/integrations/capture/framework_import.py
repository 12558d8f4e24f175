"""What thin hosts share: a framework's own class to build on, found when it is needed."""

from __future__ import annotations

from importlib import import_module
from types import new_class
from typing import Any

from planproof.errors import InvalidConfiguration


def import_framework(module: str, package: str) -> Any:
    """A module of a framework; says which package to install where it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidConfiguration(
            f"{package} can't be used: {error}.", advice=f"pip install {package}"
        ) from error


def make_subclass(base: type[Any], methods: type[Any]) -> type[Any]:
    """A class of the framework's with these methods, which stand in front of its own."""
    return new_class(methods.__name__.lstrip("_"), (methods, base))
