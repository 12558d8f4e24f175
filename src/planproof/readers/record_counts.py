"""Measure how much of a source became events, to tell whether a trace was understood.

The events of a trace are compared with the records in the source that look like the agent's, and
with those that look like calls. JSON is counted in records, not in characters: one long prompt or
output would outweigh everything that the agent did. Text is counted in lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, text_at
from planproof.core.pointer import escape, resolve
from planproof.core.trace import Event, Kind, RecordCounts, Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.code_fences import find_code_blocks
from planproof.readers.toolkit.conversation import (
    SYSTEM_ROLES,
    TOOL_ROLES,
    UNREAD_CALL,
    USER_ROLES,
    get_role,
)
from planproof.readers.toolkit.span import is_span
from planproof.readers.toolkit.text_actions import is_program_output
from planproof.readers.toolkit.tool_calls import is_call_like, parse_call

NON_RUN_KEYS = frozenset(
    "info metadata meta task tools functions tool_definitions config settings usage expected "
    "ground_truth reference gold evaluation scores score label labels model response_format "
    "test_result instance metrics resource scope toolUseResult".split()
)
"""Keys whose values did not happen in the run."""

_NON_AGENT_ROLES = USER_ROLES | SYSTEM_ROLES | TOOL_ROLES
_AGENT_KINDS = frozenset((Kind.ACTION, Kind.MESSAGE, Kind.REASONING, Kind.BOOKKEEPING))
_TYPE_KEYS = ("type", "kind", "event", "event_type", "node_type")
_LEVEL_KEYS = ("level", "levelname", "severity", "log_level")
_LABEL_KEYS = frozenset((*_TYPE_KEYS, *_LEVEL_KEYS))
_CALL_TYPE = re.compile(r"(?<![a-z])(?:tool|function|command|action|invocation)", re.IGNORECASE)
_RESULT_TYPE = re.compile(
    r"result|response|output|return|observation|complete|finish|done|error|(?<![a-z])end",
    re.IGNORECASE,
)
_TEXT_LINES = re.compile(r"L(\d{1,12})(?:-(\d{1,12}))?(?::|$)")
_LOG_LEVELS = frozenset("debug info notice warn warning error critical fatal trace".split())
# Calls as frameworks print them to a console.
_PRINTED_CALL = re.compile(
    r"\b(?:Function|Tool)Call\(|\btool_calls['\"]?\s{0,4}[=:]\s{0,4}\[\{|\bAgentAction\("
    r"|^[^\w\n]{0,8}(?:Suggested (?:tool|function) call|Invoking|Tool (?:call|use))s?\b"
    r"[^\n:]{0,80}:",
    re.MULTILINE,
)


def count_json_records(source: Source, trace: Trace) -> RecordCounts:
    """Count the agent's records of a JSON source, and those of them that became events."""
    read, called = _count_agent_events(trace.events)
    unread = _UnreadCounter(trace.events)
    if source.form == "jsonl":
        for line, value in source.document:
            unread.count_unread(value, f"L{line}")
    else:
        unread.count_unread(source.document, "")
    # A logger record is not a chat turn, even if it has a name and a message.
    read = max(called, read - unread.logger_records)
    records = read + unread.logger_records + unread.records
    return RecordCounts(records=records, read=read, calls=called + unread.calls, calls_read=called)


def count_text_lines(events: Sequence[Event], lines: int, read: int) -> RecordCounts:
    """Count the agent's lines of a text; if it has calls, all lines count as read."""
    _, called = _count_agent_events(events)
    messages = (event for event in events if event.kind is Kind.MESSAGE)
    printed = sum(
        len(_PRINTED_CALL.findall(event.text)) for event in _filter_agent_events(messages)
    )
    # With headers that give every line to the user, nothing of the agent was recognised.
    records = max(lines, 1)
    known = records if called else read
    return RecordCounts(records=records, read=known, calls=called + printed, calls_read=called)


def count_chat_records(trace: Trace) -> RecordCounts | None:
    """Count the messages of a chat without calls; return None if all its calls were read.

    Code in a message counts as a call if the next message is program output.
    """
    events = trace.events
    has_calls = any(event.kind is Kind.ACTION for event in _filter_agent_events(events))
    unread = sum(part.why == UNREAD_CALL for part in trace.skipped)
    if has_calls and not unread:
        return None
    read, called = _count_agent_events(events)
    if has_calls:
        return RecordCounts(
            records=read + unread, read=read, calls=called + unread, calls_read=called
        )
    ran = 0
    for event, answer in pairwise(events):
        if answer.actor in USER_ROLES and "```" in event.text and is_program_output(answer.text):
            ran += event.actor not in _NON_AGENT_ROLES and any(
                True for _ in find_code_blocks(event.text)
            )
    return RecordCounts(records=read, read=read, calls=ran)


def count_unread_characters(source: Source, trace: Trace) -> int:
    """Count the characters of text in a source that became no event.

    In a text these are the lines that no event points to; in JSON, the texts of skipped parts.
    """
    if source.form == "text":
        return _count_uncovered_lines(source.document, trace.events)
    return sum(_count_text(source, part.pointer) for part in trace.skipped if part.pointer)


def _count_uncovered_lines(text: str, events: Sequence[Event]) -> int:
    lines = text.split("\n")
    covered = bytearray(len(lines))
    for event in events:
        for pointer in (event.pointer, event.output_pointer):
            match = _TEXT_LINES.match(pointer) if pointer else None
            if match is not None:
                first, last = int(match[1]), int(match[2] or match[1])
                covered[first - 1 : last] = b"\1" * (min(last, len(lines)) - first + 1)
    return sum(len(line.strip()) for line, seen in zip(lines, covered, strict=True) if not seen)


def _count_text(source: Source, pointer: str) -> int:
    try:
        value = resolve(source.document, pointer)
    except InvalidInput:
        return 0  # the part could not be parsed, and has no value
    pending, count = [value], 0
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            count += len(item)
        elif is_object(item):
            pending += item.values()
        elif is_list(item):
            pending += item
    return count


def explain_not_understood(trace: Trace) -> str | None:
    """Explain why a trace can't be judged and what to do; return None if it was understood."""
    counts = trace.record_counts
    if counts is None or counts.is_understood:
        return None
    if counts.read:
        ratios = (
            (counts.read, counts.records, "agent records"),
            (counts.calls_read, counts.calls, "calls"),
        )
        low = [f"{read:,} of {total:,} {name}" for read, total, name in ratios if 2 * read < total]
        what = f"it read only {' and '.join(low)}"
    elif trace.events:
        what = "it recognised no turns or calls of the agent"
    else:
        what = "it recognised no records"
    return (
        f"The trace was not understood by the reader `{trace.reader}`: {what}, so the plan "
        "can't be checked against it. Run `planproof inspect FILE` to see what was read. If "
        "`planproof readers` lists the format, select it with `--reader`; otherwise describe it in "
        "a profile: `planproof profile suggest FILE` writes a draft."
    )


def _count_agent_events(events: Iterable[Event]) -> tuple[int, int]:
    """Count the events of agents, and the calls among them."""
    kinds = [event.kind for event in _filter_agent_events(events) if event.kind in _AGENT_KINDS]
    return len(kinds), kinds.count(Kind.ACTION)


def _filter_agent_events(events: Iterable[Event]) -> Iterator[Event]:
    return (event for event in events if event.actor not in _NON_AGENT_ROLES)


class _UnreadCounter:
    """Counts what did not become an event: `records` of the agent, and the `calls` among them.

    `logger_records` counts the logger records that did become an event.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self.records = 0
        self.calls = 0
        self.logger_records = 0
        self._events = events
        self._read_pointers = {event.pointer for event in events}
        self._read_pointers |= {event.output_pointer for event in events if event.output_pointer}
        self._ancestor_pointers = _collect_ancestors(self._read_pointers)

    # Computed on demand: not needed if everything was read.

    @cached_property
    def _action_pointers(self) -> set[str]:
        acted = {event.pointer for event in self._events if event.kind is Kind.ACTION}
        return acted | _collect_ancestors(acted)

    @cached_property
    def _event_texts(self) -> set[str]:
        return {text.strip() for event in self._events for text in (event.text, event.output)}

    @cached_property
    def _recorded_calls(self) -> set[tuple[str | None, str]]:
        return {(event.name, format_value(event.arguments)) for event in self._events if event.name}

    def count_unread(self, value: Json, pointer: str) -> None:
        """Count the unread records and calls in a value."""
        if pointer in self._read_pointers:
            return
        if pointer not in self._ancestor_pointers:
            self.records += self._count_records(value)
            return
        if is_object(value) and not _LABEL_KEYS.isdisjoint(value):
            self.logger_records += _is_logger_record(value)
            # For example, the record of a command that was read as a message.
            self.calls += (
                _is_call_type(text_at(value, *_TYPE_KEYS) or "")
                and pointer not in self._action_pointers
            )
        for key, child in _iter_children(value):
            self.count_unread(child, f"{pointer}/{key}")

    def _count_records(self, value: Json) -> int:
        """Count the records in a value that was not read at all."""
        if is_list(value):
            return sum(self._count_records(item) for item in value)
        if not is_object(value) or get_role(value) in _NON_AGENT_ROLES:
            return 0
        kind = text_at(value, *_TYPE_KEYS) or ""
        if _is_call(value, kind):
            call = parse_call(value)
            if (
                call is not None
                and (call.name, format_value(call.arguments)) in self._recorded_calls
            ):
                return 0  # the same call is recorded twice
            self.calls += 1
            return 1
        within = sum(self._count_records(child) for _, child in _iter_children(value))
        if within or _RESULT_TYPE.search(kind):
            return within
        return int(any(self._is_unread_text(child) for child in value.values()))

    def _is_unread_text(self, value: Json) -> bool:
        """Return whether a value is a text of several words that is not in any event."""
        return (
            isinstance(value, str)
            and len(value.split(None, 2)) > 1
            and value.strip() not in self._event_texts
        )


def _is_call_type(kind: str) -> bool:
    return _CALL_TYPE.search(kind) is not None and _RESULT_TYPE.search(kind) is None


def _is_call(value: dict[str, Json], kind: str) -> bool:
    if _CALL_TYPE.search(kind):
        return _is_call_type(kind)
    # Spans of every kind have a name and an input.
    return is_call_like(value) and not is_span(value)


def _is_logger_record(value: dict[str, Json]) -> bool:
    level = text_at(value, *_LEVEL_KEYS)
    return level is not None and level.lower() in _LOG_LEVELS


def _iter_children(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the arrays and objects in a value that may belong to the run, with their keys."""
    if is_list(value):
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield str(index), item
    elif is_object(value):
        for key, child in value.items():
            if key not in NON_RUN_KEYS and isinstance(child, (dict, list)):
                yield escape(key), child


def _collect_ancestors(pointers: Iterable[str]) -> set[str]:
    """Return the pointers to all ancestors of the values at the given pointers."""
    ancestors: set[str] = set()
    for pointer in pointers:
        end = pointer.rfind("/")
        while end >= 0 and pointer[:end] not in ancestors:
            ancestors.add(pointer[:end])
            end = pointer.rfind("/", 0, end)
    return ancestors
