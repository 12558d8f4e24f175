"""Separate the effective part of a call from what it only prints, comments, notes or never runs.

`echo "Step 2: check the policy"` checks nothing. Such words count as text, unless a step names that
tool, program or flag. Shell commands are only tokenized here, not fully parsed.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, cast

from planproof.checking.event_text import Leaves, flatten_arguments
from planproof.checking.shell_commands import (
    INTERPRETERS,
    NO_NAMES,
    RequiredNames,
    StrippedCode,
    strip_shell,
)
from planproof.contracts.terms import split_identifier
from planproof.core.content import Json
from planproof.core.trace import Event, Kind

_MAX_CODE_CHARS = 20_000

_IDLE_TOOLS = frozenset(
    "noop nop pass nothing null dummy placeholder idle wait ack log logger logging note notes echo "
    "print println debug trace".split()
)
_NEUTRAL = frozenset(
    "take make my the a to self message msg text entry line string step progress info event action "
    "tool function do use call".split()
)
_SHELL_KEYS = frozenset(
    "command cmd commands bash shell script cmdline commandline shellcommand bashcommand".split()
)
_CODE_KEYS = frozenset("code python pythoncode sourcecode codeaction cell snippet".split())
_KEYS = _SHELL_KEYS | _CODE_KEYS
_FREE_KEYS = frozenset({"", "input", "text"})
"""Keys of the one argument of a tool that runs code."""
_SHELL_TOOLS = frozenset("bash sh shell zsh terminal console cmd command powershell exec".split())
_CODE_TOOLS = frozenset("python python3 ipython jupyter notebook code interpreter repl".split())

_PRINTING = frozenset(
    "print pprint info debug warning warn error critical exception log write".split()
)
_LOGGERS = frozenset({"log", "logger", "logging", "console", "stdout", "stderr", "warnings"})
_EFFECT_NODES = (
    *(ast.Call, ast.Await, ast.BinOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.AugAssign),
    *(ast.Delete, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.comprehension),
    *(ast.Raise, ast.Assert, ast.With),
)
_ONE_WORD = re.compile(r"\s*\w+\s*")
_MAGIC = re.compile(r"^[!%]{1,2}", re.MULTILINE)
_OTHER_COMMENT = re.compile(r"^[ \t]*(?://|#|--[ \t])[^\n]*$", re.MULTILINE)
_OTHER_PRINT = re.compile(
    r"\b(?:print(?:ln|f)?|puts|console\.[a-z]{1,10})\s?\(?\s?(?:'[^'\n]*'|\"[^\"\n]*\")\s?\)?;?"
)


class Effect(NamedTuple):
    """The part of a call that can have an effect, and the rest of it.

    `text` and `leaves` are the effective part. `printed_text` is what the call only prints, and
    `required_names` are the names of which a step must contain one to mean that.
    """

    text: str
    leaves: Leaves
    printed_text: str
    required_names: RequiredNames
    is_idle: bool = False
    """True if no part of the call has an effect."""
    is_harmless: bool = False
    """True if the call visibly does nothing but print."""


def analyze_effect(event: Event, leaves: Leaves) -> Effect | None:
    """Return the effective part of an action, or None if all of it can have an effect."""
    idle, language = _classify_tool(event.name or "")
    if idle:
        return Effect("", (), "", idle, is_idle=True)
    if language is None and not _may_hold_code(event.arguments, leaves):
        return None
    stripped_leaves = [
        _strip(value, _detect_argument_language(key, language)) for key, value in leaves
    ]
    own = _strip(event.text, language)
    stripped = [code for code in (*stripped_leaves, own) if code is not None]
    if not stripped:
        return None
    remaining_leaves: list[tuple[str, Json]] = [
        (key, value if code is None else code.remaining)
        for (key, value), code in zip(leaves, stripped_leaves, strict=True)
    ]
    # Next to code, most other arguments only say how long or where to run it.
    assigned = any(code.remaining for code in stripped) or any(
        _is_program(key, value)
        for (key, value), code in zip(
            (*leaves, ("command", event.text)), (*stripped_leaves, own), strict=True
        )
        if code is None
    )
    # Another argument of a tool that need not run code may have any effect.
    runs_code = language is not None or len(leaves) <= 1
    return Effect(
        event.text if own is None else own.remaining,
        remaining_leaves,
        "\n".join(code.printed_text for code in stripped if code.printed_text),
        NO_NAMES.union(*(code.required_names for code in stripped)),
        is_idle=runs_code and not assigned,
        is_harmless=runs_code and not assigned and all(code.is_harmless for code in stripped),
    )


def find_idle_names(event: Event) -> RequiredNames | None:
    """Return the names that a step must contain to mean a call without effect, else None."""
    if event.kind is not Kind.ACTION:
        return None
    effect = analyze_effect(event, flatten_arguments(event.arguments))
    return effect.required_names if effect is not None and effect.is_idle else None


def only_prints(event: Event) -> bool:
    """Return whether an action is a command or program that only prints something."""
    if event.kind is not Kind.ACTION:
        return False
    effect = analyze_effect(event, flatten_arguments(event.arguments))
    return effect is not None and effect.is_harmless


def names_any(step: str, names: RequiredNames) -> bool:
    """Return whether a folded step asks for one of these tools, programs or flags by name."""
    return any(_build_name_pattern(name).search(step) for name in names)


@lru_cache(maxsize=256)
def _build_name_pattern(name: str) -> re.Pattern[str]:
    if name.startswith("--"):
        return re.compile(rf"\b{name[2:].replace('-', '[ -]')}\b")
    # Match a verb or the object of "use": "with a note on it" names no tool.
    before = (
        r"(?:^|[.;:,(`\"']\s?|\b(?:and|then|or|to|use|using|call|run|via|invoke|will) (?:the )?)"
    )
    return re.compile(rf"{before}{re.escape(name)}(?:s|ing|ed)?(?!\w)")


def _is_program(key: str, value: Json) -> bool:
    """Return whether an argument is itself a command or a program."""
    if not value or not isinstance(value, str) or _detect_key_language(key) is None:
        return False
    return not value.startswith("-") and value.rpartition("/")[2] not in INTERPRETERS


@lru_cache(maxsize=2_048)
def _classify_tool(tool: str) -> tuple[RequiredNames, str | None]:
    return find_idle_words(tool), _detect_tool_language(tool)


def _may_hold_code(arguments: Json, leaves: Leaves) -> bool:
    """Return whether an argument has a key that usually contains a command or program."""
    if isinstance(arguments, dict) and len(leaves) == len(cast("dict[str, Json]", arguments)):
        return not _KEYS.isdisjoint(map(_normalize_key, cast("dict[str, Json]", arguments)))
    return any(_normalize_key(key) in _KEYS for key, _ in leaves)


@lru_cache(maxsize=2_048)
def _normalize_key(key: str) -> str:
    return "".join(split_identifier(key))


def find_idle_words(tool: str) -> RequiredNames:
    """Return the words of a tool's name that mean no effect, if its other words are neutral."""
    # "mcp__server__noop" and "functions.noop" end in the tool's own name.
    own = tool.replace("__", ".").rpartition(".")[2]
    words = ["noop" if word in {"op", "no"} else word for word in split_identifier(own)]
    idle = _IDLE_TOOLS.intersection(words)
    return idle if idle and idle | _NEUTRAL >= set(words) else NO_NAMES


def _detect_tool_language(tool: str) -> str | None:
    words = set(split_identifier(tool))
    if words & _CODE_TOOLS:
        return "code"
    return "shell" if words & _SHELL_TOOLS else None


def _detect_key_language(key: str) -> str | None:
    plain = _normalize_key(key)
    if plain in _SHELL_KEYS:
        return "shell"
    return "code" if plain in _CODE_KEYS else None


def _detect_argument_language(key: str, tool: str | None) -> str | None:
    """Return the language of an argument, or None; tools that run code have other arguments too."""
    own = _detect_key_language(key)
    return (tool or own) if own is not None or key in _FREE_KEYS else None


def _strip(text: Json, language: str | None) -> StrippedCode | None:
    """Return the stripped code of a text, or None if nothing was stripped or it is not code."""
    if language is None or not isinstance(text, str) or not text or text[0] == "-":
        return None
    if _ONE_WORD.fullmatch(text) and language == "code":
        # A code such as "SPRING10" or "4711" is no program.
        return None
    # Text beyond this limit is not compared with any step.
    text = text[:_MAX_CODE_CHARS]
    code = strip_shell(text, strip_code) if language == "shell" else strip_code(text)
    return None if code.remaining.split() == text.split() else code


def strip_code(text: str, depth: int = 0) -> StrippedCode:
    """Strip code without effect: parse it as Python, else as a command or another language."""
    try:
        return _strip_python(text.replace("\r\n", "\n").replace("\r", "\n"))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        code = strip_shell(_MAGIC.sub("", text), strip_code, depth)
        remaining = _OTHER_PRINT.sub(" ", _OTHER_COMMENT.sub(" ", code.remaining)).strip()
        return (
            code
            if remaining == code.remaining.strip()
            else StrippedCode(remaining, text, code.required_names | {"print"})
        )


def _strip_python(text: str) -> StrippedCode:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line.encode()) + 1)
    cut = list(_find_comments(text, starts))
    printed: list[ast.expr] = []
    idle: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            idle.append(node)
        elif isinstance(node, ast.If | ast.While) and _is_false(node.test):
            idle += node.body
        elif isinstance(node, ast.BoolOp) and _is_short_circuited(node):
            idle.append(node)
        elif isinstance(node, ast.Call) and _is_print_call(node):
            printed += node.args
    used = _find_used_names(tree, printed)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_plain_text(node.value):
            names = {name.id for name in node.targets if isinstance(name, ast.Name)}
            if len(names) == len(node.targets) and names.isdisjoint(used):
                idle.append(node)
    text_names = {
        name for node in idle if isinstance(node, ast.Assign) for name in _list_targets(node)
    }
    idle += [argument for argument in printed if _is_plain_text(argument, text_names)]
    cut += [_span(node, starts) for node in idle if isinstance(node, ast.stmt | ast.expr)]
    acts = _has_effect(tree, set(map(id, idle)))
    remaining = _cut(text.encode(), cut) if acts else ""
    names = frozenset({"print"}) if printed else NO_NAMES
    return StrippedCode(remaining, text, names, is_harmless=not acts)


def _find_used_names(tree: ast.AST, printed: list[ast.expr]) -> set[str]:
    """Return the names that are read anywhere except in printed arguments."""
    within: set[int] = set()
    pending: list[ast.AST] = list(printed)
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.Call):
            within.add(id(node))
            pending += ast.iter_child_nodes(node)
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in within
    }


def _list_targets(node: ast.Assign) -> list[str]:
    return [name.id for name in node.targets if isinstance(name, ast.Name)]


def _has_effect(tree: ast.AST, idle: set[int]) -> bool:
    """Return whether anything except `idle` parts and empty prints is computed or called."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if id(node) in idle:
            continue
        if _imports_code(node) or (isinstance(node, ast.Attribute) and _is_set(node)):
            return True
        if isinstance(node, _EFFECT_NODES) and not (
            isinstance(node, ast.Call)
            and _is_print_call(node)
            and not node.keywords
            and idle.issuperset(map(id, node.args))
        ):
            return True
        pending += ast.iter_child_nodes(node)
    return False


def _imports_code(node: ast.AST) -> bool:
    """Return whether a non-standard module is imported, since importing it may run anything."""
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] not in sys.stdlib_module_names
    names = node.names if isinstance(node, ast.Import) else ()
    return any(name.name.partition(".")[0] not in sys.stdlib_module_names for name in names)


def _is_set(node: ast.Attribute) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _find_comments(text: str, starts: list[int]) -> Iterator[tuple[int, int]]:
    if "#" not in text:
        return
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            start = starts[row - 1] + len(lines[row - 1][:column].encode())
            yield start, start + len(token.string.encode())


def _span(node: ast.stmt | ast.expr, starts: list[int]) -> tuple[int, int]:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column


def _cut(text: bytes, spans: list[tuple[int, int]]) -> str:
    segments: list[bytes] = []
    position = 0
    for start, end in sorted(spans):
        if end > position:
            segments.append(text[position : max(position, start)])
            position = end
    segments.append(text[position:])
    return b" ".join(segments).decode()


def _is_short_circuited(test: ast.BoolOp) -> bool:
    """Return whether only the first of several conditions is evaluated."""
    first = test.values[0]
    return isinstance(first, ast.Constant) and bool(first.value) == isinstance(test.op, ast.Or)


def _is_false(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and not test.value


def _is_print_call(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in {"print", "pprint"}
    if not isinstance(function, ast.Attribute) or function.attr not in _PRINTING:
        return False
    owner = function.value
    name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
    return name.lstrip("_").lower() in _LOGGERS


def _is_plain_text(argument: ast.expr, names: Iterable[str] = ()) -> bool:
    """Return whether an argument is a string, also with names interpolated."""
    if isinstance(argument, ast.JoinedStr):
        return not any(isinstance(node, ast.Call) for node in ast.walk(argument))
    if isinstance(argument, ast.BinOp):
        return _is_plain_text(argument.left, names) and _is_plain_text(argument.right, names)
    if isinstance(argument, ast.List | ast.Tuple | ast.Set):
        return all(_is_plain_text(item, names) for item in argument.elts)
    if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute):
        return not argument.args and isinstance(argument.func.value, ast.Constant)
    if isinstance(argument, ast.Name):
        return argument.id in names
    return isinstance(argument, ast.Constant) and isinstance(argument.value, str)
