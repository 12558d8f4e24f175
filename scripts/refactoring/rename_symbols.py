# pyright: basic
"""Rename symbols as `renames.tsv` says, with the references that pyright finds.

A line of the list is `module<TAB>qualified name<TAB>new name`. A parameter is `function.(name)`, a
local variable `function.<locals>.name`. All references are collected before anything is written, so
the order of the lines is free. Keywords of constructors and of `dataclasses.replace`, and names in
`monkeypatch.setattr`, are rewritten as well. `python scripts/refactoring/rename_symbols.py`.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

ROOT = Path.cwd()
HERE = Path(__file__).parent
FOLDERS = ("src", "tests", "benchmarks", "scripts")
SERVERS = 2
Position = tuple[int, int]
Edit = tuple[int, int, int, str]


class LanguageServer:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [str(ROOT / ".venv/bin/pyright-langserver"), "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.number = 0
        folder = {"uri": ROOT.as_uri(), "name": "planproof"}
        workspace = {"workspaceEdit": {"documentChanges": True}, "configuration": True}
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": ROOT.as_uri(),
                "capabilities": {"workspace": {**workspace, "workspaceFolders": True}},
                "workspaceFolders": [folder],
            },
        )
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline()) not in {b"\r\n", b""}:
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self.number += 1
        number = self.number
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" in message:
                if "id" in message:
                    items = message["params"].get("items", []) if message.get("params") else []
                    self.send({"jsonrpc": "2.0", "id": message["id"], "result": [{}] * len(items)})
            elif message.get("id") == number:
                return message.get("result")

    def at(self, path: Path, position: Position) -> dict[str, Any]:
        line, character = position
        return {
            "textDocument": {"uri": path.as_uri()},
            "position": {"line": line, "character": character},
        }

    def rename(self, path: Path, position: Position, new: str) -> dict[Path, list[Edit]] | None:
        answer = self.ask("textDocument/rename", {**self.at(path, position), "newName": new})
        if not answer:
            return None
        edits: dict[Path, list[Edit]] = {}
        for change in answer["documentChanges"]:
            file = Path(unquote(urlparse(change["textDocument"]["uri"]).path))
            for edit in change["edits"]:
                start, end = edit["range"]["start"], edit["range"]["end"]
                assert start["line"] == end["line"]
                where = (start["line"], start["character"], end["character"], edit["newText"])
                edits.setdefault(file, []).append(where)
        return edits


class Module:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)

    def position(self, line: int, byte: int) -> Position:
        """A position in UTF-16 units, of one of `ast`."""
        before = self.lines[line - 1].encode()[:byte].decode()
        return line - 1, len(before.encode("utf-16-le")) // 2

    def name_position(self, node: ast.AST, name: str) -> Position:
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        text = self.lines[line - 1].encode()
        at = re.search(rb"\b%s\b" % name.encode(), text[column:])
        assert at, (self.path, line, name)
        return self.position(line, column + at.start())

    def find(self, qualified: str) -> list[Position]:
        """Where a name is bound."""
        parts = re.findall(r"<locals>|\([^)]*\)|[^.()]+", qualified)
        scope: ast.AST = self.tree
        for index, part in enumerate(parts):
            is_last = index == len(parts) - 1
            if part == "<locals>" and index < len(parts) - 2:
                continue
            if part == "<locals>":
                return self.locals_of(scope, parts[-1])
            if part.startswith("("):
                return self.parameter(scope, part[1:-1])
            if is_last:
                return self.members(scope, part)
            inner = [
                node
                for node in ast.walk(scope)
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                and node.name == part
                and node is not scope
            ]
            if not inner:
                return []
            # An overload or a setter: the last is the one with a body.
            scope = (
                inner[-1]
                if index
                else next(
                    (n for n in reversed(inner) if n in ast.iter_child_nodes(self.tree)), inner[-1]
                )
            )
        return []

    def parameter(self, scope: ast.AST, name: str) -> list[Position]:
        arguments = getattr(scope, "args", None)
        assert isinstance(arguments, ast.arguments), (self.path, scope)
        each = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        each += [one for one in (arguments.vararg, arguments.kwarg) if one]
        return [self.position(a.lineno, a.col_offset) for a in each if a.arg == name]

    def locals_of(self, scope: ast.AST, name: str) -> list[Position]:
        found: list[Position] = []
        for node in ast.walk(scope):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
                found.append(self.position(node.lineno, node.col_offset))
            elif isinstance(node, ast.ExceptHandler) and node.name == name:
                line = self.lines[node.lineno - 1]
                found.append((node.lineno - 1, line.rindex(f"as {name}") + 3))
            elif isinstance(node, ast.Lambda):
                found += self.parameter(node, name)
            elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name == name:
                end = node.end_col_offset or 0
                found.append(self.position(node.end_lineno or 1, end - len(name.encode())))
            elif (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and node.name == name
                and node is not scope
            ):
                found.append(self.name_position(node, name))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node is not scope:
                found += self.parameter(node, name)
        return found

    def members(self, scope: ast.AST, name: str) -> list[Position]:
        found: list[Position] = []
        pending = list(ast.iter_child_nodes(scope))
        while pending:
            node = pending.pop(0)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if node.name == name:
                    found.append(self.name_position(node, name))
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
                found.append(self.position(node.lineno, node.col_offset))
            if isinstance(node, ast.alias) and name in {node.asname, node.name}:
                found.append(self.name_position(node, name))
            pending += ast.iter_child_nodes(node)
        if not found and isinstance(scope, ast.ClassDef):
            for node in ast.walk(scope):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.ctx, ast.Store)
                    and node.attr == name
                    and isinstance(node.value, ast.Name)
                    and node.value.id in {"self", "cls"}
                ):
                    column = (node.end_col_offset or 0) - len(name.encode())
                    found.append(self.position(node.end_lineno or node.lineno, column))
        return found


def file_of(module: str) -> Path:
    base = ROOT / ("src" if module.startswith("planproof") else ".") / Path(*module.split("."))
    return base.with_suffix(".py") if base.with_suffix(".py").exists() else base / "__init__.py"


class Renaming:
    def __init__(self, lines: list[tuple[str, str, str]]) -> None:
        self.lines = lines
        self.modules: dict[Path, Module] = {}
        self.edits: dict[Path, dict[tuple[int, int, int], str]] = defaultdict(dict)
        self.problems: list[str] = []

    def module(self, path: Path) -> Module:
        if path not in self.modules:
            self.modules[path] = Module(path)
        return self.modules[path]

    def collect(self) -> None:
        with ThreadPoolExecutor(SERVERS) as pool:
            half = len(self.lines) // SERVERS + 1
            ordered = sorted(self.lines)
            shares = [ordered[at : at + half] for at in range(0, len(ordered), half)]
            list(pool.map(self.collect_share, shares))

    def collect_share(self, lines: list[tuple[str, str, str]]) -> None:
        server = LanguageServer()
        for number, (module, qualified, new) in enumerate(lines):
            if number % 100 == 0:
                print(number, module, flush=True)
            path = file_of(module)
            try:
                positions = self.module(path).find(qualified)
            except Exception as error:  # a list written by hand may say anything
                self.problems.append(f"{module} {qualified}: {error!r}")
                continue
            if not positions:
                self.problems.append(f"{module} {qualified}: not found")
            old = qualified.replace(")", "").replace("(", "").rpartition(".")[2]
            for position in positions:
                self.rename_at(server, path, position, old, new, f"{module} {qualified}")
        server.process.kill()

    def rename_at(
        self, server: LanguageServer, path: Path, position: Position, old: str, new: str, name: str
    ) -> None:
        line, start = position
        if (line, start, start + len(old)) in self.edits[path]:
            return
        edits = server.rename(path, position, new) or server.rename(path, position, new)
        if edits is None:
            self.problems.append(f"{name}: pyright does not rename it at {line + 1}:{start}")
            return
        for file, changes in edits.items():
            if not any(file.is_relative_to(ROOT / folder) for folder in FOLDERS):
                continue
            for line_, start_, end, text in changes:
                before = self.edits[file].setdefault((line_, start_, end), text)
                if before != text:
                    where = f"{file}:{line_ + 1}:{start_}"
                    self.problems.append(f"{name}: {where} {before!r} and {text!r}")

    def apply(self) -> None:
        for path, edits in self.edits.items():
            lines = self.module(path).text.split("\n")
            for (line, start, end), text in sorted(edits.items(), reverse=True):
                units = lines[line].encode("utf-16-le")
                units = units[: start * 2] + text.encode("utf-16-le") + units[end * 2 :]
                lines[line] = units.decode("utf-16-le")
            path.write_text("\n".join(lines), encoding="utf-8")


def read_list() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for line in (HERE / "renames.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            module, qualified, new = line.split("\t")[:3]
            found.append((module, qualified, new.strip()))
    return found


def main() -> None:
    renaming = Renaming(read_list())
    renaming.collect()
    renaming.apply()
    print("\n".join(renaming.problems), file=sys.stderr)


if __name__ == "__main__":
    main()
