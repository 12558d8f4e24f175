"""What a message or a task is made of: text and images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value as `json.loads` gives it. Its shape is unknown until a reader has looked."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image kept as a part of its own, by address or as base64 data; never as running text."""

    media_type: str
    url: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """Text with the images that came with it."""

    text: str = ""
    images: tuple[Image, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.images)
