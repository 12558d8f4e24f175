"""Read Pydantic AI messages: requests and responses made of parts."""

from __future__ import annotations

from planproof.core.content import Image, Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time, text_at
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import iter_entries, take_first_entries
from planproof.readers.toolkit.repeated_prompts import SystemPrompts
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_LIST_KEYS = ("messages", "all_messages", "message_history", "new_messages")
_MESSAGE_KINDS = frozenset(("request", "response"))
_CALL_KINDS = frozenset(("tool-call", "builtin-tool-call"))
_RESULT_KINDS = frozenset(("tool-return", "builtin-tool-return"))
_NOTICE_KINDS = frozenset(("system-prompt", "instruction", "retry-feedback", "retry-prompt"))


class PydanticAIReader:
    """Reads messages of Pydantic AI, as written by `all_messages_json()`."""

    name = "pydantic-ai"

    def sniff(self, source: Source) -> bool:
        """Return whether the source is a list of requests and responses with parts."""
        if source.form == "text":
            return False
        has_parts = False
        for value in take_first_entries(source, _LIST_KEYS):
            if not _is_message(value):
                return False
            has_parts = has_parts or any(is_object(p) and "part_kind" in p for p in value["parts"])
        return has_parts

    def read(self, source: Source) -> Trace:
        """Return the events of the parts, with the results attached to their calls."""
        builder = TraceBuilder(source.skipped)
        writer = _ModelMessageWriter(builder)
        for pointer, value in iter_entries(source, _LIST_KEYS):
            if _is_message(value):
                writer.add_message(value, pointer)
            else:
                builder.skip(pointer, "neither a request nor a response")
        return builder.build(self.name)


class _ModelMessageWriter:
    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._system_prompts = SystemPrompts(builder)

    def add_message(self, value: dict[str, Json], pointer: str) -> None:
        """Add a request or a response."""
        moment = value.get("timestamp")
        messages: list[EventDraft] = []
        calls = self._builder.call_count
        if value["kind"] == "response":
            self._builder.begin_turn()
        else:
            # Every request of a run repeats the instructions.
            text = text_at(value, "instructions")
            self._system_prompts.add_prompt(text, f"{pointer}/instructions")
        for index, part in enumerate(value["parts"]):
            part_pointer = f"{pointer}/parts/{index}"
            if not is_object(part):
                self._builder.skip(part_pointer, "not a message part")
                continue
            own = part.get("timestamp") or moment
            self._builder.time = parse_time(own) if own else None
            if value["kind"] == "request":
                self._add_request_part(part, part_pointer)
            else:
                messages += self._add_response_part(part, part_pointer)
        if self._builder.call_count > calls:
            for draft in messages:
                draft.kind = Kind.REASONING

    def _add_request_part(self, part: dict[str, Json], pointer: str) -> None:
        kind = text_at(part, "part_kind")
        if kind == "user-prompt":
            self._add_user_prompt(part.get("content"), f"{pointer}/content")
        elif kind in _RESULT_KINDS:
            self._add_tool_return(part, pointer)
        elif kind == "retry-prompt" and part.get("tool_name"):
            self._add_tool_return(part, pointer, EventStatus.ERROR)
        elif kind in _NOTICE_KINDS:
            self._builder.begin_turn()
            text = format_value(part.get("content"))
            self._builder.add_message(Kind.SYSTEM, text, f"{pointer}/content", "system")
        else:
            self._builder.skip(pointer, f"unknown part kind {kind!r}")

    def _add_response_part(self, part: dict[str, Json], pointer: str) -> list[EventDraft]:
        kind, content, content_pointer = (
            text_at(part, "part_kind"),
            part.get("content"),
            f"{pointer}/content",
        )
        if kind in ("text", "thinking"):
            if isinstance(content, str):
                event_kind = Kind.MESSAGE if kind == "text" else Kind.REASONING
                draft = self._builder.add_message(event_kind, content, content_pointer, "assistant")
                return [draft] if draft is not None and kind == "text" else []
            self._builder.skip(pointer, "encrypted or empty reasoning")
        elif kind in _CALL_KINDS:
            name = text_at(part, "tool_name")
            if name is None:
                self._builder.skip(pointer, "tool call without a name")
                return []
            arguments, text = parse_arguments(part.get("args"))
            call = ToolCall(name, arguments, text, text_at(part, "tool_call_id"))
            self._builder.add_call(call, pointer, "assistant")
        elif kind in _RESULT_KINDS:
            self._add_tool_return(part, pointer)
        elif kind == "file" and (image := _parse_image(content)) is not None:
            draft = EventDraft(Kind.MESSAGE, content_pointer, actor="assistant", images=(image,))
            return [self._builder.add_draft(draft)]
        else:
            self._builder.skip(pointer, f"unknown part kind {kind!r}")
        return []

    def _add_user_prompt(self, content: Json, pointer: str) -> None:
        self._builder.begin_turn()
        images: list[Image] = []
        last: EventDraft | None = None
        for index, item in enumerate(content if is_list(content) else ()):
            item_pointer = f"{pointer}/{index}"
            text, item_pointer = (
                (text_at(item, "content"), f"{item_pointer}/content")
                if (is_object(item) and item.get("kind") == "text-content")
                else (item, item_pointer)
            )
            image = _parse_image(item)
            if image is not None:
                images.append(image)
            elif isinstance(text, str):
                last = self._builder.add_message(Kind.MESSAGE, text, item_pointer, "user") or last
            elif is_object(item) and item.get("kind") != "cache-point":
                self._builder.skip(
                    f"{pointer}/{index}", f"unknown content kind {item.get('kind')!r}"
                )
        if isinstance(content, str):
            self._builder.add_message(Kind.MESSAGE, content, pointer, "user")
        if images and last is not None:
            last.images = tuple(images)
        elif images:
            self._builder.add_draft(
                EventDraft(Kind.MESSAGE, pointer, actor="user", images=tuple(images))
            )

    def _add_tool_return(
        self, part: dict[str, Json], pointer: str, status: EventStatus | None = None
    ) -> None:
        # "success" only says that the tool returned; what it returned may still be an error.
        if part.get("outcome") not in (None, "success"):
            status = EventStatus.ERROR
        content = part.get("content")
        image = _parse_image(content)
        self._builder.add_result(
            ToolResult(
                format_value(content) if image is None else "",
                f"{pointer}/content" if "content" in part else pointer,
                call_id=text_at(part, "tool_call_id"),
                name=text_at(part, "tool_name"),
                actor="tool",
                status=status,
                images=() if image is None else (image,),
            )
        )


def _is_message(value: Json) -> bool:
    kind = value.get("kind") if is_object(value) else None
    return isinstance(kind, str) and kind in _MESSAGE_KINDS and is_list(value.get("parts"))


def _parse_image(value: Json) -> Image | None:
    if not is_object(value):
        return None
    media = text_at(value, "media_type") or "image/*"
    if value.get("kind") == "image-url" and text_at(value, "url"):
        return Image(media, url=value["url"])
    if value.get("kind") == "binary" and media.startswith("image/") and text_at(value, "data"):
        return Image(media, data=value["data"])
    return None
