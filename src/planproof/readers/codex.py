"""Read Codex rollouts: the session files of both generations, line by line."""

from __future__ import annotations

import re

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    parse_embedded_json,
    parse_time,
    text_at,
)
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.content_parts import extract_text, parse_parts
from planproof.readers.toolkit.entries import iter_entries, key_pointer, take_first_entries
from planproof.readers.toolkit.response_items import ResponseItems
from planproof.readers.toolkit.trace_builder import ToolResult, TraceBuilder

_LINE_TYPES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
_HEADER_KEYS = frozenset(("id", "timestamp", "instructions"))
_REQUEST_TYPES = ("turn_context", "token_usage_record")
_IGNORED_TYPES = frozenset(("ghost_snapshot", "compaction", "compaction_summary"))
# The program writes as the user: one block, enclosed in a tag.
_OPENING_TAG = re.compile(r"\s{0,8}<([A-Za-z_ ]{3,40})>")
_INSTRUCTIONS_PREFIX = "# AGENTS.md instructions"
_EXIT_CODE = re.compile(r"Process exited with code (-?\d{1,5})\b")
_HEAD_LENGTH = 400
_REFUSAL_PREFIXES = ("unsupported call", "unsupported custom tool call")
_NOTICE = "a notice for display; calls and messages are items of their own"
_CONTENT_KEYS = ("name", "arguments", "input", "action", "output")
_PLAN_TAG = re.compile(r"<proposed_plan>\s{0,8}")


class CodexReader:
    """Reads rollouts of the Codex CLI: `{timestamp, type, payload}`, or bare items (old)."""

    name = "codex"

    def sniff(self, source: Source) -> bool:
        """Return whether the lines wrap payloads like a rollout, or are items under its header."""
        if source.form == "text":
            return False
        head = take_first_entries(source, is_entry=_has_payload)
        if not head or not is_object(head[0]):
            return False
        if "payload" in head[0]:
            return all(map(_has_payload, head)) and any(
                line["type"] in _LINE_TYPES for line in head
            )
        return _is_header(head[0]) and all(is_object(line) for line in head)

    def read(self, source: Source) -> Trace:
        """Return the events of the items; most other lines only repeat them."""
        builder = TraceBuilder(source.skipped)
        rollout = _Rollout(builder)
        for pointer, line in iter_entries(source, is_entry=_has_payload):
            if not is_object(line):
                builder.skip(pointer, "not a rollout line")
                continue
            moment = line.get("timestamp")
            builder.time = parse_time(moment) if moment is not None else None
            payload = line.get("payload")
            is_notice = line.get("type") == "event_msg"
            why = _NOTICE if is_notice else "metadata of the session"
            with builder.skipping_if_unread(pointer, why, repeats=is_notice):
                if is_object(payload):
                    rollout.add_line(line.get("type"), payload, f"{pointer}/payload")
                elif "record_type" in line:
                    rollout.mark_request()
                elif not _is_header(line):
                    rollout.add_item(line, pointer)
        return builder.build(self.name)


def _has_payload(line: Json) -> bool:
    return is_object(line) and isinstance(line.get("type"), str) and is_object(line.get("payload"))


def _is_header(line: dict[str, Json]) -> bool:
    """Return whether a line is the session header of the first generation, or a state record."""
    return "record_type" in line or ("type" not in line and line.keys() >= _HEADER_KEYS)


class _Rollout:
    """Adds the items of a rollout, in order, to a trace builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._items = ResponseItems(builder)
        self._seen_calls: dict[tuple[str, str], list[Json]] = {}
        self._has_request_records = False
        self._has_new_results = False

    def add_line(self, line_type: Json, payload: dict[str, Json], pointer: str) -> None:
        """Add the events of a line of the second generation."""
        kind = text_at(payload, "type")
        if line_type == "response_item":
            self.add_item(payload, pointer)
        elif line_type in _REQUEST_TYPES or kind == "token_count":
            self.mark_request()
        elif line_type == "compacted":
            self._add_notice(payload, "message", pointer)
        elif line_type == "event_msg":
            # The others repeat the items, for display.
            if kind == "turn_aborted":
                self._add_notice(payload, "reason", pointer)
            elif kind in ("error", "stream_error"):
                self._add_notice(payload, "message", pointer)

    def mark_request(self) -> None:
        """Record a request to the model, which ends the turn if there are new results.

        Results alone do not end it: they may come between the calls of one answer.
        """
        self._has_request_records = True
        if self._has_new_results:
            self._items.end_turn()
            self._has_new_results = False

    def add_item(self, item: dict[str, Json], pointer: str) -> None:
        """Add one item of the conversation with the model."""
        kind = text_at(item, "type") or ""
        identity = text_at(item, "call_id")
        if identity is not None:
            content = [item.get(key) for key in _CONTENT_KEYS]
            # Ids that a person made unreadable are all alike; the items are not.
            if self._seen_calls.get((kind, identity)) == content:
                # A resumed or forked session begins with a copy of the earlier one.
                self._builder.skip(pointer, "duplicate call or result", repeats=True)
                return
            self._seen_calls[kind, identity] = content
        if kind.endswith("_output"):
            self._add_result(item, pointer, identity)
        elif kind == "message" and item.get("role") == "user":
            self._add_user_message(item, pointer)
        elif kind == "agent_message":
            self._add_agent_message(item, pointer)
        elif kind not in _IGNORED_TYPES:
            before = len(self._builder.drafts)
            if not self._items.add_item(item, pointer):
                self._builder.skip(pointer, f"unknown item type {kind!r}")
            elif kind == "message":
                self._extract_plan(before)

    def _add_result(self, item: dict[str, Json], pointer: str, identity: str | None) -> None:
        output_pointer, raw = key_pointer(item, "output", pointer), item.get("output")
        if is_list(raw) or (is_object(raw) and "type" in raw):
            text, output_pointer, images = extract_text(raw, output_pointer)
            result = ToolResult(text, output_pointer, identity, images=images)
        else:
            text, status = _parse_output(raw)
            result = ToolResult(text, output_pointer, identity, status=status)
        result.actor = "tool"
        self._builder.add_result(result)
        self._has_new_results = True
        if not self._has_request_records:
            self._items.end_turn()

    def _add_user_message(self, item: dict[str, Json], pointer: str) -> None:
        self._items.end_turn()
        self._builder.begin_turn()
        parts, images = parse_parts(item.get("content"), f"{pointer}/content")
        for part in parts:
            if part.kind == "unread":
                self._builder.skip(part.pointer, part.value)
                continue
            by_program = _is_by_program(part.value)
            kind, actor = (Kind.SYSTEM, "system") if by_program else (Kind.MESSAGE, "user")
            draft = self._builder.add_message(kind, part.value, part.pointer, actor)
            if draft is not None:
                draft.images, images = images, ()

    def _add_agent_message(self, item: dict[str, Json], pointer: str) -> None:
        """Add a message from one agent to another."""
        self._items.end_turn()
        self._builder.begin_turn()
        text, text_pointer, _ = extract_text(item.get("content"), f"{pointer}/content")
        actor = text_at(item, "author") or "agent"
        if self._builder.add_message(Kind.MESSAGE, text, text_pointer, actor) is None:
            self._builder.skip(pointer, "empty or encrypted message")

    def _extract_plan(self, before: int) -> None:
        """Separate the plan that plan mode marks in an answer from the text around it."""
        for draft in self._builder.drafts[before:]:
            marked = _PLAN_TAG.search(draft.text)
            if marked is None or draft.actor == "system":
                continue
            plan, _, after = draft.text[marked.end() :].partition("</proposed_plan>")
            around = (draft.text[: marked.start()].strip(), after.strip())
            draft.kind, draft.name, draft.text = Kind.BOOKKEEPING, "plan", plan.strip()
            for words in around:
                self._builder.add_message(Kind.MESSAGE, words, draft.pointer, draft.actor)

    def _add_notice(self, payload: dict[str, Json], key: str, pointer: str) -> None:
        self._items.end_turn()
        self._builder.begin_turn()
        text = text_at(payload, key) or ""
        self._builder.add_message(Kind.SYSTEM, text, f"{pointer}/{key}", "system")


def _is_by_program(text: str) -> bool:
    tagged = _OPENING_TAG.match(text)
    if tagged is not None:
        return text.rstrip().endswith(f"</{tagged[1]}>")
    return text.startswith(_INSTRUCTIONS_PREFIX)


def _parse_output(raw: Json) -> tuple[str, EventStatus | None]:
    """Return the output of a tool, and its status if the record has one."""
    value = parse_embedded_json(raw) if isinstance(raw, str) else raw
    if is_object(value):
        status: EventStatus | None = None
        metadata = value.get("metadata")
        code = metadata.get("exit_code") if is_object(metadata) else None
        if isinstance(code, int):
            status = EventStatus.OK if code == 0 else EventStatus.ERROR
        elif value.get("success") is False:
            status = EventStatus.ERROR
        for key in ("output", "content"):
            if isinstance(value.get(key), str) and ("metadata" in value or "success" in value):
                return value[key], status
    text = format_value(raw)
    if text.startswith(_REFUSAL_PREFIXES):
        return text, EventStatus.ERROR
    code = _EXIT_CODE.search(text, 0, _HEAD_LENGTH)
    if code is not None:
        return text, EventStatus.OK if code[1] == "0" else EventStatus.ERROR
    return text, None
