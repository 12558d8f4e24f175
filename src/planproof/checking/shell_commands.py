"""Split shell command lines and strip the commands that do not run or have no effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

RequiredNames: TypeAlias = frozenset[str]
"""Tools, programs and flags that have no effect, unless a step names one of them."""
NO_NAMES: RequiredNames = frozenset()

_PRINTERS = frozenset({"echo", "printf"})
_IDLE = frozenset({*_PRINTERS, *"true false : test [ which whatis man apropos logger".split()})
_PAGERS = frozenset({"cat", "head", "tail", "less", "more", "wc", "true"})
_SPECIAL = frozenset("$`<>|&(){}")
"""Characters that may give a command an effect beyond its words."""
_WRAPPERS = frozenset("sudo env time nice nohup command exec builtin eval then do else { !".split())
_VALUE_OPTIONS = frozenset({"-n", "-u", "-g"})
"""Options of wrappers that take a value."""
INTERPRETERS = frozenset("bash sh zsh dash ksh".split())
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_FLAGS = frozenset({"--help", "--version", "--dry-run"})
_EXITS = frozenset({"exit", "return"})
_TOKEN = re.compile(
    r"(?P<comment>(?<![^\s;&|()])#[^\n]*)|(?P<operator>\|\||&&|[;|\n()]|&(?!>))"
    r"|(?P<redirect>&?\d{0,2}>>?&?)"
    r"|(?P<word>(?:[^\s;&|()>'\"\\]|\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|['\"\\])+)",
    re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?[ \t]{0,4}(['\"]?)(\w{1,40})\1[^\n]{0,400}\n")
_SUBSTITUTION = re.compile(r"\$\(([^()`]{1,2000})|`([^`\s]{1,80}\s[^`]{1,2000})`")
"""A command substitution; a single word in backticks is more likely Markdown."""
_QUOTED = re.compile(r"(?P<single>'[^']*')|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")

_MAX_DEPTH = 3


class StrippedCode(NamedTuple):
    """Code without its ineffective parts, what it prints, and the names a step must contain."""

    remaining: str
    printed_text: str = ""
    required_names: RequiredNames = NO_NAMES
    is_harmless: bool = False
    """True if the code visibly does nothing but print."""


StripCode: TypeAlias = Callable[[str, int], StrippedCode]


class _Command(NamedTuple):
    """A simple command of a shell line: its words, and the operators before and after it."""

    source: str
    words: list[str]
    writes: bool
    before: str
    after: str

    @property
    def program(self) -> str:
        """The name of the program: the first word that is not an assignment, option or wrapper."""
        words = iter(self.words)
        for raw in words:
            word = raw.strip("'\"\\")
            if word == "timeout" or word in _VALUE_OPTIONS:
                next(words, None)
            elif not (word in _WRAPPERS or word.startswith("-") or _ASSIGNMENT.match(word)):
                return word.rpartition("/")[2]
        return ""


def strip_shell(text: str, strip_code: StripCode, depth: int = 0) -> StrippedCode:
    """Strip commands without effect from a command line; `strip_code` strips embedded programs."""
    line, printed, heredocs = _strip_heredocs(text)
    commands = list(_split_commands(line))
    remaining: list[str] = []
    names = NO_NAMES
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
        if command.program in _EXITS and number == 1:
            changed = True
            break
        maybe = command.before in {"&&", "||"} and succeeded is None
        succeeded = None if maybe else _predict_success(command)
        if command.before == "|" and idle and command.program in _PAGERS and not command.writes:
            continue
        stripped = _strip_command(command, following, strip_code, depth)
        names |= stripped.required_names
        idle = not stripped.remaining
        if stripped.remaining:
            remaining.append(
                f"{stripped.remaining} {command.after}" if command.after else stripped.remaining
            )
        changed = changed or stripped.remaining != command.source
    if len(remaining) == len(commands) and not changed and "#" not in line and not printed:
        return StrippedCode(text)
    harmless = _SPECIAL.isdisjoint(text) and all(
        simple_command.program in _IDLE for simple_command in commands
    )
    return StrippedCode(
        "\n".join((" ".join(remaining).strip(), *heredocs)).strip(), text, names, harmless
    )


def _predict_success(command: _Command) -> bool | None:
    """Return whether a command always succeeds (True) or fails (False), or None if unknown."""
    known = {"true": True, ":": True, "false": False}.get(command.program)
    return known if known is None or "!" not in command.words else not known


def _is_skipped(operator: str, *, succeeded: bool | None) -> bool:
    return (operator == "&&" and succeeded is False) or (operator == "||" and succeeded is True)


def _strip_command(
    command: _Command, following: _Command | None, strip_code: StripCode, depth: int
) -> StrippedCode:
    program, words = command.program, command.words
    flag = _find_noop_flag(words)
    if flag is not None:
        return StrippedCode("", required_names=frozenset({flag}))
    if program in INTERPRETERS and "-n" in words[1:]:
        return StrippedCode("", required_names=frozenset({"-n"}))  # it only reads the commands
    if program in _IDLE - _PRINTERS and not command.writes:
        return StrippedCode(
            _list_substitutions(command.source), required_names=frozenset({program})
        )
    if program in _PRINTERS:
        piped = command.after == "|" and following and following.program not in _PAGERS
        if not (command.writes or piped):
            return StrippedCode(
                _list_substitutions(command.source), required_names=frozenset({"echo", "print"})
            )
    inner = _extract_inner_code(program, words) if depth < _MAX_DEPTH else None
    if inner is not None:
        if program.startswith("python"):
            stripped = strip_code(inner, depth + 1)
        else:
            stripped = strip_shell(inner, strip_code, depth + 1)
        return (
            StrippedCode(command.source)
            if stripped.remaining.split() == inner.split()
            else stripped
        )
    if not program:
        # An assignment, or a command without a name.
        return StrippedCode(_list_substitutions(command.source))
    if program == "cat" and "<<<" in command.source and not command.writes:
        return StrippedCode("", required_names=frozenset({"cat"}))
    return StrippedCode("" if program in _CLOSING else command.source)


def _list_substitutions(source: str) -> str:
    """Return the commands that a command line substitutes: none in single quotes."""
    expanded = _QUOTED.sub(lambda quoted: "" if quoted["single"] else quoted[0], source)
    return "; ".join(map("".join, _SUBSTITUTION.findall(expanded)))


def _find_noop_flag(words: list[str]) -> str | None:
    """Return the flag that prevents a command from doing anything."""
    for index, word in enumerate(words[1:], 1):
        if word == "--":
            return None
        flag = word.partition("=")[0]
        if flag in _FLAGS and (flag != "--version" or words[index + 1 :] == []):
            return flag
    return None


def _extract_inner_code(program: str, words: list[str]) -> str | None:
    """Return the code passed to an interpreter on its command line."""
    if program not in INTERPRETERS and not program.startswith("python"):
        return None
    at = next((i for i, word in enumerate(words) if re.fullmatch(r"-[a-z]{0,3}c", word)), None)
    if at is None or at + 1 >= len(words):
        return None
    code = words[at + 1]
    quoted = len(code) > 1 and code[0] == code[-1] and code[0] in "'\""
    return code[1:-1].replace('\\"', '"') if quoted else code


def _split_commands(text: str) -> Iterator[_Command]:
    words: list[str] = []
    start = end = 0
    before, writes, redirected = "", False, False
    for token in _TOKEN.finditer(text):
        if token["operator"]:
            if words:
                after = token[0]
                yield _Command(text[start:end], words, writes, before, after)
            before = token[0]
            words, writes, redirected = [], False, False
        elif token["redirect"]:
            redirected, end = not token[0].endswith("&"), token.end()
        elif token["word"]:
            if redirected:
                writes = writes or token[0] not in {"/dev/null", "/dev/stdout", "/dev/stderr"}
            else:
                start = start if words else token.start()
                words.append(token[0])
            redirected, end = False, token.end()
    if words:
        yield _Command(text[start:end], words, writes, before, "")


def _strip_heredocs(text: str) -> tuple[str, str, list[str]]:
    """Split off here-documents: the line without them, those only printed, and the others."""
    if "<<" not in text:
        return text, "", []
    lines: list[str] = []
    printed: list[str] = []
    heredocs: list[str] = []
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
            heredocs.append(body)
        position = end
    lines.append(text[position:])
    return "".join(lines), "\n".join(printed), heredocs
