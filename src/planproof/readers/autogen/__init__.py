"""AutoGen: the group chats of 0.2, where the speaker is `name`, and the messages of 0.4 and on."""

from __future__ import annotations

from planproof.core.content import Json
from planproof.core.json_values import is_object, text_at
from planproof.core.trace import Trace
from planproof.readers.autogen.group_chat import GroupChat, find_proxies
from planproof.readers.autogen.team import Team, is_team_message
from planproof.readers.decoding.source import Source
from planproof.readers.toolkit.entries import first_entries, iter_entries
from planproof.readers.toolkit.speakers import Speakers, is_group_chat
from planproof.readers.toolkit.trace_builder import TraceBuilder

_LIST_KEYS = ("messages", "chat_history", "history", "trajectory")
_GROUP_CHAT_KEYS = frozenset(("name", "tool_responses"))
_ROLES = frozenset(("system", "user", "assistant", "tool", "function"))


class AutoGenReader:
    """Reads lists of messages, bare, as JSON Lines, or under a key such as `messages`."""

    name = "autogen"

    def sniff(self, source: Source) -> bool:
        """Whether the messages are of known types, or roles are shared by several names."""
        chat: list[dict[str, Json]] = []
        team = False
        for message in first_entries(source, _LIST_KEYS):
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
        """What the agents said, the code that was run, and the calls with their results."""
        builder = TraceBuilder(source.skipped)
        speakers = Speakers(builder)
        messages = list(iter_entries(source, _LIST_KEYS))
        team = Team(builder, speakers)
        chat = GroupChat(builder, speakers, find_proxies(messages))
        for pointer, message in messages:
            if not is_object(message):
                builder.skip(pointer, "is no message")
            elif "source" in message and is_team_message(message):
                team.add_message(message, pointer)
            elif text_at(message, "role") in _ROLES:
                chat.add_message(message, pointer)
            else:
                builder.skip(pointer, "is no message")
        speakers.flush()
        return builder.build(self.name)
