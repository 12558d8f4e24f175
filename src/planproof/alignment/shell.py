"""Command lines, taken apart by their outline: what of them runs, and what has an effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

Names: TypeAlias = frozenset[str]
"""Tools, programs and flags that have no effect, unless a step names one of them."""
NOT_NAMED: Names = frozenset()

_PRINTERS = frozenset({"echo", "printf"})
_PAGERS = frozenset({"cat", "head", "tail", "less", "more", "true"})
_WRAPPERS = frozenset("sudo env time nice nohup command exec builtin then do else".split())
INTERPRETERS = frozenset("bash sh zsh dash ksh".split())
_OPENING = frozenset({"if", "for", "while", "until", "case", "{"})
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_FLAGS = frozenset({"--help", "--version", "--dry-run"})
_PIECE = re.compile(
    r"(?P<comment>(?<![^\s;&|()])#[^\n]*)|(?P<operator>\|\||&&|[;|\n()]|&(?!>))"
    r"|(?P<redirect>&?\d{0,2}>>?&?)"
    r"|(?P<word>(?:[^\s;&|()>'\"\\]|\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|['\"\\])+)",
    re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?[ \t]{0,4}(['\"]?)(\w{1,40})\1[^\n]{0,400}\n")
_RUN = re.compile(r"\$\(([^()`]{1,2000})|`([^`\s]{1,80}\s[^`]{1,2000})`")
"""A command whose output is filled in; a single word in backticks is rather Markdown."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")

_DEEPEST = 3


class Code(NamedTuple):
    """What is left of a command or program, what it only says, and what a step must name."""

    left: str
    spoken: str = ""
    names: Names = NOT_NAMED


StripCode: TypeAlias = Callable[[str, int], Code]


class _Command(NamedTuple):
    """A simple command of a shell line: its words, and what stands around it."""

    source: str
    words: list[str]
    writes: bool
    before: str
    after: str

    @property
    def program(self) -> str:
        """The name of what runs: the first word that is no assignment and runs no other word."""
        words = iter(self.words)
        for word in words:
            if word == "timeout":
                next(words, None)
            elif word not in _WRAPPERS and word != "!" and not _ASSIGNMENT.match(word):
                return word.rpartition("/")[2]
        return ""


def strip_shell(text: str, strip_code: StripCode, depth: int = 0) -> Code:
    """Take out of a command line what has no effect; `strip_code` does the same to programs."""
    text, printed = _without_documents(text)
    commands = list(_commands(text))
    left: list[str] = []
    names = NOT_NAMED
    succeeded: bool | None = None
    skipped = ended = idle = changed = False
    nested = 0
    for number, command in enumerate(commands, 1):
        following = commands[number] if number < len(commands) else None
        opening = command.words[0]
        nested += (opening in _OPENING) - (opening in _CLOSING)
        if opening in {"else", "elif", "fi", "done"}:
            skipped = False
        if command.words[:2] in (["if", "false"], ["while", "false"], ["elif", "false"]):
            skipped = True
        if skipped or ended or _is_skipped(command.before, succeeded=succeeded):
            continue
        program = command.program
        succeeded = {"true": True, ":": True, "false": False}.get(program)
        ended = opening == "exit" and not nested and command.before not in {"&&", "||", "("}
        if command.before == "|" and idle and program in _PAGERS:
            continue
        found = _strip_command(command, following, strip_code, depth)
        names |= found.names
        idle = not found.left
        if found.left:
            left.append(f"{found.left} {command.after}" if command.after else found.left)
        changed = changed or found.left != command.source
    if len(left) == len(commands) and not changed and "#" not in text and not printed:
        return Code(text)
    return Code(" ".join(left).strip(), f"{text}\n{printed}" if printed else text, names)


def _is_skipped(operator: str, *, succeeded: bool | None) -> bool:
    return (operator == "&&" and succeeded is False) or (operator == "||" and succeeded is True)


def _strip_command(
    command: _Command, following: _Command | None, strip_code: StripCode, depth: int
) -> Code:
    program, words = command.program, command.words
    flag = next((word for word in words[1:] if word in _FLAGS), None)
    if flag is not None:
        return Code("", names=frozenset({flag}))
    if program in {"true", "false", ":"}:
        return Code("", names=frozenset({program}))
    if program in _PRINTERS:
        piped = command.after == "|" and following and following.program not in _PAGERS
        if not (command.writes or piped):
            run = [found for word in words if word[0] != "'" for found in _RUN.findall(word)]
            return Code("; ".join(map("".join, run)), names=frozenset({"echo", "print"}))
    inner = _inner_code(program, words) if depth < _DEEPEST else None
    if inner is not None:
        if program.startswith("python"):
            return strip_code(inner, depth + 1)
        return strip_shell(inner, strip_code, depth + 1)
    return Code("" if not program or program in _CLOSING else command.source)


def _inner_code(program: str, words: list[str]) -> str | None:
    """Return the code that an interpreter is given on its command line."""
    if program not in INTERPRETERS and not program.startswith("python"):
        return None
    at = next((i for i, word in enumerate(words) if re.fullmatch(r"-[a-z]{0,3}c", word)), None)
    if at is None or at + 1 >= len(words):
        return None
    code = words[at + 1]
    quoted = len(code) > 1 and code[0] == code[-1] and code[0] in "'\""
    return code[1:-1].replace('\\"', '"') if quoted else code


def _commands(text: str) -> Iterator[_Command]:
    words: list[str] = []
    start = end = 0
    before, writes, redirected = "", False, False
    for piece in _PIECE.finditer(text):
        if piece["operator"]:
            if words:
                after = piece[0]
                yield _Command(text[start:end], words, writes, before, after)
            before = piece[0]
            words, writes, redirected = [], False, False
        elif piece["redirect"]:
            redirected, end = not piece[0].endswith("&"), piece.end()
        elif piece["word"]:
            if redirected:
                writes = writes or piece[0] not in {"/dev/null", "/dev/stdout", "/dev/stderr"}
            else:
                start = start if words else piece.start()
                words.append(piece[0])
            redirected, end = False, piece.end()
    if words:
        yield _Command(text[start:end], words, writes, before, "")


def _without_documents(text: str) -> tuple[str, str]:
    """Take out the documents that a command only prints: `cat <<EOF`."""
    if "<<" not in text:
        return text, ""
    kept: list[str] = []
    printed: list[str] = []
    position = 0
    while (match := _HEREDOC.search(text, position)) is not None:
        line_start = text.rfind("\n", 0, match.start()) + 1
        line = text[line_start : match.end()]
        closing = re.compile(rf"^\s*{match[2]}[ \t]*$", re.MULTILINE).search(text, match.end())
        end = closing.end() if closing else len(text)
        program = next(iter(line.split()), "")
        if program in {"cat", ":", "true"} and ">" not in line and "|" not in line:
            kept.append(text[position:line_start])
            printed.append(text[match.end() : end])
        else:
            kept.append(text[position:end])
        position = end
    kept.append(text[position:])
    return "".join(kept), "\n".join(printed)
