"""Records of events: one object each for a call, a result, a message or a step."""

from __future__ import annotations

from planproof.content import Json
from planproof.readers.calls import as_call, call_id_of, looks_like_call
from planproof.readers.conversation import is_message
from planproof.readers.general.arrays import command_name
from planproof.readers.general.chat import Chat
from planproof.readers.outcomes import outcome_of, stated
from planproof.readers.shapes import is_list, is_object, text_at, time_of, written
from planproof.readers.transcript import Draft, Result, Transcript
from planproof.trace import EventStatus, Kind

_ENVELOPES = ("message", "payload", "item", "record", "event")
_TIMES = ("timestamp", "time", "created_at", "ts", "start_time")
_RESULTS = frozenset(
    "function_call_output tool_result tool_output local_shell_call_output observation "
    "custom_tool_call_output tool_call_output tool_call_result".split()
)
_CALLS = frozenset(
    "function_call tool_call tool_use custom_tool_call local_shell_call mcp_call".split()
)
_OUTPUTS = ("output", "result", "observation", "response", "tool_output", "tool_response")
_NOTICES = frozenset(("system", "summary", "session_meta", "turn_context", "notice"))


class Records:
    """Writes records, in order, into a transcript."""

    def __init__(self, transcript: Transcript, chat: Chat) -> None:
        self._transcript = transcript
        self._chat = chat
        self._threads: dict[str, Draft] = {}

    def take(self, value: dict[str, Json], pointer: str) -> bool:
        """Write what a record holds; False when it is no record of a known shape."""
        moment = next((value[key] for key in _TIMES if key in value), None)
        if moment is not None:
            self._transcript.time = time_of(moment)
        kind = value.get("type")
        for key in _ENVELOPES:
            inner = value.get(key)
            if is_object(inner) and self._enveloped(value, inner, f"{pointer}/{key}"):
                return True
        if isinstance(kind, str) and (kind in _RESULTS or kind in _CALLS or kind == "reasoning"):
            return self._item(kind, value, pointer)
        if isinstance(value.get("action"), str) and is_object(value.get("args")):
            return self._deed(value, pointer)
        if isinstance(value.get("observation"), str) and isinstance(value.get("content"), str):
            return self._seen(value, pointer)
        if self._step(value, pointer):
            return True
        if looks_like_call(value):
            return self._call(value, pointer)
        return self._notice(value, pointer)

    def _enveloped(self, envelope: dict[str, Json], inner: dict[str, Json], pointer: str) -> bool:
        if not is_message(inner):
            before = len(self._transcript.drafts)
            return self.take(inner, pointer) and len(self._transcript.drafts) >= before
        if envelope.get("isMeta") is True:
            content = inner.get("content")
            if isinstance(content, str) and content.strip():
                self._transcript.begin_turn()
                self._transcript.add(
                    Draft(Kind.SYSTEM, f"{pointer}/content", actor="system", text=content)
                )
            return True
        self._chat.turn(inner, pointer, text_at(inner, "id"))
        return True

    def _item(self, kind: str, value: dict[str, Json], pointer: str) -> bool:
        if kind == "reasoning":
            self._thought(value, pointer)
        elif kind in _RESULTS:
            self._chat.flush()
            self._chat.conversation.block_result(value, pointer)
        else:
            self._call(value, pointer)
        return True

    def _thought(self, value: dict[str, Json], pointer: str) -> None:
        found = False
        for key in ("summary", "content", "text"):
            held = value.get(key)
            entries = held if is_list(held) else [held]
            for index, entry in enumerate(entries):
                place = f"{pointer}/{key}/{index}" if is_list(held) else f"{pointer}/{key}"
                text = text_at(entry, "text") if is_object(entry) else entry
                if isinstance(text, str) and text.strip():
                    place = f"{place}/text" if is_object(entry) else place
                    self._transcript.add(Draft(Kind.REASONING, place, text=text))
                    found = True
        if not found:
            self._transcript.skip(pointer, "encrypted or empty reasoning")

    def _call(self, value: dict[str, Json], pointer: str) -> bool:
        call = as_call(value)
        if call is None:
            return False
        self._chat.flush()
        self._transcript.begin_turn()
        draft = self._transcript.call(
            Draft(Kind.ACTION, pointer, call.name, None, call.text, call.arguments), call.id
        )
        self._own_output(draft, value, pointer)
        return True

    def _own_output(self, draft: Draft, value: dict[str, Json], pointer: str) -> None:
        key = next((key for key in _OUTPUTS if value.get(key) is not None), None)
        if key is not None:
            draft.output = written(value[key])
            draft.output_pointer = f"{pointer}/{key}"
            draft.status = outcome_of(draft.output)
        if value.get("error"):
            draft.status = EventStatus.ERROR
            if key is None:
                draft.output = written(value["error"])
                draft.output_pointer = f"{pointer}/error"
        said = stated(value.get("status"))
        if said is not None:
            draft.status = said

    def _deed(self, value: dict[str, Json], pointer: str) -> bool:
        action, args = value["action"], value["args"]
        actor = text_at(value, "source") or "agent"
        self._chat.flush()
        self._transcript.begin_turn()
        content = text_at(args, "content", "message", "text")
        if action == "system" or (actor == "user" and action != "message"):
            self._transcript.add(
                Draft(Kind.SYSTEM, f"{pointer}/args", action, actor, content or "")
            )
        elif action == "message":
            self._transcript.add(
                Draft(Kind.MESSAGE, f"{pointer}/args", actor=actor, text=content or "")
            )
        else:
            thought = text_at(args, "thought")
            if thought and action != "think":
                self._transcript.add(
                    Draft(Kind.REASONING, f"{pointer}/args/thought", actor=actor, text=thought)
                )
            rest = {
                key: item for key, item in args.items() if key != "thought" or action == "think"
            }
            self._transcript.call(
                Draft(Kind.ACTION, f"{pointer}/args", action, actor, arguments=rest),
                call_id_of(value),
            )
        return True

    def _seen(self, value: dict[str, Json], pointer: str) -> bool:
        cause = value.get("cause")
        self._transcript.answer(
            Result(
                value["content"],
                f"{pointer}/content",
                call_id=str(cause) if cause is not None else None,
                name=None if cause is None else value["observation"],
                actor="environment",
            )
        )
        return True

    def _step(self, value: dict[str, Json], pointer: str) -> bool:
        action = value.get("action", value.get("command"))
        if not isinstance(action, (str, dict)) or not action:
            return False
        if not any(key in value for key in ("observation", "thought", "output", "result")):
            return False
        self._chat.flush()
        self._transcript.begin_turn()
        thought = text_at(value, "thought", "reasoning")
        if thought:
            key = "thought" if value.get("thought") == thought else "reasoning"
            self._transcript.add(Draft(Kind.REASONING, f"{pointer}/{key}", text=thought))
        key = "action" if "action" in value else "command"
        call = as_call(action) if is_object(action) else None
        draft = (
            Draft(Kind.ACTION, f"{pointer}/{key}", call.name, None, call.text, call.arguments)
            if call is not None
            else Draft(
                Kind.ACTION,
                f"{pointer}/{key}",
                command_name(written(action)),
                None,
                written(action),
            )
        )
        self._own_output(self._transcript.call(draft), value, pointer)
        return True

    def _notice(self, value: dict[str, Json], pointer: str) -> bool:
        kind = value.get("type")
        if not isinstance(kind, str):
            return False
        text = text_at(value, "content", "summary", "text", "message")
        if kind in _NOTICES and text is not None:
            key = next(k for k in ("content", "summary", "text", "message") if value.get(k) == text)
            self._transcript.begin_turn()
            self._transcript.add(Draft(Kind.SYSTEM, f"{pointer}/{key}", actor="system", text=text))
            return True
        if "uuid" in value or "timestamp" in value:
            self._transcript.skip(pointer, f"a record of the type {kind!r}")
            return True
        return False
