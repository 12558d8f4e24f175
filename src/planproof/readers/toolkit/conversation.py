"""Convert chat messages to events, with results attached to their calls."""

from __future__ import annotations

import re
from typing import NamedTuple

from planproof.core.content import Image, Json
from planproof.core.json_values import (
    format_value,
    is_list,
    is_object,
    key_with_text,
    parse_embedded_json,
    text_at,
)
from planproof.core.pointer import escape
from planproof.core.trace import COMMENTARY, EventStatus, Kind
from planproof.readers.toolkit.code_fences import CodeBlock, find_code_blocks
from planproof.readers.toolkit.content_parts import (
    ContentPart,
    extract_text,
    parse_image,
    parse_parts,
)
from planproof.readers.toolkit.entries import iter_items
from planproof.readers.toolkit.json_answers import add_structured_answer
from planproof.readers.toolkit.text_actions import (
    Segment,
    add_element_target,
    is_plain_text,
    is_program_output,
    parse_bare_command,
    split_blocks,
    split_segments,
)
from planproof.readers.toolkit.tool_calls import get_call_id, is_call_like, parse_call, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

USER_ROLES = frozenset(("user", "human", "humanmessage", "customer", "user_proxy", "userproxy"))
AGENT_ROLES = frozenset(("assistant", "ai", "aimessage", "aimessagechunk", "model", "agent", "gpt"))
TOOL_ROLES = frozenset(
    "tool function toolmessage functionmessage tool_result toolresult observation "
    "environment env".split()
)
SYSTEM_ROLES = frozenset(("system", "developer", "systemmessage"))
ROLES = USER_ROLES | AGENT_ROLES | TOOL_ROLES | SYSTEM_ROLES

UNREAD_CALL = "a call under a key that is not known"
"""Why a call was skipped that no API records in this way."""
# Bound once: most events are of these kinds.
_MESSAGE, _REASONING = Kind.MESSAGE, Kind.REASONING
_CONTENT_KEYS = ("content", "value", "text", "parts")
_OTHER_CONTENT_KEYS = frozenset(_CONTENT_KEYS[1:])
_MESSAGE_KEYS = (*_CONTENT_KEYS, "tool_calls", "function_call")
_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking", "thought")
# Few of an agent's messages have any of these: one set comparison is faster.
_RARE_KEYS = frozenset((*_THOUGHT_KEYS, "additional_kwargs", *_OTHER_CONTENT_KEYS))
# An agent's message may have calls under any other key.
_AGENT_KEYS = _RARE_KEYS | frozenset(
    "role content tool_calls function_call invalid_tool_calls name id type".split()
)
_TOOL_NAME_KEYS = ("name", "function", "tool_name")
_EXTRA_RESULT_KEYS = frozenset((*_TOOL_NAME_KEYS, "is_error", "isError", "error", "status"))
_RESULT_KEYS = ("content", "output", "result", "response", "outcome")
_RESULT_NAME_KEYS = ("name", "tool_name", "toolName", "tool")
_RESULT_PREFIX = re.compile(
    r"\s{0,8}(?:observation\b|execution result\b"
    r"|<(?:observation|tool_response|function_results?|returncode)"
    r"|\[?(?:tool|function|command) (?:result|output|response)\b|exit ?code:)",
    re.IGNORECASE,
)
_RESULT_INITIALS = frozenset("oOeE<[tTfFcC")


def get_role(message: dict[str, Json]) -> str:
    """Return the role of the speaker in lower case, from `role` or other frameworks' keys."""
    role = message.get("role")
    if not role or not isinstance(role, str):
        role = text_at(message, "type", "from", "author") or ""
    return role.lower()


def is_message(value: Json) -> bool:
    """Return whether this is a chat message: a known role with content or calls."""
    return (
        is_object(value) and get_role(value) in ROLES and any(key in value for key in _MESSAGE_KEYS)
    )


class Conversation:
    """Adds messages in order to a trace builder; `speaker` is the actor of the model's messages."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self.speaker = "assistant"
        self._last_commentary: EventDraft | None = None
        self._has_text_calls = False
        self._unrun_code: _UnrunCode | None = None
        self._run_language: str | None = None
        self._last_observation = ""
        self._first_call = 0

    def add_message(self, message: dict[str, Json], pointer: str, turn: str | None = None) -> None:
        """Add one message; `turn` is the key of the model turn that it belongs to."""
        role = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            role = get_role(message)
        if role in AGENT_ROLES:
            self._add_agent_message(message, pointer, turn)
        elif role in TOOL_ROLES:
            self._add_tool_message(message, pointer)
        elif role in USER_ROLES:
            self._add_user_message(message, pointer)
        elif role in SYSTEM_ROLES:
            self._builder.begin_turn()
            text, content_pointer, _ = _read_content(message, pointer)
            self._builder.add_message(Kind.SYSTEM, text, content_pointer, "system")
        else:
            self._add_agent_message(message, pointer, turn)

    def add_text(self, text: str, pointer: str, actor: str) -> list[EventDraft]:
        """Add a text with the calls recognised in it; return the drafts of its prose."""
        has_mark = _has_call_mark(text)
        value = parse_embedded_json(text) if has_mark else None
        if is_object(value):
            with self._builder.reading_text(text, pointer, actor):
                if add_structured_answer(self._builder, value, pointer, actor):
                    return []
        command = parse_bare_command(text)
        if command is not None and self._builder.is_mentioned(command.name, actor):
            self._has_text_calls = True
            with self._builder.reading_text(text, pointer, actor):
                self._builder.add_call(command, pointer, actor)
            return []
        if not has_mark or is_plain_text(text):
            draft = self._builder.add_message(_MESSAGE, text.strip(), pointer, actor)
            return [draft] if draft is not None else []
        segments = split_segments(text)
        blocks = _find_programs(text) if len(segments) == 1 and "```" in text else []
        if self._run_language is not None:
            own = [block for block in blocks if block.language == self._run_language]
            # Programs that run one block for each message reject messages with several.
            segments = split_blocks(text, own, "sh") if len(own) == 1 else segments
        with self._builder.reading_text(text, pointer, actor):
            drafts = self._add_segments(text, segments, pointer, actor)
        if blocks and len(segments) == 1 and len(drafts) == 1:
            self._unrun_code = _UnrunCode(drafts[0], text, blocks)
        return drafts

    def _add_segments(
        self, text: str, segments: list[Segment], pointer: str, actor: str
    ) -> list[EventDraft]:
        messages: list[EventDraft] = []
        for segment in segments:
            segment_text = text[segment.start : segment.end].strip()
            if segment.call is not None:
                self._has_text_calls = True
                add_element_target(segment.call, self._last_observation)
                self._builder.add_text_call(segment.call, pointer, actor)
            elif segment.kind == "result":
                # The agent wrote it itself, so it is not the result of a call.
                self._builder.add_observation(segment_text, pointer, actor)
                self._builder.begin_turn()
            else:
                if segment.kind == "thought" and self._builder.has_just_called():
                    self._builder.begin_turn()
                kind = Kind.REASONING if segment.kind == "thought" else Kind.MESSAGE
                draft = self._builder.add_message(kind, segment_text, pointer, actor)
                messages += [draft] if draft is not None and segment.kind == "prose" else []
        return messages

    def _add_run_code(self) -> bool:
        """Turn the code of the last message into calls; return False if it has none."""
        unrun, self._unrun_code = self._unrun_code, None
        if unrun is None or not self._builder.drop_last(unrun.draft):
            return False
        draft = unrun.draft
        self._run_language = unrun.blocks[-1].language
        segments = split_blocks(unrun.text, unrun.blocks, "sh")
        actor = draft.actor or self.speaker
        with self._builder.reading_text(unrun.text, draft.pointer, actor):
            prose = self._add_segments(unrun.text, segments, draft.pointer, actor)
        self.mark_as_reasoning(prose)
        return True

    def mark_as_reasoning(self, drafts: list[EventDraft], *, is_said: bool = True) -> None:
        """Mark text next to calls as reasoning, unless the user replies to it.

        Text that `is_said` is part of the conversation. Next to calls in a text, nobody reads it.
        """
        for draft in drafts:
            draft.kind = _REASONING
            if is_said and not self._has_text_calls:
                draft.recognition = COMMENTARY
        if drafts:
            self._last_commentary = drafts[-1]

    def add_result(self, value: dict[str, Json], pointer: str) -> None:
        """Add a result that is a part of a message or a separate record."""
        for wrapper in ("functionResponse", "toolResult"):
            inner = value.get(wrapper)
            if is_object(inner):
                value, pointer = inner, f"{pointer}/{wrapper}"
        key = next((key for key in _RESULT_KEYS if key in value), None)
        result_pointer = pointer if key is None else f"{pointer}/{key}"
        raw = None if key is None else value[key]
        error = value.get("error")
        if not raw and is_object(error) and text_at(error, "message"):
            raw, result_pointer = error["message"], f"{pointer}/error/message"
        images: tuple[Image, ...] = ()
        picture = parse_image(raw) if is_object(raw) else None
        if is_list(raw):
            text, inner, images = extract_text(raw, result_pointer)
            if text or images or not raw:
                result_pointer = inner
            else:
                text = format_value(raw)
        elif picture is not None:
            text, images = "", (picture,)
        else:
            text = format_value(raw)
        self._builder.add_result(
            ToolResult(
                text,
                result_pointer,
                call_id=text_at(value, "tool_use_id", "toolUseId", "call_id", "tool_call_id")
                or get_call_id(value),
                name=text_at(value, *_RESULT_NAME_KEYS),
                actor="tool",
                status=EventStatus.ERROR if _is_error(raw) else _parse_error_status(value),
                images=images,
            )
        )

    def _add_agent_message(self, message: dict[str, Json], pointer: str, turn: str | None) -> None:
        actor = self._get_actor(message)
        self._builder.begin_turn(turn)
        self._last_commentary = None
        self._has_text_calls = False
        self._first_call = self._builder.call_count
        plain = _RARE_KEYS.isdisjoint(message)
        if not plain:
            self._add_thoughts(message, pointer, actor)
        silent = plain and message.get("content") is None
        prose = [] if silent else self._add_content(message, pointer, actor)
        self._add_calls(message, pointer, actor)
        if not message.keys() <= _AGENT_KEYS:
            self._skip_unknown_calls(message, pointer)
        if prose and self._builder.call_count > self._first_call:
            self.mark_as_reasoning(prose)

    def _get_actor(self, message: dict[str, Json]) -> str:
        name = message.get("name")
        # An agent that calls itself "user" is not the user, whose acts are not judged.
        if name and isinstance(name, str) and name != "user":
            return name
        # In a chat of named agents, "Assistant" may be the name of one.
        return "Assistant" if message.get("role") == "Assistant" else self.speaker

    def _add_content(self, message: dict[str, Json], pointer: str, actor: str) -> list[EventDraft]:
        key = _content_key(message)
        content = message.get(key)
        if content is None:
            return []
        if isinstance(content, str):
            blank = not content or content.isspace()
            return [] if blank else self.add_text(content, f"{pointer}/{key}", actor)
        parts, images = parse_parts(content, f"{pointer}/{key}")
        calls = message.get("tool_calls")
        if is_list(calls) and calls and is_list(content):
            # Some formats give the calls both as content parts and in a list.
            listed = {get_call_id(call) for call in calls if is_object(call)}
            parts = [part for part in parts if not _is_listed_call(part, listed)]
        prose: list[EventDraft] = []
        for index, part in enumerate(parts):
            prose += self._add_part(part, actor)
            if part.kind == "result" and parts[index + 1 : index + 2]:
                # A hosted tool ran inside this message: what follows was issued later.
                self.mark_as_reasoning(prose)
                prose, self._last_commentary = [], None
                self._first_call = self._builder.call_count
                self._builder.begin_turn()
        if images and prose:
            prose[-1].images += images
        elif images:
            draft = EventDraft(Kind.MESSAGE, f"{pointer}/{key}", actor=actor, images=images)
            self._builder.add_draft(draft)
        return prose

    def _add_thoughts(self, message: dict[str, Json], pointer: str, actor: str) -> None:
        key = key_with_text(message, _THOUGHT_KEYS)
        if key is not None:
            self._builder.add_message(Kind.REASONING, message[key], f"{pointer}/{key}", actor)
        more = message.get("additional_kwargs")
        if is_object(more):
            self._add_thoughts(more, f"{pointer}/additional_kwargs", actor)

    def _add_part(self, part: ContentPart, actor: str) -> list[EventDraft]:
        if part.kind == "text":
            return self.add_text(part.value, part.pointer, actor)
        if part.kind == "thought":
            self._builder.add_message(Kind.REASONING, part.value, part.pointer, actor)
        elif part.kind == "call":
            self.add_call(part.value, part.pointer, actor)
        elif part.kind == "result":
            self.add_result(part.value, part.pointer)
        else:
            self._builder.skip(part.pointer, part.value)
        return []

    def _add_calls(self, message: dict[str, Json], pointer: str, actor: str) -> None:
        calls = message.get("tool_calls")
        if calls and is_list(calls):
            for index, value in enumerate(calls):
                self.add_call(value, f"{pointer}/tool_calls/{index}", actor)
        elif "function_call" in message and is_object(message["function_call"]):
            self.add_call(message["function_call"], f"{pointer}/function_call", actor)

    def _skip_unknown_calls(self, message: dict[str, Json], pointer: str) -> None:
        """Skip what looks like a call under a key that no API has, unless it repeats one."""
        calls = message.get("tool_calls")
        recorded = [*(calls if is_list(calls) else ()), message.get("function_call")]
        known = {None, *map(_get_call_key, recorded)}
        for key in [key for key in message if key not in _AGENT_KEYS]:
            for where, item in iter_items(message[key], f"{pointer}/{escape(key)}"):
                if is_object(item) and is_call_like(item) and _get_call_key(item) not in known:
                    self._builder.skip(where, UNREAD_CALL)

    def add_call(self, value: Json, pointer: str, actor: str) -> None:
        """Add a call in the form of any API; it is skipped if it has no name."""
        call = parse_call(value)
        if call is None:
            self._builder.skip(pointer, "tool call without a name")
        else:
            self._builder.add_call(call, pointer, actor)
            if call.id and is_object(value) and value.get("result") is not None:
                # A tool that the provider ran: call and result are one part.
                self.add_result(value, pointer)

    def _add_user_message(self, message: dict[str, Json], pointer: str) -> None:
        if message.get("tool_calls"):
            self._builder.skip(f"{pointer}/tool_calls", "calls by the user")
        key = _content_key(message)
        content = message.get(key)
        if isinstance(content, str):
            if content and not content.isspace():
                self._add_user_text(content, f"{pointer}/{key}")
            return
        parts, images = parse_parts(content, f"{pointer}/{key}")
        text_parts = [part for part in parts if part.kind == "text"]
        for part in parts:
            if part.kind != "text":
                self._add_part(part, "user")
        if text_parts and self._is_result_turn(text_parts[0].value):
            text, text_pointer, _ = _read_content(message, pointer)
            self._builder.add_result(
                ToolResult(text, text_pointer, actor=_infer_result_actor(text), images=images)
            )
        elif text_parts or (images and not parts):
            self._add_user_parts(
                text_parts or [ContentPart("text", "", f"{pointer}/{key}")], images
            )

    def _add_user_text(self, text: str, pointer: str) -> None:
        if self._is_result_turn(text):
            self._builder.add_result(ToolResult(text, pointer, actor=_infer_result_actor(text)))
        else:
            self._begin_user_turn()
            self._builder.add_message(_MESSAGE, text, pointer, "user")

    def _begin_user_turn(self) -> None:
        if self._last_commentary is not None:
            # The user replies to it, so it was a message to the user.
            self._last_commentary.kind = _MESSAGE
            self._last_commentary.recognition = ""
            self._last_commentary = None
        self._builder.begin_turn()

    def _add_user_parts(self, parts: list[ContentPart], images: tuple[Image, ...]) -> None:
        self._begin_user_turn()
        for part in parts:
            draft = EventDraft(Kind.MESSAGE, part.pointer, actor="user", text=part.value)
            draft.images, images = images, ()
            self._builder.add_draft(draft)

    def _is_result_turn(self, text: str) -> bool:
        self._last_observation = text
        if self._unrun_code is not None and is_program_output(text) and self._add_run_code():
            return True
        return (self._has_text_calls and self._builder.has_unanswered_calls()) or _is_result_text(
            text
        )

    def _add_tool_message(self, message: dict[str, Json], pointer: str) -> None:
        content = message.get("content")
        if isinstance(content, str):
            text, content_pointer, images = content, f"{pointer}/content", ()
        elif is_list(content) and self._add_result_parts(content, f"{pointer}/content"):
            return
        else:
            text, content_pointer, images = _read_content(message, pointer)
        self._last_observation = text
        call_id = message.get("tool_call_id")
        if not call_id or not isinstance(call_id, str):
            call_id = text_at(message, "call_id", "tool_use_id")
        if message.get("requestor") == "user":
            # Simulated users may have tools of their own.
            self._builder.skip(pointer, "result of a call by the user")
            return
        name = status = None
        # Most messages have none of these keys: one set comparison is faster.
        if not _EXTRA_RESULT_KEYS.isdisjoint(message):
            name, status = text_at(message, *_TOOL_NAME_KEYS), _parse_error_status(message)
        self._builder.add_result(
            ToolResult(text, content_pointer, call_id, name, "tool", status, images)
        )

    def _add_result_parts(self, content: list[Json], pointer: str) -> bool:
        """Add the results among the content parts; return False if there are none."""
        parts, _ = parse_parts(content, pointer)
        results = [part for part in parts if part.kind == "result"]
        for part in results:
            self.add_result(part.value, part.pointer)
        return bool(results)


class _UnrunCode(NamedTuple):
    """A message with code; the next message shows whether it was run."""

    draft: EventDraft
    text: str
    blocks: list[CodeBlock]


def _has_call_mark(text: str) -> bool:
    """Return False if a text has none of the characters of calls in text, as a third of all have.

    They are those of tags, fences, brackets, JSON, prompts, and labels such as `Action 1`.
    """
    # Written out: a fifth of the time of a loop.
    is_labelled = ":" in text or "A" in text or ">" in text
    return is_labelled or "(" in text or "[" in text or "{" in text or "<" in text or "`" in text


def _find_programs(text: str) -> list[CodeBlock]:
    return [block for block in find_code_blocks(text) if block.interpreter]


def _is_result_text(text: str) -> bool:
    initial = text[:9].lstrip()[:1]
    return initial in _RESULT_INITIALS and _RESULT_PREFIX.match(text) is not None


def _infer_result_actor(text: str) -> str | None:
    """Return the actor of a user turn after a call in an agent's text: None if it is a result."""
    return None if _is_result_text(text) else "user"


def _get_call_key(value: Json) -> tuple[str, str] | None:
    """Return name and arguments of a call; None if it has none, such as a result."""
    call = parse_call(value)
    if call is None or (call.arguments is None and not call.text):
        return None
    return call.name, call.text or format_value(call.arguments)


def _is_listed_call(part: ContentPart, calls: set[str | None]) -> bool:
    return part.kind == "call" and not calls.isdisjoint(
        (text_at(part.value, "id"), text_at(part.value, "call_id"))
    )


def _content_key(message: dict[str, Json]) -> str:
    if message.get("content") is not None or _OTHER_CONTENT_KEYS.isdisjoint(message):
        return "content"
    return next((key for key in _CONTENT_KEYS if message.get(key) is not None), "content")


def _read_content(message: dict[str, Json], pointer: str) -> tuple[str, str, tuple[Image, ...]]:
    content = message.get("content")
    if isinstance(content, str):
        return content, f"{pointer}/content", ()
    key = _content_key(message)
    if key not in message:
        return "", pointer, ()
    return extract_text(message[key], f"{pointer}/{key}")


def _is_error(result: Json) -> bool:
    # For example "web_search_tool_result_error".
    kind = result.get("type") if is_object(result) else None
    return isinstance(kind, str) and kind.endswith("_error")


def _parse_error_status(value: dict[str, Json]) -> EventStatus | None:
    if value.get("is_error") is True or value.get("isError") is True or value.get("error"):
        return EventStatus.ERROR
    # "success" only means that the tool returned; its output may still be an error.
    failed = parse_status(value.get("status")) is EventStatus.ERROR
    return EventStatus.ERROR if failed else None
