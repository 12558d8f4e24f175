"""How much of what an agent did in a source became events.

What a reader that guesses made of a source is compared with what stands there: records that look
like the agent's, and what looks like a call. JSON is counted in records and not in characters: one
long prompt or output would outweigh everything that the agent did. Text is counted in lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, text_at, written
from planproof.core.pointer import escape
from planproof.core.trace import Accounted, Event, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.code_fences import blocks
from planproof.readers.toolkit.conversation import SYSTEMS, TOOLS, USERS, role_of
from planproof.readers.toolkit.span import is_span
from planproof.readers.toolkit.tool_calls import as_call, looks_like_call

ASIDE = frozenset(
    "info metadata meta task tools functions tool_definitions config settings usage expected "
    "ground_truth reference gold evaluation scores score label labels model response_format "
    "test_result instance metrics resource scope toolUseResult".split()
)
"""Keys under which nothing stands that happened in the run."""

_OTHERS = USERS | SYSTEMS | TOOLS
_BY_AGENT = frozenset((Kind.ACTION, Kind.MESSAGE, Kind.REASONING, Kind.BOOKKEEPING))
_TYPES = ("type", "kind", "event", "event_type", "node_type")
_CALL = re.compile(r"(?<![a-z])(?:tool|function|command|action|invocation)", re.IGNORECASE)
_RETURN = re.compile(
    r"result|response|output|return|observation|complete|finish|done|error|(?<![a-z])end",
    re.IGNORECASE,
)
_LEVELS = frozenset("debug info notice warn warning error critical fatal trace".split())
# What a program answers, where the other side is said to be the user.
_PROGRAM = re.compile(
    r"\s{0,8}(?:<[a-z_]{0,20}(?:output|return|exit|result|std(?:out|err)|observation)[a-z_]{0,20}>"
    r"|\[?(?:exit|return) ?code\b|observation\b|stdout\b"
    r"|(?:command|execution|tool|program) (?:output|results?)\s{0,4}:|output\s{0,4}:)",
    re.IGNORECASE,
)
# Calls as frameworks print them to a console.
_PRINTED = re.compile(
    r"\b(?:Function|Tool)Call\(|\btool_calls['\"]?\s{0,4}[=:]\s{0,4}\[\{|\bAgentAction\("
    r"|^[^\w\n]{0,8}(?:Suggested (?:tool|function) call|Invoking|Tool (?:call|use))s?\b"
    r"[^\n:]{0,80}:",
    re.MULTILINE,
)


def account(source: Source, trace: Trace) -> Accounted:
    """Compare a JSON source with the trace that was read from it."""
    read, called = _done(trace.events)
    unread = _Unread(trace.events)
    if source.form == "jsonl":
        for line, value in source.document:
            unread.look(value, f"L{line}")
    else:
        unread.look(source.document, "")
    # The record of a logger is no turn of a chat, even if it has a name and a message.
    read = max(called, read - unread.logged)
    records = read + unread.logged + unread.records
    return Accounted(records=records, read=read, calls=called + unread.calls, calls_read=called)


def account_lines(events: Sequence[Event], lines: int, read: int) -> Accounted:
    """Account for the agent's lines of a text; where there are calls, its syntax is known."""
    _, called = _done(events)
    spoken = (event for event in events if event.kind is Kind.MESSAGE)
    printed = sum(len(_PRINTED.findall(event.text)) for event in _by_agent(spoken))
    # A header may have given all of it to the user: then nothing of the agent was recognised.
    records = max(lines, 1)
    known = records if called else read
    return Accounted(records=records, read=known, calls=called + printed, calls_read=called)


def account_chat(events: Sequence[Event]) -> Accounted | None:
    """Account for a chat without calls; None when there are some.

    Code in a message was run if a program answers it, and then the message was a call.
    """
    if any(event.kind is Kind.ACTION for event in _by_agent(events)):
        return None
    read, _ = _done(events)
    ran = 0
    for event, answer in pairwise(events):
        if answer.actor in USERS and "```" in event.text and _PROGRAM.match(answer.text):
            ran += event.actor not in _OTHERS and any(True for _ in blocks(event.text))
    return Accounted(records=read, read=read, calls=ran)


def why_not_understood(trace: Trace) -> str | None:
    """Say why a trace can't be judged and what to do about it; None when it was understood."""
    found = trace.accounted
    if found is None or found.understood:
        return None
    if found.read:
        counts = (
            (found.read, found.records, "records of the agent"),
            (found.calls_read, found.calls, "calls"),
        )
        short = [f"{read:,} of {all_:,} {name}" for read, all_, name in counts if 2 * read < all_]
        what = f"it read only {' and '.join(short)}"
    elif trace.events:
        what = "it recognised neither turns nor calls of the agent"
    else:
        what = "it recognised no record"
    return (
        f"The trace was not understood by the reader `{trace.reader}`: {what}, so nothing can be "
        "shown to have been done or left undone. See what was read with `planproof inspect FILE`. "
        "If `planproof readers` lists the format, name it with `--reader`; otherwise write the "
        "trace in planproof's own form."
    )


def _done(events: Iterable[Event]) -> tuple[int, int]:
    """Count the events of agents, and the calls among them."""
    kinds = [event.kind for event in _by_agent(events) if event.kind in _BY_AGENT]
    return len(kinds), kinds.count(Kind.ACTION)


def _by_agent(events: Iterable[Event]) -> Iterator[Event]:
    return (event for event in events if event.actor not in _OTHERS)


class _Unread:
    """Counts what gave no event: `records` of the agent, and the `calls` among them.

    `logged` counts the records of a logger that gave one.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.records = 0
        self.calls = 0
        self.logged = 0
        self._events = events
        self._read = {event.pointer for event in events}
        self._read |= {event.output_pointer for event in events if event.output_pointer}
        self._around = _above(self._read)

    # Made when they are asked for: nobody does where everything was read.

    @cached_property
    def _acted(self) -> set[str]:
        acted = {event.pointer for event in self._events if event.kind is Kind.ACTION}
        return acted | _above(acted)

    @cached_property
    def _texts(self) -> set[str]:
        return {text.strip() for event in self._events for text in (event.text, event.output)}

    @cached_property
    def _made(self) -> set[tuple[str | None, str]]:
        return {(event.name, written(event.arguments)) for event in self._events if event.name}

    def look(self, value: Json, pointer: str) -> None:
        """Count what was not read of a value."""
        if pointer in self._read:
            return
        if pointer not in self._around:
            self.records += self._count(value)
            return
        if is_object(value):
            self.logged += _is_logged(value)
            # Such as the record of a command that was taken for something said.
            self.calls += _is_called(text_at(value, *_TYPES) or "") and pointer not in self._acted
        for key, child in _children(value):
            self.look(child, f"{pointer}/{key}")

    def _count(self, value: Json) -> int:
        """Count the records in a value of which nothing was read."""
        if is_list(value):
            return sum(self._count(item) for item in value)
        if not is_object(value) or role_of(value) in _OTHERS:
            return 0
        kind = text_at(value, *_TYPES) or ""
        if _is_call(value, kind):
            call = as_call(value)
            if call is not None and (call.name, written(call.arguments)) in self._made:
                return 0  # the same call stands in two places
            self.calls += 1
            return 1
        within = sum(self._count(child) for _, child in _children(value))
        if within or _RETURN.search(kind):
            return within
        return int(any(self._is_new(child) for child in value.values()))

    def _is_new(self, value: Json) -> bool:
        """Return whether a value is a text of several words that no event has."""
        return (
            isinstance(value, str)
            and len(value.split(None, 2)) > 1
            and value.strip() not in self._texts
        )


def _is_called(kind: str) -> bool:
    return _CALL.search(kind) is not None and _RETURN.search(kind) is None


def _is_call(value: dict[str, Json], kind: str) -> bool:
    if _CALL.search(kind):
        return _is_called(kind)
    # Spans of all sorts have a name and an input.
    return looks_like_call(value) and not is_span(value)


def _is_logged(value: dict[str, Json]) -> bool:
    level = text_at(value, "level", "levelname", "severity", "log_level")
    return level is not None and level.lower() in _LEVELS


def _children(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the arrays and objects in a value that may tell of the run, with their keys."""
    if is_list(value):
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield str(index), item
    elif is_object(value):
        for key, child in value.items():
            if key not in ASIDE and isinstance(child, (dict, list)):
                yield escape(key), child


def _above(pointers: Iterable[str]) -> set[str]:
    """Return the pointers to everything that holds what one of the pointers leads to."""
    found: set[str] = set()
    for pointer in pointers:
        end = pointer.rfind("/")
        while end >= 0 and pointer[:end] not in found:
            found.add(pointer[:end])
            end = pointer.rfind("/", 0, end)
    return found
