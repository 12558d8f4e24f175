"""A command line in an empty directory, with a case in it."""

from __future__ import annotations

from tests.command_line import folder, planproof

__all__ = ["folder", "planproof"]
