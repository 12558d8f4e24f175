"""Indented JSON: objects one after another over many lines, as consoles and jq print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_CLOSING_BRACKETS = {"{": "}", "[": "]"}


def iter_indented_values(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each stretch from a line with an opening bracket alone to one that closes it alone.

    With the number of its first line. What stands between stretches is passed over, and so is
    one that is not closed before the next begins.
    """
    first, end = 0, ""
    for number, line in enumerate(lines, 1):
        bare = line.rstrip()
        if bare in _CLOSING_BRACKETS:
            first, end = number, _CLOSING_BRACKETS[bare]
        elif first and bare == end:
            yield first, "\n".join(lines[first - 1 : number])
            first = 0
