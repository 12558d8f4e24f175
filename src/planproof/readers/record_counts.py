"""Measure how much of a source became events, to tell whether a trace was understood.

The events of a trace are compared with the records in the source that look like the agent's, and
with those that look like calls. JSON is counted in records, not in characters: one long prompt or
output would outweigh everything that the agent did. Text is counted in lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, text_at
from planproof.core.pointer import collect_ancestors, escape, resolve
from planproof.core.trace import Event, Kind, RecordCounts, SkippedPart, Trace
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
from planproof.readers.toolkit.entries import point_to_lines
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
_WORD = re.compile(r"(?<![\x1b\[\d;])\w")  # not in the code of a colour
_MAX_SEARCH_DEPTH = 12
_NO_EVENT = "nothing in it is an event"
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
    ran = sum(
        answer.actor in USER_ROLES
        and event.actor not in _NON_AGENT_ROLES
        and is_program_output(answer.text)
        and next(iter(find_code_blocks(event.text)), None) is not None
        for event, answer in pairwise(events)
    )
    return RecordCounts(records=read, read=read, calls=ran)


def count_unread_characters(source: Source, trace: Trace) -> int:
    """Count the characters of text in a source that became no event.

    In a text these are the lines that no event points to; in JSON, the texts of skipped parts
    that do not repeat others.
    """
    if source.form == "text":
        return _count_uncovered_lines(source.document, trace.events)
    unread = (part.pointer for part in trace.skipped if part.pointer and not part.repeats)
    return sum(_count_text(source, pointer) for pointer in unread)


def find_record_list(document: Json, trace: Trace) -> tuple[str, list[tuple[str, Json]]]:
    """Return the path of the outermost list, or object of records, with more than one item read."""
    path, records = _find_records(document, trace)
    if is_list(records):
        return path, [(str(index), item) for index, item in enumerate(records)]
    if is_object(records):
        return path, [(escape(k), v) for k, v in records.items() if isinstance(v, dict | list)]
    return "", []


def _find_records(document: Json, trace: Trace) -> tuple[str, Json]:
    """Return the path and the value of that list or object; None if there is none."""
    pointers = [event.pointer for event in trace.events] or [p.pointer for p in trace.skipped]
    path, value = "", document
    for _ in range(_MAX_SEARCH_DEPTH):
        if is_list(value) and len(value) > 1:
            return path, value
        steps = _cut_pointers(pointers, len(path) + 1)
        children = {step for step in steps if step.startswith(f"{path}/")}
        if len(children) > 1 and is_object(value):
            return path, value
        if len(children) != 1:
            break
        path = children.pop()
        try:
            value = resolve(document, path)
        except InvalidInput:
            break
    return "", None


def has_words(text: str) -> bool:
    """Return whether a text is more than blanks, rulers and codes of colours."""
    return _WORD.search(text) is not None


def find_unread_records(source: Source, trace: Trace) -> list[SkippedPart]:
    """Return the lines or items of a source from which nothing was read or skipped."""
    pointers = _list_pointers(trace.events) + [part.pointer for part in trace.skipped]
    if source.form == "json":
        path, records = _find_records(source.document, trace)
        if not is_list(records) or path in pointers:
            return []
        known = _cut_pointers(pointers, len(path) + 1)
        places = [f"{path}/{index}" for index in range(len(records))]
        return [SkippedPart(place, _NO_EVENT) for place in places if place not in known]
    if source.form == "jsonl":
        known = _cut_pointers(pointers, 0)
        unread = [n for n, _ in source.document if f"L{n}" not in known]
        covered = _mark_lines((p for p in known if "-" in p), max(unread, default=0))
        return [SkippedPart(f"L{n}", _NO_EVENT) for n in unread if not covered[n - 1]]
    lines = source.document.split("\n")
    covered = _mark_lines(pointers, len(lines))
    parts: list[SkippedPart] = []
    for is_covered, group in groupby(range(len(lines)), key=covered.__getitem__):
        # Blank lines and rulers say nothing.
        numbers = [] if is_covered else [n + 1 for n in group if has_words(lines[n])]
        if numbers:
            parts.append(SkippedPart(point_to_lines(numbers[0], numbers[-1]), _NO_EVENT))
    return parts


def _count_uncovered_lines(text: str, events: Sequence[Event]) -> int:
    lines = text.split("\n")
    covered = _mark_lines(_list_pointers(events), len(lines))
    return sum(len(line.strip()) for line, seen in zip(lines, covered, strict=True) if not seen)


def _cut_pointers(pointers: Iterable[str], start: int) -> set[str]:
    """Return the pointers up to the first slash at or after `start`."""
    return {p if (end := p.find("/", start)) < 0 else p[:end] for p in pointers}


def _list_pointers(events: Sequence[Event]) -> list[str]:
    pointers = [event.pointer for event in events]
    return pointers + [event.output_pointer for event in events if event.output_pointer]


def _mark_lines(pointers: Iterable[str], count: int) -> list[bool]:
    """Return for each line whether a pointer leads to it."""
    changes = [0] * (count + 1)
    for pointer in pointers:
        match = _TEXT_LINES.match(pointer)
        if match is not None:
            first, last = int(match[1]), int(match[2] or match[1])
            changes[min(first - 1, count)] += 1
            changes[min(last, count)] -= 1
    return [depth > 0 for depth in accumulate(changes[:count])]


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


RECORDS = "records"
"""The reader that only numbers records."""
_UNCLASSIFIED = (
    "The reader `records` only numbers the records of a trace; what they are, a model has to say. "
    "Use `--judge audit`, `cascade` or `prompt` with `--model NAME`, and pass the plan."
)


def explain_not_understood(trace: Trace) -> str | None:
    """Explain why a trace can't be judged and what to do; return None if it was understood."""
    counts = trace.record_counts
    if counts is None or counts.is_understood:
        return None
    if trace.reader == RECORDS and not counts.read:
        return _UNCLASSIFIED
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
        self.records = self.calls = self.logger_records = 0
        pointers = {event.pointer for event in events}
        self._read_pointers = pointers | {e.output_pointer for e in events if e.output_pointer}
        self._ancestor_pointers = collect_ancestors(self._read_pointers)
        acted = {event.pointer for event in events if event.kind is Kind.ACTION}
        self._action_pointers = acted | collect_ancestors(acted)
        self._event_texts = {
            text.strip() for event in events for text in (event.text, event.output)
        }
        self._recorded_calls = {(e.name, format_value(e.arguments)) for e in events if e.name}

    def count_unread(self, value: Json, pointer: str) -> None:
        """Count the unread records and calls in a value."""
        if pointer in self._read_pointers:
            return
        if pointer not in self._ancestor_pointers:
            self.records += self._count_records(value)
            return
        if is_object(value) and not _LABEL_KEYS.isdisjoint(value):
            self.logger_records += (text_at(value, *_LEVEL_KEYS) or "").lower() in _LOG_LEVELS
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
        # Spans of every kind have a name and an input.
        is_named = not _CALL_TYPE.search(kind) and is_call_like(value) and not is_span(value)
        if is_named or _is_call_type(kind):
            call = parse_call(value)
            if call and (call.name, format_value(call.arguments)) in self._recorded_calls:
                return 0  # the same call is recorded twice
            self.calls += 1
            return 1
        within = sum(self._count_records(child) for _, child in _iter_children(value))
        if within or _RESULT_TYPE.search(kind):
            return within
        # Texts of several words that are in no event.
        texts = (child for child in value.values() if isinstance(child, str))
        return int(
            any(
                len(text.split(None, 2)) > 1 and text.strip() not in self._event_texts
                for text in texts
            )
        )


def _is_call_type(kind: str) -> bool:
    return _CALL_TYPE.search(kind) is not None and _RESULT_TYPE.search(kind) is None


def _iter_children(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the arrays and objects in a value that may belong to the run, with their keys."""
    entries = enumerate(value) if is_list(value) else value.items() if is_object(value) else ()
    for key, child in entries:
        if key not in NON_RUN_KEYS and isinstance(child, (dict, list)):
            yield escape(str(key)), child
