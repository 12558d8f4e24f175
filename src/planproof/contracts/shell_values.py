"""Parse shell text into its simple commands, and check conditions on one command.

tree-sitter-bash gives the syntax. What runs is decided here: wrappers are stripped, code given to
`bash -c`, `ssh` or `docker exec` is entered, and commands that can't run are marked. Text that
can't be parsed makes a script incomplete; it is never searched.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from planproof.contracts.path_values import has_path_suffix
from planproof.contracts.python_values import check_calls, parse_python
from planproof.contracts.shell_programs import (
    PYTHON,
    Word,
    find_inert_flags,
    find_inner_code,
    get_base_name,
    is_filter,
    join_words,
    list_programs,
    strip_wrappers,
)
from planproof.contracts.shell_syntax import (
    Element,
    Script,
    extract_heredocs,
    find_error,
    flatten,
    parse_tree,
)
from planproof.contracts.sql_values import check_sql
from planproof.contracts.text_values import contains_text, strip_code_fence
from planproof.contracts.value_check import all_true, any_true, check_scalar, compares_values
from planproof.core.content import Json
from planproof.core.contract import Condition, Truth
from planproof.core.json_values import is_list

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_CHARS, _MAX_CACHED_CHARS = 400_000, 2_000
_MAX_CACHED_WORD = 200
_MAX_VALUE_CHARS = 500
_MAX_NESTING, _MAX_ENTERED = 30, 3
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_STRING_ESCAPE = re.compile(r"\\([\\\"$`\n])")
_SPACE = re.compile(r"\s")
_VERSIONED = re.compile(r"(python|pypy|pip)[\d.]{1,6}")
_STANDARD_FILES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"})
_EXPANSIONS = frozenset({"simple_expansion", "expansion", "arithmetic_expansion"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_HOSTS = frozenset({"ssh", "kubectl", "docker"})
_PLAIN_COMMAND = re.compile(r"[A-Za-z_./][\w./+-]*(?:[ \t]+[\w./:@%+,=-]+)*", re.ASCII)
_SPECIAL_COMMANDS = frozenset(
    "if then else elif fi for while until do done case esac in function select time coproc declare "
    "typeset export readonly local unset unsetenv alias set exit exec read find tee".split()
)
"""Words of the grammar, and commands that change what others do or run some."""


_Status: TypeAlias = bool | None
"""Whether a command succeeds; None if that is not known."""


class ShellCommand(Struct, frozen=True, kw_only=True):
    """A simple command of a shell script.

    `program` is a base name, empty if it is computed. `arguments` are the literal words after it,
    without quotes. `text` is the command as written. `inert_flags` keep the program from doing
    anything. A neutral command has no effect outside the shell; a filter only transforms what it
    reads from a pipe. `writes` are the files that it is redirected to. `via` are the wrappers and
    hosts around it: `sudo`, `ssh HOST`, `bash -c`. `given` is the text on its standard input, if it
    is in the script.
    """

    program: str
    arguments: tuple[str, ...] = ()
    text: str = ""
    unknown_arguments: bool = False
    is_executed: bool = True
    inert_flags: frozenset[str] = frozenset()
    is_neutral: bool = False
    is_filter: bool = False
    writes: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    given: str | None = None


class ShellScript(Struct, frozen=True):
    """The commands of a script in the order of the text."""

    commands: tuple[ShellCommand, ...] = ()
    is_complete: bool = True
    """False if something could not be parsed or is computed: what is not found is unknown."""


def parse_shell(text: str) -> ShellScript:
    """Return the simple commands of a shell text."""
    return _parse_cached(text) if len(text) <= _MAX_CACHED_CHARS else _parse_script(text)


def to_shell_text(value: Json) -> str | None:
    """Return the command line of an argument: a text, or a list of words; None for other values."""
    if isinstance(value, str):
        return value
    if is_list(value) and value and all(isinstance(word, str) for word in value):
        return shlex.join(value) if len(value) > 1 else value[0]
    return None


def _parse_script(text: str) -> ShellScript:
    if (command := _parse_plain_command(text)) is not None:
        return ShellScript((command,))
    try:
        return _parse_nested(strip_code_fence(text), _Context(), 0)
    except RecursionError:
        return ShellScript(is_complete=False)


_parse_cached = lru_cache(maxsize=4_096)(_parse_script)


def _parse_plain_command(text: str) -> ShellCommand | None:
    """Return the command of a line that has nothing but words; None if it needs the parser."""
    bare = text.strip()
    if len(bare) > _MAX_CACHED_CHARS or _PLAIN_COMMAND.fullmatch(bare) is None:
        return None
    words = [Word(word) for word in bare.split()]
    if get_base_name(words[0].text) in _SPECIAL_COMMANDS:
        return None
    rest, via, adds_words = strip_wrappers(words)
    program = get_base_name(rest[0].text)
    if program in _SPECIAL_COMMANDS:
        return None
    if find_inner_code(program, rest, None, is_piped=False) != (None, None):
        return None
    literal = tuple(word.text for word in rest[1:])
    command = ShellCommand(
        program=program,
        arguments=literal,
        text=bare,
        unknown_arguments=adds_words,
        inert_flags=find_inert_flags(program, literal),
        via=via,
    )
    return _classify(command, is_piped=False)


class _Context(NamedTuple):
    """Where a command is in the script."""

    executed: bool = True
    certain: bool = True
    """False in a condition, branch, loop, pipe or subshell: an `exit` there does not end all."""
    piped: bool = False
    """True if it reads the output of another command."""
    writes: tuple[str, ...] = ()
    via: tuple[str, ...] = ()


class _Redirects(NamedTuple):
    """Where the standard output of a command goes, and what is on its standard input."""

    writes: tuple[str, ...] = ()
    reads: tuple[Word, ...] = ()
    given: str | None = None
    words: tuple[Word, ...] = ()
    """Words that follow the name of a file: `cat > a b` is `cat b > a`."""
    end: int = 0
    """Where the last redirection ends."""


_END = "end"


def _parse_nested(text: str, context: _Context, depth: int) -> ShellScript:
    """Parse a script that runs in a context."""
    if len(text) > _MAX_CHARS:
        return ShellScript(is_complete=False)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return ShellScript(is_complete=False)
    script = extract_heredocs(data)
    reader = _ScriptReader(data, script, depth)
    reader.read(context)
    if not reader.is_complete and script.bodies:
        # Something only looked like a here-document, or the parser reads the original better.
        original = _ScriptReader(data, Script(data, {}, [0], [0]), depth)
        original.read(context)
        if original.is_complete or reader.bodies:
            reader = original
    return ShellScript(tuple(reader.commands), reader.is_complete)


class _ScriptReader:
    """Lists the commands of one script."""

    def __init__(self, data: bytes, script: Script, depth: int) -> None:
        self.commands: list[ShellCommand] = []
        self.is_complete = True
        self.bodies = dict(script.bodies)
        self._original, self._script, self._depth = data, script, depth
        self._functions: dict[str, Node] = {}
        self._defined: set[str] = set()
        self._aliases: set[str] = set()
        self._variables: dict[str, str | None] = {}
        self._nesting = 0
        self._has_ended = self._ends_on_error = False
        self._error_line = 0

    def read(self, context: _Context) -> None:
        """Read the script; `bodies` has the here-documents that were not found in the syntax."""
        data = self._script.data
        root = parse_tree(data)
        if root is None:
            self.is_complete = False
            return
        self._error_line = len(data) + 1
        if root.has_error:
            self.is_complete = False
            self._error_line = data.rfind(b"\n", 0, find_error(root)) + 1
        self._read_statements(root.children, context)
        while self._functions:
            _, body = self._functions.popitem()
            self._read_statement(body, context._replace(executed=False))
        if self.bodies:
            self.is_complete = False

    def _read_statements(self, nodes: Iterable[Node], context: _Context) -> _Status:
        """Read statements; return whether the last one succeeds, None if that is not known."""
        status: _Status = True
        for node in nodes:
            if node.is_named and node.type != "comment":
                status = self._read_statement(node, context)
                if status is False and self._ends_on_error and context.certain:
                    self._has_ended = self._has_ended or context.executed
        return status

    def _read_statement(self, node: Node, context: _Context) -> _Status:
        if self._nesting > _MAX_NESTING:
            self.is_complete = False
            return None
        self._nesting += 1
        try:
            return self._read_list(node, context)
        finally:
            self._nesting -= 1

    def _read_list(self, node: Node, context: _Context) -> _Status:
        """Read pipelines that `&&` and `||` connect."""
        status: _Status = None
        operator = ""
        pipeline: list[Element] = []
        negated = False
        for item in (*flatten(node), _END):
            if isinstance(item, Element):
                pipeline.append(item)
            elif item == "!":
                negated = not negated
            elif item in ("&&", "||", _END):
                skipped = (operator, status) in (("&&", False), ("||", True))
                inner = context._replace(
                    executed=context.executed and not skipped,
                    certain=context.certain and (not operator or status is not None),
                )
                result = self._read_pipeline(pipeline, inner)
                result = not result if negated and result is not None else result
                status = result if not operator else _combine(operator, status, result)
                operator, pipeline, negated = item, [], False
        return status

    def _read_pipeline(self, elements: list[Element], context: _Context) -> _Status:
        status: _Status = None
        first = len(self.commands)
        for number, element in enumerate(elements):
            inner = context._replace(
                executed=context.executed and not self._has_ended,
                certain=context.certain and len(elements) == 1,
                piped=context.piped or number > 0,
            )
            status = self._read_element(element, inner)
        if len(elements) > 1:
            self._mark_writing_filters(first)
        return status

    def _mark_writing_filters(self, first: int) -> None:
        """Mark filters that write the output of an action: `pg_dump db | gzip > f` is one action.

        What writes the output of a neutral command, as in `echo key | cat >> f`, is an action.
        """
        has_acted = False
        for index, command in enumerate(self.commands[first:], first):
            transforms = command.given is None and is_filter(command.program, command.arguments)
            if has_acted and command.writes and transforms:
                self.commands[index] = replace(command, is_filter=True)
            has_acted = has_acted or not (command.is_neutral or command.is_filter)

    def _read_element(self, element: Element, context: _Context) -> _Status:
        node = element.node
        redirects = self._read_redirects(element.redirects, context)
        if node is None:
            if redirects.writes:
                self._add([], element.redirects[0], context, redirects)
            return None
        if node.type == "command":
            return self._read_command(node, context, redirects)
        read = self._compound_readers.get(node.type)
        if read is not None:
            inner = context._replace(writes=(*context.writes, *redirects.writes))
            return read(self, node, inner)
        self._read_substitutions((node,), context)
        if node.type.startswith("variable_assignment"):
            self._assign(node, context)
        return None

    def _assign(self, node: Node, context: _Context) -> None:
        """Note the values of variables; one that is set in a branch or a loop is not known."""
        nodes = [node] if node.type == "variable_assignment" else node.children
        for child in nodes:
            if child.type == "variable_assignment" and child.children:
                name = self._slice(child.children[0])
                value = self._read_word(child.children[-1])
                is_plain = child.children[1].type == "=" and len(child.children) == 3
                # A limit, because a variable may be made of other variables again and again.
                is_short = len(value.text) <= _MAX_VALUE_CHARS
                known = is_plain and is_short and value.is_literal
                known = known and context.certain and context.executed
                self._variables[name] = value.text if known else None

    def _read_subshell(self, node: Node, context: _Context) -> _Status:
        ended = self._has_ended
        status = self._read_statements(node.children, context)
        self._has_ended = ended
        return status

    def _read_compound_statement(self, node: Node, context: _Context) -> _Status:
        if node.children and node.children[0].type == "((":
            self._read_substitutions((node,), context)
            return None
        return self._read_statements(node.children, context)

    def _read_if_statement(self, node: Node, context: _Context) -> _Status:
        branch = context
        condition: _Status = None
        part: list[Node] = []
        for child in node.children:
            if child.type == "then":
                condition = self._read_statements(part, branch._replace(certain=False))
                part = []
            elif child.type in ("elif_clause", "else_clause", "fi"):
                if part or child.type != "fi":
                    self._read_branch(part, branch, condition)
                part = []
                branch = branch._replace(executed=branch.executed and condition is not True)
                if child.type == "else_clause":
                    certain = context.certain and condition is False
                    self._read_statements(child.children, branch._replace(certain=certain))
                elif child.type == "elif_clause":
                    condition = self._read_elif(child, branch)
                    branch = branch._replace(executed=branch.executed and condition is not True)
            else:
                part.append(child)
        if part:
            self._read_branch(part, branch, condition)
        return None

    def _read_elif(self, node: Node, context: _Context) -> _Status:
        then = next((n for n, child in enumerate(node.children) if child.type == "then"), 0)
        condition = self._read_statements(node.children[:then], context._replace(certain=False))
        self._read_branch(node.children[then:], context, condition)
        return condition

    def _read_branch(self, nodes: list[Node], context: _Context, condition: _Status) -> None:
        self._read_statements(
            nodes,
            context._replace(
                executed=context.executed and condition is not False,
                certain=context.certain and condition is True,
            ),
        )

    def _read_while_statement(self, node: Node, context: _Context) -> _Status:
        inner = context._replace(certain=False)
        *conditions, body = [child for child in node.children if child.is_named] or [node]
        status = self._read_statements(conditions, inner)
        if node.children[0].type == "until" and status is not None:
            status = not status
        self._read_branch([body], inner, status)
        return None

    def _read_for_statement(self, node: Node, context: _Context) -> _Status:
        values = [child for child in node.children if child.is_named]
        body = values.pop() if values else None
        self._read_substitutions(values, context)
        if values:
            self._variables[self._slice(values[0])] = None
        if body is not None:
            self._read_statement(body, context._replace(certain=False))
        return None

    def _read_case_statement(self, node: Node, context: _Context) -> _Status:
        subject: Word | None = None
        for child in node.children:
            if child.type == "case_item":
                self._read_case_item(child, subject, context)
            elif child.is_named:
                subject = self._read_word(child)
                self._read_substitutions((child,), context)
        return None

    def _read_case_item(self, node: Node, subject: Word | None, context: _Context) -> None:
        at = next((n for n, child in enumerate(node.children) if child.type == ")"), 0)
        patterns = [self._slice(child) for child in node.children[:at] if child.is_named]
        is_plain = subject is not None and subject.is_literal and not _has_pattern(patterns)
        is_dead = is_plain and subject is not None and subject.text not in patterns
        inner = context._replace(executed=context.executed and not is_dead, certain=False)
        self._read_statements(node.children[at:], inner)

    def _read_function_definition(self, node: Node, context: _Context) -> _Status:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is not None and body is not None and context.executed:
            self._functions[self._slice(name)] = body
            self._defined.add(self._slice(name))
        elif body is not None:
            self._read_statement(body, context._replace(executed=False))
        return True

    def _read_test_command(self, node: Node, context: _Context) -> _Status:
        self._read_substitutions((node,), context)
        text = self._slice(node)
        words = text.strip("[] \t\n").split()
        self._append(
            ShellCommand(
                program="test",
                arguments=tuple(word.strip("'\"") for word in words),
                text=text,
                is_executed=context.executed,
                is_neutral=True,
                via=context.via,
            ),
            node,
        )
        return _evaluate_test(words)

    def _read_declaration_command(self, node: Node, context: _Context) -> _Status:
        self._read_substitutions((node,), context)
        self._assign(node, context)
        words = [Word(text) for child in node.children if (text := self._slice(child))]
        self._add(words, node, context, _Redirects())
        return None

    def _read_command(self, node: Node, context: _Context, redirects: _Redirects) -> _Status:
        words: list[Word] = []
        inner: list[Node] = []
        for child in node.children:
            kind = child.type
            if kind in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                inner.append(child)
            elif kind == "variable_assignment":
                self._read_substitutions((child,), context)
            elif child.is_named:
                word = child.children[0] if kind == "command_name" and child.children else child
                self._read_substitutions((word,), context)
                words.append(self._read_word(word))
        more = self._read_redirects(inner, context)
        redirects = _Redirects(
            (*more.writes, *redirects.writes),
            (*more.reads, *redirects.reads),
            more.given if redirects.given is None else redirects.given,
            (*more.words, *redirects.words),
            max(more.end, redirects.end),
        )
        return self._add([*words, *redirects.words], node, context, redirects)

    def _read_redirects(self, nodes: Sequence[Node], context: _Context) -> _Redirects:
        writes: list[str] = []
        reads: list[Word] = []
        words: list[Word] = []
        given: str | None = None
        for node in nodes:
            self._read_substitutions((node,), context)
            operator = next((child.type for child in node.children if not child.is_named), "")
            targets = [
                self._read_word(child)
                for child in node.children
                if child.is_named and child.type != "file_descriptor"
            ]
            if node.type == "herestring_redirect":
                given = targets[0].text if targets and targets[0].is_literal else given
            elif node.type == "heredoc_redirect":
                body = next(
                    (child for child in node.children if child.type == "heredoc_body"), None
                )
                given = self._slice(body) if body is not None else given
                plain = ("heredoc_start", "heredoc_body", "heredoc_end")
                if any(child.is_named and child.type not in plain for child in node.children):
                    self.is_complete = False
            elif targets:
                target, *rest = targets
                words += rest
                if target.text in self.bodies and operator == "<":
                    given = self.bodies.pop(target.text)
                elif operator.startswith("<"):
                    reads.append(target)
                elif operator not in {">&", "<&"} and target.text not in _STANDARD_FILES:
                    writes.append(target.text)
        end = max((node.end_byte for node in nodes), default=0)
        return _Redirects(tuple(writes), tuple(reads), given, tuple(words), end)

    def _read_substitutions(self, nodes: Iterable[Node], context: _Context) -> None:
        """Read the commands of the substitutions in these nodes."""
        pending = list(nodes)
        pending.reverse()
        while pending:
            node = pending.pop()
            if node.type in _SUBSTITUTIONS:
                if self._nesting > _MAX_NESTING:
                    self.is_complete = False
                    continue
                self._nesting += 1
                inner = context._replace(certain=False, piped=False, writes=())
                self._read_statements(node.children, inner)
                self._nesting -= 1
            elif node.child_count and node.type not in ("command", "raw_string"):
                pending += reversed(node.children)

    def _slice(self, node: Node, end: int = 0) -> str:
        """Return the text of a node, and of redirections after it, as the script has it."""
        start = self._script.locate(node.start_byte)
        end = self._script.locate(max(node.end_byte, end))
        return self._original[start:end].decode("utf-8", "replace")

    def _decode(self, node: Node) -> str:
        """Return the text of a node as the parser has it: with names for here-documents."""
        return self._script.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _read_word(self, node: Node) -> Word:
        """Return a word without its quotes."""
        kind = node.type
        if kind in _EXPANSIONS:
            value = self._find_value(node)
            if value is not None:
                return Word(value)
        if kind == "command_substitution" and (value := self._find_printed(node)) is not None:
            return Word(value)
        if kind in _EXPANSIONS or kind in _SUBSTITUTIONS:
            return Word(self._slice(node), is_literal=False, is_reparsable=kind in _EXPANSIONS)
        data = self._decode(node)
        if kind == "raw_string":
            return Word(data[1:-1])
        if kind == "ansi_c_string":
            return Word(_ESCAPE.sub(_decode_escape, data[2:-1]))
        if kind in ("string", "translated_string"):
            return self._read_string(node)
        if kind == "concatenation":
            return join_words([self._read_word(child) for child in node.children], "")
        return Word(_ESCAPE.sub(_drop_escape, data) if "\\" in data else data)

    def _read_string(self, node: Node) -> Word:
        """Return the text of a string in double quotes, with the variables that are known."""
        data = self._script.data
        position = node.children[0].end_byte
        parts: list[Word] = []
        for child in node.children[1:-1]:
            if child.type in _EXPANSIONS or child.type in _SUBSTITUTIONS:
                between = data[position : child.start_byte].decode("utf-8", "replace")
                parts += (Word(_STRING_ESCAPE.sub(_drop_escape, between)), self._read_word(child))
                position = child.end_byte
        last = data[position : node.end_byte - 1].decode("utf-8", "replace")
        return join_words((*parts, Word(_STRING_ESCAPE.sub(_drop_escape, last))), "")

    def _find_value(self, node: Node) -> str | None:
        """Return the value of `$NAME` or `${NAME}`, if it is known and one word."""
        names = [child for child in node.children if child.is_named]
        if node.type == "arithmetic_expansion" or len(names) != 1 or node.child_count > 3:
            return None
        value = self._variables.get(self._slice(names[0]))
        return value if value and not _SPACE.search(value) else None

    def _find_printed(self, node: Node) -> str | None:
        """Return what `$(cat <<END ...)` prints."""
        element, *rest = [child for child in node.children if child.is_named] or [node]
        body = element.child_by_field_name("body")
        if rest or element.type != "redirected_statement" or body is None:
            return None
        targets = [
            self._decode(child.children[-1])
            for child in element.children
            if child.type == "file_redirect" and child.child_count == 2
        ]
        given = self._script.bodies.get(targets[0]) if len(targets) == 1 else None
        return given.rstrip("\n") if given is not None and self._slice(body) == "cat" else None

    def _add(
        self, words: Sequence[Word], node: Node, context: _Context, redirects: _Redirects
    ) -> _Status:
        """Add a command, or the commands that it runs; return whether it succeeds."""
        program = get_base_name(words[0].text) if words and words[0].is_literal else ""
        if program in self._defined:
            # What a function runs is listed at its first call.
            body = self._functions.pop(program, None) if context.executed else None
            return self._read_statement(body, context) if body is not None else None
        self._track_state(program, words, context)
        rest, via, adds_words = strip_wrappers(words)
        context = context._replace(via=(*context.via, *via))
        program = get_base_name(rest[0].text) if rest and rest[0].is_literal else ""
        if self._enter(program, rest, node, context, redirects):
            return None
        literal = [word.text for word in rest[1:] if word.is_literal]
        reads = [word.text for word in redirects.reads if word.is_literal]
        writes = (*redirects.writes, *context.writes)
        if program == "tee":
            writes = (*writes, *(word for word in literal if not word.startswith("-")))
        command = ShellCommand(
            program=program,
            arguments=(*literal, *reads),
            text=self._slice(node, redirects.end),
            unknown_arguments=adds_words
            or not all(word.is_literal for word in (*rest[1:], *redirects.reads)),
            is_executed=context.executed and program not in self._aliases,
            inert_flags=find_inert_flags(program, literal),
            writes=writes,
            via=context.via,
            given=redirects.given,
        )
        self._append(_classify(command, is_piped=context.piped), node)
        return None if via else _predict_status(command)

    def _append(self, command: ShellCommand, node: Node) -> None:
        """Add a command, unless it is on the line of a syntax error or after it."""
        if node.end_byte <= self._error_line:
            self.commands.append(command)

    def _track_state(self, program: str, words: Sequence[Word], context: _Context) -> None:
        """Note commands that change what runs after them."""
        if not context.executed:
            return
        texts = {word.text for word in words[1:]}
        if program == "alias":
            self._aliases.update(text.partition("=")[0] for text in texts if "=" in text)
        elif program == "read":
            self._variables.update(dict.fromkeys(texts))
        elif context.certain and program == "set":
            self._ends_on_error |= bool(texts & {"-e", "errexit", "-eu", "-ex", "-euo", "-eux"})
            self._has_ended |= bool(texts & {"-n", "noexec"})
        elif context.certain and (program == "exit" or (program == "exec" and len(words) > 1)):
            # The program that replaces the shell still runs: only what follows does not.
            self._has_ended = True

    def _enter(
        self,
        program: str,
        words: Sequence[Word],
        node: Node,
        context: _Context,
        redirects: _Redirects,
    ) -> bool:
        """Add the commands that a shell, a remote host or a container runs, if that is known."""
        if program == "find":
            self._enter_find(words, node, context)
            return False
        code, via = find_inner_code(program, words, redirects.given, is_piped=context.piped)
        if via is None:
            return False
        if code is None or not code.is_reparsable or self._depth >= _MAX_ENTERED:
            self.is_complete = False
            return False
        inner = context._replace(
            via=(*context.via, via), writes=(*context.writes, *redirects.writes), piped=False
        )
        script = _parse_nested(code.text, inner, self._depth + 1)
        self.is_complete = self.is_complete and script.is_complete
        whole = self._slice(node)
        for command in script.commands:
            text = command.text if command.text in whole else whole
            self._append(replace(command, text=text), node)
        return True

    def _enter_find(self, words: Sequence[Word], node: Node, context: _Context) -> None:
        """Add the commands that `find -exec` runs."""
        texts = [word.text for word in words]
        start = 0
        while (at := _find_any(texts, ("-exec", "-execdir", "-ok"), start)) is not None:
            end = _find_any(texts, (";", "+"), at)
            start = len(texts) if end is None else end
            inner = [word for word in words[at + 1 : start] if word.text != "{}"]
            if inner:
                self._add(
                    [*inner, Word("{}", is_literal=False)],
                    node,
                    context._replace(via=(*context.via, "find -exec"), certain=False),
                    _Redirects(),
                )

    _compound_readers: ClassVar[dict[str, _ReadCompound]] = {
        "subshell": _read_subshell,
        "compound_statement": _read_compound_statement,
        "do_group": _read_compound_statement,
        "if_statement": _read_if_statement,
        "while_statement": _read_while_statement,
        "for_statement": _read_for_statement,
        "c_style_for_statement": _read_for_statement,
        "case_statement": _read_case_statement,
        "function_definition": _read_function_definition,
        "test_command": _read_test_command,
        "declaration_command": _read_declaration_command,
        "unset_command": _read_declaration_command,
    }


_ReadCompound: TypeAlias = Callable[[_ScriptReader, "Node", _Context], _Status]


def _find_any(texts: Sequence[str], wanted: Sequence[str], start: int) -> int | None:
    return next((at for at in range(start, len(texts)) if texts[at] in wanted), None)


def _combine(operator: str, left: _Status, right: _Status) -> _Status:
    """Return the status of two commands with `&&` or `||` between them."""
    decided = operator == "||"
    if left is decided or right is decided:
        return decided if left is decided or left is None or right is decided else None
    return right if left is (not decided) else None


def _drop_escape(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _decode_escape(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1])


def _has_pattern(patterns: Iterable[str]) -> bool:
    return any(set("*?[$'\"\\") & set(pattern) for pattern in patterns)


def _evaluate_test(words: Sequence[str]) -> _Status:
    """Return the result of a test of constants, as in `[ 1 = 2 ]`."""
    plain = [word.strip("'\"") for word in words]
    if any("$" in word or "`" in word for word in words):
        return None
    if len(plain) == 1:
        return bool(plain[0])
    if len(plain) == 2 and plain[0] in ("-z", "-n"):
        return bool(plain[1]) == (plain[0] == "-n")
    if len(plain) == 3 and plain[1] in ("=", "==", "-eq", "!=", "-ne"):
        same = plain[0] == plain[2]
        return same == (plain[1] in ("=", "==", "-eq")) if not _has_pattern(plain[2:]) else None
    return None


def _predict_status(command: ShellCommand) -> _Status:
    """Return whether a command always succeeds or always fails; None if that is not known."""
    if command.program == "false":
        return False
    if command.program == "test":
        return _evaluate_test(command.arguments) if not command.unknown_arguments else None
    return True if command.program in list_programs("succeeding") else None


def _classify(command: ShellCommand, *, is_piped: bool) -> ShellCommand:
    """Return a command with what is known about its effect."""
    is_remote = any(name.partition(" ")[0] in _HOSTS for name in command.via)
    if not command.writes and not is_remote and _is_neutral(command):
        return replace(command, is_neutral=True)
    if (
        is_piped
        and not command.writes
        and command.given is None
        and is_filter(command.program, command.arguments)
    ):
        return replace(command, is_filter=True)
    return command


def _is_neutral(command: ShellCommand) -> bool:
    program, arguments = command.program, command.arguments
    if program in list_programs("neutral"):
        return True
    if program == "command":
        return True  # `command -v`: others are stripped as a wrapper
    if program == "cat":
        return not arguments and command.given is not None
    if not program:
        return not arguments and not command.unknown_arguments and not command.text.strip("$<> ")
    code = get_python_code(command)
    return code is not None and _only_prints(code)


def _only_prints(code: str) -> bool:
    parsed = parse_python(code)
    return parsed.is_complete and not parsed.effective_text


def get_python_code(command: ShellCommand) -> str | None:
    """Return the Python code of `python -c CODE` or of code given on standard input."""
    if not PYTHON.fullmatch(command.program):
        return None
    arguments = command.arguments
    if "-c" in arguments[:-1]:
        return arguments[arguments.index("-c") + 1]
    is_script = any(not word.startswith("-") for word in arguments)
    return command.given if not is_script and "-m" not in arguments else None


def has_effect(command: ShellCommand, conditions: Iterable[Condition]) -> bool:
    """Return whether a command runs and does something, or what it does is asked for by name.

    A command that can't run has no effect. One with a flag such as `--dry-run`, and a neutral one,
    has an effect only for conditions that name the flag or the program.
    """
    if not command.is_executed:
        return False
    if not command.inert_flags and not command.is_neutral:
        return True
    named = {
        word
        for condition in conditions
        for part in condition.parts
        for text in (*part.program, *part.argument, *part.any_of, part.equals)
        for word in (text or "").split()
    }
    if command.is_neutral and command.program not in named:
        return False
    return command.inert_flags <= {word.partition("=")[0] for word in named}


def check_command(condition: Condition, command: ShellCommand) -> Truth:
    """Check a condition on one command.

    `program` compares its name, which may be followed by arguments ("git push"), or a wrapper of
    it; `argument` looks for words in a row. `calls` and `sql` are checked on the code it is given,
    other forms on its words.
    """
    if not command.is_executed:
        return Truth.MISMATCH
    if not condition.all_of:
        return all_true(_check_forms(condition, command))
    return all_true(truth for part in condition.parts for truth in _check_forms(part, command))


def _check_forms(condition: Condition, command: ShellCommand) -> Iterator[Truth]:
    if condition.program:
        yield any_true(_check_program(wanted.split(), command) for wanted in condition.program)
    if condition.argument:
        results = (_check_argument(wanted.split(), command) for wanted in condition.argument)
        yield any_true(results)
    if condition.calls:
        code = get_python_code(command)
        unknown = Truth.UNKNOWN if command.unknown_arguments else Truth.MISMATCH
        yield unknown if code is None else check_calls(condition.calls, parse_python(code))
    if condition.sql is not None:
        words = (*_list_words(command), command.given or "")
        texts = [word for word in words if " " in word.strip()]
        results = (check_sql(condition.sql, text) for text in texts)
        yield _or_unknown(any_true(results), command)
    if compares_values(condition):
        yield _check_words(condition, _list_words(command), command)


def _check_words(condition: Condition, words: Sequence[str], command: ShellCommand) -> Truth:
    """Check the forms that compare values: texts on the whole line, others on one of its words."""
    if condition.any_of and all("$" in text for text in condition.any_of):
        # Variables are compared as written, whatever their values are.
        written = any(text in command.text for text in condition.any_of)
        rest = replace(condition, any_of=())
        truth = Truth.MATCH if written else Truth.MISMATCH
        return all_true((truth, _check_words(rest, words, command)))
    line = " ".join((command.program, *words))
    texts = replace(condition, equals=None, glob=None, date=None, path=None, url=None)
    texts = replace(texts, number=None, min=None, max=None)
    results: list[Truth] = []
    if compares_values(texts):
        truth = check_scalar(texts, line)
        is_open = truth is Truth.MATCH and condition.not_ and command.unknown_arguments
        results.append(Truth.UNKNOWN if is_open else truth)
    typed = replace(condition, any_of=(), not_=())
    if compares_values(typed):
        results.append(any_true(check_scalar(typed, word) for word in (line, *words)))
    return _or_unknown(all_true(results), command)


def _or_unknown(truth: Truth, command: ShellCommand) -> Truth:
    """Return UNKNOWN for a mismatch if a word that is not known could make it a match."""
    return Truth.UNKNOWN if truth is Truth.MISMATCH and command.unknown_arguments else truth


def _list_words(command: ShellCommand) -> list[str]:
    """Return the words that an argument is looked for in, values of options without the option."""
    words = [*command.arguments, *command.writes]
    words += [word.partition("=")[2] for word in command.arguments if word.startswith("--")]
    return [word for word in words if word]


def _check_program(wanted: Sequence[str], command: ShellCommand) -> Truth:
    if not wanted:
        return Truth.MISMATCH
    name, *arguments = wanted
    name = _fold_program(name)
    names = {_fold_program(command.program)}
    if command.via:
        names.update(_fold_program(host.partition(" ")[0]) for host in command.via)
    if PYTHON.fullmatch(command.program) and "-m" in command.arguments[:-1]:
        names.add(_fold_program(command.arguments[command.arguments.index("-m") + 1]))
    if name not in names:
        return Truth.MISMATCH if command.program else Truth.UNKNOWN
    return _check_argument(arguments, command) if arguments else Truth.MATCH


@lru_cache(maxsize=4_096)
def _fold_program(name: str) -> str:
    base = get_base_name(name).casefold()
    versioned = _VERSIONED.fullmatch(base)
    return versioned[1] if versioned else base


def _check_argument(wanted: Sequence[str], command: ShellCommand) -> Truth:
    """Check whether words occur in a row, maybe with options between them."""
    hosts = [word for name in command.via for word in name.split()]
    words = [*command.arguments, *command.writes, *hosts]
    plain = [word for word in words if not word.startswith("-")]
    has_gaps = len(wanted) > 1 and len(plain) < len(words)
    found = bool(wanted) and (_has_run(wanted, words) or (has_gaps and _has_run(wanted, plain)))
    return _or_unknown(Truth.MATCH if found else Truth.MISMATCH, command)


def _has_run(wanted: Sequence[str], words: Sequence[str]) -> bool:
    size = len(wanted)
    for at, word in enumerate(words[: len(words) - size + 1]):
        if _is_word(wanted[0], word) and (
            size == 1 or all(map(_is_word, wanted[1:], words[at + 1 : at + size]))
        ):
            return True
    return any(contains_text(" ".join(wanted), word) for word in words if " " in word.strip())


def _is_word(wanted: str, word: str) -> bool:
    if len(word) <= _MAX_CACHED_WORD:
        return _compare_cached(wanted, word)
    return _compare_words(wanted, word)


def _compare_words(wanted: str, word: str) -> bool:
    if wanted.casefold() == word.casefold():
        return True
    if wanted.startswith("-"):
        if wanted.startswith("--"):
            return word.partition("=")[0] == wanted
        # -rf is -r and -f.
        flags = word[1:] if word[:1] == "-" and word[1:2] != "-" else ""
        return bool(flags) and len(wanted) == 2 and flags.isalpha() and wanted[1] in flags
    if word.startswith("-"):
        option, mark, value = word.partition("=")
        return bool(mark) and _is_word(wanted, value) and option.startswith("--")
    return has_path_suffix(word, wanted) or (
        "=" in word and wanted.casefold() == word.partition("=")[2].casefold()
    )


_compare_cached = lru_cache(maxsize=4_096)(_compare_words)
