"""Split text that a program printed: lines without colours and frames, and Python values."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from planproof.readers.toolkit.profile_paths import Node
from planproof.readers.toolkit.python_repr import parse_repr

# Notebooks and copied consoles often lack the escape character.
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]|\[\d{1,3}(?:;\d{1,3}){0,3}m")
_FRAMES = "│┃║"
_VALUE_START = re.compile(r"[\[({]|[A-Za-z_][\w.]{0,80}(?:\(|=(?![\s=]))")
_MAX_FAILURES = 20


def split_lines(text: str, marks: Mapping[str, str]) -> list[tuple[int, str]]:
    """Return the lines of a text with their numbers, without colours, frames and trailing blanks.

    A line is broken before each of the `marks`, which is replaced, except after a colon.
    """
    lines: list[tuple[int, str]] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip()
        if "\x1b" in line or "[" in line:
            pieces = _break_line(line, marks) if marks and "\x1b" in line else [line]
            lines += [(number, _unframe(_ANSI.sub("", piece))) for piece in pieces]
        else:
            lines.append((number, _unframe(line)))
    return lines


def _break_line(line: str, marks: Mapping[str, str]) -> list[str]:
    pieces: list[list[str]] = [[""]]
    position, filled = 0, ""
    while position < len(line):
        mark = next((mark for mark in marks if line.startswith(mark, position)), None)
        if mark is None:
            next_code = line.find("\x1b", position + 1)
            end = len(line) if next_code < 0 else next_code
            text = _ANSI.sub("", line[position:end])
            pieces[-1].append(text)
            filled = text.rstrip() or filled
            position = end
            continue
        position += len(mark)
        if not filled.endswith(":"):
            pieces.append([marks[mark]])
            filled = ""
    return ["".join(piece) for piece in pieces if any(piece[1:])] or [""]


def _unframe(line: str) -> str:
    if line[:1] in _FRAMES and line.rstrip()[-1:] in _FRAMES and line:
        inside = line.rstrip()[1:-1].rstrip()
        return inside[2:] if inside.startswith("  ") else inside.lstrip()
    return line


class PrintedValues:
    """The Python values that begin a line of a text, and where they are in it."""

    def __init__(self, text: str) -> None:
        self.values: list[Node] = []
        self.outside: list[str] = []
        self._ranges: dict[str, tuple[int, int]] = {}
        self._starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
        position = failures = 0
        while position < len(text):
            parsed = None
            if failures < _MAX_FAILURES and _VALUE_START.match(text, position):
                parsed = parse_repr(text, position)
                failures += parsed is None
            if parsed is not None:
                pointer = f"/{len(self.values)}"
                self.values.append(Node(parsed.value, pointer))
                for inner, found in parsed.ranges.items():
                    self._ranges[pointer + inner] = found
                position = parsed.end
            line_end = text.find("\n", position)
            line_end = len(text) if line_end < 0 else line_end
            if text[position:line_end].strip():
                self.outside.append(self._point_to(position, line_end))
            position = line_end + 1

    def locate(self, pointer: str) -> str:
        """Return the pointer into the text for a pointer into the values."""
        while pointer and pointer not in self._ranges:
            pointer = pointer.rpartition("/")[0]
        return self._point_to(*self._ranges[pointer]) if pointer else ""

    def _point_to(self, start: int, end: int) -> str:
        first = bisect_right(self._starts, start)
        last = bisect_right(self._starts, max(start, end - 1))
        if first != last:
            return f"L{first}-{last}"
        offset = self._starts[first - 1]
        return f"L{first}:{start - offset + 1}-{max(end, start + 1) - offset}"
