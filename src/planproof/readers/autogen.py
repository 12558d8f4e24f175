"""Read group chats of AutoGen 0.2, with the speaker in `name`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.trace import Kind, Trace
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.entries import (
    PointerFactory,
    iter_entries,
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
    """Reads messages of AutoGen group chats: a list, JSON Lines, or under a key."""

    name = "autogen"

    def sniff(self, source: Source) -> bool:
        """Return whether several names share a role."""
        chat: list[dict[str, Json]] = []
        for message in take_first_entries(source, _LIST_KEYS):
            if not is_object(message) or text_at(message, "role") not in _ROLES:
                return False
            if not _GROUP_CHAT_KEYS.isdisjoint(message):
                chat.append(message)
        return is_group_chat(chat)

    def read(self, source: Source) -> Trace:
        """Return the agents' messages, the code that was run, and the calls with their results."""
        builder = TraceBuilder(source.skipped)
        speakers = Speakers(builder)
        messages = list(iter_entries(source, _LIST_KEYS))
        chat = GroupChat(builder, speakers, find_proxies(messages))
        for pointer, message in messages:
            if is_object(message) and text_at(message, "role") in _ROLES:
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
