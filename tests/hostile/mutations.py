"""Damaged and exaggerated inputs, made from good ones. The same seed gives the same input."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from planproof.core.json_values import is_list, is_object

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**64,
    10**400,
    float("inf"),
    float("nan"),
    1e308,
    "",
    " ",
    "\x00",
    "\ud800",
    "\u202e",
    "=cmd|' /C calc'!A0",
    "a" * 5_000,
    "1." * 2_000,
    "{{7*7}}",
    "../../etc/passwd",
    "http://127.0.0.1:1/x.png",
    "e1",
    [],
    {},
    [[]],
    {"": {}},
    ["x"] * 50,
)
ODD_BYTES: tuple[bytes, ...] = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\r",
    b"\x1b[2J",
    b"[" * 300,
    b"{" * 300,
    b'"' * 7,
    b"-",
    b": ",
    b"\n- ",
    b"&a [*a]",
    b"!!python/object ",
    b"<script>",
    b"```",
    b"9" * 400,
    b"Action: ",
    b"Observation: ",
    b"1. ",
)


def mutate_bytes(data: bytes, others: Sequence[bytes], chance: Random) -> bytes:
    """Return data with a few places changed, cut, repeated, or taken from another input."""
    body = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(6):
            case 0 if at < len(body):
                body[at] = chance.randrange(256)
            case 1:
                del body[at : at + chance.choice((1, 5, 50, 500))]
            case 2:
                body[at:at] = chance.choice(ODD_BYTES)
            case 3:
                piece = body[at : at + chance.choice((10, 100))]
                body[at:at] = piece * chance.choice((2, 20))
            case 4:
                other = chance.choice(others)
                start = chance.randrange(len(other) + 1)
                body[at:at] = other[start : start + 200]
            case _:
                if chance.random() < 0.2:
                    del body[at:]
    return bytes(body)


def mutate_value(value: Any, chance: Random) -> Any:
    """Return a copy of a JSON value with one to three of its parts replaced, removed or repeated.

    `value` must be JSON: it is copied by writing and reading it.
    """
    root = [json.loads(json.dumps(value))]
    for _ in range(chance.randint(1, 3)):
        parent, key = chance.choice(_list_places(root))
        match chance.randrange(5):
            case 0 if is_object(parent):
                del parent[key]
            case 1 if is_list(parent) and parent is not root:
                parent[key:key] = [deepcopy(parent[key]) for _ in range(chance.choice((1, 20)))]
            case 2 if is_object(parent):
                parent[chance.choice(("", "role", "content", "id", "type", "é"))] = deepcopy(
                    parent[key]
                )
            case 3:
                parent[key] = _nest(parent[key], chance.choice((1, 30, 250)))
            case _:
                parent[key] = deepcopy(chance.choice(ODD_VALUES))
    return root[0]


def _list_places(root: list[Any]) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = []
    pending: list[Any] = [root]
    while pending and len(places) < 5_000:
        part = pending.pop()
        keys: list[Any] = list(part) if is_object(part) else [*range(len(part))]
        for key in keys:
            places.append((part, key))
            if isinstance(part[key], dict | list) and part[key]:
                pending.append(part[key])
    return places


def _nest(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def make_mutant(good: Any, others: Sequence[bytes], chance: Random) -> bytes:
    """Return a damaged input: JSON with odd parts, or bytes that may be no JSON any more."""
    if not isinstance(good, str | bytes) and chance.random() < 0.7:
        return encode(mutate_value(good, chance))
    return mutate_bytes(encode(good), others, chance)


def encode(good: Any) -> bytes:
    """Return a value as a file would hold it."""
    if isinstance(good, bytes):
        return good
    if isinstance(good, str):
        return good.encode("utf-8", "surrogatepass")
    return json.dumps(good).encode()


Target = Callable[[bytes], object]
