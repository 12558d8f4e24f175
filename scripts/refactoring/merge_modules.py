"""Merge modules as `merges.txt` says: each line is `source target`, both below planproof.

The statements of the source go into the target: before its own if these need them at import time,
else behind them. Whatever imports the source imports the target afterwards. A target that is a
package becomes a module when all that it holds has been merged.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = Path("src/planproof")
FOLDERS = ("src", "tests", "benchmarks", "scripts", "examples", "docs")


def file_of(module: str) -> Path:
    base = SOURCE / Path(*module.split("."))
    return base.with_suffix(".py") if base.with_suffix(".py").exists() else base / "__init__.py"


class Text:
    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)
        self.imports: list[str] = []
        self.blocks: list[str] = []
        self.doc = ""
        self.split()

    def split(self) -> None:
        previous = 0
        for index, node in enumerate(self.tree.body):
            lines = "\n".join(self.lines[previous : node.end_lineno]).strip("\n")
            if index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                self.doc = lines
            elif isinstance(node, ast.Import | ast.ImportFrom) or is_type_checking(node):
                self.imports.append(lines)
            else:
                self.blocks.append("\n".join(self.lines[previous:]).strip("\n"))
                return
            previous = node.end_lineno or node.lineno

    @property
    def names(self) -> set[str]:
        found: set[str] = set()
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                found |= {
                    each.id
                    for each in ast.walk(node)
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                }
        return found

    @property
    def needed(self) -> set[str]:
        """Names that are needed as soon as the module is executed."""
        found: set[str] = set()
        pending: list[ast.AST] = list(self.tree.body)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name):
                found.add(node.id)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                pending += [*node.decorator_list, *node.args.defaults]
                pending += [each for each in node.args.kw_defaults if each]
            elif isinstance(node, ast.AnnAssign):
                pending += [node.value] if node.value else []
            elif isinstance(node, ast.Lambda):
                continue
            else:
                pending += ast.iter_child_nodes(node)
        return found


def is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def merge(source: str, target: str) -> None:
    from_path, to_path = file_of(source), file_of(target)
    one, other = Text(from_path), Text(to_path)
    both = one.names & other.names
    own = {f"planproof.{source}", f"planproof.{target}"}
    for name in sorted(both):
        print(f"{source} and {target} both have {name}", file=sys.stderr)
    imports = [
        text
        for text in dict.fromkeys([*other.imports, *one.imports])
        if not any(f"from {module} import" in text for module in own)
    ]
    imports.sort(key=lambda text: "__future__" not in text)
    first = bool(other.needed & one.names)
    blocks = [*one.blocks, *other.blocks] if first else [*other.blocks, *one.blocks]
    to_path.write_text(
        "\n\n\n".join([other.doc, "\n".join(imports), *blocks]) + "\n", encoding="utf-8"
    )
    subprocess.run(["git", "rm", "-qf", str(from_path)], check=True)
    redirect(f"planproof.{source}", f"planproof.{target}")


def redirect(old: str, new: str) -> None:
    old_package, _, old_name = old.rpartition(".")
    new_package, _, new_name = new.rpartition(".")
    patterns = [
        (re.compile(rf"\b{re.escape(old)}\b(?!\.[a-z_]+ import)"), new),
        (re.compile(rf"\b{re.escape(old.replace('.', '/'))}\.py\b"), f"{new.replace('.', '/')}.py"),
    ]
    module_import = re.compile(
        rf"^(\s*)from {re.escape(old_package)} import (.*\b{old_name}\b.*)$", re.MULTILINE
    )
    files = [path for folder in FOLDERS for path in Path(folder).rglob("*")]
    for path in [*files, Path("pyproject.toml"), Path("Makefile"), Path("CONTRIBUTING.md")]:
        if (
            path.suffix not in {".py", ".md", ".toml", ""}
            or not path.is_file()
            or HERE.name in path.parts
        ):
            continue
        text = before = path.read_text(encoding="utf-8")
        if old not in text and old.replace(".", "/") not in text and not module_import.search(text):
            continue
        for pattern, name in patterns:
            text = pattern.sub(name, text)
        if (found := module_import.search(text)) and path.suffix == ".py":
            print(f"{path}: {found[0]}  # now {new_package} {new_name}", file=sys.stderr)
        if text != before:
            path.write_text(text, encoding="utf-8")


def flatten(package: str) -> None:
    folder = SOURCE / Path(*package.split("."))
    if [path.name for path in folder.glob("*.py")] == ["__init__.py"] and not any(
        path.is_dir() and path.name != "__pycache__" for path in folder.iterdir()
    ):
        subprocess.run(
            ["git", "mv", "-f", str(folder / "__init__.py"), f"{folder}.py.new"], check=True
        )
        subprocess.run(["rm", "-r", str(folder)], check=True)
        subprocess.run(["git", "mv", f"{folder}.py.new", f"{folder}.py"], check=True)


def main() -> None:
    targets: list[str] = []
    for line in (HERE / "merges.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            source, target = line.split()
            if not file_of(source).exists():
                continue
            merge(source, target)
            targets.append(target)
    for target in dict.fromkeys(targets):
        if file_of(target).name == "__init__.py":
            flatten(target)


if __name__ == "__main__":
    main()
