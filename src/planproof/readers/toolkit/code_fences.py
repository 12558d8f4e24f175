"""Code blocks between lines of three backticks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = "```"
_INTERPRETERS = {
    "": "python",
    "py": "python",
    "python": "python",
    "python3": "python",
    "sh": "sh",
    "bash": "sh",
    "shell": "sh",
    "zsh": "sh",
    "console": "sh",
    "sql": "sql",
    "js": "javascript",
    "javascript": "javascript",
    "r": "r",
}


@dataclass(slots=True)
class CodeBlock:
    """A code block: where it stands with its fences, and the code between them."""

    start: int
    end: int
    language: str
    code: str

    @property
    def interpreter(self) -> str | None:
        """What would run this code; None for what is no program."""
        return _INTERPRETERS.get(self.language.lower())


def find_code_blocks(text: str) -> Iterator[CodeBlock]:
    """The code blocks of a text; one that is never closed is none."""
    opened: tuple[int, int, str] | None = None
    position = text.find(_FENCE)
    while position >= 0:
        line_start = text.rfind("\n", 0, position) + 1
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        if not text[line_start:position].strip():
            rest = text[position + 3 : line_end].strip()
            if opened is None and "`" not in rest:
                opened = (line_start, line_end + 1, rest.split(None, 1)[0] if rest else "")
            elif opened is not None and (not rest or rest.startswith("<")):
                start, code_start, language = opened
                # Code agents close a block with a mark of their own right behind the fence.
                yield CodeBlock(start, line_end, language, text[code_start:line_start].rstrip("\n"))
                opened = None
        position = text.find(_FENCE, line_end)
