"""Inspect's messages, and the attachments that hold what is long in them."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import format_value, is_list, is_object, text_at
from planproof.core.pointer import escape
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.content_parts import ContentPart, extract_text, parse_parts
from planproof.readers.toolkit.tool_calls import ToolCall
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_ATTACHMENT_PREFIX = "attachment://"
_MAX_DEPTH = 20


class InspectMessages:
    """Writes messages, in order, into a transcript."""

    def __init__(self, builder: TraceBuilder, attachments: Json) -> None:
        self._builder = builder
        self._attachments: dict[str, Json] = attachments if is_object(attachments) else {}
        self._call_by_id: dict[str, EventDraft] = {}
        self._answered_ids: set[str] = set()

    def add_message(self, message: dict[str, Json], pointer: str, role: Json) -> None:
        """Write one message, as one of the given role."""
        if role == "assistant":
            self.add_answer(message, pointer)
        elif role == "tool":
            self.add_result(message, pointer, "content", text_at(message, "tool_call_id"))
        else:
            self._builder.begin_turn()
            kind, actor = (Kind.MESSAGE, "user") if role == "user" else (Kind.SYSTEM, "system")
            parts, images = parse_parts(message.get("content"), f"{pointer}/content")
            for part in parts:
                text, part_pointer = self._resolve_attachment(part.value, part.pointer)
                draft = self._builder.add_message(kind, text, part_pointer, actor)
                if draft is not None:
                    draft.images, images = images, ()

    def add_answer(self, message: dict[str, Json], pointer: str) -> None:
        """Write an answer of the model: what it thought and said, and the calls that it made."""
        self._builder.begin_turn()
        calls = message.get("tool_calls")
        calls = calls if is_list(calls) else []
        # What is said on the way to a call is thought aloud.
        text_kind = Kind.REASONING if calls else Kind.MESSAGE
        for part in parse_parts(message.get("content"), f"{pointer}/content")[0]:
            self._add_part(part, text_kind)
        for index, value in enumerate(calls):
            self.add_call(value, f"{pointer}/tool_calls/{index}")

    def add_call(self, value: Json, pointer: str) -> EventDraft | None:
        """Write a call of a function."""
        name = text_at(value, "function", "name") if is_object(value) else None
        if name is None:
            self._builder.skip(pointer, "a call without a name")
            return None
        arguments = value.get("arguments")
        whole = self._fill_attachments(arguments, _MAX_DEPTH)
        if whole is not arguments:
            pointer = ""  # what stands here and in attachments stands nowhere but in the whole
        text = whole if isinstance(whole, str) else ""
        identity = text_at(value, "id")
        draft = self._builder.add_call(
            ToolCall(name, None if text else whole, text, identity), pointer, "assistant"
        )
        if identity is not None:
            self._call_by_id[identity] = draft
        return draft

    def get_call(self, identity: str | None) -> EventDraft | None:
        """The call of this id, if it has been written."""
        return self._call_by_id.get(identity or "")

    def add_result(
        self, value: dict[str, Json], pointer: str, key: str, identity: str | None
    ) -> None:
        """Tie what came back, under `key`, to its call; only once, for it is told repeatedly."""
        if identity is not None:
            if identity in self._answered_ids:
                return
            self._answered_ids.add(identity)
        raw, result_pointer = value.get(key), f"{pointer}/{key}"
        error = value.get("error")
        status = EventStatus.ERROR if error else None
        if is_object(error) and not raw:
            raw, result_pointer = error.get("message"), f"{pointer}/error/message"
        if is_list(raw):
            text, result_pointer, images = extract_text(raw, result_pointer)
        else:
            text, images = format_value(raw), ()
        text, result_pointer = self._resolve_attachment(text, result_pointer)
        name = text_at(value, "function")
        self._builder.add_result(
            ToolResult(
                text, result_pointer, identity, name, actor="tool", status=status, images=images
            )
        )

    def _add_part(self, part: ContentPart, text_kind: Kind) -> None:
        if part.kind in ("text", "thought"):
            kind = Kind.REASONING if part.kind == "thought" else text_kind
            text, text_pointer = self._resolve_attachment(part.value, part.pointer)
            self._builder.add_message(kind, text, text_pointer, "assistant")
        elif part.kind == "call":
            # A tool that the provider ran: call and result are one part.
            if self.add_call(part.value, part.pointer) is not None and "result" in part.value:
                identity = text_at(part.value, "id")
                self.add_result(part.value, part.pointer, "result", identity)
        else:
            self._builder.skip(part.pointer, str(part.value))

    def _resolve_attachment(self, text: str, pointer: str) -> tuple[str, str]:
        if text.startswith(_ATTACHMENT_PREFIX):
            key = text[len(_ATTACHMENT_PREFIX) :]
            attachment = self._attachments.get(key)
            if isinstance(attachment, str):
                return attachment, f"/attachments/{escape(key)}"
        return text, pointer

    def _fill_attachments(self, value: Json, depth: int) -> Json:
        """The value with what its attachments hold; the very same where it refers to none."""
        if isinstance(value, str):
            return self._resolve_attachment(value, "")[0]
        if depth and is_object(value):
            filled = {key: self._fill_attachments(item, depth - 1) for key, item in value.items()}
            return value if all(filled[key] is value[key] for key in value) else filled
        if depth and is_list(value):
            items = [self._fill_attachments(item, depth - 1) for item in value]
            same = all(new is old for new, old in zip(items, value, strict=True))
            return value if same else items
        return value
