"""Write a suggested profile as YAML, with comments that say what was guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TypeAlias

_PLAIN = re.compile(r"[A-Za-z_][\w.*/-]{0,79}")
_WIDTH = 96


@dataclass(frozen=True, slots=True)
class Commented:
    """A value of the file with a comment above it."""

    value: dict[str, Yaml]
    comment: str


@dataclass(slots=True)
class Draft:
    """A profile before it is written: its values, and comments above the keys of the top level."""

    values: dict[str, Yaml] = field(default_factory=dict[str, "Yaml"])
    comments: dict[str, str] = field(default_factory=dict[str, str])
    head: list[str] = field(default_factory=list[str])


Yaml: TypeAlias = "str | bool | list[Yaml] | dict[str, Yaml] | Commented"


def write_draft(draft: Draft) -> str:
    """Return the text of the file."""
    lines = [line for note in draft.head for line in _comment(note, "")]
    for key, value in draft.values.items():
        if note := draft.comments.get(key):
            lines += ["", *_comment(note, "")]
        lines += _entry(_scalar(key), value, "")
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Yaml, indent: str) -> Iterator[str]:
    """Yield the lines of a key and its value."""
    short = _flow(value)
    if short is not None and len(indent) + len(key) + 2 + len(short) <= _WIDTH:
        yield f"{indent}{key}: {short}"
        return
    yield f"{indent}{key}:"
    yield from _block(value, f"{indent}  ")


def _block(value: Yaml, indent: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _entry(_scalar(key), item, indent)
    elif isinstance(value, list):
        for item in value:
            yield from _item(item, indent)
    else:
        yield f"{indent}{_flow(value)}"


def _item(value: Yaml, indent: str) -> Iterator[str]:
    if isinstance(value, Commented):
        yield from _comment(value.comment, indent)
        value = value.value
    short = _flow(value)
    if short is not None and len(indent) + 2 + len(short) <= _WIDTH:
        yield f"{indent}- {short}"
        return
    first, *rest = _block(value, f"{indent}  ")
    # A comment may come first; the dash belongs to the first line that is none.
    yield f"{indent}- {first.lstrip()}"
    yield from rest


def _flow(value: Yaml) -> str | None:
    """Return a value on one line; None if it has comments."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _scalar(value)
    if isinstance(value, Commented):
        return None
    if isinstance(value, list):
        items = [_flow(item) for item in value]
        return None if None in items else f"[{', '.join(filter(None, items))}]"
    pairs = {_scalar(key): _flow(item) for key, item in value.items()}
    if None in pairs.values():
        return None
    return "{" + ", ".join(f"{key}: {item}" for key, item in pairs.items()) + "}"


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar: plain if nothing in it has a meaning, else quoted."""
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(map(_escape_character, escaped)) + '"'


def _escape_character(character: str) -> str:
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _comment(note: str, indent: str) -> list[str]:
    clean = "".join(character if character.isprintable() else " " for character in note)
    return [f"{indent}# {line}" for line in wrap(clean, _WIDTH - len(indent) - 2)]
