"""Items of the OpenAI Responses API: messages, thoughts, calls, hosted tools and results."""

from __future__ import annotations

from planproof.core.content import Image, Json
from planproof.core.json_values import is_list, is_object, key_with_text, text_at, written
from planproof.core.trace import EventStatus, Kind
from planproof.readers.toolkit.call_outcomes import stated
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.tool_calls import Call, arguments_of
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

_RESULTS = frozenset(
    "function_call_output custom_tool_call_output computer_call_output local_shell_call_output "
    "shell_call_output apply_patch_call_output tool_search_output".split()
)
_NAMED = frozenset(("function_call", "custom_tool_call", "mcp_call"))
# What a hosted tool is called, and under which key stands what it was given.
_HOSTED = {
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
_LEFT_OUT = {
    "item_reference": "only refers to an item that stands elsewhere",
    "compaction": "a conversation that was made shorter, encrypted",
    "mcp_list_tools": "the tools of a server, no use of them",
    "mcp_approval_request": "asks to approve a call; the call follows when it is approved",
    "mcp_approval_response": "approves or refuses a call",
    "additional_tools": "more tools, no use of them",
}
ITEM_TYPES = frozenset(("reasoning", *_NAMED, *_HOSTED, *_RESULTS, *_LEFT_OUT))
"""The types that no other format gives its entries; messages are items too."""

_OWN_RESULTS = ("output", "error", "outputs", "results")


def is_item(value: Json) -> bool:
    """Whether this is an item that is no message."""
    kind = value.get("type") if is_object(value) else None
    return isinstance(kind, str) and kind in ITEM_TYPES


class ResponseItems:
    """Writes items, in order, into a transcript; `conversation` takes the messages among them."""

    def __init__(self, transcript: Transcript, conversation: Conversation | None = None) -> None:
        self._transcript = transcript
        self.conversation = conversation or Conversation(transcript)
        self._model_turns = 0
        self._model_speaks = False
        self._said: list[Draft] = []

    def take(self, item: dict[str, Json], pointer: str) -> bool:
        """Write what an item holds; False when it is none."""
        kind = text_at(item, "type") or "message"
        if kind == "message" and isinstance(item.get("role"), str):
            self._message(item, pointer)
        elif kind == "reasoning":
            self._thought(item, pointer)
        elif kind in _RESULTS:
            self.end_turn()
            self._result(item, pointer)
        elif kind in _NAMED:
            self._named(item, pointer)
        elif kind in _HOSTED:
            self._hosted(item, pointer, *_HOSTED[kind])
        elif kind in _LEFT_OUT:
            self._transcript.skip(pointer, _LEFT_OUT[kind])
        else:
            return False
        return True

    def end_turn(self) -> None:
        """What the model says next answers something: it is another turn."""
        self._model_speaks = False
        self._said = []

    def _turn(self) -> str:
        # Thoughts, words and calls with no result in between are one turn of the model.
        if not self._model_speaks:
            self._model_turns += 1
            self._model_speaks = True
        return f"model turn {self._model_turns}"

    def _message(self, item: dict[str, Json], pointer: str) -> None:
        if item["role"] != "assistant":
            self.end_turn()
            self.conversation.message(item, pointer)
            return
        before = len(self._transcript.drafts)
        self.conversation.message(item, pointer, self._turn())
        said = [d for d in self._transcript.drafts[before:] if d.kind is Kind.MESSAGE]
        if item.get("phase") == "commentary":
            self.conversation.beside_calls(said)
        else:
            self._said += said

    def _thought(self, item: dict[str, Json], pointer: str) -> None:
        before = len(self._transcript.drafts)
        self._transcript.begin_turn(self._turn())
        for key in ("summary", "content", "text"):
            held = item.get(key)
            for index, entry in enumerate(held if is_list(held) else [held]):
                place = f"{pointer}/{key}/{index}" if is_list(held) else f"{pointer}/{key}"
                thought = text_at(entry, "text") if is_object(entry) else entry
                place = f"{place}/text" if is_object(entry) else place
                if isinstance(thought, str):
                    self._transcript.say(Kind.REASONING, thought, place, self.conversation.speaker)
        if len(self._transcript.drafts) == before:
            self._transcript.skip(pointer, "encrypted or empty reasoning")

    def _named(self, item: dict[str, Json], pointer: str) -> None:
        name = text_at(item, "name")
        if name is None:
            self._transcript.skip(pointer, "a call without a name")
            return
        arguments, text = arguments_of(item.get("arguments", item.get("input")))
        self._call(Call(name, arguments, text), item, pointer, pointer)

    def _hosted(self, item: dict[str, Json], pointer: str, name: str, key: str) -> None:
        given = item.get(key)
        if item.get("type") == "computer_call" and is_list(item.get("actions")):
            # Several clicks and keys at once: each of them is a deed.
            for index, action in enumerate(item["actions"]):
                if is_object(action):
                    self._call(_move(name, action), item, f"{pointer}/actions/{index}", pointer)
            return
        if key not in item:
            self._call(Call(name), item, pointer, pointer)
        elif key == "action" and is_object(given):
            self._call(_move(name, given), item, pointer, pointer)
        elif is_list(given):
            self._call(Call(name, {key: given}), item, pointer, pointer)
        else:
            arguments, text = arguments_of(given)
            self._call(Call(name, arguments, text), item, pointer, pointer)

    def _call(self, call: Call, item: dict[str, Json], place: str, pointer: str) -> None:
        self._transcript.begin_turn(self._turn())
        call.id = text_at(item, "call_id", "id")
        draft = self._transcript.call(call, place, self.conversation.speaker)
        self.conversation.beside_calls(self._said)
        self._said = []
        failed = stated(item.get("status")) is EventStatus.ERROR or bool(item.get("error"))
        status = EventStatus.ERROR if failed else None
        key = next((key for key in _OWN_RESULTS if item.get(key)), None)
        if key is not None:
            text, where = _legible(item[key], f"{pointer}/{key}")
            draft.returned(text, where, status)
        elif status is not None:
            draft.status = status
        picture = item.get("result")
        if item.get("type") == "image_generation_call" and isinstance(picture, str):
            draft.images = (Image("image/*", data=picture),)

    def _result(self, item: dict[str, Json], pointer: str) -> None:
        raw = item.get("output")
        if item["type"] != "shell_call_output" or not is_list(raw):
            self.conversation.result(item, pointer)
            return
        text, place = _legible(raw, f"{pointer}/output")
        failed = any(_went_wrong(part) for part in raw)
        self._transcript.answer(
            Result(
                text,
                place,
                call_id=text_at(item, "call_id"),
                actor="tool",
                status=EventStatus.ERROR if failed else EventStatus.OK,
            )
        )


def _move(tool: str, action: dict[str, Json]) -> Call:
    """A move of a hosted tool under the name of the move: it says more than the tool's."""
    name = text_at(action, "type")
    if tool == "shell" or name is None:
        return Call(tool, action)
    aside = ("type", "sources")
    given = {key: value for key, value in action.items() if key not in aside and value is not None}
    return Call(tool if name == "search" else name, given)


def _legible(value: Json, pointer: str) -> tuple[str, str]:
    """What came back as text: that of a single entry by itself, or else all of it as JSON."""
    if is_list(value) and len(value) == 1 and is_object(value[0]):
        key = key_with_text(value[0], ("logs", "stdout", "text"))
        if key is not None and not value[0].get("stderr"):
            return value[0][key], f"{pointer}/0/{key}"
    return written(value), pointer


def _went_wrong(part: Json) -> bool:
    outcome = part.get("outcome") if is_object(part) else None
    return is_object(outcome) and (
        outcome.get("type") == "timeout" or bool(outcome.get("exit_code"))
    )
