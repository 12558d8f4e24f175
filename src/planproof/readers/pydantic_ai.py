"""Pydantic AI: the messages of its runs, requests and responses made of parts."""

from __future__ import annotations

from planproof.core.content import Image, Json
from planproof.core.json_values import is_list, is_object, text_at, time_of, written
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import entries, first_entries
from planproof.readers.toolkit.repeated_prompts import Instructions
from planproof.readers.toolkit.tool_calls import Call, arguments_of
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

_HOLDERS = ("messages", "all_messages", "message_history", "new_messages")
_KINDS = frozenset(("request", "response"))
_CALLS = frozenset(("tool-call", "builtin-tool-call"))
_RETURNS = frozenset(("tool-return", "builtin-tool-return"))
_NOTICES = frozenset(("system-prompt", "instruction", "retry-feedback", "retry-prompt"))


class PydanticAIReader:
    """Reads lists of `ModelMessage`, as `all_messages_json()` writes them."""

    name = "pydantic-ai"

    def sniff(self, source: Source) -> bool:
        """Whether the source is a list of requests and responses with parts."""
        if source.form == "text":
            return False
        found = False
        for value in first_entries(source, _HOLDERS):
            if not _is_message(value):
                return False
            found = found or any(is_object(p) and "part_kind" in p for p in value["parts"])
        return found

    def read(self, source: Source) -> Trace:
        """The events of the parts, with the results tied to their calls."""
        transcript = Transcript(source.skipped)
        reading = _Reading(transcript)
        for pointer, value in entries(source, _HOLDERS):
            if _is_message(value):
                reading.message(value, pointer)
            else:
                transcript.skip(pointer, "is neither a request nor a response")
        return transcript.trace(self.name)


class _Reading:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._instructions = Instructions(transcript)

    def message(self, value: dict[str, Json], pointer: str) -> None:
        """Write a request or a response."""
        moment = value.get("timestamp")
        said: list[Draft] = []
        calls = self._transcript.calls
        if value["kind"] == "response":
            self._transcript.begin_turn()
        else:
            # Every request of a run carries them again.
            text = text_at(value, "instructions")
            self._instructions.write(text, f"{pointer}/instructions")
        for index, part in enumerate(value["parts"]):
            place = f"{pointer}/parts/{index}"
            if not is_object(part):
                self._transcript.skip(place, "is no part of a message")
                continue
            own = part.get("timestamp") or moment
            self._transcript.time = time_of(own) if own else None
            if value["kind"] == "request":
                self._asked(part, place)
            else:
                said += self._answered(part, place)
        if self._transcript.calls > calls:
            for draft in said:
                draft.kind = Kind.REASONING

    def _asked(self, part: dict[str, Json], pointer: str) -> None:
        kind = text_at(part, "part_kind")
        if kind == "user-prompt":
            self._prompt(part.get("content"), f"{pointer}/content")
        elif kind in _RETURNS:
            self._returned(part, pointer)
        elif kind == "retry-prompt" and part.get("tool_name"):
            self._returned(part, pointer, EventStatus.ERROR)
        elif kind in _NOTICES:
            self._transcript.begin_turn()
            text = written(part.get("content"))
            self._transcript.say(Kind.SYSTEM, text, f"{pointer}/content", "system")
        else:
            self._transcript.skip(pointer, f"a part of the kind {kind!r}")

    def _answered(self, part: dict[str, Json], pointer: str) -> list[Draft]:
        kind, content, place = text_at(part, "part_kind"), part.get("content"), f"{pointer}/content"
        if kind in ("text", "thinking"):
            if isinstance(content, str):
                said = Kind.MESSAGE if kind == "text" else Kind.REASONING
                draft = self._transcript.say(said, content, place, "assistant")
                return [draft] if draft is not None and kind == "text" else []
            self._transcript.skip(pointer, "encrypted or empty reasoning")
        elif kind in _CALLS:
            name = text_at(part, "tool_name")
            if name is None:
                self._transcript.skip(pointer, "a call without a name")
                return []
            arguments, text = arguments_of(part.get("args"))
            call = Call(name, arguments, text, text_at(part, "tool_call_id"))
            self._transcript.call(call, pointer, "assistant")
        elif kind in _RETURNS:
            self._returned(part, pointer)
        elif kind == "file" and (image := _image(content)) is not None:
            draft = Draft(Kind.MESSAGE, place, actor="assistant", images=(image,))
            return [self._transcript.add(draft)]
        else:
            self._transcript.skip(pointer, f"a part of the kind {kind!r}")
        return []

    def _prompt(self, content: Json, pointer: str) -> None:
        self._transcript.begin_turn()
        images: list[Image] = []
        last: Draft | None = None
        for index, item in enumerate(content if is_list(content) else ()):
            place = f"{pointer}/{index}"
            text, place = (
                (text_at(item, "content"), f"{place}/content")
                if (is_object(item) and item.get("kind") == "text-content")
                else (item, place)
            )
            image = _image(item)
            if image is not None:
                images.append(image)
            elif isinstance(text, str):
                last = self._transcript.say(Kind.MESSAGE, text, place, "user") or last
            elif is_object(item) and item.get("kind") != "cache-point":
                self._transcript.skip(
                    f"{pointer}/{index}", f"content of the kind {item.get('kind')!r}"
                )
        if isinstance(content, str):
            self._transcript.say(Kind.MESSAGE, content, pointer, "user")
        if images and last is not None:
            last.images = tuple(images)
        elif images:
            self._transcript.add(Draft(Kind.MESSAGE, pointer, actor="user", images=tuple(images)))

    def _returned(
        self, part: dict[str, Json], pointer: str, status: EventStatus | None = None
    ) -> None:
        # "success" only says that the tool returned; what it returned may still be an error.
        if part.get("outcome") not in (None, "success"):
            status = EventStatus.ERROR
        content = part.get("content")
        image = _image(content)
        self._transcript.answer(
            Result(
                written(content) if image is None else "",
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
    return isinstance(kind, str) and kind in _KINDS and is_list(value.get("parts"))


def _image(value: Json) -> Image | None:
    if not is_object(value):
        return None
    media = text_at(value, "media_type") or "image/*"
    if value.get("kind") == "image-url" and text_at(value, "url"):
        return Image(media, url=value["url"])
    if value.get("kind") == "binary" and media.startswith("image/") and text_at(value, "data"):
        return Image(media, data=value["data"])
    return None
