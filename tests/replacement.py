"""Copy events and other frozen values with some fields changed."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from msgspec import Struct, structs

_T = TypeVar("_T")


def replace(value: _T, **changes: Any) -> _T:
    """Return a copy of a struct or dataclass with these fields changed."""
    if isinstance(value, Struct):
        return structs.replace(value, **changes)
    return dataclasses.replace(value, **changes)  # type: ignore[type-var]
