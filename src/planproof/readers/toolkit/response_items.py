"""Read items of the OpenAI Responses API: messages, reasoning, calls, hosted tools and results."""

from __future__ import annotations

from planproof.core.content import Image, Json
from planproof.core.json_values import format_value, is_list, is_object, key_with_text, text_at
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.content_parts import parse_parts
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.tool_calls import ToolCall, parse_arguments, parse_status
from planproof.readers.toolkit.trace_builder import EventDraft, ToolResult, TraceBuilder

_RESULT_TYPES = frozenset(
    "function_call_output custom_tool_call_output computer_call_output local_shell_call_output "
    "shell_call_output apply_patch_call_output tool_search_output".split()
)
_NAMED_CALL_TYPES = frozenset(("function_call", "custom_tool_call", "mcp_call"))
# The name of each hosted tool, and the key of its input.
_HOSTED_TOOLS = {
    "computer_call": ("computer", "action"),
    "web_search_call": ("web_search", "action"),
    "file_search_call": ("file_search", "queries"),
    "code_interpreter_call": ("code_interpreter", "code"),
    "image_generation_call": ("image_generation", "revised_prompt"),
    "local_shell_call": ("shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "tool_search_call": ("tool_search", "arguments"),
}
_SKIPPED_TYPES = {
    "item_reference": "reference to another item",
    "compaction": "compacted conversation, encrypted",
    "mcp_list_tools": "list of MCP tools, not a call",
    "mcp_approval_request": "approval request; the call follows if it is approved",
    "mcp_approval_response": "approval response",
    "additional_tools": "list of additional tools, not a call",
}
ITEM_TYPES = frozenset(
    ("reasoning", *_NAMED_CALL_TYPES, *_HOSTED_TOOLS, *_RESULT_TYPES, *_SKIPPED_TYPES)
)
"""The item types that no other format uses; messages are items too."""

_OWN_RESULT_KEYS = ("output", "error", "outputs", "results")


def is_response_item(value: Json) -> bool:
    """Return whether this is an item other than a message."""
    kind = value.get("type") if is_object(value) else None
    return isinstance(kind, str) and kind in ITEM_TYPES


class ResponseItems:
    """Adds items in order to a trace builder; messages go to `conversation`."""

    def __init__(self, builder: TraceBuilder, conversation: Conversation | None = None) -> None:
        self._builder = builder
        self.conversation = conversation or Conversation(builder)
        self._model_turn_count = 0
        self._in_model_turn = False
        self._turn_messages: list[EventDraft] = []

    def add_item(self, item: dict[str, Json], pointer: str) -> bool:
        """Add the events of an item; return False if it is not one."""
        kind = text_at(item, "type") or "message"
        if kind == "message" and isinstance(item.get("role"), str):
            self._add_message(item, pointer)
        elif kind == "reasoning":
            self._add_reasoning(item, pointer)
        elif kind in _RESULT_TYPES:
            self.end_turn()
            self._add_result(item, pointer)
        elif kind in _NAMED_CALL_TYPES:
            self._add_named_call(item, pointer)
        elif kind in _HOSTED_TOOLS:
            self._add_hosted_call(item, pointer, *_HOSTED_TOOLS[kind])
        elif kind in _SKIPPED_TYPES:
            self._builder.skip(pointer, _SKIPPED_TYPES[kind])
        else:
            return False
        return True

    def end_turn(self) -> None:
        """End the model turn: what the model says next is a reply to something."""
        self._in_model_turn = False
        self._turn_messages = []

    def _get_turn_key(self) -> str:
        # Reasoning, messages and calls without a result in between are one model turn.
        if not self._in_model_turn:
            self._model_turn_count += 1
            self._in_model_turn = True
        return f"model turn {self._model_turn_count}"

    def _add_message(self, item: dict[str, Json], pointer: str) -> None:
        if item["role"] != "assistant":
            self.end_turn()
            self.conversation.add_message(item, pointer)
            return
        before = len(self._builder.drafts)
        self.conversation.add_message(item, pointer, self._get_turn_key())
        messages = [d for d in self._builder.drafts[before:] if d.kind is Kind.MESSAGE]
        if item.get("phase") == "commentary":
            self.conversation.mark_as_reasoning(messages)
        else:
            self._turn_messages += messages

    def _add_reasoning(self, item: dict[str, Json], pointer: str) -> None:
        before = len(self._builder.drafts)
        self._builder.begin_turn(self._get_turn_key())
        for key in ("summary", "content", "text"):
            for part in parse_parts(item.get(key), f"{pointer}/{key}")[0]:
                if part.kind in ("text", "thought"):
                    self._builder.add_message(
                        Kind.REASONING, part.value, part.pointer, self.conversation.speaker
                    )
        if len(self._builder.drafts) == before:
            self._builder.skip(pointer, "encrypted or empty reasoning")

    def _add_named_call(self, item: dict[str, Json], pointer: str) -> None:
        name = text_at(item, "name")
        if name is None:
            self._builder.skip(pointer, "tool call without a name")
            return
        raw_input = item.get("arguments", item.get("input"))
        self._add_call(ToolCall(name, *parse_arguments(raw_input)), item, pointer, pointer)

    def _add_hosted_call(self, item: dict[str, Json], pointer: str, name: str, key: str) -> None:
        raw_input = item.get(key)
        if item.get("type") == "computer_call" and is_list(item.get("actions")):
            # Several clicks and keys in one item: each of them is an action.
            for index, action in enumerate(item["actions"]):
                if is_object(action):
                    self._add_call(
                        _parse_hosted_action(name, action),
                        item,
                        f"{pointer}/actions/{index}",
                        pointer,
                    )
            return
        if key == "action" and is_object(raw_input):
            call = _parse_hosted_action(name, raw_input)
        elif is_list(raw_input):
            call = ToolCall(name, {key: raw_input})
        else:
            call = ToolCall(name, *parse_arguments(raw_input))
        self._add_call(call, item, pointer, pointer)

    def _add_call(
        self, call: ToolCall, item: dict[str, Json], call_pointer: str, pointer: str
    ) -> None:
        self._builder.begin_turn(self._get_turn_key())
        call.id = text_at(item, "call_id", "id")
        draft = self._builder.add_call(call, call_pointer, self.conversation.speaker)
        self.conversation.mark_as_reasoning(self._turn_messages)
        self._turn_messages = []
        failed = parse_status(item.get("status")) is EventStatus.ERROR or bool(item.get("error"))
        status = EventStatus.ERROR if failed else None
        key = next((key for key in _OWN_RESULT_KEYS if item.get(key)), None)
        if key is not None:
            text, where = _format_output(item[key], f"{pointer}/{key}")
            draft.set_output(text, where, status)
            self.end_turn()
        elif status is not None:
            draft.status = status
        picture = item.get("result")
        if item.get("type") == "image_generation_call" and isinstance(picture, str):
            draft.images = (Image("image/*", data=picture),)

    def _add_result(self, item: dict[str, Json], pointer: str) -> None:
        raw = item.get("output")
        if item["type"] != "shell_call_output" or not is_list(raw):
            self.conversation.add_result(item, pointer)
            return
        text, output_pointer = _format_output(raw, f"{pointer}/output")
        failed = any(_is_failed_output(part) for part in raw)
        self._builder.add_result(
            ToolResult(
                text,
                output_pointer,
                call_id=text_at(item, "call_id"),
                actor="tool",
                status=EventStatus.ERROR if failed else EventStatus.OK,
            )
        )


def _parse_hosted_action(tool: str, action: dict[str, Json]) -> ToolCall:
    """Parse an action of a hosted tool; the name of the action says more than the tool's."""
    name = text_at(action, "type")
    if tool == "shell" or name is None:
        return ToolCall(tool, action)
    aside = ("type", "sources")
    arguments = {
        key: value for key, value in action.items() if key not in aside and value is not None
    }
    return ToolCall(tool if name == "search" else name, arguments)


def _format_output(value: Json, pointer: str) -> tuple[str, str]:
    """Return the output as text: that of a single entry, otherwise all of it as JSON."""
    if is_list(value) and len(value) == 1 and is_object(value[0]):
        key = key_with_text(value[0], ("logs", "stdout", "text"))
        if key is not None and not value[0].get("stderr"):
            return value[0][key], f"{pointer}/0/{key}"
    return format_value(value), pointer


def _is_failed_output(part: Json) -> bool:
    outcome = part.get("outcome") if is_object(part) else None
    return is_object(outcome) and (
        outcome.get("type") == "timeout" or bool(outcome.get("exit_code"))
    )
