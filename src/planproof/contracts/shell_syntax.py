"""Parse shell text with tree-sitter-bash, and put its syntax tree right where it is wrong.

The parser misreads what follows a here-document, and nests lists and pipelines without regard to
precedence.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_MAX_BYTES = 100_000
_OPERATORS = re.compile(rb"[|&;()<>{}\[\]$`!\x00]|\bfor\b|\n|''|\"\"")


_HEREDOC = re.compile(
    rb"(?<!<)<<(-?)[ \t]{0,4}(?:'([\w.-]{1,60})'|\"([\w.-]{1,60})\"|\\?([\w.-]{1,60}))"
)


_MAX_OPERATORS = 2_000
"""Limit on operators outside here-documents: the parser takes quadratic time to recover from
errors, and this keeps it below a tenth of a second."""


class Script(NamedTuple):
    """A script without its here-documents: each is replaced by a file that is read."""

    data: bytes
    bodies: dict[str, str]
    """The here-documents by the names of the files that replace them."""
    starts: list[int]
    """Positions in `data` at which the distance to the position in the text changes."""
    shifts: list[int]

    def locate(self, position: int) -> int:
        """Return the position in the text for one in `data`."""
        at = bisect_right(self.starts, position)
        located = position + self.shifts[at - 1]
        # The name that replaces a here-document may be longer than what it replaces.
        return min(located, self.starts[at] + self.shifts[at]) if at < len(self.starts) else located


class Element(NamedTuple):
    """A part of a pipeline with its redirections; only these if there is no command."""

    node: Node | None
    redirects: tuple[Node, ...] = ()


@cache
def _load_language() -> Language:
    import tree_sitter_bash  # noqa: PLC0415 - only needed for shell commands
    from tree_sitter import Language  # noqa: PLC0415 - only needed for shell commands

    return Language(tree_sitter_bash.language())


def parse_tree(data: bytes) -> Node | None:
    """Return the syntax tree of a script; None if parsing it could take too long."""
    if len(data) > _MAX_BYTES or len(_OPERATORS.findall(data)) > _MAX_OPERATORS:
        return None
    from tree_sitter import Parser  # noqa: PLC0415 - only needed for shell commands

    # A parser has state, so threads can't share one; making one costs nothing.
    return Parser(_load_language()).parse(data).root_node


def extract_heredocs(data: bytes) -> Script:
    """Replace `<<END` by `< NAME` and cut the bodies, because the parser misreads what follows.

    Bodies in which the shell runs commands are left in place.
    """
    if b"<<" not in data:
        return Script(data, {}, [0], [0])
    prefix = b"heredoc"
    while prefix in data:
        prefix += b"_"
    lines = data.splitlines(keepends=True)
    ends = list(accumulate(map(len, lines)))
    closings = _index_lines(lines)
    pieces: list[tuple[int, bytes]] = []
    bodies: dict[str, str] = {}
    index = 0
    while index < len(lines):
        line, position = lines[index], 0
        start = ends[index] - len(line)
        index += 1
        for match in _HEREDOC.finditer(line) if b"<<" in line else ():
            word = match[2] or match[3] or match[4]
            closing = _find_line(closings, word, index, has_tabs=bool(match[1]))
            if closing is None:
                continue
            body = b"".join(lines[index:closing])
            if match[4] and b"\\" not in match[0] and (b"$(" in body or b"`" in body):
                continue
            name = prefix + str(len(bodies)).encode()
            bodies[name.decode()] = body.decode("utf-8", "replace")
            pieces.append((start + position, line[position : match.start()]))
            pieces.append((start + match.start(), b"< " + name + b" "))
            position = match.end()
            index = closing + 1
        pieces.append((start + position, line[position:]))
    starts = [0, *accumulate(len(piece) for _, piece in pieces)][:-1]
    shifts = [origin - start for (origin, _), start in zip(pieces, starts, strict=True)]
    return Script(b"".join(piece for _, piece in pieces), bodies, starts, shifts)


def _index_lines(lines: list[bytes]) -> dict[bytes, list[int]]:
    """Return the positions of each line, also without its tabs."""
    index: dict[bytes, list[int]] = {}
    for number, line in enumerate(lines):
        bare = line.rstrip(b"\r\n")
        index.setdefault(bare, []).append(number)
        if bare.startswith(b"\t"):
            index.setdefault(b"\t" + bare.lstrip(b"\t"), []).append(number)
    return index


def _find_line(
    index: dict[bytes, list[int]], word: bytes, start: int, *, has_tabs: bool
) -> int | None:
    """Return the first line from `start` that is this word, maybe after tabs."""
    keys = (word, b"\t" + word) if has_tabs else (word,)
    numbers = (index.get(key, ()) for key in keys)
    found = [known[at] for known in numbers if (at := bisect_left(known, start)) < len(known)]
    return min(found, default=None)


def flatten(node: Node) -> Iterator[Element | str]:
    """Yield the elements and operators of nested lists and pipelines, in order.

    The grammar nests them without regard to precedence, and hangs a redirection of the last command
    on the whole list.
    """
    pending: list[tuple[Node, tuple[Node, ...]]] = [(node, ())]
    while pending:
        node, redirects = pending.pop()
        if node.type in ("list", "pipeline", "negated_command"):
            children = [child for child in node.children if child.type != "comment"]
            last = len(children) - 1
            pending += (
                (child, redirects if number == last else ())
                for number, child in reversed(list(enumerate(children)))
            )
        elif node.type == "redirected_statement":
            body = node.child_by_field_name("body")
            own = tuple(child for child in node.children if child.type.endswith("_redirect"))
            if body is None:
                yield Element(None, (*own, *redirects))
            else:
                pending.append((body, (*own, *redirects)))
        elif node.type in ("&&", "||", "!"):
            yield node.type
        elif node.is_named:
            yield Element(node, redirects)


def find_error(root: Node) -> int:
    """Return the position of the first syntax error."""
    node = root
    while True:
        if node.is_error or node.is_missing:
            return node.start_byte
        following = next(
            (child for child in node.children if child.has_error or child.is_missing), None
        )
        if following is None:
            return node.start_byte
        node = following
