"""Read AutoGen chats: group chats of 0.2, with the speaker in `name`, and teams since 0.4."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from planproof.core.content import Image, Json
from planproof.core.json_values import format_value, is_list, is_object, parse_time, text_at
from planproof.core.trace import EventStatus, Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import (
    PointerFactory,
    iter_entries,
    iter_items,
    key_pointer,
    make_constant_pointer,
    make_line_pointer,
    take_first_entries,
)
from planproof.readers.toolkit.prose_actions import is_execution_report, is_executor
from planproof.readers.toolkit.speakers import Speakers, is_group_chat
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("messages", "chat_history", "history", "trajectory")
_GROUP_CHAT_KEYS = frozenset(("name", "tool_responses"))
_ROLES = frozenset(("system", "user", "assistant", "tool", "function"))


class AutoGenReader:
    """Reads messages of AutoGen group chats and teams: a list, JSON Lines, or under a key."""

    name = "autogen"

    def sniff(self, source: Source) -> bool:
        """Return whether the messages have known types, or several names share a role."""
        chat: list[dict[str, Json]] = []
        team = False
        for message in take_first_entries(source, _LIST_KEYS):
            if not is_object(message):
                return False
            role = message.get("role")
            if "source" in message and is_team_message(message):
                team = True
            elif team or not isinstance(role, str) or role not in _ROLES:
                return False
            elif not _GROUP_CHAT_KEYS.isdisjoint(message):
                chat.append(message)
        return team != is_group_chat(chat)

    def read(self, source: Source) -> Trace:
        """Return the agents' messages, the code that was run, and the calls with their results."""
        builder = TraceBuilder(source.skipped)
        speakers = Speakers(builder)
        messages = list(iter_entries(source, _LIST_KEYS))
        team = Team(builder, speakers)
        chat = GroupChat(builder, speakers, find_proxies(messages))
        for pointer, message in messages:
            if not is_object(message):
                builder.skip(pointer, "not a message")
            elif "source" in message and is_team_message(message):
                team.add_message(message, pointer)
            elif text_at(message, "role") in _ROLES:
                chat.add_message(message, pointer)
            else:
                builder.skip(pointer, "not a message")
        speakers.flush()
        return builder.build(self.name)


_TASK_PREFIX = "You are given: (1) a task"
_PLAN_HEADING = re.compile(r"^## Plan for solving the task[^\n]{0,80}\n", re.MULTILINE)
_NEXT_SECTION = re.compile(r"^#", re.MULTILINE)


def find_proxies(messages: Iterable[tuple[str, Json]]) -> frozenset[str]:
    """Return the names that send results of calls: programs that act for the user."""
    names = (
        text_at(message, "name")
        for _, message in messages
        if is_object(message) and "tool_responses" in message
    )
    return frozenset(name for name in names if name is not None)


class GroupChat:
    """Adds the messages of a 0.2 group chat, in order, to a trace builder."""

    def __init__(
        self, builder: TraceBuilder, speakers: Speakers, proxies: frozenset[str] = frozenset()
    ) -> None:
        self._builder = builder
        self._proxies = proxies
        self._conversation = Conversation(builder)
        self._speakers = speakers

    def add_message(self, message: dict[str, Json], pointer: str) -> None:
        """Add one message."""
        role = message.get("role")
        content, pointer_for = _join_content_lines(message.get("content"), f"{pointer}/content")
        responses = message.get("tool_responses")
        time = message.get("timestamp")
        self._builder.time = parse_time(time) if time else None
        if responses and is_list(responses):
            self._speakers.flush()
            for index, response in enumerate(responses):
                if is_object(response):
                    where = f"{pointer}/tool_responses/{index}"
                    self._conversation.add_message({**response, "role": "tool"}, where)
        elif (
            role in ("tool", "function")
            or not isinstance(content, str)
            or message.get("tool_calls")
            or message.get("function_call")
        ):
            self._speakers.flush()
            self._conversation.add_message(message, pointer)
        elif not content or content.isspace():
            return
        else:
            name = text_at(message, "name", "role") or "assistant"
            if self._is_task(content, name):
                self._add_task(content, f"{pointer}/content")
            else:
                self._speakers.add_turn(content, pointer_for, name)

    def _is_task(self, text: str, name: str) -> bool:
        if text.startswith(_TASK_PREFIX):
            return True
        # The proxy that executes calls also opens the chat, with the user's task.
        return not self._builder.drafts and (
            name in self._proxies or (is_executor(name) and not is_execution_report(text))
        )

    def _add_task(self, text: str, pointer: str) -> None:
        """Add the task that opens a chat, and the plan that some managers put into it."""
        self._speakers.flush()
        self._builder.begin_turn()
        self._builder.add_message(Kind.MESSAGE, text, pointer, "user")
        heading = _PLAN_HEADING.search(text)
        if heading is not None:
            end = _NEXT_SECTION.search(text, heading.end())
            plan = text[heading.end() : end.start() if end is not None else len(text)]
            self._builder.add_plan(plan.strip(), pointer, "manager")


def _join_content_lines(content: Json, pointer: str) -> tuple[Json, PointerFactory]:
    """Join content that is stored as a list of lines; return it with its pointers."""
    if not is_list(content) or not all(isinstance(line, str) for line in content):
        return content, make_constant_pointer(pointer)
    lines = [line.rstrip("\n") for line in content]
    return "\n".join(lines), make_line_pointer(pointer, lines)


_TEXT_TYPES = frozenset(("TextMessage", "StopMessage", "MultiModalMessage", "CodeGenerationEvent"))
# Chunks of a message that follows in full.
_CHUNK_TYPE = "ModelClientStreamingChunkEvent"
_NOTICE_TYPES = frozenset(
    "UserInputRequestedEvent SelectSpeakerEvent SelectorEvent MemoryQueryEvent".split()
)
_MESSAGE_TYPES = (
    _TEXT_TYPES
    | _NOTICE_TYPES
    | frozenset(
        "HandoffMessage ToolCallRequestEvent ToolCallExecutionEvent ToolCallSummaryMessage "
        "ThoughtEvent CodeExecutionEvent".split()
    )
    | {_CHUNK_TYPE}
)


def is_team_message(value: dict[str, Json]) -> bool:
    """Return whether this is a team message: a known type, and a source."""
    kind = value.get("type")
    if not isinstance(kind, str) or not isinstance(value.get("source"), str):
        return False
    return kind in _MESSAGE_TYPES or kind.startswith("StructuredMessage")


class Team:
    """Adds the messages of a team, in order, to a trace builder."""

    def __init__(self, builder: TraceBuilder, speakers: Speakers) -> None:
        self._builder = builder
        self._conversation = Conversation(builder)
        self._speakers = speakers

    def add_message(self, message: dict[str, Json], pointer: str) -> None:
        """Add one message."""
        kind = message["type"]
        source = message["source"]
        self._builder.time = parse_time(message.get("created_at"))
        if kind == _CHUNK_TYPE:
            return
        if kind == "CodeExecutionEvent":
            self._add_code_result(message, pointer, source)
        elif kind in _TEXT_TYPES:
            self._add_text(message.get("content"), f"{pointer}/content", source)
        else:
            self._speakers.flush()
            self._add_other(kind, message, pointer)

    def _add_other(self, kind: str, message: dict[str, Json], pointer: str) -> None:
        source, content = message["source"], message.get("content")
        content_pointer = f"{pointer}/content"
        if kind == "ToolCallExecutionEvent":
            for entry_pointer, entry in iter_items(content, content_pointer):
                if is_object(entry):
                    self._conversation.add_result(entry, entry_pointer)
                else:
                    self._builder.skip(entry_pointer, "not a result")
            return
        self._builder.begin_turn()
        if kind == "ToolCallRequestEvent":
            for entry_pointer, entry in iter_items(content, content_pointer):
                self._conversation.add_call(entry, entry_pointer, source)
        elif kind == "ThoughtEvent":
            self._builder.add_message(
                Kind.REASONING, format_value(content), content_pointer, source
            )
        elif kind == "HandoffMessage":
            self._add_handoff(message, pointer)
        elif kind in _NOTICE_TYPES:
            self._builder.add_message(Kind.SYSTEM, format_value(content), content_pointer, "system")
        elif kind == "ToolCallSummaryMessage" and self._is_repeated_output(
            format_value(content), source
        ):
            # Written by the framework, not by the model: it adds nothing new.
            self._builder.skip(pointer, "repeats the output of the preceding calls")
        else:
            self._builder.add_message(Kind.MESSAGE, format_value(content), content_pointer, source)

    def _add_text(self, content: Json, pointer: str, source: str) -> None:
        if isinstance(content, str):
            self._speakers.add_turn(content, make_constant_pointer(pointer), source)
            return
        images: list[Image] = []
        for index, part in enumerate(content if is_list(content) else ()):
            data = text_at(part, "data") if is_object(part) else None
            if isinstance(part, str):
                self._speakers.add_turn(part, make_constant_pointer(f"{pointer}/{index}"), source)
            elif data is not None:
                images.append(Image("image/*", data=data))
        if images and self._builder.drafts:
            self._builder.drafts[-1].images += tuple(images)

    def _add_code_result(self, message: dict[str, Json], pointer: str, source: str) -> None:
        result = message.get("result")
        if not is_object(result) or not isinstance(result.get("output"), str):
            self._builder.skip(pointer, "code execution without output")
            return
        status = EventStatus.OK if result.get("exit_code") == 0 else EventStatus.ERROR
        self._speakers.code_runs.add_report(
            result["output"], f"{pointer}/result/output", source, status
        )

    def _add_handoff(self, message: dict[str, Json], pointer: str) -> None:
        source, text = message["source"], format_value(message.get("content"))
        receiver = text_at(message, "target") or ""
        if source == "user":
            self._builder.add_message(Kind.MESSAGE, text, f"{pointer}/content", "user")
        elif self._is_called_handoff(text, source):
            # The agent called the hand-off tool, and that call is the hand-off.
            self._builder.skip(pointer, "repeats the preceding hand-off call")
        else:
            self._speakers.add_handoff(
                receiver, text, key_pointer(message, "content", pointer), source
            )

    def _is_repeated_output(self, text: str, source: str) -> bool:
        drafts = self._builder.drafts
        last_turn = takewhile(lambda draft: draft.turn == drafts[-1].turn, reversed(drafts))
        return bool(drafts) and all(
            draft.kind is Kind.ACTION and draft.actor == source and draft.output in text
            for draft in last_turn
        )

    def _is_called_handoff(self, text: str, source: str) -> bool:
        for draft in reversed(self._builder.drafts):
            if draft.kind is not Kind.ACTION or draft.actor != source:
                return False
            if draft.output == text:
                return True
        return False
