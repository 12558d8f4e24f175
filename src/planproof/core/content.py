"""Content of a message or a task: text and images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value as returned by `json.loads`; its shape is unknown until a reader has checked it."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image as a separate part, by URL or as base64 data; never inside the text."""

    media_type: str
    url: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """Text with its images."""

    text: str = ""
    images: tuple[Image, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.images)
