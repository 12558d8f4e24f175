"""Command lines, taken apart by their outline: what of them runs, and what has an effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

Names: TypeAlias = frozenset[str]
"""Tools, programs and flags that have no effect, unless a step names one of them."""
NOT_NAMED: Names = frozenset()

_PRINTERS = frozenset({"echo", "printf"})
_IDLE = frozenset({*_PRINTERS, "true", "false", ":", "test", "["})
_PAGERS = frozenset({"cat", "head", "tail", "less", "more", "wc", "true"})
_SPECIAL = frozenset("$`<>|&(){}")
"""Characters that may make more of a command than its words say."""
_WRAPPERS = frozenset("sudo env time nice nohup command exec builtin eval then do else { !".split())
_VALUED = frozenset({"-n", "-u", "-g"})
"""Options of wrappers that have a value."""
INTERPRETERS = frozenset("bash sh zsh dash ksh".split())
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
    is_harmless: bool = False
    """Whether it does nothing but print, as far as anybody can see."""


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
        for raw in words:
            word = raw.strip("'\"\\")
            if word == "timeout" or word in _VALUED:
                next(words, None)
            elif not (word in _WRAPPERS or word.startswith("-") or _ASSIGNMENT.match(word)):
                return word.rpartition("/")[2]
        return ""


def strip_shell(text: str, strip_code: StripCode, depth: int = 0) -> Code:
    """Take out of a command line what has no effect; `strip_code` does the same to programs."""
    line, printed, kept = _without_documents(text)
    commands = list(_commands(line))
    left: list[str] = []
    names = NOT_NAMED
    succeeded: bool | None = None
    skipped = idle = changed = False
    for number, command in enumerate(commands, 1):
        following = commands[number] if number < len(commands) else None
        if command.words[0] in {"else", "elif", "fi", "done"}:
            skipped = False
        if command.words in (["if", "false"], ["while", "false"], ["elif", "false"]):
            skipped = command.after in {";", "\n"}
        if skipped or _is_skipped(command.before, succeeded=succeeded):
            continue
        maybe = command.before in {"&&", "||"} and succeeded is None
        succeeded = None if maybe else _outcome(command)
        if command.before == "|" and idle and command.program in _PAGERS and not command.writes:
            continue
        found = _strip_command(command, following, strip_code, depth)
        names |= found.names
        idle = not found.left
        if found.left:
            left.append(f"{found.left} {command.after}" if command.after else found.left)
        changed = changed or found.left != command.source
    if len(left) == len(commands) and not changed and "#" not in line and not printed:
        return Code(text)
    harmless = _SPECIAL.isdisjoint(text) and all(each.program in _IDLE for each in commands)
    return Code("\n".join((" ".join(left).strip(), *kept)).strip(), text, names, harmless)


def _outcome(command: _Command) -> bool | None:
    """Return whether a command is known to succeed or to fail."""
    known = {"true": True, ":": True, "false": False}.get(command.program)
    return known if known is None or "!" not in command.words else not known


def _is_skipped(operator: str, *, succeeded: bool | None) -> bool:
    return (operator == "&&" and succeeded is False) or (operator == "||" and succeeded is True)


def _strip_command(
    command: _Command, following: _Command | None, strip_code: StripCode, depth: int
) -> Code:
    program, words = command.program, command.words
    flag = _flag(words)
    if flag is not None:
        return Code("", names=frozenset({flag}))
    if program in _IDLE - _PRINTERS and not command.writes:
        run = _RUN.findall(command.source)
        return Code("; ".join(map("".join, run)), names=frozenset({program}))
    if program in _PRINTERS:
        piped = command.after == "|" and following and following.program not in _PAGERS
        if not (command.writes or piped):
            run = [found for word in words if word[0] != "'" for found in _RUN.findall(word)]
            return Code("; ".join(map("".join, run)), names=frozenset({"echo", "print"}))
    inner = _inner_code(program, words) if depth < _DEEPEST else None
    if inner is not None:
        if program.startswith("python"):
            found = strip_code(inner, depth + 1)
        else:
            found = strip_shell(inner, strip_code, depth + 1)
        return Code(command.source) if found.left.split() == inner.split() else found
    if not program:
        # An assignment, or a command without a name.
        return Code("; ".join(map("".join, _RUN.findall(command.source))))
    if program == "cat" and "<<<" in command.source and not command.writes:
        return Code("", names=frozenset({"cat"}))
    return Code("" if program in _CLOSING else command.source)


def _flag(words: list[str]) -> str | None:
    """Return the flag that keeps a command from doing anything."""
    for place, word in enumerate(words[1:], 1):
        if word == "--":
            return None
        flag = word.partition("=")[0]
        if flag in _FLAGS and (flag != "--version" or words[place + 1 :] == []):
            return flag
    return None


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


def _without_documents(text: str) -> tuple[str, str, list[str]]:
    """Take the documents out of a command line: those that are only printed, and the others."""
    if "<<" not in text:
        return text, "", []
    lines: list[str] = []
    printed: list[str] = []
    kept: list[str] = []
    position = 0
    while (match := _HEREDOC.search(text, position)) is not None:
        start = text.rfind("\n", 0, match.start()) + 1
        line = text[start : match.end()]
        closing = re.compile(rf"^\s*{match[2]}[ \t]*$", re.MULTILINE).search(text, match.end())
        end = closing.end() if closing else len(text)
        body = text[match.end() : closing.start() if closing else end]
        last = re.split(r"[;&|]", line[: match.start() - start])[-1].split()
        only_printed = last[:1] in (["cat"], [":"], ["true"]) and not re.search(r">|\|", line)
        if only_printed and _SPECIAL.isdisjoint(body):
            lines.append(text[position : max(position, start)])
            printed.append(body)
        else:
            lines.append(text[position : match.end()])
            kept.append(body)
        position = end
    lines.append(text[position:])
    return "".join(lines), "\n".join(printed), kept
