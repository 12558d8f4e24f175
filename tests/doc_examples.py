"""What can be said of an example in the docs without running it."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import tomllib
from collections.abc import Iterator

from typer.core import TyperGroup
from typer.main import get_command

from planproof.cli.app import app
from scripts.doc_blocks import ROOT, DocBlock
from scripts.shell import extract_commands

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)
_OPERATORS = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "2>", "<"})
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def check_python(block: DocBlock) -> None:
    """It compiles, and what it imports from planproof is there."""
    tree = ast.parse(block.text, block.location)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("planproof"):
            module = importlib.import_module(str(node.module))
            for name in node.names:
                assert hasattr(module, name.name), f"{block.location}: {node.module}.{name.name}"


def check_commands(block: DocBlock) -> None:
    """Each command is one: options that the program has, targets and extras that there are."""
    commands = extract_commands(block.text, block.language)
    assert commands, f"{block.location}: no command"
    for command in commands:
        check_command(command, block.location)


def check_command(command: str, place: str) -> None:
    """The parts of a command that belong to this project are understood by it."""
    for words in _split_commands(_EXPRESSION.sub(r"\1", command)):
        match words:
            case ["planproof", *arguments]:
                _check_arguments(arguments, place)
            case ["make", *targets]:
                known = _TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
                assert set(targets) <= set(known), f"{place}: {command}"
            case ["pip", "install", *packages]:
                _check_packages(packages, place)
            case _:
                pass


def find_commands(text: str) -> Iterator[str]:
    """Yield the planproof commands in a settings file."""
    for found in re.finditer(r"(?<![\w/-])planproof [a-z]+ [^\n\"]*", text):
        yield found[0]


def _split_commands(command: str) -> Iterator[list[str]]:
    """The simple commands that a line is made of; what is behind a `>` is no argument."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    skipped = False
    for word in [*lexer, ";"]:
        if word in _OPERATORS:
            yield words
            words, skipped = [], word in {">", ">>", "2>", "<"}
        elif skipped:
            skipped = False
        else:
            words.append(word)


def _check_arguments(arguments: list[str], place: str) -> None:
    """They are parsed, and nothing is run."""
    command, rest = get_command(app), list(arguments)
    while isinstance(command, TyperGroup) and rest:
        assert rest[0] in command.commands, f"{place}: planproof {shlex.join(arguments)}"
        command = command.commands[rest.pop(0)]
    try:
        command.make_context(command.name, rest)
    except Exception as error:
        raise AssertionError(f"{place}: planproof {shlex.join(arguments)}: {error}") from error


def _check_packages(packages: list[str], place: str) -> None:
    extras = _PROJECT["optional-dependencies"]
    for package in packages:
        if (found := re.fullmatch(r"planproof\[([\w,-]+)\]", package)) is not None:
            assert set(found[1].split(",")) <= set(extras), f"{place}: {package}"
