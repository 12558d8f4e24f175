"""Parse Python code into the calls that it makes, and check conditions on one call.

Only the syntax is read, nothing is run. What can't be parsed is unknown, never searched as text.
"""

from __future__ import annotations

import ast
import io
import re
import shlex
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from textwrap import dedent
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planproof.contracts.python_recovery import parse_tree, recover_python
from planproof.contracts.sql_values import check_sql
from planproof.contracts.text_values import strip_code_fence
from planproof.contracts.value_check import all_true, any_true, check_scalar, compares_values
from planproof.core.content import Json
from planproof.core.contract import Condition, SqlCondition, Truth
from planproof.core.json_values import is_list, is_object

UNKNOWN_VALUE: Final = "\0unknown"
"""Replaces a value that the code computes; no literal equals it."""

_MAX_CHARS, _MAX_CACHED_CHARS = 100_000, 4_000
_MAX_DEPTH = 90
"""Deeper syntax is refused: walking it could exhaust the stack."""
_PRINTING = frozenset(
    "print pprint info debug warning warn error critical exception log write display".split()
)
_LOGGERS = frozenset("log logger logging console stdout stderr warnings".split())
_ENDING = frozenset(("exit", "quit", "sys.exit", "os._exit", "builtins.exit"))
_DYNAMIC = frozenset(("eval", "exec", "compile", "__import__", "importlib.import_module"))
_SHELL_CALLS = frozenset(
    "os.system os.popen subprocess.run subprocess.call subprocess.check_call "
    "subprocess.check_output subprocess.Popen subprocess.getoutput subprocess.getstatusoutput "
    "commands.getoutput asyncio.create_subprocess_shell sh.Command".split()
)
_NEUTRAL_BUILTINS = frozenset(
    "abs all any ascii bin bool bytes callable chr complex dict dir divmod enumerate filter float "
    "format frozenset getattr globals hasattr hash hex id int isinstance issubclass iter len list "
    "locals map max min next object oct ord pow print range repr reversed round set slice sorted "
    "str sum super tuple type vars zip".split()
)
_NEUTRAL_MODULES = frozenset(
    "base64 calendar collections copy dataclasses datetime decimal enum fractions functools "
    "hashlib itertools json logging math operator pprint random re statistics string sys textwrap "
    "time typing unicodedata uuid warnings zoneinfo".split()
)
"""Modules of the standard library that change nothing outside the program."""
_MAGIC = re.compile(r"^([ \t]*)(?:[\w., ]{1,80}=[ \t]*)?([!%]{1,2})(?=\S)(.*)$", re.MULTILINE)
_TIMED = re.compile(r"([ \t]*)(%(?:time|timeit|prun)[ \t]+)(?!-)")
_FILE_MAGICS = frozenset(("writefile", "file"))
_PYTHON_MAGICS = frozenset("time timeit prun capture python python3 py".split())
_SHELL_MAGICS = frozenset("bash sh system sx script pip conda".split())
_Block = Sequence[ast.stmt]
_Located = ast.stmt | ast.expr | ast.excepthandler
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class CodeCall(Struct, frozen=True, kw_only=True):
    """A call in code: its name with imports resolved, and its literal arguments.

    `written` is the name as the code has it, `receiver` the literal whose method is called, as in
    `Path("a.txt").read_text()`. Values that are not literals are `UNKNOWN_VALUE`.
    """

    name: str
    written: str
    positional: tuple[Json, ...] = ()
    keywords: dict[str, Json] = {}
    receiver: Json = None
    text: str = ""
    is_executed: bool = True
    is_neutral: bool = False
    """True for a function of Python that only computes or prints."""


class PythonCode(Struct, frozen=True):
    """The calls of a program, and its text without what has no effect."""

    calls: tuple[CodeCall, ...] = ()
    effective_text: str = ""
    is_complete: bool = True
    """False if something could not be parsed or is only known at run time."""
    is_recovered: bool = False
    """True if there is an error in the syntax, and these are the statements without one."""


def parse_python(text: str) -> PythonCode:
    """Return the calls of Python code; shell lines of a notebook (`!ls`) are calls of os.system."""
    return _parse_cached(text) if len(text) <= _MAX_CACHED_CHARS else _parse(text)


def _parse(text: str) -> PythonCode:
    if len(text) > _MAX_CHARS:
        return PythonCode(is_complete=False)
    magics: tuple[CodeCall, ...] = ()
    is_recovered = False
    text = strip_code_fence(text)
    tree = parse_tree(text)
    if tree is None and text[:1].isspace():
        text = dedent(text).strip()
        tree = parse_tree(text)
    if tree is None:
        text, magics, is_cell = _replace_magics(text)
        if is_cell:
            # A cell in another language has no calls, and is unknown.
            return PythonCode(magics, "\n".join(call.text for call in magics), bool(magics))
        tree = parse_tree(text)
    if tree is None:
        recovered = recover_python(text)
        if recovered is None:
            return PythonCode(is_complete=False)
        text, tree, is_recovered = recovered
    source = _Source(text)
    try:
        reading = _Reading(tree, source)
    except RecursionError:
        return PythonCode(is_complete=False)
    effective = "\n".join((reading.format_effective_text(), *(call.text for call in magics)))
    return PythonCode(
        (*magics, *reading.calls),
        effective.strip(),
        is_complete=not is_recovered and reading.is_complete,
        is_recovered=is_recovered,
    )


_parse_cached = lru_cache(maxsize=4_096)(_parse)


def _replace_magics(text: str) -> tuple[str, tuple[CodeCall, ...], bool]:
    """Return the code without the magic lines of a notebook, the calls that they make, and whether
    the whole text is a cell of something else than Python.
    """
    calls: list[CodeCall] = []
    first = _MAGIC.match(text)
    if first is not None and first[2] == "%%":
        magic, _, rest = text[first.end(1) + 2 :].partition("\n")
        name, *words = magic.split() or [""]
        if name in _SHELL_MAGICS:
            return "", (_build_shell_call(rest, rest),), True
        if name in _FILE_MAGICS and words:
            # The cell is the content of a file, and nothing of it runs.
            call = CodeCall(name="open", written="open", positional=(words[-1], "w"), text=first[0])
            return "", (call,), True
        if name not in _PYTHON_MAGICS:
            return "", (), True

    def replace(match: re.Match[str]) -> str:
        mark, command = match[2], match[3].strip()
        if mark.startswith("!"):
            calls.append(_build_shell_call(command, match[0].strip()))
        elif command.partition(" ")[0] in _SHELL_MAGICS:
            line = command if command.startswith(("pip", "conda")) else command.partition(" ")[2]
            calls.append(_build_shell_call(line, match[0].strip()))
        elif mark == "%" and (timed := _TIMED.match(match[0])):
            # What is measured runs.
            return f"{timed[1]}0;{' ' * (len(timed[2]) - 2)}{match[0][timed.end() :]}"
        # As long as the line that it replaces, so that positions stay the same.
        size = len(match[0].encode()) - len(match[1]) - 1
        return f"{match[1]}0{' ' * size}"

    replaced = _MAGIC.sub(replace, text)
    return replaced, tuple(calls), False


def _build_shell_call(command: str, text: str) -> CodeCall:
    return CodeCall(name="os.system", written="os.system", positional=(command,), text=text)


class _Source:
    """The text of a program as bytes, because that is what positions in a syntax tree count."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self._starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", self.data))]

    def locate(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def find_span(self, node: _Located) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.locate(node.lineno, node.col_offset), self.locate(end_line, end_column)

    def slice(self, node: _Located) -> str:
        start, end = self.find_span(node)
        return self.data[start:end].decode("utf-8", "replace")

    def find_comments(self) -> Iterator[tuple[int, int]]:
        if b"#" not in self.data:
            return
        lines = [
            self.data[start:end]
            for start, end in zip(self._starts, (*self._starts[1:], len(self.data)), strict=True)
        ]
        texts = [line.decode("utf-8", "replace") for line in lines]
        try:
            for token in tokenize.generate_tokens(io.StringIO("".join(texts), newline="").readline):
                if token.type == tokenize.COMMENT:
                    row, column = token.start
                    start = self.locate(row, len(texts[row - 1][:column].encode()))
                    yield start, start + len(token.string.encode())
        except (tokenize.TokenError, SyntaxError, IndexError):
            return


class _Names:
    """What the names of a program stand for: modules, constants, results of a call."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.imports: dict[str, str] = {}
        self.local: set[str] = set()
        self._bound: dict[str, int] = {}
        self._values: dict[str, ast.expr] = {}
        self._known: dict[str, Json] = {}
        for node in nodes:
            self._register(node)

    def _register(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                self._bind(alias.asname or root)
                self.imports[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                self._bind(alias.asname or alias.name)
                self.imports[alias.asname or alias.name] = f"{module}.{alias.name}"
        elif isinstance(node, _Function):
            self._bind(node.name)
            self.local.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        elif isinstance(node, ast.arg):
            self._bind(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._bind(node.name)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._register_value(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._register_value(node.target, node.value)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._register_value(node.optional_vars, node.context_expr)

    def _bind(self, name: str) -> None:
        self._bound[name] = self._bound.get(name, 0) + 1

    def _register_value(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._values[target.id] = value

    def find_value(self, name: str) -> ast.expr | None:
        """Return the expression that a name is bound to, if it is bound only once."""
        return self._values.get(name) if self._bound.get(name) == 1 else None

    def resolve(self, function: ast.expr, depth: int = 0) -> tuple[str, str]:
        """Return the dotted name of what is called with imports resolved, and as written.

        Both are empty if it is computed.
        """
        parts: list[str] = []
        node = function
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        parts.reverse()
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.Call) and depth < _MAX_DEPTH:
            # A method of a result: pd.read_csv("a").head() is pandas.read_csv.head.
            root, written = self.resolve(node.func, depth + 1)
            return ".".join(filter(None, (root, *parts))), ".".join(filter(None, (written, *parts)))
        if not isinstance(node, ast.Name):
            # A method of a literal, an item or a computed function.
            return ".".join(parts), ".".join(parts)
        written = ".".join((node.id, *parts))
        root = self.imports.get(node.id)
        if root is None and parts and depth < _MAX_DEPTH:
            value = self.find_value(node.id)
            while isinstance(value, ast.BinOp | ast.Await):
                # Path("a") / "b" is a Path, too.
                value = value.left if isinstance(value, ast.BinOp) else value.value
            if isinstance(value, ast.Call):
                root = self.resolve(value.func, depth + 1)[0]
        return ".".join((root or node.id, *parts)), written

    def read_literal(self, node: ast.expr, depth: int = 0) -> Json:
        """Return the value of an expression, with `UNKNOWN_VALUE` for what is computed."""
        if depth > _MAX_DEPTH:
            return UNKNOWN_VALUE
        if isinstance(node, ast.Constant):
            value = node.value
            return value if isinstance(value, str | int | float | None) else UNKNOWN_VALUE
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [self._read_item(item, depth) for item in node.elts]
        if isinstance(node, ast.Dict):
            return {
                key.value
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
                else str(n): self._read_item(value, depth)
                for n, (key, value) in enumerate(zip(node.keys, node.values, strict=True))
            }
        if isinstance(node, ast.Name):
            return self._read_name(node.id, depth)
        return self._read_operation(node, depth)

    def _read_item(self, node: ast.expr, depth: int) -> Json:
        # Names of lists are not replaced inside lists: that could double the size again and again.
        value = self.read_literal(node, depth + 1)
        return (
            UNKNOWN_VALUE
            if isinstance(node, ast.Name) and isinstance(value, list | dict)
            else value
        )

    def _read_name(self, name: str, depth: int) -> Json:
        if name not in self._known:
            self._known[name] = UNKNOWN_VALUE  # also ends a cycle
            value = self.find_value(name)
            if value is not None:
                self._known[name] = self.read_literal(value, depth + 1)
        return self._known[name]

    def _read_operation(self, node: ast.expr, depth: int) -> Json:
        values: list[Json] = []
        if isinstance(node, ast.JoinedStr):
            values = [
                self.read_literal(
                    part.value if isinstance(part, ast.FormattedValue) else part, depth + 1
                )
                if not (isinstance(part, ast.FormattedValue) and part.format_spec)
                else UNKNOWN_VALUE
                for part in node.values
            ]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            values = [self.read_literal(part, depth + 1) for part in (node.left, node.right)]
            if isinstance(node.op, ast.Div):
                values.insert(1, "/")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.read_literal(node.operand, depth + 1)
            return -value if isinstance(value, int | float) else UNKNOWN_VALUE
        elif isinstance(node, ast.Call) and node.args and not node.keywords:
            name = self.resolve(node.func)[0]
            if name in ("pathlib.Path", "os.path.join", "str"):
                values = [self.read_literal(part, depth + 1) for part in node.args]
                values = [item for value in values for item in (value, "/")][:-1]
        if not values or any(
            not isinstance(value, str | int) or value == UNKNOWN_VALUE for value in values
        ):
            return UNKNOWN_VALUE
        if not any(isinstance(value, str) for value in values):
            return UNKNOWN_VALUE
        joined = "".join(map(str, values))
        return joined if len(joined) <= _MAX_CACHED_CHARS else UNKNOWN_VALUE


def _is_neutral(name: str, written: str) -> bool:
    """Return whether a function of Python has no effect but to compute or print."""
    module, _, function = name.partition(".")
    if not function:
        return name == written and name in _NEUTRAL_BUILTINS
    return module in _NEUTRAL_MODULES and name not in _ENDING


class _Found(NamedTuple):
    """A call in the syntax tree, and whether it can run."""

    node: ast.Call
    is_executed: bool


class _Reading:
    """One pass over a program: its calls, and the parts without effect."""

    def __init__(self, tree: ast.Module, source: _Source) -> None:
        nodes = list(ast.walk(tree))
        self.names = _Names(nodes)
        self.is_complete = True
        self._tree, self._source = tree, source
        self._nodes = nodes
        self._found: list[_Found] = []
        self._live_names: set[str] = set()
        self._functions: dict[str, list[_Function]] = {}
        self._dead: list[_Located] = []
        self._unused_lambdas = _find_unused_lambdas(nodes)
        self._visit(tree, executed=True)
        self._visit_functions()
        self._found.sort(key=lambda found: (found.node.lineno, found.node.col_offset))
        self.calls = tuple(self._build_calls())

    def _visit_functions(self) -> None:
        """Visit the functions that live code names; the rest is not executed."""
        pending = True
        while pending:
            called = [name for name in self._functions if self._is_live(name)]
            pending = bool(called)
            for function in [node for name in called for node in self._functions.pop(name)]:
                self._visit_body(function, executed=True)
        while self._functions:
            _, functions = self._functions.popitem()
            for function in functions:
                self._dead.append(function)
                self._visit_body(function, executed=False)

    def _is_live(self, name: str) -> bool:
        return name in self._live_names or (name.startswith("__") and name.endswith("__"))

    def _visit_body(self, function: _Function, *, executed: bool) -> None:
        for statement in _iter_block(function.body, executed=executed):
            self._visit(*statement[:1], executed=statement[1])

    def _visit(self, root: ast.AST, *, executed: bool) -> None:
        pending = [(root, executed)]
        while pending:
            node, live = pending.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if live:
                    self._functions.setdefault(node.name, []).append(node)
                else:
                    pending += ((child, False) for child in node.body)
                pending += ((child, live) for child in (*node.decorator_list, node.args))
                continue
            if live and isinstance(node, ast.Lambda) and id(node) in self._unused_lambdas:
                self._dead.append(node)
                live = False
            if isinstance(node, ast.Call):
                self._found.append(_Found(node, live))
            elif live and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._live_names.add(node.id)
            elif live and isinstance(node, ast.Attribute):
                self._live_names.add(node.attr)
            for child, is_live in _iter_children(node, executed=live):
                if live and not is_live and isinstance(child, _Located):
                    self._dead.append(child)
                pending.append((child, is_live))

    def _build_calls(self) -> Iterator[CodeCall]:
        names = self.names
        for node, executed in self._found:
            name, written = names.resolve(node.func)
            if written.partition(".")[0] in names.local:
                continue
            if name in _DYNAMIC and executed:
                self.is_complete = False
            yield CodeCall(
                name=name,
                written=written,
                positional=tuple(
                    UNKNOWN_VALUE if isinstance(value, ast.Starred) else names.read_literal(value)
                    for value in node.args
                ),
                keywords={
                    word.arg or "**": names.read_literal(word.value) if word.arg else UNKNOWN_VALUE
                    for word in node.keywords
                },
                receiver=names.read_literal(node.func.value)
                if isinstance(node.func, ast.Attribute)
                else None,
                text=self._source.slice(node),
                is_executed=executed,
                is_neutral=_is_neutral(name, written),
            )

    def format_effective_text(self) -> str:
        """Return the program without comments, unused texts, printed texts and dead code."""
        idle: list[_Located] = list(self._dead)
        printed: list[ast.expr] = []
        for node in self._nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                idle.append(node)
            elif isinstance(node, ast.Call) and _is_print(node):
                printed += [value for value in node.args if self._is_text(value)]
        read = _collect_read_names(self._tree, {id(node) for node in (*printed, *idle)})
        for node in self._nodes:
            if isinstance(node, ast.Assign) and self._is_text(node.value):
                names = {target.id for target in node.targets if isinstance(target, ast.Name)}
                if len(names) == len(node.targets) and names.isdisjoint(read):
                    idle.append(node)
        skipped = {id(node) for node in (*idle, *printed)}
        if not _has_effect(self._tree, skipped):
            return ""
        spans = [self._source.find_span(node) for node in (*idle, *printed)]
        return _cut(self._source.data, [*spans, *self._source.find_comments()])

    def _is_text(self, node: ast.expr) -> bool:
        """Return whether an expression is a text, maybe with names in it, that nothing computes."""
        if isinstance(node, ast.JoinedStr):
            return not any(isinstance(part, ast.Call | ast.Await) for part in ast.walk(node))
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return all(isinstance(item, ast.Constant) for item in node.elts)
        if isinstance(node, ast.Call):
            # A method of a text, such as upper.
            function = node.func
            return (
                isinstance(function, ast.Attribute)
                and isinstance(function.value, ast.Constant)
                and all(isinstance(value, ast.Constant) for value in node.args)
            )
        return (
            isinstance(self.names.read_literal(node), str)
            and not isinstance(node, ast.Subscript | ast.Attribute)
            and self.names.read_literal(node) != UNKNOWN_VALUE
        )


def _iter_children(node: ast.AST, *, executed: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the parts of a node, and whether each of them can run."""
    dead = _find_dead_fields(node) if executed else frozenset[str]()
    for field, value in ast.iter_fields(node):
        live = executed and field not in dead
        if isinstance(value, ast.AST):
            yield value, live
        elif isinstance(value, list):
            items: list[ast.AST] = [item for item in value if isinstance(item, ast.AST)]  # pyright: ignore[reportUnknownVariableType]
            if isinstance(node, ast.BoolOp):
                yield from _iter_operands(node, executed=live)
            elif items and isinstance(items[0], ast.stmt):
                yield from _iter_block(items, executed=live)
            else:
                yield from ((item, live) for item in items)


def _iter_block(block: Iterable[ast.AST], *, executed: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the statements of a block; those after its end never run."""
    for statement in block:
        yield statement, executed
        if executed and _ends_block(statement):
            executed = False


def _iter_operands(node: ast.BoolOp, *, executed: bool) -> Iterator[tuple[ast.AST, bool]]:
    for operand in node.values:
        yield operand, executed
        constant = _read_condition(operand)
        if constant is not None and constant == isinstance(node.op, ast.Or):
            executed = False


def _ends_block(statement: ast.AST) -> bool:
    if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return True
    if isinstance(statement, ast.Assert):
        return _read_condition(statement.test) is False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func) in _ENDING if _is_short(statement) else False
    if isinstance(statement, ast.While) and _read_condition(statement.test) is True:
        return not any(isinstance(node, ast.Break) for node in ast.walk(statement))
    return False


def _is_short(statement: ast.Expr) -> bool:
    function = statement.value.func if isinstance(statement.value, ast.Call) else None
    return isinstance(function, ast.Name) or (
        isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    )


def _find_dead_fields(node: ast.AST) -> frozenset[str]:
    """Return the fields of a node that can't run."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        condition = _read_condition(node.test)
        if condition is False:
            return frozenset({"body"})
        if condition is True and not isinstance(node, ast.While):
            return frozenset({"orelse"})
    elif isinstance(node, ast.For | ast.AsyncFor):
        if isinstance(node.iter, ast.List | ast.Tuple | ast.Set) and not node.iter.elts:
            return frozenset({"body"})
    elif isinstance(node, ast.Try) and all(map(_does_nothing, node.body)):
        return frozenset({"handlers"})
    return frozenset()


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _read_condition(test: ast.expr) -> bool | None:
    """Return the truth of a constant condition; None if it depends on anything."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _read_condition(test.operand) if isinstance(test.operand, ast.Constant) else None
        return None if inner is None else not inner
    if isinstance(test, ast.List | ast.Tuple | ast.Set):
        return bool(test.elts)
    if isinstance(test, ast.Dict):
        return bool(test.keys)
    if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING":
        return False
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = test.left, test.comparators[0]
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            same = left.value == right.value
            if isinstance(test.ops[0], ast.Eq | ast.NotEq):
                return same == isinstance(test.ops[0], ast.Eq)
    return None


def _find_unused_lambdas(nodes: Iterable[ast.AST]) -> set[int]:
    """Return the ids of lambdas that nothing calls: they are assigned to a name never read."""
    read: set[str] = set()
    bound: list[tuple[str, ast.Lambda]] = []
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            target = node.targets[0]
            if len(node.targets) == 1 and isinstance(target, ast.Name):
                bound.append((target.id, node.value))
    return {id(function) for name, function in bound if name not in read}


def _is_print(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in {"print", "pprint", "display"} and not call.keywords
    if not isinstance(function, ast.Attribute) or function.attr not in _PRINTING:
        return False
    owner = function.value
    name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
    return name.lstrip("_").lower() in _LOGGERS


def _collect_read_names(tree: ast.AST, skipped: set[int]) -> set[str]:
    names: set[str] = set()
    pending = [tree]
    while pending:
        node = pending.pop()
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        pending += ast.iter_child_nodes(node)
    return names


_IDLE_NODES = (
    *(ast.Module, ast.Expr, ast.Pass, ast.If, ast.Try, ast.Name, ast.Constant, ast.Load, ast.Store),
    *(ast.Import, ast.ImportFrom, ast.alias, ast.Assign, ast.JoinedStr, ast.FormattedValue),
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.While, ast.ExceptHandler, ast.For, ast.BoolOp),
    *(ast.And, ast.Or),
)
"""Syntax that does nothing alone."""


def _has_effect(tree: ast.AST, skipped: set[int]) -> bool:
    pending = [tree]
    while pending:
        node = pending.pop()
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Call) and _is_print(node):
            pending += node.args
        elif isinstance(node, _IDLE_NODES) and not _imports_code(node):
            pending += ast.iter_child_nodes(node)
        else:
            return True
    return False


def _imports_code(node: ast.AST) -> bool:
    """Return whether a module is imported that may do anything: not of the standard library."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] not in sys.stdlib_module_names
    names = node.names if isinstance(node, ast.Import) else ()
    return any(name.name.partition(".")[0] not in sys.stdlib_module_names for name in names)


def _cut(data: bytes, spans: list[tuple[int, int]]) -> str:
    kept: list[bytes] = []
    position = 0
    for start, end in sorted(spans):
        if end > position:
            kept.append(data[position : max(position, start)])
            position = end
    kept.append(data[position:])
    return b" ".join(kept).decode("utf-8", "replace")


def check_call(condition: Condition, call: CodeCall) -> Truth:
    """Check a condition on one call: `calls` by its name, other forms by its literal arguments."""
    if not call.is_executed:
        return Truth.MISMATCH
    results: list[Truth] = []
    if condition.calls:
        results.append(any_true(_compare_names(wanted, call) for wanted in condition.calls))
    if condition.program or condition.argument:
        # The commands of `find_shell_text` are checked as such.
        results.append(Truth.MISMATCH)
    if condition.sql is not None:
        texts = (value for value in _list_arguments(call) if isinstance(value, str))
        results.append(any_true(_check_sql_text(condition.sql, text) for text in texts))
    if compares_values(condition):
        results.append(_check_arguments(condition, call))
    return all_true(results)


def _check_sql_text(condition: SqlCondition, text: str) -> Truth:
    if text == UNKNOWN_VALUE:
        return Truth.UNKNOWN
    return check_sql(condition, text) if " " in text.strip() else Truth.MISMATCH


def _list_arguments(call: CodeCall) -> Iterator[Json]:
    """Yield the texts and numbers that a call is given, also those in lists and objects."""
    pending = [*call.positional, *call.keywords.values()]
    if call.receiver != UNKNOWN_VALUE:
        pending.append(call.receiver)
    while pending:
        value = pending.pop()
        if is_list(value):
            pending += value
        elif is_object(value):
            pending += value.values()
        elif isinstance(value, str | int | float):
            yield value


def _check_arguments(condition: Condition, call: CodeCall) -> Truth:
    """Check the arguments: one of them has to match, and none may have a text of `not`."""
    arguments = list(_list_arguments(call))
    wanted, unwanted = replace(condition, not_=()), Condition(not_=condition.not_)
    results: list[Truth] = []
    if compares_values(wanted):
        results.append(any_true(_check_argument(wanted, value) for value in arguments))
    if condition.not_:
        results.append(all_true(_check_argument(unwanted, value) for value in arguments))
    return all_true(results)


def _check_argument(condition: Condition, value: str | float) -> Truth:
    return Truth.UNKNOWN if value == UNKNOWN_VALUE else check_scalar(condition, value)


def check_calls(wanted: Iterable[str], code: PythonCode) -> Truth:
    """Check whether code calls one of these functions."""
    names = tuple(wanted)
    results = [
        _compare_names(name, call) for call in code.calls if call.is_executed for name in names
    ]
    truth = any_true(results)
    return Truth.UNKNOWN if truth is Truth.MISMATCH and not code.is_complete else truth


def _compare_names(wanted: str, call: CodeCall) -> Truth:
    """Compare the name of a function with that of a call.

    A name without dots is that of any function or method, and `tl.umap` is `scanpy.tl.umap`;
    otherwise first and last part must be the same, with the parts between in order: `requests.get`
    is also `requests.Session.get`.
    """
    bare = wanted.strip().removesuffix("()")
    if not call.written:
        return Truth.UNKNOWN
    if bare in (call.name, call.written):
        return Truth.MATCH
    parts, named = bare.split("."), call.name.split(".")
    if len(parts) == 1:
        return Truth.MATCH if named[-1] == bare else Truth.MISMATCH
    if named[-1] != parts[-1]:
        return Truth.MISMATCH
    if named[-len(parts) :] == parts:
        return Truth.MATCH
    if named[0] == parts[0]:
        remaining = iter(named)
        return Truth.MATCH if all(part in remaining for part in parts) else Truth.UNKNOWN
    # The type of the object is not known: `client.chat.create` may be `openai.chat.create`.
    is_unresolved = call.name == call.written
    return Truth.UNKNOWN if is_unresolved and named[-2:] == parts[-2:] else Truth.MISMATCH


def find_shell_text(call: CodeCall) -> str | None:
    """Return the command line that a call runs in a shell, if it is a literal."""
    if call.name not in _SHELL_CALLS:
        return None
    command = call.positional[0] if call.positional else call.keywords.get("args")
    if is_list(command):
        known = all(isinstance(word, str) and word != UNKNOWN_VALUE for word in command)
        return shlex.join(command) if known else None
    return command if isinstance(command, str) and command != UNKNOWN_VALUE else None
