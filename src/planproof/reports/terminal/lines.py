"""Styled lines for a terminal, 80 columns wide: wrapping, columns, sections and bars.

Lines need no import of rich; it is loaded only for a real terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import TypeAlias
from unicodedata import east_asian_width

Part: TypeAlias = str | tuple[str, str]
Line: TypeAlias = tuple[Part, ...]

WIDTH = 80
_MAX_BAR_WIDTH = 40
_FILLER = "\0"
"""Placed before each wide character while wrapping; sanitized text never contains it."""


def to_plain_text(line: Line) -> str:
    """Return the text of a line, without styles."""
    return "".join(part if isinstance(part, str) else part[0] for part in line).rstrip()


def truncate(text: str, width: int) -> str:
    """Truncate the text to a width."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def wrap_text(
    text: str, width: int, indent: str = "", subsequent_indent: str | None = None
) -> list[str]:
    """Wrap text to lines of at most `width` columns; a wide character takes two columns."""
    if not text.isascii():
        text = "".join(f"{_FILLER}{c}" if east_asian_width(c) in "WF" else c for c in text)
    # Reserve a column: a line may begin with a wide character whose filler is on the previous line.
    lines = wrap(
        text,
        width - 1 if _FILLER in text else width,
        initial_indent=indent,
        subsequent_indent=indent if subsequent_indent is None else subsequent_indent,
        break_on_hyphens=False,
    )
    return [line.replace(_FILLER, "") for line in lines]


def draw_bar(count: int, largest: int) -> str:
    """Draw a bar in proportion to the largest count; at least one character for counts above 0."""
    return "█" * max(1, round(_MAX_BAR_WIDTH * count / largest)) if count else ""


def wrap_lines(text: str, style: str = "") -> Iterator[Line]:
    """Wrap text to the width of the terminal, in one style."""
    return (((line, style),) for line in wrap_text(text, WIDTH))


def format_section(title: str, rows: Sequence[Sequence[Part]]) -> Iterator[Line]:
    """Yield an empty line, a title, and rows in columns below it; nothing if there are no rows."""
    if rows:
        yield ()
        yield ((title, "bold"),)
        yield from format_columns(rows, indent=2)


def format_columns(rows: Iterable[Sequence[Part]], indent: int = 0) -> Iterator[Line]:
    """Align rows in columns as wide as their content; the last column is truncated to the width."""
    cells = [[(part, "") if isinstance(part, str) else part for part in row] for row in rows]
    widths = [max(len(text) for text, _ in column) for column in zip(*cells, strict=True)][:-1]
    remaining_width = WIDTH - indent - sum(width + 2 for width in widths)
    for *first, (text, style) in cells:
        padded = [(f"{part:<{w}}  ", kind) for (part, kind), w in zip(first, widths, strict=True)]
        yield (" " * indent, *padded, (truncate(text, remaining_width), style))
