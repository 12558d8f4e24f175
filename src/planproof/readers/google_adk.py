"""Read Google ADK sessions: events with keys in camel case or snake case."""

from __future__ import annotations

from operator import itemgetter

from planproof.core.content import Image, Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time, text_at
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import iter_entries, take_first_entries
from planproof.readers.toolkit.handoffs import Handoffs
from planproof.readers.toolkit.repeated_prompts import SeenIds
from planproof.readers.toolkit.tool_calls import ToolCall, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_LIST_KEYS = ("events",)
_RESULT_KEYS = ("result", "output")


class GoogleADKReader:
    """Reads sessions of the Agent Development Kit, and lists or JSON Lines of their events."""

    name = "google-adk"

    def sniff(self, source: Source) -> bool:
        """Return whether the source is a list of events with an author and an invocation."""
        if source.form == "text":
            return False
        has_content = False
        for value in take_first_entries(source, _LIST_KEYS, _is_event):
            if not _is_event(value):
                return False
            has_content = has_content or is_object(value.get("content"))
        return has_content

    def read(self, source: Source) -> Trace:
        """Return the events ordered by time, without partial ones, which are repeated in full."""
        builder = TraceBuilder(source.skipped)
        writer = _SessionWriter(builder)
        listed = list(iter_entries(source, _LIST_KEYS, _is_event))
        moments = [_get_timestamp(value) for _, value in listed]
        if None not in moments:
            timed = zip(moments, listed, strict=True)
            listed = [entry for _, entry in sorted(timed, key=itemgetter(0))]
        for pointer, value in listed:
            if _is_event(value):
                writer.add_event(value, pointer)
            else:
                builder.skip(pointer, "not a session event")
        return builder.build(self.name)


class _SessionWriter:
    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._handoffs = Handoffs()
        self._seen_ids = SeenIds(builder)
        self._transferring_agents: set[str] = set()

    def add_event(self, value: dict[str, Json], pointer: str) -> None:
        """Add one event."""
        if value.get("partial") is True:
            self._builder.skip(pointer, "partial event; a later event has the complete text")
            return
        if self._seen_ids.skip_if_seen(text_at(value, "id"), pointer):
            return
        author = text_at(value, "author") or "assistant"
        moment = value.get("timestamp")
        self._builder.time = parse_time(moment) if moment is not None else None
        is_user = author == "user"
        self._builder.parent = None if is_user else self._handoffs.find_parent_call(author)
        with self._builder.skipping_if_unread(pointer, "event without content"):
            self._add_content(value, pointer, author)
        self._builder.parent = None

    def _add_content(self, value: dict[str, Json], pointer: str, author: str) -> None:
        self._add_parts(value, pointer, author)
        message = _find_key(value, "error_message", "errorMessage")
        if message is not None and isinstance(value[message], str):
            self._builder.begin_turn()
            self._builder.add_message(Kind.SYSTEM, value[message], f"{pointer}/{message}", author)
        self._add_transfer(value, pointer, author)

    def _add_parts(self, value: dict[str, Json], pointer: str, author: str) -> None:
        content = value.get("content")
        parts = content.get("parts") if is_object(content) else None
        messages: list[EventDraft] = []
        calls, begun = self._builder.call_count, False
        for index, part in enumerate(parts if is_list(parts) else ()):
            part_pointer = f"{pointer}/content/parts/{index}"
            if not is_object(part):
                self._builder.skip(part_pointer, "not an event part")
            elif not part.get("text") and self._add_result(part, part_pointer):
                continue
            else:
                if not begun:
                    self._builder.begin_turn()
                    begun = True
                messages += self._add_part(part, part_pointer, author)
        if self._builder.call_count > calls:
            for draft in messages:
                draft.kind = Kind.REASONING

    def _add_part(self, part: dict[str, Json], pointer: str, author: str) -> list[EventDraft]:
        text = part.get("text")
        if text and isinstance(text, str):
            kind = Kind.REASONING if part.get("thought") is True else Kind.MESSAGE
            draft = self._builder.add_message(kind, text, f"{pointer}/text", author)
            return [draft] if draft is not None and kind is Kind.MESSAGE else []
        key = _find_key(part, "function_call", "functionCall")
        if key is not None:
            self._add_call(part[key], f"{pointer}/{key}", author)
            return []
        key = _find_key(part, "executable_code", "executableCode")
        if key is not None and is_object(part[key]):
            language = (text_at(part[key], "language") or "python").lower()
            code, own = text_at(part[key], "code") or "", text_at(part[key], "id")
            self._builder.add_call(
                ToolCall(language, text=code, id=own), f"{pointer}/{key}", author
            )
            return []
        image = _parse_image(part)
        if image is not None:
            draft = EventDraft(Kind.MESSAGE, pointer, actor=author, images=(image,))
            return [self._builder.add_draft(draft)]
        unknown_key = next((key for key, item in part.items() if item not in (None, "")), None)
        if unknown_key is not None:
            self._builder.skip(pointer, f"unknown part {unknown_key!r}")
        return []

    def _add_call(self, value: Json, pointer: str, author: str) -> None:
        name = text_at(value, "name") if is_object(value) else None
        if name is None:
            self._builder.skip(pointer, "tool call without a name")
            return
        arguments = value.get("args") or None
        draft = self._builder.add_call(
            ToolCall(name, arguments, id=text_at(value, "id")), pointer, author
        )
        if self._handoffs.record_handoff(draft):
            self._transferring_agents.add(author)

    def _add_result(self, part: dict[str, Json], pointer: str) -> bool:
        key = _find_key(part, "function_response", "functionResponse")
        if key is not None and is_object(part[key]):
            self._add_function_response(part[key], f"{pointer}/{key}")
            return True
        key = _find_key(part, "code_execution_result", "codeExecutionResult")
        if key is None or not is_object(part[key]):
            return False
        result = part[key]
        outcome = text_at(result, "outcome")
        self._builder.add_result(
            ToolResult(
                text_at(result, "output") or "",
                f"{pointer}/{key}/output" if "output" in result else f"{pointer}/{key}",
                call_id=text_at(result, "id"),
                actor="tool",
                status=None if outcome in (None, "OUTCOME_OK") else EventStatus.ERROR,
            )
        )
        return True

    def _add_function_response(self, value: dict[str, Json], pointer: str) -> None:
        response_pointer, raw = f"{pointer}/response", value.get("response")
        if is_object(raw) and len(raw) == 1:
            # A result that is not an object is wrapped in one, under a generic key.
            key = next((key for key in _RESULT_KEYS if isinstance(raw.get(key), str)), None)
            if key is not None:
                raw, response_pointer = raw[key], f"{response_pointer}/{key}"
        failed = is_object(raw) and (
            bool(raw.get("error")) or parse_status(raw.get("status")) is EventStatus.ERROR
        )
        self._builder.add_result(
            ToolResult(
                format_value(raw),
                response_pointer if "response" in value else pointer,
                call_id=text_at(value, "id"),
                name=text_at(value, "name"),
                actor="tool",
                status=EventStatus.ERROR if failed else None,
            )
        )

    def _add_transfer(self, value: dict[str, Json], pointer: str, author: str) -> None:
        actions = value.get("actions")
        if not is_object(actions):
            return
        key = _find_key(actions, "transfer_to_agent", "transferToAgent")
        receiver = text_at(actions, key) if key is not None else None
        if key is None or receiver is None:
            return
        if author in self._transferring_agents:
            self._transferring_agents.remove(author)
        else:
            # The agent's own code handed over, without a tool call.
            self._builder.begin_turn()
            call = ToolCall("transfer_to_agent", {key: receiver})
            draft = self._builder.add_call(call, f"{pointer}/actions", author)
            self._handoffs.record_handoff(draft, receiver)


def _find_key(value: dict[str, Json], key: str, camel_key: str) -> str | None:
    """Return the key, in snake case or camel case, that has a value; None if neither has."""
    if value.get(key) is not None:
        return key
    return camel_key if value.get(camel_key) is not None else None


def _get_timestamp(value: Json) -> float | None:
    moment = value.get("timestamp") if is_object(value) else None
    return moment if isinstance(moment, (int, float)) else None


def _is_event(value: Json) -> bool:
    if not is_object(value) or not isinstance(value.get("author"), str):
        return False
    invoked = isinstance(value.get("invocation_id"), str)
    if not invoked and not isinstance(value.get("invocationId"), str):
        return False
    return "content" in value or "actions" in value or "partial" in value


def _parse_image(part: dict[str, Json]) -> Image | None:
    key = _find_key(part, "inline_data", "inlineData") or _find_key(part, "file_data", "fileData")
    holder = part[key] if key is not None else None
    media = text_at(holder, "mime_type", "mimeType") if is_object(holder) else None
    if not is_object(holder) or media is None or not media.startswith("image/"):
        return None
    url, data = text_at(holder, "file_uri", "fileUri"), text_at(holder, "data")
    return Image(media, url, data) if url or data else None
