"""The tool catalogue: the tools that an agent has."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

from msgspec import Struct


class Tool(Struct, frozen=True):
    """A tool: its name, the names of its arguments (nested ones as `a.b`), and a description."""

    name: str
    arguments: tuple[str, ...] = ()
    description: str = ""


class Catalogue(Struct, frozen=True, dict=True):
    """The tools of an agent; `is_complete` is False if it may have more than these."""

    tools: tuple[Tool, ...] = ()
    is_complete: bool = False

    @cached_property
    def by_name(self) -> dict[str, Tool]:
        """The tools by name."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def digest(self) -> str:
        """A digest of names and argument names; order and descriptions don't matter."""
        lines = sorted("\0".join((tool.name, *sorted(tool.arguments))) for tool in self.tools)
        data = "\n".join(lines).encode("utf-8", "surrogatepass")
        return f"sha256:{sha256(data).hexdigest()}"
