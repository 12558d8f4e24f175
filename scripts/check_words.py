"""Find words that nobody would search for: in names, docstrings, comments, messages and docs.

    python -m scripts.check_words [PATH ...]

A PATH is a file or a folder; without one, the whole repository is checked. banned_words.txt has one
entry per line: a word or phrase, and what to write instead. Word lists, regular expressions,
prompts, knowledge files, fixtures, the changelog and superseded decisions may use any word, because
they have the words of users and traces. So may a line with the comment `words: exempt`.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from scripts.doc_blocks import ROOT

_FOLDERS = ("src", "scripts", "benchmarks", "tests", "docs", "examples", ".github")
_SUFFIXES = frozenset({".py", ".md", ".html", ".js", ".css", ".toml", ".yml"})
_TEXT_FILES = ("Makefile", "action.yml", "mkdocs.yml", "pyproject.toml")
_EXEMPT = (
    "CHANGELOG.md",
    "scripts/check_words.py",
    "scripts/banned_words.txt",
    "src/planproof/llm/prompts/",
    "src/planproof/core/knowledge/",
    "src/planproof/runs/store/migrations.py",
    "tests/goldens/",
    "examples/",
)
_SUPERSEDED = re.compile(r"^Status: superseded", re.MULTILINE | re.IGNORECASE)
_PROMPT_BLOCK = re.compile(r"<!-- prompt \S+ -->\n```text\n.*?```\n", re.DOTALL)
_EXEMPT_LINE = "words: exempt"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+")
_Position: TypeAlias = tuple[int, int]
"""A line, from 1, and a column in bytes, as in ast."""
_PATTERN_FUNCTIONS = frozenset({"compile", "search", "match", "fullmatch", "sub", "finditer"})


class Hit(NamedTuple):
    """A banned word in a file."""

    path: Path
    line: int
    word: str
    instead: str


class BannedWords(NamedTuple):
    """The banned words and phrases, and what to write instead of each."""

    pattern: re.Pattern[str]
    instead: dict[str, str]

    @classmethod
    def load(cls) -> BannedWords:
        """Read scripts/banned_words.txt."""
        lines = (ROOT / "scripts" / "banned_words.txt").read_text(encoding="utf-8").splitlines()
        pairs = [line.split(":", 1) for line in lines if line and not line.startswith("#")]
        instead = {word.strip(): better.strip() for word, better in pairs}
        words = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in instead)
        return cls(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), instead)

    def find(self, text: str) -> Iterator[tuple[int, str, str]]:
        """Yield the line (from 0) of each banned word in a text, the word, and what to write."""
        for match in self.pattern.finditer(text):
            word = " ".join(match.group().lower().split())
            yield text.count("\n", 0, match.start()), word, self.instead[word]


def find_hits(paths: Iterable[Path], banned: BannedWords) -> Iterator[Hit]:
    """Yield every banned word in these files."""
    for path in paths:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".md" and _SUPERSEDED.search(text):
            continue
        lines = text.splitlines()
        if path.suffix == ".md":
            # Prompts are shown as models get them.
            text = _PROMPT_BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
        fragments = _iter_python(text) if path.suffix == ".py" else ((1, text),)
        for first, fragment in fragments:
            for line, word, instead in banned.find(fragment):
                number = first + line
                if _EXEMPT_LINE not in lines[number - 1]:
                    yield Hit(path, number, word, instead)


def _iter_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of names, comments and strings that are prose."""
    lines = text.splitlines()
    data = _find_data_strings(ast.parse(text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], _HUMP.sub(" ", token.string)
        elif token.type == tokenize.COMMENT:
            yield token.start[0], token.string
        elif token.type in _STRING_TOKENS:
            line, column = token.start
            position = (line, len(lines[line - 1][:column].encode()))
            if not any(first <= position < end for first, end in data):
                yield line, token.string.replace("_", " ")


_STRING_TOKENS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def _find_data_strings(tree: ast.AST) -> list[tuple[_Position, _Position]]:
    """Return start and end of the strings that are patterns or word lists, not prose."""
    found: list[tuple[_Position, _Position]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        is_list = node.func.attr == "split" and isinstance(node.func.value, ast.Constant)
        if is_list or node.func.attr in _PATTERN_FUNCTIONS:
            found += [
                ((part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0))
                for part in ast.walk(node)
                if isinstance(part, ast.Constant | ast.JoinedStr)
            ]
    return found


def list_files(root: Path = ROOT) -> list[Path]:
    """Return the files of the repository to check."""
    files = [
        path
        for folder in _FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in _SUFFIXES
    ]
    files += [*root.glob("*.md"), *(root / name for name in _TEXT_FILES)]
    return sorted(
        path
        for path in files
        if not path.relative_to(root).as_posix().startswith(_EXEMPT)
        and "__pycache__" not in path.parts
    )


def main(arguments: list[str]) -> int:
    """Print every hit; return 1 if there is one."""
    paths = [Path(name).resolve() for name in arguments] or [ROOT]
    files = [file for file in list_files() if any(file.is_relative_to(path) for path in paths)]
    hits = list(find_hits(files, BannedWords.load()))
    for hit in hits:
        print(f"{hit.path.relative_to(ROOT)}:{hit.line}: {hit.word!r}: write {hit.instead}")
    print(f"{len(hits)} banned words")
    return int(bool(hits))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
