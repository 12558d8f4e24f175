"""Codex: the rollout of a session, line by line; two generations of the file."""

from __future__ import annotations

import re

from planproof.core.content import Json
from planproof.core.json_values import (
    embedded,
    is_list,
    is_object,
    text_at,
    time_of,
    written,
)
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.content_parts import parts_of, plain_text
from planproof.readers.toolkit.entries import entries, first_entries
from planproof.readers.toolkit.response_items import ResponseItems
from planproof.readers.toolkit.text_pointers import held_at
from planproof.readers.toolkit.trace_builder import Result, Transcript

_LINES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
_HEADER = frozenset(("id", "timestamp", "instructions"))
_REQUESTS = ("turn_context", "token_usage_record")
_BESIDE = frozenset(("ghost_snapshot", "compaction", "compaction_summary"))
# The program speaks in the user's place: a block of its own, in a tag from end to end.
_TAGGED = re.compile(r"\s{0,8}<([A-Za-z_ ]{3,40})>")
_INSTRUCTIONS = "# AGENTS.md instructions"
_EXIT = re.compile(r"Process exited with code (-?\d{1,5})\b")
_HEAD = 400
_REFUSED = ("unsupported call", "unsupported custom tool call")
_PLAN = re.compile(r"<proposed_plan>\s{0,8}")


class CodexReader:
    """Reads rollouts: `{timestamp, type, payload}`, and the bare items of the first versions."""

    name = "codex"

    def sniff(self, source: Source) -> bool:
        """Whether the lines wrap payloads as a rollout does, or are items under its header."""
        if source.form == "text":
            return False
        head = first_entries(source, is_entry=_is_wrapped)
        if not head or not is_object(head[0]):
            return False
        if "payload" in head[0]:
            return all(map(_is_wrapped, head)) and any(line["type"] in _LINES for line in head)
        return _is_header(head[0]) and all(is_object(line) for line in head)

    def read(self, source: Source) -> Trace:
        """The events of the items; what the program tells beside them is said there already."""
        transcript = Transcript(source.skipped)
        rollout = _Rollout(transcript)
        for pointer, line in entries(source, is_entry=_is_wrapped):
            if not is_object(line):
                transcript.skip(pointer, "is no line of a rollout")
                continue
            moment = line.get("timestamp")
            transcript.time = time_of(moment) if moment is not None else None
            payload = line.get("payload")
            if is_object(payload):
                rollout.take(line.get("type"), payload, f"{pointer}/payload")
            elif "record_type" in line:
                rollout.request()
            elif not _is_header(line):
                rollout.item(line, pointer)
        return transcript.trace(self.name)


def _is_wrapped(line: Json) -> bool:
    return is_object(line) and isinstance(line.get("type"), str) and is_object(line.get("payload"))


def _is_header(line: dict[str, Json]) -> bool:
    """The session's own line in the first generation, or a state noted between its items."""
    return "record_type" in line or ("type" not in line and line.keys() >= _HEADER)


class _Rollout:
    """Writes the items of a rollout, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._items = ResponseItems(transcript)
        self._told: set[tuple[str, str]] = set()
        self._requests_are_told = False
        self._answered = False

    def take(self, sort: Json, payload: dict[str, Json], pointer: str) -> None:
        """Write what a line of the second generation holds."""
        kind = text_at(payload, "type")
        if sort == "response_item":
            self.item(payload, pointer)
        elif sort in _REQUESTS or kind == "token_count":
            self.request()
        elif sort == "compacted":
            self._notice(payload, "message", pointer)
        elif sort == "event_msg":
            # The rest of these tell again, for the screen, what the items hold.
            if kind == "turn_aborted":
                self._notice(payload, "reason", pointer)
            elif kind in ("error", "stream_error"):
                self._notice(payload, "message", pointer)

    def request(self) -> None:
        """Note that the model is asked: calls of one answer may have their results in between."""
        self._requests_are_told = True
        if self._answered:
            self._items.end_turn()
            self._answered = False

    def item(self, item: dict[str, Json], pointer: str) -> None:
        """Write one item of the conversation with the model."""
        kind = text_at(item, "type") or ""
        identity = text_at(item, "call_id")
        if identity is not None:
            if (kind, identity) in self._told:
                # A session that was resumed or forked begins with what it goes on from.
                self._transcript.skip(pointer, "the same call or result again")
                return
            self._told.add((kind, identity))
        if kind.endswith("_output"):
            self._result(item, pointer, identity)
        elif kind == "message" and item.get("role") == "user":
            self._asked(item, pointer)
        elif kind not in _BESIDE:
            before = len(self._transcript.drafts)
            if not self._items.take(item, pointer):
                self._transcript.skip(pointer, f"an item of the type {kind!r}")
            elif kind == "message":
                self._find_plan(before)

    def _result(self, item: dict[str, Json], pointer: str, identity: str | None) -> None:
        place, raw = held_at(item, "output", pointer), item.get("output")
        if is_list(raw):
            text, place, images = plain_text(raw, place)
            result = Result(text, place, identity, images=images)
        else:
            text, status = _returned(raw)
            result = Result(text, place, identity, status=status)
        result.actor = "tool"
        self._transcript.answer(result)
        self._answered = True
        if not self._requests_are_told:
            self._items.end_turn()

    def _asked(self, item: dict[str, Json], pointer: str) -> None:
        self._items.end_turn()
        self._transcript.begin_turn()
        parts, images = parts_of(item.get("content"), f"{pointer}/content")
        for part in parts:
            by_program = _is_by_program(part.value)
            kind, actor = (Kind.SYSTEM, "system") if by_program else (Kind.MESSAGE, "user")
            draft = self._transcript.say(kind, part.value, part.pointer, actor)
            if draft is not None:
                draft.images, images = images, ()

    def _find_plan(self, before: int) -> None:
        """Set the plan that plan mode marks in an answer apart from the words around it."""
        for said in self._transcript.drafts[before:]:
            marked = _PLAN.search(said.text)
            if marked is None or said.actor == "system":
                continue
            plan, _, after = said.text[marked.end() :].partition("</proposed_plan>")
            around = (said.text[: marked.start()].strip(), after.strip())
            said.kind, said.name, said.text = Kind.BOOKKEEPING, "plan", plan.strip()
            for words in around:
                self._transcript.say(Kind.MESSAGE, words, said.pointer, said.actor)

    def _notice(self, payload: dict[str, Json], key: str, pointer: str) -> None:
        self._items.end_turn()
        self._transcript.begin_turn()
        text = text_at(payload, key) or ""
        self._transcript.say(Kind.SYSTEM, text, f"{pointer}/{key}", "system")


def _is_by_program(text: str) -> bool:
    tagged = _TAGGED.match(text)
    if tagged is not None:
        return text.rstrip().endswith(f"</{tagged[1]}>")
    return text.startswith(_INSTRUCTIONS)


def _returned(raw: Json) -> tuple[str, EventStatus | None]:
    """What a tool returned, and how it ended where the record says so."""
    value = embedded(raw) if isinstance(raw, str) else raw
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
    text = written(raw)
    if text.startswith(_REFUSED):
        return text, EventStatus.ERROR
    code = _EXIT.search(text, 0, _HEAD)
    if code is not None:
        return text, EventStatus.OK if code[1] == "0" else EventStatus.ERROR
    return text, None
