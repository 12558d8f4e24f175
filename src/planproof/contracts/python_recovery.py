"""Read Python code that does not parse as it is: prose around it, escapes, Python 2, errors.

Traces hold code that was quoted, cut or written for another version. First the whole text is read
in the other ways in which it may have been meant. Otherwise the statements that parse are kept, and
the rest is unknown: the inside of a text or comment never becomes a statement.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

_MAX_LINES, _MAX_JOINED = 2_000, 40
_MAX_PARSED = 400_000
"""Characters that are parsed at most while looking for statements."""
_COST_OF_ATTEMPT = 500
_SPECULATIVE = (SyntaxError, ValueError, RecursionError, MemoryError)
_FENCE, _PYTHON_FENCES = "```", frozenset(("", "python", "python3", "py", "ipython"))
_ESCAPED = re.compile(r"\\([nrt\"'\\/])")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_TEXT_PART = re.compile(r"\\.|'''|\"\"\"|['\"#\n]", re.DOTALL)
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b|[)\]}]")


class RecoveredCode(NamedTuple):
    """Code that parses, its syntax tree, and whether statements were left out."""

    text: str
    tree: ast.Module
    has_errors: bool


def recover_python(text: str) -> RecoveredCode | None:
    """Return the code that a text stands for, or the statements of it that parse; None if hardly
    any do.
    """
    if any(line.lstrip().startswith(_FENCE) for line in text.splitlines()):
        text = _join_blocks(text)  # the rest is prose, or another language
        if not text.strip():
            return None
    for variant in _iter_variants(text):
        if (tree := parse_tree(variant)) is not None:
            return RecoveredCode(variant, tree, has_errors=False)
    kept = _keep_statements(text)
    tree = None if kept is None else parse_tree(kept)
    if kept is None or tree is None or not tree.body:
        return None
    return RecoveredCode(kept, tree, has_errors=True)


def parse_tree(text: str) -> ast.Module | None:
    """Return the syntax tree of Python code; None if it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except _SPECULATIVE:
        return None


def _iter_variants(text: str) -> Iterator[str]:
    """Yield other readings of a text as a whole."""
    yield text
    if "\\n" in text and "\n" not in text.strip():
        yield _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), text.strip())
    modern = "\n".join(map(_modernize_line, text.splitlines()))
    if modern != text:
        yield modern


def _join_blocks(text: str) -> str:
    """Return the lines of a text that are in a Markdown code block of Python."""
    kept: list[str] = []
    block: list[str] | None = None
    for line in text.splitlines():
        bare = line.strip()
        if block is not None and bare == _FENCE:
            kept += block
            block = None
        elif block is not None:
            block.append(line)
        elif bare.startswith(_FENCE) and bare[3:].strip().lower() in _PYTHON_FENCES:
            block = []
    return "\n".join(kept)


def _modernize_line(line: str) -> str:
    """Return a line of Python 2 as one of Python 3: print, except and raise."""
    body = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    word, _, rest = body.partition(" ")
    if word == "print" and rest.strip()[:1] not in set("=(.["):
        return f"{indent}print({rest.strip().rstrip(',')})"
    first, comma, second = rest.partition(",")
    if not comma or not first.strip().replace(".", "").isidentifier():
        return line
    name = second.removesuffix(":").strip()
    if word == "except" and second.endswith(":") and name.isidentifier():
        return f"{indent}except {first.strip()} as {name}:"
    return f"{indent}raise {first.strip()}({second.strip()})" if word == "raise" else line


def _keep_statements(text: str) -> str | None:
    """Return a text without the statements that do not parse; None if that is most of it."""
    lines = text.splitlines()
    starts = _find_starts(lines) if len(lines) <= _MAX_LINES else None
    if not starts:
        return None
    bounds = [*starts, len(lines)]
    kept = [""] * len(lines)
    budget, at, previous = _MAX_PARSED, 0, 0
    while at < len(starts) and budget > 0:
        first = at
        if at and _CONTINUES.match(lines[starts[at]]):
            first = previous  # what belongs to the statement before
        for end in range(at + 1, min(len(starts), at + _MAX_JOINED) + 1):
            part = lines[bounds[first] : bounds[end]]
            joined = "\n".join(part)
            budget -= len(joined) + _COST_OF_ATTEMPT
            if parse_tree(joined) is not None:
                kept[bounds[first] : bounds[end]] = part
                previous, at = first, end
                break
            if budget <= 0:
                break
        else:
            at += 1
    written = sum(bool(line.strip()) for line in lines)
    parsed = sum(bool(line.strip()) for line in kept)
    return "\n".join(kept) if 2 * parsed >= written else None


def _find_starts(lines: list[str]) -> list[int] | None:
    """Return the lines at which a statement of the outermost level can begin.

    Lines inside a text do not count. None if it can't be known where texts end: a quote in prose
    may hide the beginning of one.
    """
    starts: list[int] = []
    inside = ""
    for number, line in enumerate(lines):
        if not inside and line.strip() and not line[0].isspace():
            starts.append(number)
        at = 0
        while part := _TEXT_PART.search(line, at):
            mark, at = part[0], part.end()
            if inside:
                inside = "" if mark == inside else inside
            elif mark == "#":
                break
            elif len(mark) == 3:
                inside = mark
            elif mark in "'\"":
                end = _find_end(line, mark, at)
                if end is None:
                    if "'''" in line[at:] or '"""' in line[at:]:
                        return None
                    break
                at = end
    return starts


def _find_end(line: str, quote: str, start: int) -> int | None:
    """Return where a text on one line ends."""
    escaped = False
    for at in range(start, len(line)):
        if escaped:
            escaped = False
        elif line[at] == "\\":
            escaped = True
        elif line[at] == quote:
            return at + 1
    return None
