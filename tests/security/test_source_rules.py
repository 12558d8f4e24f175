"""What the source may not contain: a trace is hostile input, and the inner layers are closed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "planproof"
OUTER = ("cli", "integrations", "server", "reports", "runs", "config.py")
PROVIDERS = {"llm/answer_cache.py", "llm/http_connections.py", "llm/provider_errors.py"}
"""What talks to providers of models, or keeps their answers."""
EVERYWHERE = {"pickle", "marshal", "shelve", "dill", "eval", "exec", "__import__"}
INNER = {
    "os.environ",
    "os.environb",
    "os.getenv",
    "os.system",
    "socket",
    "ssl",
    "http",
    "urllib",
    "subprocess",
    "multiprocessing",
    "ctypes",
    "tempfile",
}

FILES = sorted(PACKAGE.rglob("*.py"))


def _is_inner(file: Path) -> bool:
    path = file.relative_to(PACKAGE)
    return path.parts[0] not in OUTER and path.as_posix() not in PROVIDERS


def _find_used_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every imported module, called name and dotted name, with all its prefixes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names = [node.func.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}"]
        else:
            continue
        line = getattr(node, "lineno", 0)
        for name in names:
            parts = name.split(".")
            yield from ((".".join(parts[:end]), line) for end in range(1, len(parts) + 1))


def _violations(source: str, forbidden: set[str]) -> list[str]:
    return [
        f"line {line}: {name}"
        for name, line in _find_used_names(ast.parse(source))
        if name in forbidden
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_nothing_that_came_in_is_ever_run(file: Path) -> None:
    assert _violations(file.read_text(encoding="utf-8"), EVERYWHERE) == []


@pytest.mark.parametrize(
    "file", [f for f in FILES if _is_inner(f)], ids=lambda file: str(file.relative_to(PACKAGE))
)
def test_inner_layers_read_no_environment_and_open_no_connection(file: Path) -> None:
    assert _violations(file.read_text(encoding="utf-8"), INNER) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "eval('1')",
        "import os\nos.environ['HOME']",
        "from os import environ",
        "import os\nos.getenv('HOME')",
        "import urllib.request",
        "from http import client",
    ],
)
def test_the_check_sees_what_it_should(source: str) -> None:
    assert _violations(source, EVERYWHERE | INNER)


def test_the_check_lets_harmless_code_pass() -> None:
    source = "import os, re\nre.compile('a')\nos.fspath('a')\nmodel.eval()"
    assert _violations(source, EVERYWHERE | INNER) == []
