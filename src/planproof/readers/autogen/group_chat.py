"""Group chats of AutoGen 0.2: the role says little, the name says who speaks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from planproof.core.content import Json
from planproof.core.json_values import is_list, is_object, parse_time, text_at
from planproof.core.trace import Kind
from planproof.readers.toolkit.code_runs import is_execution_report, is_executor
from planproof.readers.toolkit.conversation import Conversation
from planproof.readers.toolkit.speakers import Speakers
from planproof.readers.toolkit.text_pointers import (
    PointerFactory,
    make_constant_pointer,
    make_line_pointer,
)
from planproof.readers.toolkit.trace_builder import TraceBuilder

_TASK_PREFIX = "You are given: (1) a task"
_PLAN_HEADING = re.compile(r"^## Plan for solving the task[^\n]{0,80}\n", re.MULTILINE)
_NEXT_SECTION = re.compile(r"^#", re.MULTILINE)


def find_proxies(messages: Iterable[tuple[str, Json]]) -> frozenset[str]:
    """The names under which the results of calls come: programs that stand in for the user."""
    names = (
        text_at(message, "name")
        for _, message in messages
        if is_object(message) and "tool_responses" in message
    )
    return frozenset(name for name in names if name is not None)


class GroupChat:
    """Writes the messages of a chat, in order, into a transcript."""

    def __init__(
        self, builder: TraceBuilder, speakers: Speakers, proxies: frozenset[str] = frozenset()
    ) -> None:
        self._builder = builder
        self._proxies = proxies
        self._conversation = Conversation(builder)
        self._speakers = speakers

    def add_message(self, message: dict[str, Json], pointer: str) -> None:
        """Write one message."""
        role = message.get("role")
        content, pointer_for = _join_content_lines(message.get("content"), f"{pointer}/content")
        responses = message.get("tool_responses")
        moment = message.get("timestamp")
        self._builder.time = parse_time(moment) if moment else None
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
        # The proxy that runs what the others ask for also opens the chat, with the user's words.
        return not self._builder.drafts and (
            name in self._proxies or (is_executor(name) and not is_execution_report(text))
        )

    def _add_task(self, text: str, pointer: str) -> None:
        """Write the task that opens a chat; some managers give the plan together with it."""
        self._speakers.flush()
        self._builder.begin_turn()
        self._builder.add_message(Kind.MESSAGE, text, pointer, "user")
        heading = _PLAN_HEADING.search(text)
        if heading is not None:
            end = _NEXT_SECTION.search(text, heading.end())
            plan = text[heading.end() : end.start() if end is not None else len(text)]
            self._builder.add_plan(plan.strip(), pointer, "manager")


def _join_content_lines(content: Json, pointer: str) -> tuple[Json, PointerFactory]:
    """What was said, with places in it; some chats are kept as lists of their lines."""
    if not is_list(content) or not all(isinstance(line, str) for line in content):
        return content, make_constant_pointer(pointer)
    lines = [line.rstrip("\n") for line in content]
    return "\n".join(lines), make_line_pointer(pointer, lines)
