"""Read traces of unknown format: the fallback for sources that no other reader understands.

It looks for a few shapes: messages, calls, event records, spans and parallel arrays, and reports
how much of the source it read. Where that finds no answered call, and for texts, it reads by the
profile that the shape of the source suggests. What neither reads counts as not understood.
"""

from __future__ import annotations

import re
from dataclasses import replace

from planproof.core.content import Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    key_with_list,
    key_with_text,
    parse_time,
    text_at,
)
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.errors import InvalidInput
from planproof.readers.decoding.source import Source
from planproof.readers.intercode import add_arrays
from planproof.readers.record_counts import NON_RUN_KEYS, count_json_records, count_text_lines
from planproof.readers.spans import add_runs
from planproof.readers.suggestion.profile_suggestion import read_by_shape
from planproof.readers.toolkit.conversation import (
    AGENT_ROLES,
    ROLES,
    SYSTEM_ROLES,
    TOOL_ROLES,
    Conversation,
    get_role,
    is_message,
)
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_items, make_constant_pointer
from planproof.readers.toolkit.response_items import ITEM_TYPES, ResponseItems
from planproof.readers.toolkit.span import is_span
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.tool_calls import (
    ToolCall,
    get_command_name,
    get_raw_arguments,
    is_call_like,
    parse_arguments,
    parse_call,
    parse_status,
)
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder


class GeneralReader:
    """Reads any other format: whatever looks like calls, messages, commands and results."""

    name = "general"

    def sniff(self, source: Source) -> bool:
        """Return True: this reader is the last resort."""
        return True

    def read(self, source: Source) -> Trace:
        """Return the recognised events in the order in which they began."""
        builder = TraceBuilder(source.skipped)
        document = source.document
        if source.form == "text":
            last = document.count("\n") + 1
            pointer = "L1" if last == 1 else f"L1-{last}"
            builder.add_message(Kind.MESSAGE, document.strip(), pointer, "assistant")
            trace = builder.build(self.name)
            unread = replace(trace, record_counts=count_text_lines(trace.events, last, 0))
            return read_by_shape(source, self.name) or unread
        if is_list(document) and document and all(isinstance(item, str) for item in document):
            raise InvalidInput(
                "contains a list of strings, none of which looks like an event.",
                where=source.name,
                advice="Pass a list of messages, spans or events, or an object that contains one.",
            )
        walk = _Walk(builder)
        if source.form == "jsonl":
            walk.add_entries([(f"L{line}", value) for line, value in document])
        else:
            walk.add_value(document, "")
        walk.finish()
        trace = builder.build(self.name)
        counts = count_json_records(source, trace)
        is_read = bool(trace.events) and counts.is_understood and not _lacks_results(trace)
        other = None if is_read or walk.has_spans else read_by_shape(source, self.name)
        if other is not None:
            trace, counts = other, count_json_records(source, other)
        return replace(trace, record_counts=counts)


def _lacks_results(trace: Trace) -> bool:
    """Return whether no call has a result, or only calls without arguments have: mere results."""
    calls = [event for event in trace.events if event.kind is Kind.ACTION]
    answered = [call for call in calls if call.output_pointer is not None]
    given = [call for call in calls if call.arguments is not None]
    return bool(calls) and (
        not answered or (bool(given) and all(call.arguments is None for call in answered))
    )


_CONTAINER_KEYS = (
    "messages traj trajectory turn_history history chat_history conversation turns steps "
    "iterations events spans observations child_spans resourceSpans scopeSpans execution_trace "
    "trace traces logs log values records runs samples items data actions output outputs".split()
)
_RUN_KEYS = ("messages", "trajectory", "history", "conversation", "turns", "steps", "events")
_SPEAKER_KEYS = ("name", "source", "speaker", "agent", "sender")
_MESSAGE_TEXT_KEYS = ("content", "text", "message")
_ENVELOPE_KEYS = ("message", "payload", "item", "record", "event", "content")
_TIME_KEYS = ("timestamp", "time", "created_at", "ts", "start_time")
_RESULT_TYPES = frozenset(
    "tool_result tool_output tool_call_result tool_call_output tool-result".split()
)
_CALL_TYPES = frozenset("tool_call tool_use tool-call".split())
_OUTPUT_KEYS = ("output", "result", "observation", "response", "tool_output", "tool_response")
_CALL_LIST_KEYS = ("tool_calls", "toolCalls", "function_calls", "tool_uses")
_RESULT_LIST_KEYS = ("tool_results", "toolResults", "tool_outputs", "results", "observations")
_NOTICE_TYPES = frozenset(("system", "summary", "notice"))
_TEXT_KEYS = ("content", "summary", "text", "message")
_ANSWER_KEYS = ("content", "response", "text", "message")
_AGENT = "assistant"
_FINAL_KEYS = ("final_answer", "final_response", "final_output", "final_result")
_NUMBERED_NAME = re.compile(r"tool_name_(\d{1,4})")
_PAIR = 2


class _Walk:
    """A search through one document that adds the events it recognises."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._speakers = Speakers(builder)
        self._items = ResponseItems(builder, self._conversation)
        self._in_model_turn = False
        self.has_spans = False

    def add_value(self, value: Json, pointer: str) -> None:
        """Add what is recognised in a value, or search its children."""
        if is_list(value):
            if not self._add_pair(value, pointer):
                self.add_entries(list(iter_items(value, pointer)))
        elif is_object(value) and not self._add_object(value, pointer):
            self._add_children(value, pointer)

    def add_entries(self, entries: list[tuple[str, Json]]) -> None:
        """Add the entries of a list or the lines of a file."""
        if any(is_span(value) for _, value in entries[:SNIFF_LIMIT]):
            self.has_spans = True
            add_runs(self._builder, entries)
            return
        silent: list[str] = []
        for pointer, value in entries:
            before = self._builder.change_count
            self.add_value(value, pointer)
            if self._builder.change_count == before and is_object(value):
                silent.append(pointer)
        if len(silent) < len(entries):
            for pointer in silent:
                self._builder.skip(pointer, "contains nothing that looks like an event")

    def _add_pair(self, pair: list[Json], pointer: str) -> bool:
        """Add a list of two: a speaker and a text, or a call and its result."""
        if len(pair) != _PAIR:
            return False
        first, second = pair
        role = first.lower() if isinstance(first, str) and isinstance(second, str) else None
        if role in ROLES:
            self._add_said(role, second, f"{pointer}/1")
            return True
        if not is_object(first) or not is_call_like(first) or is_object(second):
            return False
        added = self._add_call(first, f"{pointer}/0")
        if added:
            self._builder.drafts[-1].set_output(format_value(second), f"{pointer}/1")
        return added

    def _add_said(self, role: str, text: str, pointer: str) -> None:
        if role in TOOL_ROLES:
            self._builder.add_result(ToolResult(text, pointer, actor="tool"))
            return
        self._builder.begin_turn()
        if role in AGENT_ROLES:
            prose = self._conversation.add_text(text, pointer, _AGENT)
            self._conversation.mark_as_reasoning(prose if self._builder.has_just_called() else [])
        else:
            kind = Kind.SYSTEM if role in SYSTEM_ROLES else Kind.MESSAGE
            self._builder.add_message(kind, text, pointer, "user" if kind is Kind.MESSAGE else role)

    def finish(self) -> None:
        """Add what was waiting for the next entry."""
        self._speakers.flush()

    def _add_object(self, value: dict[str, Json], pointer: str) -> bool:
        if is_span(value):
            self.has_spans = True
            add_runs(self._builder, [(pointer, value)])
        elif is_message(value) or _is_turn(value):
            self._add_turn(value, pointer)
        elif not add_arrays(self._builder, value, pointer):
            times = (parse_time(value[key]) for key in _TIME_KEYS if key in value)
            before, self._builder.time = self._builder.time, next(times, None) or self._builder.time
            if not self._add_record(value, pointer):
                self._builder.time = before
                return False
        return True

    def _add_children(self, value: dict[str, Json], pointer: str) -> None:
        if value and all(key.isascii() and key.isdigit() and len(key) < 10 for key in value):
            keys = sorted(value, key=int)
            self.add_entries([(f"{pointer}/{key}", value[key]) for key in keys])
            return
        if self._add_numbered(value, pointer):
            return
        before = len(self._builder.drafts)
        for key in _CONTAINER_KEYS:
            if isinstance(value.get(key), (dict, list)):
                self.add_value(value[key], f"{pointer}/{key}")
                self.finish()
                # The same run is often recorded twice, under two keys.
                if len(self._builder.drafts) > before:
                    self._add_final_answer(value, pointer)
                    return
        for key, child in value.items():
            if key not in NON_RUN_KEYS and key not in _CONTAINER_KEYS:
                self.add_value(child, f"{pointer}/{escape(key)}")

    def _add_numbered(self, value: dict[str, Json], pointer: str) -> bool:
        """Add steps whose parts are numbered keys of one object: `tool_name_0`, `tool_args_0`."""
        numbers = [match[1] for key in value if (match := _NUMBERED_NAME.fullmatch(key))]
        for number in sorted(numbers, key=int):
            self._builder.begin_turn()
            self._add_reasoning(value, pointer, (f"thought_{number}",))
            name, given = f"tool_name_{number}", value.get(f"tool_args_{number}")
            if isinstance(value[name], str):
                call = ToolCall(value[name], *parse_arguments(given))
                draft = self._builder.add_call(call, f"{pointer}/{name}", _AGENT)
                if given is not None:
                    draft.pointer = f"{pointer}/tool_args_{number}"
                if (key := f"observation_{number}") in value:
                    draft.set_output(format_value(value[key]), f"{pointer}/{key}")
        return bool(numbers)

    def _add_final_answer(self, value: dict[str, Json], pointer: str) -> None:
        """Add the answer that some records keep beside the steps, unless a step has said it."""
        key = key_with_text(value, _FINAL_KEYS)
        last = self._builder.drafts[-1]
        if key is not None and value[key].strip() not in (last.text.strip(), last.output.strip()):
            self._builder.begin_turn()
            self._builder.add_message(Kind.MESSAGE, value[key], f"{pointer}/{key}", _AGENT)

    def _add_turn(self, value: dict[str, Json], pointer: str, turn: str | None = None) -> None:
        """Add a turn of a chat; code in it waits until the next turn shows whether it was run."""
        moment = value.get("timestamp") or value.get("created_at")
        if moment is not None:
            self._builder.time = parse_time(moment)
        role = get_role(value)
        speaker = text_at(value, *_SPEAKER_KEYS)
        key = key_with_text(value, _MESSAGE_TEXT_KEYS)
        is_usual = key != "message" and role in ROLES and speaker in (None, role)
        if key is None or role in TOOL_ROLES or is_usual:
            self.finish()
            self._conversation.add_message(value, pointer, turn)
        else:
            point_to = make_constant_pointer(f"{pointer}/{key}")
            self._speakers.add_turn(value[key], point_to, speaker or value["role"])

    def _add_record(self, value: dict[str, Json], pointer: str) -> bool:
        """Add the events of a record; return False if its shape is unknown."""
        for key in _ENVELOPE_KEYS:
            inner = value.get(key)
            if is_object(inner) and is_message(inner):
                self._in_model_turn = False
                self._items.end_turn()
                self._add_turn(inner, f"{pointer}/{key}", text_at(inner, "id"))
                return True
            if is_object(inner) and self._add_record(inner, f"{pointer}/{key}"):
                return True
        kind = text_at(value, "type")
        if kind in ITEM_TYPES:
            self.finish()
            return self._items.add_item(value, pointer)
        self._items.end_turn()
        if self._add_model_turn(value, pointer):
            return True
        if kind == "thinking":
            self._begin_turn()
            if not self._add_reasoning(value, pointer, ("thinking", "content", "text")):
                self._builder.skip(pointer, "encrypted or empty reasoning")
        elif kind in _RESULT_TYPES:
            self.finish()
            self._in_model_turn = False
            self._conversation.add_result(value, pointer)
        elif kind in _CALL_TYPES or is_call_like(value):
            return self._add_call(value, pointer)
        else:
            return self._add_step(value, pointer) or self._add_notice(value, pointer)
        return True

    def _add_model_turn(self, value: dict[str, Json], pointer: str) -> bool:
        """Add a record of one model turn: an answer, a list of calls, a list of their results."""
        listed = key_with_list(value, _CALL_LIST_KEYS)
        calls = [parse_call(item) for item in value[listed]] if listed is not None else []
        answer = key_with_text(value, _ANSWER_KEYS)
        if listed is None or not all(calls) or not (calls or answer):
            return False
        if any(value.get(key) and is_list(value[key]) for key in _RUN_KEYS):
            return False  # the calls are repeated next to the run
        self.finish()
        self._builder.begin_turn()
        self._in_model_turn = False
        if answer is not None:
            prose = self._conversation.add_text(value[answer], f"{pointer}/{answer}", _AGENT)
            self._conversation.mark_as_reasoning(prose if calls else [])
        for index, call in enumerate(calls):
            if call is not None:
                draft = self._builder.add_call(call, f"{pointer}/{listed}/{index}", _AGENT)
                self._set_own_result(draft, value[listed][index], f"{pointer}/{listed}/{index}")
        results = key_with_list(value, _RESULT_LIST_KEYS)
        for item_pointer, item in iter_items(value.get(results or ""), f"{pointer}/{results}"):
            result = item if is_object(item) else {"content": item}
            self._conversation.add_result(result, item_pointer)
        return True

    def _begin_turn(self) -> None:
        # Thoughts and calls with no result in between are one turn of the model.
        if not self._in_model_turn:
            self._builder.begin_turn()
            self._in_model_turn = True

    def _add_reasoning(
        self, value: dict[str, Json], pointer: str, keys: tuple[str, ...], actor: str = _AGENT
    ) -> bool:
        key = key_with_text(value, keys)
        if key is not None:
            self._builder.add_message(Kind.REASONING, value[key], f"{pointer}/{key}", actor)
        return key is not None

    def _add_call(self, value: dict[str, Json], pointer: str) -> bool:
        call = parse_call(value)
        if call is not None:
            self.finish()
            self._begin_turn()
            actor = text_at(value, "agent", "agent_name", "actor", "source") or _AGENT
            self._add_reasoning(value, pointer, ("thought", "reasoning"), actor)
            self._set_own_result(self._builder.add_call(call, pointer, actor), value, pointer)
        return call is not None

    def _set_own_result(self, draft: EventDraft, value: dict[str, Json], pointer: str) -> None:
        status = EventStatus.ERROR if value.get("error") else parse_status(value.get("status"))
        keys = (*_OUTPUT_KEYS, "error") if value.get("error") else _OUTPUT_KEYS
        key = next((key for key in keys if value.get(key) is not None), None)
        if key is not None:
            self._in_model_turn = False
            draft.set_output(format_value(value[key]), f"{pointer}/{key}", status)
        elif status is not None:
            draft.status = status

    def _add_step(self, value: dict[str, Json], pointer: str) -> bool:
        key = "action" if "action" in value else "command"
        action = value.get(key)
        if not (isinstance(action, str) or is_object(action)) or not action:
            return False
        raw = get_raw_arguments(value)
        is_alone = raw is None and not any(name in value for name in (*_OUTPUT_KEYS, "thought"))
        if is_alone and not (is_object(action) and "action_type" in action):
            return False
        self.finish()
        self._builder.begin_turn()
        self._add_reasoning(value, pointer, ("thought", "reasoning"))
        call, action_pointer = parse_call(action), f"{pointer}/{key}"
        if call is None:
            text = format_value(action)
            call = ToolCall(get_command_name(text), text=text)
            if raw is not None:
                call, action_pointer = ToolCall(text[:80], *parse_arguments(raw)), pointer
        elif is_object(action) and call.arguments is None and "action_type" in action:
            given = {name: item for name, item in action.items() if name != "action_type"}
            call.arguments = given or None
        draft = self._builder.add_call(call, action_pointer, _AGENT)
        self._set_own_result(draft, value, pointer)
        return True

    def _add_notice(self, value: dict[str, Json], pointer: str) -> bool:
        kind, key = text_at(value, "type"), key_with_text(value, _TEXT_KEYS)
        if kind in _NOTICE_TYPES and key is not None:
            self._builder.begin_turn()
            self._builder.add_message(Kind.SYSTEM, value[key], f"{pointer}/{key}", "system")
        elif kind is not None and ("uuid" in value or "timestamp" in value):
            self._builder.skip(pointer, f"unknown record type {kind!r}")
        else:
            return False
        return True


def _is_turn(value: dict[str, Json]) -> bool:
    """Return whether a value is a chat turn: a speaker of any name, and text."""
    speaks = isinstance(value.get("role"), str) or key_with_text(value, _SPEAKER_KEYS) is not None
    return speaks and key_with_text(value, _MESSAGE_TEXT_KEYS) is not None
