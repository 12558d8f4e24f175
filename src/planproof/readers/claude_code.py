"""Read Claude Code sessions with their sub-agents, and the stream-json output of `claude -p`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import itemgetter

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, key_with_text, parse_time, text_at
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.content_parts import ContentPart, parse_parts
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import SNIFF_LIMIT, iter_entries
from planproof.readers.toolkit.tool_calls import parse_call
from planproof.readers.toolkit.trace_builder import EventDraft, TraceBuilder

_LINE_KEYS = frozenset(("uuid", "parentUuid", "sessionId", "session_id", "leafUuid", "messageId"))
# Other assistants write similar lines; calls and results of Claude Code are blocks of messages.
_FOREIGN_TYPES = frozenset(("message", "tool_call", "tool_result", "completion", "thinking"))


class ClaudeCodeReader:
    """Reads session files of Claude Code, including sub-agents in the same or appended lines."""

    name = "claude-code"

    def sniff(self, source: Source) -> bool:
        """Return whether the lines are those of a session, with messages or metadata."""
        marked = False
        for _, line in islice(_iter_lines(source), SNIFF_LIMIT):
            if not _is_line(line):
                return False
            marked = marked or line["type"] in MESSAGE_TYPES or line["type"] in METADATA_TYPES
        return marked

    def read(self, source: Source) -> Trace:
        """Return the events of all lines, ordered by time."""
        builder = TraceBuilder(source.skipped)
        session = Session(builder)
        lines = list(_iter_lines(source))
        session.index_subagents(lines)
        for pointer, line in sort_lines(lines):
            session.add_line(line, pointer)
        return builder.build(self.name)


def _iter_lines(source: Source) -> Iterator[tuple[str, Json]]:
    return iter_entries(source, is_entry=_is_line)


def _is_line(line: Json) -> bool:
    if not is_object(line) or not isinstance(line.get("type"), str) or "payload" in line:
        return False
    if line["type"] in _FOREIGN_TYPES:
        return False
    if line["type"] in MESSAGE_TYPES:
        message = line.get("message")
        if not is_object(message) or "parts" in message:
            return False
    return not _LINE_KEYS.isdisjoint(line)


def sort_lines(lines: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    """Sort lines by time; files of sub-agents may have been appended to the session's."""
    times: list[str] = []
    begun: dict[str, str] = {}
    last = ""
    form = 0
    for _, line in lines:
        if is_object(line):
            own = text_at(line, "timestamp")
            if own is not None:
                form = form or len(own)
                if len(own) != form or not own.endswith("Z"):
                    return lines  # times in different formats do not sort as text
                last = max(own, begun.get(text_at(line, "parentUuid") or "", ""))
            identity = text_at(line, "uuid")
            if identity is not None:
                begun[identity] = last
        times.append(last)
    if all(map(str.__le__, times, times[1:])):
        return lines
    ranks = sorted(enumerate(times), key=itemgetter(1))
    return [lines[index] for index, _ in ranks]


MESSAGE_TYPES = frozenset(("user", "assistant"))
METADATA_TYPES = frozenset(
    "summary system attachment progress file-history-snapshot queue-operation last-prompt "
    "custom-title ai-title agent-name agent-color tag task-summary pr-link mode permission-mode "
    "result stream_event control_request control_response rate_limit_event worktree-state "
    "frame-link started relocated bridge-session atis-latch".split()
)
"""Types of lines that hold the program's metadata, not the conversation."""

_NOTICE_PREFIXES = (
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
)
_SYNTHETIC_MODEL = "<synthetic>"


class Session:
    """Adds the lines of a session, in order, to a trace builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._subagents = Subagents()
        self._seen_by_id: dict[str, tuple[Json, Json]] = {}
        self._messages_by_turn: dict[int, list[EventDraft]] = {}
        self._turns_with_calls: set[int] = set()

    def index_subagents(self, lines: Iterable[tuple[str, Json]]) -> None:
        """Collect from all lines the ids that link sub-agents to calls."""
        for _, line in lines:
            if is_object(line):
                self._subagents.index_line(line)

    def add_line(self, line: Json, pointer: str) -> None:
        """Add the events of one line."""
        if not is_object(line):
            self._builder.skip(pointer, "not a session line")
            return
        identity = text_at(line, "uuid")
        if identity is not None:
            content = line.get("type"), line.get("message", line.get("attachment"))
            # Ids that a person made unreadable are all alike; the lines are not.
            if self._seen_by_id.get(identity) == content:
                self._builder.skip(pointer, "duplicate line", repeats=True)
                return
            self._seen_by_id[identity] = content
        self._builder.time = parse_time(line.get("timestamp"))
        is_message = line.get("type") in MESSAGE_TYPES
        why = "a message without content" if is_message else "metadata of the session"
        with self._builder.skipping_if_unread(pointer, why):
            self._add_content(line, pointer)

    def _add_content(self, line: dict[str, Json], pointer: str) -> None:
        kind = text_at(line, "type")
        if kind in MESSAGE_TYPES:
            self._add_message(line, pointer)
        elif kind == "progress":
            self._add_progress(line, pointer)
        elif kind == "attachment":
            self._add_queued_prompt(line.get("attachment"), f"{pointer}/attachment")
        elif kind in ("system", "summary"):
            key = key_with_text(line, ("content", "summary"))
            if key is not None:
                self._builder.begin_turn()
                self._builder.add_message(Kind.SYSTEM, line[key], f"{pointer}/{key}", "system")
        elif kind not in METADATA_TYPES:
            self._builder.skip(pointer, f"unknown line type {kind!r}")

    def _add_message(self, line: dict[str, Json], pointer: str) -> None:
        message = line.get("message")
        if not is_object(message):
            self._builder.skip(pointer, "line without a message")
            return
        content, content_pointer = message.get("content"), f"{pointer}/message/content"
        is_side = line.get("isSidechain") is True or bool(line.get("parent_tool_use_id"))
        starter = self._subagents.find_starter(line, content) if is_side else None
        self._builder.parent = starter
        if line.get("type") == "assistant":
            # The blocks of one model answer are written on separate lines.
            self._builder.begin_turn(text_at(message, "id"))
            self._add_agent_content(
                content, content_pointer, by_program=message.get("model") == _SYNTHETIC_MODEL
            )
        else:
            is_system = line.get("isMeta") is True or line.get("isCompactSummary") is True
            # The prompt of a sub-agent is also in the call that started it.
            self._add_user_content(
                content, content_pointer, is_system=is_system or starter is not None
            )
        self._builder.parent = None

    def _add_agent_content(self, content: Json, pointer: str, *, by_program: bool) -> None:
        parts, images = parse_parts(content, pointer)
        for part in parts:
            self._add_part(part, Kind.SYSTEM if by_program else Kind.MESSAGE)
        if images:
            draft = EventDraft(Kind.MESSAGE, pointer, actor="assistant", images=images)
            self._builder.add_draft(draft)

    def _add_part(self, part: ContentPart, text_kind: Kind) -> None:
        turn = self._builder.turn
        if part.kind == "text":
            draft = self._builder.add_message(text_kind, part.value, part.pointer, "assistant")
            if draft is not None and text_kind is Kind.MESSAGE:
                self._messages_by_turn.setdefault(turn, []).append(draft)
        elif part.kind == "thought":
            self._builder.add_message(Kind.REASONING, part.value, part.pointer, "assistant")
        elif part.kind == "call":
            call = parse_call(part.value) if text_at(part.value, "name") else None
            if call is None:
                self._builder.skip(part.pointer, "tool call without a name")
                return
            draft = self._builder.add_call(call, part.pointer, "assistant")
            self._subagents.add_call(call.id, draft)
            self._turns_with_calls.add(turn)
        elif part.kind == "result":
            self._conversation.add_result(part.value, part.pointer)
        else:
            self._builder.skip(part.pointer, part.value)
        if turn in self._turns_with_calls:
            # Text in a turn that makes calls is reasoning.
            for draft in self._messages_by_turn.pop(turn, ()):
                draft.kind = Kind.REASONING

    def _add_user_content(self, content: Json, pointer: str, *, is_system: bool) -> None:
        parts, images = parse_parts(content, pointer)
        text_parts = [part for part in parts if part.kind == "text"]
        for part in parts:
            if part.kind != "text":
                self._add_part(part, Kind.MESSAGE)
        if images and not text_parts:
            text_parts = [ContentPart("text", "", pointer)]
        if not text_parts:
            return
        self._builder.begin_turn()
        for part in text_parts:
            is_notice = is_system or part.value.startswith(_NOTICE_PREFIXES)
            kind, actor = (Kind.SYSTEM, "system") if is_notice else (Kind.MESSAGE, "user")
            draft = EventDraft(kind, part.pointer, actor=actor, text=part.value)
            draft.images, images = images, ()
            self._builder.add_draft(draft)

    def _add_progress(self, line: dict[str, Json], pointer: str) -> None:
        """Add a sub-agent's reported message, unless the agent's own lines are present."""
        data = line.get("data")
        inner = data.get("message") if is_object(data) else None
        if not is_object(data) or not is_object(inner) or not is_object(inner.get("message")):
            return
        if self._subagents.has_lines(text_at(data, "agentId")):
            self._builder.skip(pointer, "repeats a line of the sub-agent", repeats=True)
        else:
            call = text_at(line, "parentToolUseID")
            self._add_message({**inner, "parent_tool_use_id": call}, f"{pointer}/data/message")

    def _add_queued_prompt(self, attachment: Json, pointer: str) -> None:
        """Add a prompt that the user typed while the agent was running."""
        if not is_object(attachment) or attachment.get("type") != "queued_command":
            return
        if attachment.get("commandMode", "prompt") == "prompt":
            self._add_user_content(attachment.get("prompt"), f"{pointer}/prompt", is_system=False)


class Subagents:
    """Links the lines of sub-agents to the calls that started them.

    The link differs between versions: the id of the agent, which the result of the call
    names; the id of the call in the line; or only the prompt, with the lines that follow it.
    """

    def __init__(self) -> None:
        self._call_by_id: dict[str, EventDraft] = {}
        self._call_id_by_agent: dict[str, str] = {}
        self._agents_with_lines: set[str] = set()
        self._calls_by_prompt: dict[str, list[EventDraft]] = {}
        self._call_by_line: dict[str, EventDraft] = {}

    def index_line(self, line: dict[str, Json]) -> None:
        """Record which call started which agent. Index all lines before adding any."""
        agent = text_at(line, "agentId")
        if agent is not None:
            self._agents_with_lines.add(agent)
        twin = line.get("toolUseResult")
        agent = text_at(twin, "agentId") if is_object(twin) else None
        message = line.get("message")
        if agent is None or not is_object(message) or not is_list(message.get("content")):
            return
        for block in message["content"]:
            call = text_at(block, "tool_use_id") if is_object(block) else None
            if call is not None:
                self._call_id_by_agent[agent] = call

    def has_lines(self, agent: str | None) -> bool:
        """Return whether the source contains the agent's own lines."""
        return agent in self._agents_with_lines

    def add_call(self, identity: str | None, draft: EventDraft) -> None:
        """Remember a call that may have started an agent."""
        if identity is not None:
            self._call_by_id[identity] = draft
        prompt = text_at(draft.arguments, "prompt") if is_object(draft.arguments) else None
        if prompt is not None:
            self._calls_by_prompt.setdefault(prompt, []).append(draft)

    def find_starter(self, line: dict[str, Json], content: Json) -> EventDraft | None:
        """Return the call that started the agent of this line; None if it is unknown."""
        agent = text_at(line, "agentId")
        call = text_at(line, "parent_tool_use_id", "parentToolUseID")
        if call is None and agent is not None:
            call = self._call_id_by_agent.get(agent)
        starter = self._call_by_id.get(call or "")
        if starter is None:
            starter = self._call_by_line.get(text_at(line, "parentUuid") or "")
        if starter is None:
            starter = self._match_prompt(content)
        own = text_at(line, "uuid")
        if starter is not None and own is not None:
            self._call_by_line[own] = starter
        return starter

    def _match_prompt(self, content: Json) -> EventDraft | None:
        if is_list(content) and len(content) == 1 and is_object(content[0]):
            content = content[0].get("text")
        waiting = self._calls_by_prompt.get(content) if isinstance(content, str) else None
        if not waiting:
            return None
        # Agents started with the same prompt begin in the order of their calls.
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]
