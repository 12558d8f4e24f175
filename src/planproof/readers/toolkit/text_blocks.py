"""Split the lines of a text into the blocks that a profile describes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from planproof.core.content import Json
from planproof.readers.profile import Block, Lines
from planproof.readers.toolkit.entries import point_to_lines
from planproof.readers.toolkit.line_patterns import LinePattern
from planproof.readers.toolkit.profile_paths import Node, as_tuple

NumberedLine: TypeAlias = tuple[int, str]
_Patterns: TypeAlias = tuple[LinePattern, ...]


@lru_cache(10_000)
def compile_patterns(patterns: Lines) -> _Patterns:
    """Return compiled patterns."""
    return tuple(map(LinePattern, as_tuple(patterns)))


def matches_any(patterns: Lines, line: str) -> bool:
    """Return whether a line matches one of the patterns."""
    return bool(patterns) and _find_match(compile_patterns(patterns), line.strip()) is not None


class OpenBlock:
    """A block of lines while it is read."""

    def __init__(
        self, block: Block, pattern: LinePattern, fields: dict[str, str], number: int
    ) -> None:
        self.block = block
        self.fields = fields
        self.first = self.last = number
        self.open_field = pattern.open_field or "body"
        self.lines: list[NumberedLine] = []
        self.numbers: list[int] = []

    def add_line(self, number: int, line: str) -> None:
        """Add a line to the block."""
        self.lines.append((number, line))
        self.last = number if line.strip() else self.last

    def take_inner_lines(self) -> list[NumberedLine]:
        """Remove the lines of the blocks inside this one, and return them."""
        openings = _compile_openings(self.block.blocks)
        for index, (number, line) in enumerate(self.lines if openings else ()):
            if _open_block(openings, line, number) is not None:
                inner, self.lines = self.lines[index:], self.lines[:index]
                filled = [number for number, line in self.lines if line.strip()]
                self.last = filled[-1] if filled else self.first
                return inner
        return []

    def to_record(self, inherited: dict[str, Json]) -> Node:
        """Return the fields as a record; the pointer covers all lines."""
        record: dict[str, Json] = {**inherited, **self.fields}
        if self.block.last:
            record["@block"] = "\n".join([self.fields["@line"], *(line for _, line in self.lines)])
        parts = compile_patterns(self.block.parts)
        name = self.open_field
        found = [(self.first, self.fields[name])] if name in self.fields else []
        for number, line in [*self.lines, (0, None)]:
            part = None if line is None else _find_match(parts, line.strip())
            if line is not None and part is None:
                if not matches_any(self.block.drop, line):
                    found.append((number, line))
                continue
            filled = [index for index, (_, text) in enumerate(found) if text.strip()]
            if filled:
                found = found[filled[0] : filled[-1] + 1]
                record[name] = "\n".join(text for _, text in found)
                self.numbers = [number for number, _ in found]
            if part is not None:
                pattern, fields = part
                record.update(fields)
                name = pattern.open_field or name
                found = [(number, fields[name])] if name in fields else []
        return Node(record, point_to_lines(self.first, self.last))


def split_blocks(
    blocks: Sequence[Block], lines: Iterable[NumberedLine]
) -> Iterator[OpenBlock | list[NumberedLine]]:
    """Yield the blocks in the lines of a text, and the lines outside of them, in order."""
    openings = _compile_openings(blocks)
    current: OpenBlock | None = None
    outside: list[NumberedLine] = []
    for number, line in lines:
        if current is not None and _ends_block(current.block, current.block.until, line):
            yield current
            current = None
            continue
        is_opaque = current is not None and current.block.opaque
        opened = None if is_opaque else _open_block(openings, line, number)
        if opened is not None and (current is None or not opened.block.outside):
            yield current if current is not None else outside
            current, outside = opened, []
            if opened.block.single:
                yield opened
                current = None
        elif current is None:
            outside.append((number, line))
        else:
            current.add_line(number, line)
            if _ends_block(current.block, current.block.last, line):
                yield current
                current = None
    yield current if current is not None else outside


def _compile_openings(blocks: Sequence[Block]) -> list[tuple[Block, _Patterns]]:
    return [(block, compile_patterns(block.line)) for block in blocks]


def _open_block(
    openings: Sequence[tuple[Block, _Patterns]], line: str, number: int
) -> OpenBlock | None:
    bare = line.strip()
    if not bare:
        return None
    for block, patterns in openings:
        if block.margin and line[:1].isspace():
            continue
        found = _find_match(patterns, bare)
        if found is not None:
            pattern, fields = found
            return OpenBlock(block, pattern, {**fields, "@line": bare}, number)
    return None


def _find_match(patterns: _Patterns, bare: str) -> tuple[LinePattern, dict[str, str]] | None:
    for pattern in patterns:
        # Most lines match no pattern, and this runs for each of them.
        if bare.startswith(pattern.prefix) and (fields := pattern.match(bare)) is not None:
            return pattern, {name: value.strip() for name, value in fields.items()}
    return None


def _ends_block(block: Block, patterns: Lines, line: str) -> bool:
    return not (block.margin and line[:1].isspace()) and matches_any(patterns, line)
