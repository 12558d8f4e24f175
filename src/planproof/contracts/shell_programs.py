"""What is known about programs of the shell: wrappers, shells, hosts, filters, flags.

The names are in `core/knowledge/shell_programs.txt`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from planproof.core.knowledge import read_knowledge

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


_CODE_FLAG = re.compile(r"-[a-zA-Z]{0,6}c")


_READ_ONLY_FLAG = re.compile(r"-[a-mo-z]{0,4}n[a-z]{0,4}")
"""A flag such as -n or -nc: the shell only checks the syntax."""


PYTHON = re.compile(r"(?:python|pypy)[\d.]{0,6}")


class Word(NamedTuple):
    """A word of a command: its text without quotes; what of it is computed is as written."""

    text: str
    is_literal: bool = True
    is_reparsable: bool = True
    """False if it has a command substitution, whose commands are listed already."""


@cache
def _load_programs() -> dict[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in read_knowledge("shell_programs.txt")}


def list_programs(name: str) -> frozenset[str]:
    """Return the words of a line of the knowledge file."""
    return _load_programs().get(name, frozenset())


def get_base_name(word: str) -> str:
    """Return the name of a program without its folder."""
    return word.rpartition("/")[2].removesuffix(".exe")


def join_words(words: Sequence[Word], separator: str = " ") -> Word:
    """Return several words as one."""
    return Word(
        separator.join(word.text for word in words),
        all(word.is_literal for word in words),
        all(word.is_reparsable for word in words),
    )


def quote_words(words: Sequence[Word]) -> Word:
    """Return words that are passed on as they are, as shell text."""
    texts = [shlex.quote(word.text) if word.is_literal else word.text for word in words]
    return Word(" ".join(texts), is_reparsable=all(word.is_reparsable for word in words))


def strip_wrappers(words: Sequence[Word]) -> tuple[Sequence[Word], tuple[str, ...], bool]:
    """Return the words of the wrapped command, the wrappers, and whether they add arguments."""
    via: list[str] = []
    adds_words = False
    while words and words[0].is_literal:
        name = get_base_name(words[0].text)
        pair = f"{name},{words[1].text}" if len(words) > 1 else ""
        if name in list_programs("wrappers"):
            if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
                break
            rest = _skip_options(words[1:], list_programs(f"{name}_values"))
            rest = rest[name in list_programs("operand_wrappers") :]
        elif pair in list_programs("wrapper_pairs"):
            rest = _skip_options(words[2:], list_programs("pair_values"))
            name = pair.replace(",", " ")
        else:
            break
        if not rest:
            break
        via.append(name)
        adds_words = adds_words or name in ("xargs", "parallel")
        words = rest
    return words, tuple(via), adds_words


def _skip_options(words: Sequence[Word], with_value: frozenset[str]) -> Sequence[Word]:
    """Return the words after options, their values, and assignments."""
    at = 0
    while at < len(words):
        word = words[at].text
        if word == "--":
            return words[at + 1 :]
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in with_value else 1
        elif _ASSIGNMENT.match(word):
            at += 1
        else:
            break
    return words[at:]


def find_inner_code(
    program: str, words: Sequence[Word], given_text: str | None, *, is_piped: bool
) -> tuple[Word | None, str | None]:
    """Return the shell code that a command runs, and the name of what runs it.

    `given_text` is what the command has on its standard input. The code is None if it is computed,
    the name if the command runs no other code.
    """
    given = None if given_text is None else Word(given_text)
    if program in list_programs("shells") or program == "su":
        return _find_shell_code(program, words, given, is_piped=is_piped)
    if program == "eval":
        return join_words(words[1:]), "eval"
    if program == "ssh":
        rest = _skip_options(words[1:], list_programs("ssh_values"))
        if len(rest) == 1 and (given is not None or is_piped):
            return given, f"ssh {rest[0].text}"
        return (join_words(rest[1:]), f"ssh {rest[0].text}") if len(rest) > 1 else (None, None)
    if program in list_programs("containers"):
        return _find_container_code(words)
    return None, None


def _find_shell_code(
    program: str, words: Sequence[Word], given: Word | None, *, is_piped: bool
) -> tuple[Word | None, str | None]:
    flag = next((n for n, word in enumerate(words) if _CODE_FLAG.fullmatch(word.text)), None)
    if any(_READ_ONLY_FLAG.fullmatch(word.text) for word in words[1 : (flag or 0) + 1]):
        return None, None
    if flag is not None:
        return (words[flag + 1], f"{program} -c") if flag + 1 < len(words) else (None, None)
    operands = [word for word in words[1:] if not word.text.startswith(("-", "+"))]
    if operands or program == "su":
        return None, None
    if given is not None:
        return given, program
    return (None, program) if is_piped else (None, None)


def _find_container_code(words: Sequence[Word]) -> tuple[Word | None, str | None]:
    at = next((n for n, word in enumerate(words) if word.text == "exec"), len(words))
    with_value = list_programs("container_values")
    target = _skip_options(words[at + 1 :], with_value)
    inner = _skip_options(target[1:], with_value)
    if not inner:
        return None, None
    names = [word.text for word in words[: at + 1] if not word.text.startswith("-")]
    return quote_words(inner), " ".join((*names, target[0].text))


def find_inert_flags(program: str, arguments: Sequence[str]) -> frozenset[str]:
    """Return the flags that keep a program from doing anything."""
    flags: set[str] = set()
    general, own = list_programs("inert_flags"), list_programs("inert_program_flags")
    for number, word in enumerate(arguments):
        if word == "--":
            break
        flag, _, value = word.partition("=")
        if flag not in general and f"{program},{flag}" not in own:
            continue
        # `helm upgrade --version 4.1` names a version; `--dry-run=none` switches it off.
        if flag == "--version" and (value or number + 1 < len(arguments)):
            continue
        if value.lower() not in ("none", "false", "no", "0"):
            flags.add(flag)
    return frozenset(flags)


def is_filter(program: str, arguments: Sequence[str]) -> bool:
    """Return whether a program in a pipe only transforms what it reads from it."""
    if program in ("xargs", "echo"):
        return not arguments
    if PYTHON.fullmatch(program):
        return tuple(arguments) == ("-m", "json.tool")
    if program not in list_programs("filters"):
        return False
    if program in list_programs("pure_filters"):
        return True
    changing = {"sed": ("-i", "--in-place"), "sort": ("-o", "--output")}.get(program, ())
    if changing and any(word.startswith(changing) for word in arguments):
        return False
    has_script = program in list_programs("scripted_filters") and not {"-e", "-f"} & set(arguments)
    return _count_operands(arguments, list_programs(f"{program}_values")) <= has_script


def _count_operands(arguments: Sequence[str], with_value: frozenset[str]) -> int:
    """Count the arguments that are neither options nor their values."""
    count = 0
    is_value = False
    for word in arguments:
        is_option = word.startswith("-")
        count += not is_option and not is_value
        is_value = is_option and word in with_value
    return count
