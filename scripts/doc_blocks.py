"""Find the code blocks of the docs, each with the mark above it.

A mark says what `tests/docs/test_docs.py` does with a block; `CONTRIBUTING.md` lists them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples"
_FENCED_BLOCK = re.compile(
    r"^(?: *<!-- (?P<mark>[^\n]*?) -->\n)?"
    r"(?P<indent> *)```(?P<language>[\w-]*)(?P<more>[^\n`]*)\n(?P<text>.*?)^(?P=indent)``` *$",
    re.DOTALL | re.MULTILINE,
)
_RUN_BY_PREFIX = "run by "


@dataclass(frozen=True, slots=True)
class DocBlock:
    """A code block with its location, language and mark."""

    page: Path
    line: int
    language: str
    info: str
    mark: str
    text: str

    @property
    def location(self) -> str:
        """Return the file and line."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def test(self) -> Path | None:
        """Return the test that runs the block, if it is not tests/docs/test_docs.py."""
        named = self.mark.removeprefix(_RUN_BY_PREFIX)
        return ROOT / named if named != self.mark else None


def list_pages() -> list[Path]:
    """Return every page that may have examples."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def parse_blocks(page: Path) -> list[DocBlock]:
    """Return the blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    return [
        DocBlock(
            page,
            text.count("\n", 0, match.start("text")) + 1,
            match["language"],
            match["more"].strip(),
            match["mark"] or "",
            dedent(match["text"]),
        )
        for match in _FENCED_BLOCK.finditer(text)
    ]


def find_blocks_for(test: str | Path) -> list[DocBlock]:
    """Return the blocks under `<!-- run by PATH -->` with the path of this test file."""
    test_path = Path(test).resolve()
    return [
        block for page in list_pages() for block in parse_blocks(page) if block.test == test_path
    ]
