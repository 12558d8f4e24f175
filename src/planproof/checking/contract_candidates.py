"""Build what may satisfy requirements: calls, shell commands, calls in code, messages, reasoning.

A shell line gives one candidate per simple command, so that `pg_dump db; rm -rf x` is two actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planproof.checking.event_text import collect_strings
from planproof.contracts.catalogues import SHELL, is_named_by_program
from planproof.contracts.generic_tools import find_language
from planproof.contracts.python_values import CodeCall, PythonCode, parse_python
from planproof.contracts.shell_values import ShellCommand, parse_shell, to_shell_text
from planproof.core.content import Json
from planproof.core.contract import ANY_ARGUMENT, Contract, ToolMark
from planproof.core.json_values import is_object
from planproof.core.trace import Event, Kind, Trace
from planproof.core.vocabulary import Vocabulary

_CALL_KINDS = frozenset({Kind.ACTION, Kind.BOOKKEEPING})
_TEXT_KINDS = frozenset({Kind.MESSAGE, Kind.REASONING})
TEXT_ARGUMENT = "text"
"""The argument of a call that the trace records only as text."""


_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")


class CandidateKind(Enum):
    """What kind of thing a candidate is."""

    CALL = auto()
    COMMAND = auto()
    """One simple command of a shell line."""
    CODE = auto()
    """Python code as a whole."""
    CODE_CALL = auto()
    """A call of a tool inside Python code."""
    MESSAGE = auto()
    REASONING = auto()


class ContractCandidate(Struct, frozen=True, eq=False, kw_only=True):
    """Something that may satisfy a requirement.

    `name` is the tool in lower case, as the contract calls it, `other_names` are those in `also`;
    `argument` is the argument that holds the command or code. A candidate that `is_accountable` is
    an extra if no requirement takes it. `is_parsed` is False if the command or code can't be
    parsed: its conditions are unknown. A call that `is_thought` is reasoning as well.
    """

    position: int
    event: Event
    kind: CandidateKind
    name: str = ""
    other_names: tuple[str, ...] = ()
    argument: str | None = None
    command: ShellCommand | None = None
    code: PythonCode | None = None
    call: CodeCall | None = None
    is_accountable: bool = False
    is_parsed: bool = True
    is_result_only: bool = False
    is_thought: bool = False

    @property
    def is_text(self) -> bool:
        """True for a message or reasoning."""
        return self.kind is CandidateKind.MESSAGE or self.kind is CandidateKind.REASONING

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the tool, in lower case."""
        return (self.name, *self.other_names)

    @property
    def text(self) -> str:
        """What the agent says: the text of a message or reasoning, or that of a think tool."""
        thoughts = collect_strings(self.event.arguments, derived=False) if self.is_thought else ()
        return "\n".join(thoughts) or self.event.text

    @property
    def quote(self) -> str | None:
        """The part of the event that this candidate is, or None for the whole event."""
        if self.command is not None:
            return self.command.text
        return None if self.call is None else self.call.text

    @property
    def arguments(self) -> Mapping[str, Json] | None:
        """The arguments by name; None if they were not recorded by name."""
        if self.call is not None:
            return self.call.keywords
        return self.event.arguments if is_object(self.event.arguments) else None


class _ToolRole(NamedTuple):
    mark: ToolMark | None
    is_thinking: bool
    """True if the tool only records thoughts."""


class ToolRoles:
    """The roles of tools: the marks of a contract, then the built-in and declared vocabulary."""

    def __init__(self, contract: Contract, vocabulary: Vocabulary) -> None:
        self._marks: dict[str, ToolMark | None] = {
            name.lower(): tool.mark for name, tool in contract.tools.items()
        }
        self._other_names = {
            name.lower(): tuple(map(str.lower, tool.also)) for name, tool in contract.tools.items()
        }
        self._canonical = {
            other.lower(): name.lower()
            for name, tool in contract.tools.items()
            for other in tool.also
        }
        self._marks |= {other: self._marks[name] for other, name in self._canonical.items()}
        self._vocabulary = vocabulary
        self.named = frozenset(
            self.canonical_name(name)
            for step in contract.steps
            for part in step.all_of
            for requirement in part.alternatives
            for name in (*requirement.call, *requirement.with_)
        )
        self._known: dict[tuple[str | None, bool], _ToolRole] = {}
        self._names: dict[str, tuple[str, tuple[str, ...]]] = {}

    def find(self, event: Event) -> _ToolRole:
        """Return the role of the tool that an event calls; looked up once per tool."""
        key = event.name, event.kind is Kind.BOOKKEEPING
        role = self._known.get(key)
        if role is None:
            role = self._known[key] = _ToolRole(
                self.find_mark(event), self._vocabulary.is_thinking(event.name)
            )
        return role

    def canonical_name(self, name: str) -> str:
        """Return the name that a contract uses for a tool, in lower case."""
        return self._canonical.get(name.lower(), name.lower())

    def find_names(self, tool: str) -> tuple[str, tuple[str, ...]]:
        """Return the name that a contract uses for a tool, and further ones, in lower case."""
        names = self._names.get(tool)
        if names is None:
            name = self.canonical_name(tool)
            names = self._names[tool] = name, self._other_names.get(name, ())
        return names

    def find_mark(self, event: Event) -> ToolMark | None:
        """Return the role of the tool that an event calls."""
        name = (event.name or "").lower()
        if name in self._marks:
            return self._marks[name]
        if event.kind is Kind.BOOKKEEPING or self._vocabulary.is_bookkeeping(event.name):
            return "bookkeeping"
        return "closing" if self._vocabulary.is_closing(event.name) else None


def build_contract_candidates(
    trace: Trace, evidence: Trace, roles: ToolRoles
) -> list[ContractCandidate]:
    """Return the candidates of a trace in order.

    `evidence` is the trace without restatements of the plan: text that it lacks is no candidate.
    Users, systems and results without a call give none, except that in a trace that records no
    calls at all a named result stands for its call.
    """
    remaining = {event.id: event for event in evidence.events}
    records_calls = any(event.kind in _CALL_KINDS for event in trace.events)
    candidates: list[ContractCandidate] = []
    for position, event in enumerate(trace.events):
        if event.actor == "user":
            continue
        if event.kind in _CALL_KINDS:
            role = roles.find(event)
            if role.mark != "ignored":
                accountable = event.kind is Kind.ACTION and role.mark != "bookkeeping"
                calls = _build_calls(position, event, roles, is_accountable=accountable)
                if role.is_thinking and event.id in remaining:
                    calls = (replace(call, is_thought=True) for call in calls)
                candidates += calls
        elif event.kind in _TEXT_KINDS and event.id in remaining:
            kind = CandidateKind.MESSAGE if event.kind is Kind.MESSAGE else CandidateKind.REASONING
            candidates.append(
                ContractCandidate(position=position, event=remaining[event.id], kind=kind)
            )
        elif event.kind is Kind.OBSERVATION and event.name and not records_calls:
            name, other_names = roles.find_names(event.name)
            candidates.append(
                ContractCandidate(
                    position=position,
                    event=event,
                    kind=CandidateKind.CALL,
                    name=name,
                    other_names=other_names,
                    is_result_only=True,
                )
            )
    return candidates


def _build_calls(
    position: int, event: Event, roles: ToolRoles, *, is_accountable: bool
) -> Iterator[ContractCandidate]:
    """Yield the candidates of one call: itself, or the commands and calls inside it."""
    tool = name_tool(event)
    name, other_names = roles.find_names(tool)
    call = ContractCandidate(
        position=position,
        event=event,
        kind=CandidateKind.CALL,
        name=name,
        other_names=other_names,
        is_accountable=is_accountable,
    )
    for argument, text in iter_texts(event):
        is_unnamed = argument == TEXT_ARGUMENT
        language = find_language(tool, ANY_ARGUMENT if is_unnamed else argument)
        if language == "shell":
            yield from _build_commands(replace(call, argument=argument), text)
            return
        if language == "python":
            yield from _build_code(replace(call, argument=argument), text, roles)
            return
    yield call


def name_tool(event: Event) -> str:
    """Return the name under which a contract knows the tool of a call."""
    return SHELL if is_named_by_program(event) else event.name or ""


def iter_texts(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a call that are text, by name."""
    if is_object(event.arguments):
        for argument, value in event.arguments.items():
            if (text := to_shell_text(value)) is not None:
                yield argument, text
    elif isinstance(event.arguments, str):
        yield TEXT_ARGUMENT, event.arguments
    elif event.text:
        yield TEXT_ARGUMENT, event.text


def _build_commands(call: ContractCandidate, text: str) -> Iterator[ContractCandidate]:
    """Yield the simple commands of a shell line."""
    script = parse_shell(text)
    for command in script.commands:
        acts = command.is_executed and not (command.is_neutral or command.is_filter)
        yield replace(
            call,
            kind=CandidateKind.COMMAND,
            command=command,
            is_accountable=call.is_accountable and acts,
        )
    if not script.is_complete:
        yield replace(
            call,
            kind=CandidateKind.COMMAND,
            is_accountable=call.is_accountable and not script.commands,
            is_parsed=False,
        )


def _build_code(
    call: ContractCandidate, text: str, roles: ToolRoles
) -> Iterator[ContractCandidate]:
    """Yield code as a whole, and each call in it of a tool that the contract names."""
    code = parse_python(text)
    if code.is_recovered and any(error in call.event.output for error in _SYNTAX_ERRORS):
        code = PythonCode(is_complete=False)  # nothing of it ran
    calls = [
        replace(
            call,
            kind=CandidateKind.CODE_CALL,
            name=roles.find_names(inner.name)[0],
            other_names=roles.find_names(inner.name)[1],
            call=inner,
        )
        for inner in code.calls
        if inner.is_executed and roles.find_names(inner.name)[0] in roles.named
    ]
    yield replace(
        call,
        kind=CandidateKind.CODE,
        code=code,
        # Code that calls tools is accounted for by these calls.
        is_accountable=call.is_accountable and not calls and bool(code.effective_text.strip()),
        is_parsed=code.is_complete,
    )
    yield from calls
