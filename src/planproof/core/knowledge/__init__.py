"""Knowledge of words as data files; README.md beside this file describes each."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files


def read_knowledge(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines "name: words" of a knowledge file."""
    text = files(__name__).joinpath(name).read_text("utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            head, _, words = line.partition(":")
            yield head.strip(), words.split()
