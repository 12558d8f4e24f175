"""The lines of a session: who spoke, called and answered, and what the program noted."""

from __future__ import annotations

from collections.abc import Iterable

from planproof.core.content import Json
from planproof.core.json_values import is_object, key_with_text, text_at, time_of
from planproof.core.trace import Kind
from planproof.readers.claude_code.subagents import Subagents
from planproof.readers.toolkit.content_parts import Part, parts_of
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.tool_calls import as_call
from planproof.readers.toolkit.trace_builder import Draft, Transcript

SPEAKERS = frozenset(("user", "assistant"))
ASIDE = frozenset(
    "summary system attachment progress file-history-snapshot queue-operation last-prompt "
    "custom-title ai-title agent-name agent-color tag task-summary pr-link mode permission-mode "
    "result stream_event control_request control_response rate_limit_event".split()
)
"""Types of lines that hold what the program noted beside the conversation."""

_NOTICES = (
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
)
_BY_THE_PROGRAM = "<synthetic>"


class Session:
    """Writes the lines of a session, in order, into a transcript."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._results = Conversation(transcript)
        self._subagents = Subagents()
        self._seen: set[str] = set()
        self._prose: dict[int, list[Draft]] = {}
        self._calling: set[int] = set()

    def know(self, lines: Iterable[tuple[str, Json]]) -> None:
        """Look through all lines for what ties sub-agents to calls."""
        for _, line in lines:
            if is_object(line):
                self._subagents.know(line)

    def take(self, line: Json, pointer: str) -> None:
        """Write what one line holds."""
        if not is_object(line):
            self._transcript.skip(pointer, "is no line of a session")
            return
        identity = text_at(line, "uuid")
        if identity is not None:
            if identity in self._seen:
                self._transcript.skip(pointer, "the same line again")
                return
            self._seen.add(identity)
        moment = line.get("timestamp")
        self._transcript.time = time_of(moment) if moment is not None else None
        kind = text_at(line, "type")
        if kind in SPEAKERS:
            self._speech(line, pointer)
        elif kind == "progress":
            self._progress(line, pointer)
        elif kind == "attachment":
            self._queued(line.get("attachment"), f"{pointer}/attachment")
        elif kind in ("system", "summary"):
            key = key_with_text(line, ("content", "summary"))
            if key is not None:
                self._transcript.begin_turn()
                self._transcript.say(Kind.SYSTEM, line[key], f"{pointer}/{key}", "system")
        elif kind not in ASIDE:
            self._transcript.skip(pointer, f"a line of the type {kind!r}")

    def _speech(self, line: dict[str, Json], pointer: str) -> None:
        message = line.get("message")
        if not is_object(message):
            self._transcript.skip(pointer, "a line without its message")
            return
        content, place = message.get("content"), f"{pointer}/message/content"
        is_side = line.get("isSidechain") is True or bool(line.get("parent_tool_use_id"))
        starter = self._subagents.starter(line, content) if is_side else None
        self._transcript.parent = starter
        if line.get("type") == "assistant":
            # One answer of the model is written in several lines, a block each.
            self._transcript.begin_turn(text_at(message, "id"))
            self._agent(content, place, by_program=message.get("model") == _BY_THE_PROGRAM)
        else:
            is_noted = line.get("isMeta") is True or line.get("isCompactSummary") is True
            # What a sub-agent is asked stands in the call that started it, too.
            self._user(content, place, is_noted=is_noted or starter is not None)
        self._transcript.parent = None

    def _agent(self, content: Json, pointer: str, *, by_program: bool) -> None:
        parts, images = parts_of(content, pointer)
        for part in parts:
            self._part(part, Kind.SYSTEM if by_program else Kind.MESSAGE)
        if images:
            draft = Draft(Kind.MESSAGE, pointer, actor="assistant", images=images)
            self._transcript.add(draft)

    def _part(self, part: Part, said: Kind) -> None:
        turn = self._transcript.turn
        if part.sort == "text":
            draft = self._transcript.say(said, part.value, part.pointer, "assistant")
            if draft is not None and said is Kind.MESSAGE:
                self._prose.setdefault(turn, []).append(draft)
        elif part.sort == "thought":
            self._transcript.say(Kind.REASONING, part.value, part.pointer, "assistant")
        elif part.sort == "call":
            call = as_call(part.value) if text_at(part.value, "name") else None
            if call is None:
                self._transcript.skip(part.pointer, "a call without a name")
                return
            draft = self._transcript.call(call, part.pointer, "assistant")
            self._subagents.called(call.id, draft)
            self._calling.add(turn)
        elif part.sort == "result":
            self._results.result(part.value, part.pointer)
        else:
            self._transcript.skip(part.pointer, part.value)
        if turn in self._calling:
            # What is said on the way to a call is thought aloud.
            for draft in self._prose.pop(turn, ()):
                draft.kind = Kind.REASONING

    def _user(self, content: Json, pointer: str, *, is_noted: bool) -> None:
        parts, images = parts_of(content, pointer)
        said = [part for part in parts if part.sort == "text"]
        for part in parts:
            if part.sort != "text":
                self._part(part, Kind.MESSAGE)
        if images and not said:
            said = [Part("text", "", pointer)]
        if not said:
            return
        self._transcript.begin_turn()
        for part in said:
            is_notice = is_noted or part.value.startswith(_NOTICES)
            kind, actor = (Kind.SYSTEM, "system") if is_notice else (Kind.MESSAGE, "user")
            draft = Draft(kind, part.pointer, actor=actor, text=part.value)
            draft.images, images = images, ()
            self._transcript.add(draft)

    def _progress(self, line: dict[str, Json], pointer: str) -> None:
        """What a sub-agent did, as it was reported to the session while the agent worked."""
        data = line.get("data")
        inner = data.get("message") if is_object(data) else None
        if not is_object(data) or not is_object(inner) or not is_object(inner.get("message")):
            return
        if not self._subagents.has_lines(text_at(data, "agentId")):
            call = text_at(line, "parentToolUseID")
            self._speech({**inner, "parent_tool_use_id": call}, f"{pointer}/data/message")

    def _queued(self, attachment: Json, pointer: str) -> None:
        """What the user typed while the agent was at work."""
        if not is_object(attachment) or attachment.get("type") != "queued_command":
            return
        if attachment.get("commandMode", "prompt") == "prompt":
            self._user(attachment.get("prompt"), f"{pointer}/prompt", is_noted=False)
