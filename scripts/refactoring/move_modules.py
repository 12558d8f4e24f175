"""Move modules as `moves.txt` and `test_moves.txt` say, and rewrite everything that names them.

Run it again after a change of the lists on a tree that has not been moved: it does not depend on
anything but the two lists. `python scripts/refactoring/move_modules.py`, from the root.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = Path("src")
TEXTS = ("src", "tests", "benchmarks", "scripts", "docs", "examples", "typings")
ROOT_TEXTS = ("README.md", "CONTRIBUTING.md", "Makefile", "mkdocs.yml", "pyproject.toml")
SUFFIXES = {".py", ".pyi", ".md", ".toml", ".yml", ".yaml", ".jinja", ".txt", ""}
NAMES_OF_OTHER_THINGS = {
    "plan",
    "case",
    "trace",
    "verdict",
    "usage",
    "judges",
    "models",
    "reports.terminal",
}
"""Also attributes of spans, groups of entry points and the like; only imports are rewritten."""


def pairs(name: str) -> dict[str, str]:
    lines = (HERE / name).read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MOVES = {f"planproof.{old}": f"planproof.{new}" for old, new in pairs("moves.txt").items()}
MODULES = {module_of(path): path for path in SOURCE.rglob("*.py")}


def new_path(module: str) -> Path:
    old, new = MODULES[module], MOVES.get(module, module)
    below = SOURCE / Path(*new.split("."))
    is_package = old.name == "__init__.py"
    return below / "__init__.py" if is_package else below.with_suffix(".py")


def move(old: Path, new: Path) -> None:
    if old == new or not old.exists():
        return
    new.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "mv", str(old), str(new)], check=True)


def imported(node: ast.ImportFrom) -> Iterator[tuple[str, str, str | None]]:
    """New module, name and alias of every name that a statement imports."""
    assert node.module
    for alias in node.names:
        full = f"{node.module}.{alias.name}"
        if full in MODULES:
            package, _, name = MOVES.get(full, full).rpartition(".")
            yield package, name, alias.asname or (alias.name if name != alias.name else None)
        else:
            yield MOVES.get(node.module, node.module), alias.name, alias.asname


def rewrite_imports(text: str) -> str:
    lines = text.split("\n")
    for node in sorted(ast.walk(ast.parse(text)), key=lambda n: -getattr(n, "lineno", 0)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("planproof"):
            continue
        groups: dict[str, list[str]] = {}
        for module, name, alias in imported(node):
            groups.setdefault(module, []).append(f"{name} as {alias}" if alias else name)
        written = [
            f"{each.name} as {each.asname}" if each.asname else each.name for each in node.names
        ]
        if groups == {node.module: written}:
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if list(groups.values()) == [written] and "(" in lines[first]:
            lines[first] = lines[first].replace(node.module or "", next(iter(groups)), 1)
            continue
        indent = " " * node.col_offset
        comment = re.search(r"\s+# .*$", lines[last])
        lines[first : last + 1] = [
            f"{indent}from {module} import {', '.join(names)}{comment[0] if comment else ''}"
            for module, names in groups.items()
        ]
    return "\n".join(lines)


def moved_names(moved_tests: dict[Path, Path]) -> dict[str, str]:
    """Old and new names of modules as texts write them: with dots, or as paths."""
    names = {"tests/contracts": "tests/conformance", "tests.contracts": "tests.conformance"}
    for old, new in MOVES.items():
        names[f"{old.replace('.', '/')}.py"] = f"{new.replace('.', '/')}.py"
        names[f"{old.replace('.', '/')}/"] = f"{new.replace('.', '/')}/"
        if old.split(".", 1)[1] not in NAMES_OF_OTHER_THINGS:
            names[old] = new
    for old, new in moved_tests.items():
        for separator in "./":
            was = separator.join(("tests", *old.with_suffix("").parts))
            names[was] = separator.join(("tests", *new.with_suffix("").parts))
    return {old: new for old, new in names.items() if old != new}


def main() -> None:
    tests = pairs("test_moves.txt")
    test_files = sorted(path.relative_to("tests") for path in Path("tests").rglob("*.py"))
    moved_tests = {old: new_test(old, tests) for old in test_files}
    rewrite_texts(moved_tests)
    for module in sorted(MODULES, key=lambda name: -name.count(".")):
        move(MODULES[module], new_path(module))
    for old, new in moved_tests.items():
        move(Path("tests") / old, Path("tests") / new)


def new_test(old: Path, tests: dict[str, str]) -> Path:
    text = old.as_posix()
    if text in tests:
        return Path(tests[text])
    parts = old.parts
    if parts[0] in {"unit", "system"} and parts[-1].startswith("test_"):
        module = ".".join(("planproof", *parts[1:-1], parts[-1][5:-3]))
        if module in MOVES:
            *folders, name = MOVES[module].split(".")[1:]
            return Path(parts[0], *folders, f"test_{name}.py")
    for folder, moved in tests.items():
        if text.startswith(f"{folder}/"):
            return Path(moved, text[len(folder) + 1 :])
    return old


def rewrite_texts(moved_tests: dict[Path, Path]) -> None:
    names = moved_names(moved_tests)
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"\b(?:{longest_first})(?<=/)|\b(?:{longest_first})\b")
    files = [path for folder in TEXTS for path in Path(folder).rglob("*") if path.is_file()]
    for path in [*files, *map(Path, ROOT_TEXTS)]:
        if path.suffix not in SUFFIXES or HERE.name in path.parts or "__pycache__" in path.parts:
            continue
        text = before = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            text = rewrite_imports(text)
        text = pattern.sub(lambda found: names[found[0]], text)
        if path.suffix == ".md":
            text = re.sub(
                r"^from (planproof[.\w]*) import", _import_in_docs, text, flags=re.MULTILINE
            )
        if text != before:
            path.write_text(text, encoding="utf-8")


def _import_in_docs(match: re.Match[str]) -> str:
    return f"from {MOVES.get(match[1], match[1])} import"


if __name__ == "__main__":
    main()
