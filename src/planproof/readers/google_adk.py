"""Google ADK: the events of a session, in camel case or with underscores."""

from __future__ import annotations

from operator import itemgetter

from planproof.core.content import Image, Json
from planproof.core.json_values import is_list, is_object, text_at, time_of, written
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.call_outcomes import stated
from planproof.readers.toolkit.entries import entries, first_entries
from planproof.readers.toolkit.handoffs import Handoffs
from planproof.readers.toolkit.repeated_prompts import Seen
from planproof.readers.toolkit.tool_calls import Call
from planproof.readers.toolkit.trace_builder import Draft, Result, Transcript

_HOLDERS = ("events",)
_RETURNED = ("result", "output")


class GoogleADKReader:
    """Reads sessions of the Agent Development Kit, and bare lists or lines of their events."""

    name = "google-adk"

    def sniff(self, source: Source) -> bool:
        """Whether the source is a list of events with an author and an invocation."""
        if source.form == "text":
            return False
        found = False
        for value in first_entries(source, _HOLDERS, _is_event):
            if not _is_event(value):
                return False
            found = found or is_object(value.get("content"))
        return found

    def read(self, source: Source) -> Trace:
        """The events of the agents in the order of their times; partial ones come again whole."""
        transcript = Transcript(source.skipped)
        reading = _Reading(transcript)
        listed = list(entries(source, _HOLDERS, _is_event))
        moments = [_moment(value) for _, value in listed]
        if None not in moments:
            timed = zip(moments, listed, strict=True)
            listed = [entry for _, entry in sorted(timed, key=itemgetter(0))]
        for pointer, value in listed:
            if _is_event(value):
                reading.event(value, pointer)
            else:
                transcript.skip(pointer, "is no event of a session")
        return transcript.trace(self.name)


class _Reading:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._handoffs = Handoffs()
        self._seen = Seen(transcript)
        self._handing_over: set[str] = set()

    def event(self, value: dict[str, Json], pointer: str) -> None:
        """Write one event."""
        if value.get("partial") is True:
            self._transcript.skip(pointer, "a part of what a later event says whole")
            return
        if self._seen.again(text_at(value, "id"), pointer):
            return
        author = text_at(value, "author") or "assistant"
        moment = value.get("timestamp")
        self._transcript.time = time_of(moment) if moment is not None else None
        is_user = author == "user"
        self._transcript.parent = None if is_user else self._handoffs.parent_of(author)
        self._parts(value, pointer, author)
        message = _under(value, "error_message", "errorMessage")
        if message is not None and isinstance(value[message], str):
            self._transcript.begin_turn()
            self._transcript.say(Kind.SYSTEM, value[message], f"{pointer}/{message}", author)
        self._transfer(value, pointer, author)
        self._transcript.parent = None

    def _parts(self, value: dict[str, Json], pointer: str, author: str) -> None:
        content = value.get("content")
        parts = content.get("parts") if is_object(content) else None
        said: list[Draft] = []
        calls, begun = self._transcript.calls, False
        for index, part in enumerate(parts if is_list(parts) else ()):
            place = f"{pointer}/content/parts/{index}"
            if not is_object(part):
                self._transcript.skip(place, "is no part of an event")
            elif not part.get("text") and self._result(part, place):
                continue
            else:
                if not begun:
                    self._transcript.begin_turn()
                    begun = True
                said += self._part(part, place, author)
        if self._transcript.calls > calls:
            for draft in said:
                draft.kind = Kind.REASONING

    def _part(self, part: dict[str, Json], pointer: str, author: str) -> list[Draft]:
        text = part.get("text")
        if text and isinstance(text, str):
            kind = Kind.REASONING if part.get("thought") is True else Kind.MESSAGE
            draft = self._transcript.say(kind, text, f"{pointer}/text", author)
            return [draft] if draft is not None and kind is Kind.MESSAGE else []
        key = _under(part, "function_call", "functionCall")
        if key is not None:
            self._call(part[key], f"{pointer}/{key}", author)
            return []
        key = _under(part, "executable_code", "executableCode")
        if key is not None and is_object(part[key]):
            language = (text_at(part[key], "language") or "python").lower()
            code, own = text_at(part[key], "code") or "", text_at(part[key], "id")
            self._transcript.call(Call(language, text=code, id=own), f"{pointer}/{key}", author)
            return []
        image = _image(part)
        if image is not None:
            draft = Draft(Kind.MESSAGE, pointer, actor=author, images=(image,))
            return [self._transcript.add(draft)]
        held = next((key for key, item in part.items() if item not in (None, "")), None)
        if held is not None:
            self._transcript.skip(pointer, f"a part with {held!r}")
        return []

    def _call(self, value: Json, pointer: str, author: str) -> None:
        name = text_at(value, "name") if is_object(value) else None
        if name is None:
            self._transcript.skip(pointer, "a call without a name")
            return
        arguments = value.get("args") or None
        draft = self._transcript.call(
            Call(name, arguments, id=text_at(value, "id")), pointer, author
        )
        if self._handoffs.note(draft):
            self._handing_over.add(author)

    def _result(self, part: dict[str, Json], pointer: str) -> bool:
        key = _under(part, "function_response", "functionResponse")
        if key is not None and is_object(part[key]):
            self._responded(part[key], f"{pointer}/{key}")
            return True
        key = _under(part, "code_execution_result", "codeExecutionResult")
        if key is None or not is_object(part[key]):
            return False
        result = part[key]
        outcome = text_at(result, "outcome")
        self._transcript.answer(
            Result(
                text_at(result, "output") or "",
                f"{pointer}/{key}/output" if "output" in result else f"{pointer}/{key}",
                call_id=text_at(result, "id"),
                actor="tool",
                status=None if outcome in (None, "OUTCOME_OK") else EventStatus.ERROR,
            )
        )
        return True

    def _responded(self, value: dict[str, Json], pointer: str) -> None:
        place, raw = f"{pointer}/response", value.get("response")
        if is_object(raw) and len(raw) == 1:
            # What is no object is put into one, under a key that says nothing.
            key = next((key for key in _RETURNED if isinstance(raw.get(key), str)), None)
            if key is not None:
                raw, place = raw[key], f"{place}/{key}"
        failed = is_object(raw) and (
            bool(raw.get("error")) or stated(raw.get("status")) is EventStatus.ERROR
        )
        self._transcript.answer(
            Result(
                written(raw),
                place if "response" in value else pointer,
                call_id=text_at(value, "id"),
                name=text_at(value, "name"),
                actor="tool",
                status=EventStatus.ERROR if failed else None,
            )
        )

    def _transfer(self, value: dict[str, Json], pointer: str, author: str) -> None:
        actions = value.get("actions")
        if not is_object(actions):
            return
        key = _under(actions, "transfer_to_agent", "transferToAgent")
        receiver = text_at(actions, key) if key is not None else None
        if key is None or receiver is None:
            return
        if author in self._handing_over:
            self._handing_over.remove(author)
        else:
            # An agent's own code handed over, and no tool was called for it.
            self._transcript.begin_turn()
            call = Call("transfer_to_agent", {key: receiver})
            draft = self._transcript.call(call, f"{pointer}/actions", author)
            self._handoffs.note(draft, receiver)


def _under(value: dict[str, Json], key: str, in_camel_case: str) -> str | None:
    """The key, as one of the two ways of writing has it, under which there is anything."""
    if value.get(key) is not None:
        return key
    return in_camel_case if value.get(in_camel_case) is not None else None


def _moment(value: Json) -> float | None:
    moment = value.get("timestamp") if is_object(value) else None
    return moment if isinstance(moment, (int, float)) else None


def _is_event(value: Json) -> bool:
    if not is_object(value) or not isinstance(value.get("author"), str):
        return False
    invoked = isinstance(value.get("invocation_id"), str)
    if not invoked and not isinstance(value.get("invocationId"), str):
        return False
    return "content" in value or "actions" in value or "partial" in value


def _image(part: dict[str, Json]) -> Image | None:
    key = _under(part, "inline_data", "inlineData") or _under(part, "file_data", "fileData")
    held = part[key] if key is not None else None
    media = text_at(held, "mime_type", "mimeType") if is_object(held) else None
    if not is_object(held) or media is None or not media.startswith("image/"):
        return None
    url, data = text_at(held, "file_uri", "fileUri"), text_at(held, "data")
    return Image(media, url, data) if url or data else None
